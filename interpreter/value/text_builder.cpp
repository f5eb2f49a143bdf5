#include "interpreter/value/text_builder.h"

#include <cstring>

#include "interpreter/vm/vm.h"

namespace tsc::interp {

TextBuilder::~TextBuilder() { vm_.heap().release(blocks_.size() * kBlock); }

void TextBuilder::end_block() {
  vm_.hear_stop();
  blocks_.reserve(blocks_.size() + 1 > blocks_.capacity() ? 2 * blocks_.size() + 8 : 0);
  vm_.heap().charge(kBlock);
  blocks_.push_back(std::move(last_));
  last_.clear();
  last_.reserve(kBlock);
}

void TextBuilder::append_long(std::string_view text) {
  while (!text.empty()) {
    if (last_.size() == kBlock) end_block();
    const size_t next = std::min(text.size(), kBlock - last_.size());
    last_ += text.substr(0, next);
    text.remove_prefix(next);
  }
}

// Each block goes once it was copied.
void TextBuilder::write_to(char* to) {
  for (std::string& block : blocks_) {
    vm_.hear_stop();
    std::memcpy(to, block.data(), block.size());
    to += block.size();
    std::string().swap(block);
  }
  std::memcpy(to, last_.data(), last_.size());
}

Value TextBuilder::str() {
  if (blocks_.empty()) return str_value(vm_, last_);
  char* text;
  Local<StrObject> s = make_blank_str(vm_, size(), text);
  write_to(text);
  s->length = count_code_points(s->view(), s->ascii);
  return s.take();
}

Value TextBuilder::bytes() { return make_bytes(vm_, text()).take(); }

std::string TextBuilder::text() {
  if (blocks_.empty()) return std::move(last_);
  vm_.heap().check_room(size());
  std::string data;
  data.reserve(size());
  for (std::string& block : blocks_) {
    vm_.hear_stop();
    data += block;
    std::string().swap(block);
  }
  data += last_;
  vm_.heap().release(blocks_.size() * kBlock);
  blocks_.clear();
  return data;
}

}  // namespace tsc::interp
