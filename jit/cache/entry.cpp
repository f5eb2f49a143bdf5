#include "jit/cache/entry.h"

#include <cinttypes>
#include <cstdio>
#include <cstring>

namespace tsc::jit {
namespace {

// magic, size of the whole, two words of checksum over what follows; then the fields.
constexpr std::string_view kMagic = "TSCKERN1";
constexpr size_t kHeaderBytes = 32;

void append_number(std::string* out, uint64_t number, size_t width) {
  out->append(reinterpret_cast<const char*>(&number), width);
}

void append_text(std::string* out, std::string_view text) {
  append_number(out, text.size(), 4);
  *out += text;
}

class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}
  bool number(uint32_t* value) {
    if (rest_.size() < sizeof *value) return false;
    std::memcpy(value, rest_.data(), sizeof *value);
    rest_.remove_prefix(sizeof *value);
    return true;
  }
  bool text(std::string* value) {
    uint32_t size = 0;
    if (!number(&size) || rest_.size() < size) return false;
    *value = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return true;
  }
  bool at_end() const { return rest_.empty(); }

 private:
  std::string_view rest_;
};

bool read_fields(std::string_view bytes, CacheEntry* entry) {
  Reader reader(bytes);
  CodeImage& image = entry->image;
  uint32_t imports = 0;
  if (!reader.text(&entry->identity) || !reader.text(&entry->program) ||
      !reader.text(&image.text) || !reader.text(&image.data) || !reader.number(&image.entry) ||
      !reader.number(&imports))
    return false;
  image.imports.clear();
  for (uint32_t i = 0; i < imports; ++i) {
    CodeImage::Import import;
    if (!reader.number(&import.slot) || !reader.text(&import.name)) return false;
    image.imports.push_back(std::move(import));
  }
  return reader.at_end();
}

}  // namespace

std::string pack_entry(const CacheEntry& entry) {
  std::string fields;
  append_text(&fields, entry.identity);
  append_text(&fields, entry.program);
  append_text(&fields, entry.image.text);
  append_text(&fields, entry.image.data);
  append_number(&fields, entry.image.entry, 4);
  append_number(&fields, entry.image.imports.size(), 4);
  for (const CodeImage::Import& import : entry.image.imports) {
    append_number(&fields, import.slot, 4);
    append_text(&fields, import.name);
  }
  const Hash128 checksum = hash_bytes(fields);
  std::string bytes(kMagic);
  append_number(&bytes, kHeaderBytes + fields.size(), 8);
  append_number(&bytes, checksum.high, 8);
  append_number(&bytes, checksum.low, 8);
  return bytes + fields;
}

std::string unpack_entry(std::string_view bytes, CacheEntry* entry) {
  if (bytes.size() < kHeaderBytes)
    return "it has " + std::to_string(bytes.size()) + " bytes, less than a header";
  if (bytes.substr(0, kMagic.size()) != kMagic) return "it is no kernel of this format";
  uint64_t words[3];
  std::memcpy(words, bytes.data() + kMagic.size(), sizeof words);
  if (words[0] != bytes.size())
    return "it has " + std::to_string(bytes.size()) + " bytes, its header says " +
           std::to_string(words[0]);
  const std::string_view fields = bytes.substr(kHeaderBytes);
  if (!(hash_bytes(fields) == Hash128{words[1], words[2]})) return "its checksum does not match";
  if (!read_fields(fields, entry)) return "its fields do not fill it";
  return image_problem(entry->image);
}

std::string entry_file_name(std::string_view identity, std::string_view program) {
  const Hash128 key = hash_bytes(std::string(identity) + '\0' + std::string(program));
  char name[48];
  std::snprintf(name, sizeof name, "%016" PRIx64 "%016" PRIx64 ".kernel", key.high, key.low);
  return name;
}

}  // namespace tsc::jit
