#include "interpreter/value/string.h"

#include <algorithm>
#include <cstring>

#include "interpreter/heap/patience.h"
#include "interpreter/value/copy_few.h"
#include "interpreter/value/surrogates.h"
#include "interpreter/value/text_places.h"
#include "interpreter/vm/vm.h"

namespace tsc::interp {

namespace {

template <class Word>
Word load(const char* from) {
  Word word;
  std::memcpy(&word, from, sizeof word);
  return word;
}

uint64_t rotate(uint64_t x, int bits) { return x << bits | x >> (64 - bits); }

// SipHash-1-3: keys come from scripts, so the table must not be floodable.
uint64_t sip_hash(uint64_t key0, uint64_t key1, std::string_view text) {
  uint64_t v0 = key0 ^ 0x736f6d6570736575ull, v1 = key1 ^ 0x646f72616e646f6dull;
  uint64_t v2 = key0 ^ 0x6c7967656e657261ull, v3 = key1 ^ 0x7465646279746573ull;
  auto round = [&] {
    v0 += v1;
    v1 = rotate(v1, 13) ^ v0;
    v0 = rotate(v0, 32);
    v2 += v3;
    v3 = rotate(v3, 16) ^ v2;
    v0 += v3;
    v3 = rotate(v3, 21) ^ v0;
    v2 += v1;
    v1 = rotate(v1, 17) ^ v2;
    v2 = rotate(v2, 32);
  };
  size_t whole = text.size() / 8 * 8;
  for (size_t i = 0; i < whole; i += 8) {
    const auto word = load<uint64_t>(text.data() + i);
    v3 ^= word;
    round();
    v0 ^= word;
  }
  uint64_t last = uint64_t{text.size()} << 56;
  if (const size_t left = text.size() - whole; left && whole) {  // the last eight bytes, without those of the last word
    last |= load<uint64_t>(text.data() + text.size() - 8) >> (8 * (8 - left));
  } else if (left >= 4) {  // two words that overlap
    last |= load<uint32_t>(text.data()) | uint64_t{load<uint32_t>(text.data() + left - 4)} << (8 * (left - 4));
  } else {
    for (size_t i = 0; i < left; ++i) last |= uint64_t{static_cast<uint8_t>(text[i])} << (8 * i);
  }
  v3 ^= last;
  round();
  v0 ^= last;
  v2 ^= 0xff;
  round();
  round();
  round();
  return v0 ^ v1 ^ v2 ^ v3;
}

}  // namespace

namespace {

// Whether no byte has its highest bit: eight at a time, the last ones together with some before.
bool is_ascii(const char* text, size_t size) {
  const auto word = [text](size_t at) { return load<uint64_t>(text + at); };
  uint64_t all = 0;
  if (size < 8) {
    for (size_t i = 0; i < size; ++i) all |= static_cast<uint8_t>(text[i]);
    return !(all & 0x80);
  }
  for (size_t i = 0; i + 8 < size; i += 8) all |= word(i);
  return !((all | word(size - 8)) & 0x8080808080808080u);
}

}  // namespace

int64_t count_code_points(std::string_view utf8, bool& ascii) {
  // What is longer takes the loop that hears a stop.
  if (utf8.size() <= size_t{1} << 20 && is_ascii(utf8.data(), utf8.size())) {
    ascii = true;
    return static_cast<int64_t>(utf8.size());
  }
  int64_t count = 0;
  bool high = false;
  in_pieces(utf8.size(), [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      const uint8_t byte = static_cast<uint8_t>(utf8[i]);
      high |= byte >= 0x80;
      count += (byte & 0xC0) != 0x80;
    }
  });
  ascii = !high;
  return count;
}

Local<StrObject> make_blank_str(Vm& vm, size_t size, char*& text) {
  // As Heap::make_sized: a str refers to nothing, and its class is none of a script.
  StrObject* s = new (vm.heap().allocate(sizeof(StrObject) + size + 1)) StrObject;
  s->type = vm.types().str;
  text = reinterpret_cast<char*>(s + 1);
  text[size] = 0;
  s->text = text;
  s->size = size;
  s->length = static_cast<int64_t>(size);
  return Local<StrObject>(s);
}

Local<StrObject> make_ascii_str(Vm& vm, std::string_view ascii) {
  char* text;
  Local<StrObject> s = make_blank_str(vm, ascii.size(), text);
  copy_few(text, ascii.data(), ascii.size());
  return s;
}

namespace {

constexpr uint8_t kNoSurrogates = 0x9F, kSurrogates = 0xBF;

// `last_of_ed`: the highest second byte behind 0xED, where surrogates begin.
size_t sequence_at(std::string_view s, size_t i, Utf8Fault& fault, uint8_t last_of_ed) {
  auto byte = [&](size_t at) { return static_cast<uint8_t>(s[at]); };
  uint8_t c = byte(i);
  if (c < 0x80) return 1;
  size_t n = c >= 0xC2 && c < 0xE0 ? 2 : c >= 0xE0 && c < 0xF0 ? 3 : c >= 0xF0 && c < 0xF5 ? 4 : 0;
  if (!n) {
    fault = {i + 1, "invalid start byte"};
    return 0;
  }
  for (size_t k = 1; k < n; ++k) {
    if (i + k >= s.size()) {
      fault = {s.size(), "unexpected end of data"};
      return 0;
    }
    uint8_t low = k == 1 && c == 0xE0 ? 0xA0 : k == 1 && c == 0xF0 ? 0x90 : 0x80;
    uint8_t high = k == 1 && c == 0xED ? last_of_ed : k == 1 && c == 0xF4 ? 0x8F : 0xBF;
    if (c == 0xED && k == 1 && byte(i + 1) > kNoSurrogates && last_of_ed == kSurrogates) note_surrogate();
    if (byte(i + k) < low || byte(i + k) > high) {
      fault = {i + k, "invalid continuation byte"};
      return 0;
    }
  }
  return n;
}

size_t find_fault(std::string_view text, uint8_t last_of_ed) {
  Utf8Fault fault{};
  for (size_t i = 0; i < text.size();) {
    uint64_t word = ~uint64_t{0};
    if (text.size() - i >= sizeof word) std::memcpy(&word, text.data() + i, sizeof word);
    size_t n = sizeof word;  // as many letters of ASCII, or one sequence; most are of one or two bytes
    if (word & 0x8080808080808080u) {
      const auto first = static_cast<uint8_t>(text[i]);
      const bool two = first >= 0xC2 && first < 0xE0 && i + 1 < text.size() && (text[i + 1] & 0xC0) == 0x80;
      n = first < 0x80 ? 1 : two ? 2 : sequence_at(text, i, fault, last_of_ed);
    }
    if (n == 0) return i;
    i += n;
  }
  return std::string_view::npos;
}

std::string with_faults_replaced(std::string_view text) {
  std::string out;
  Utf8Fault fault{};
  for (size_t i = 0; i < text.size();) {
    const size_t n = sequence_at(text, i, fault, kSurrogates);
    if (n == 0) append_utf8(out, 0xFFFD);
    else out += text.substr(i, n);
    i = n == 0 ? fault.end : i + n;
  }
  return out;
}

}  // namespace

size_t utf8_sequence(std::string_view text, size_t offset, Utf8Fault& fault) {
  return sequence_at(text, offset, fault, kNoSurrogates);
}

size_t find_utf8_fault(std::string_view text) { return find_fault(text, kNoSurrogates); }

Local<StrObject> make_str(Vm& vm, std::string_view utf8) {
  if (utf8.size() == 1 && static_cast<uint8_t>(utf8[0]) < 0x80) return Local<StrObject>(vm.letter(utf8[0]));
  bool ascii = true;
  const int64_t length = count_code_points(utf8, ascii);
  if (!ascii && find_fault(utf8, kSurrogates) != std::string_view::npos)
    return make_str(vm, with_faults_replaced(utf8));
  Local<StrObject> s = make_ascii_str(vm, utf8);
  s->length = length;
  s->ascii = ascii;
  return s;
}

namespace {

// Of a str's own text, which is whole.
Local<StrObject> make_part(Vm& vm, std::string_view text, int64_t length) {
  Local<StrObject> s = make_ascii_str(vm, text);
  s->length = length;
  s->ascii = static_cast<size_t>(length) == text.size();
  return s;
}

}  // namespace

Local<StrObject> concatenate(Vm& vm, const StrObject* a, const StrObject* b) {
  char* text;
  Local<StrObject> s = make_blank_str(vm, a->size + b->size, text);
  copy_few(text, a->text, a->size);
  copy_few(text + a->size, b->text, b->size);
  s->ascii = a->ascii && b->ascii;
  s->length = a->length + b->length;
  return s;
}

Local<StrObject> repeat_str(Vm& vm, const StrObject* piece, size_t count) {
  char* text;
  Local<StrObject> s = make_blank_str(vm, piece->size * count, text);
  repeat_bytes(text, piece->text, piece->size, piece->size * count);
  s->ascii = piece->ascii;
  s->length = piece->length * static_cast<int64_t>(count);
  return s;
}

uint64_t str_hash(Vm& vm, StrObject* s) {
  if (!s->hash) {
    uint64_t h = sip_hash(vm.hash_key(0), vm.hash_key(1), s->view());
    s->hash = h ? h : 1;
  }
  return s->hash;
}

bool str_equal(const StrObject* a, const StrObject* b) {
  if (a == b) return true;
  if (a->size != b->size) return false;
  if (a->hash && b->hash && a->hash != b->hash) return false;
  // Most are short: the first bytes and the last ones, which overlap.
  const auto same_ends = [&]<class Word>(Word) {
    const size_t last = a->size - sizeof(Word);
    return load<Word>(a->text) == load<Word>(b->text) && load<Word>(a->text + last) == load<Word>(b->text + last);
  };
  if (a->size < 4 || a->size > 16) return std::memcmp(a->text, b->text, a->size) == 0;
  return a->size < 8 ? same_ends(uint32_t{}) : same_ends(uint64_t{});
}

Local<StrObject> intern(Vm& vm, StrObject* text) {
  if (text->interned()) return Local<StrObject>(text);
  return intern(vm, text->view());
}

uint32_t decode_utf8(std::string_view text, size_t& offset) {
  auto byte = [&](size_t i) { return i < text.size() ? static_cast<uint8_t>(text[i]) : 0u; };
  uint32_t first = byte(offset);
  auto rest = [&](size_t i) { return byte(offset + i) & 0x3F; };
  if (first < 0x80) return offset += 1, first;
  if (first < 0xE0) {
    uint32_t c = (first & 0x1F) << 6 | rest(1);
    return offset += 2, c;
  }
  if (first < 0xF0) {
    uint32_t c = (first & 0x0F) << 12 | rest(1) << 6 | rest(2);
    return offset += 3, c;
  }
  uint32_t c = (first & 0x07) << 18 | rest(1) << 12 | rest(2) << 6 | rest(3);
  return offset += 4, c;
}

void append_utf8(std::string& out, uint32_t c) {
  if (c < 0x80) {
    out += static_cast<char>(c);
  } else if (c < 0x800) {
    out += static_cast<char>(0xC0 | c >> 6);
    out += static_cast<char>(0x80 | (c & 0x3F));
  } else if (c < 0x10000) {
    if (is_surrogate(c)) note_surrogate();
    out += static_cast<char>(0xE0 | c >> 12);
    out += static_cast<char>(0x80 | (c >> 6 & 0x3F));
    out += static_cast<char>(0x80 | (c & 0x3F));
  } else {
    out += static_cast<char>(0xF0 | c >> 18);
    out += static_cast<char>(0x80 | (c >> 12 & 0x3F));
    out += static_cast<char>(0x80 | (c >> 6 & 0x3F));
    out += static_cast<char>(0x80 | (c & 0x3F));
  }
}

namespace {

bool begins_character(char byte) { return (static_cast<uint8_t>(byte) & 0xC0) != 0x80; }

// The offset so many characters further on.
size_t walk(const StrObject* s, size_t offset, int64_t characters) {
  while (characters > 0) {
    ++offset;
    while (offset < s->size && !begins_character(s->text[offset])) ++offset;
    --characters;
  }
  return offset;
}

bool is_long(const StrObject* s) { return s->length > 2 * TextPlaces::kStep; }

// Of a long text.
const std::vector<size_t>& places_of(const StrObject* s) {
  Vm& vm = *s->type->vm;
  TextPlaces& all = vm.text_places();
  if (s->extra && !all[s->extra].places.empty()) return all[s->extra].places;
  const auto count = static_cast<size_t>(s->length / TextPlaces::kStep + 1);
  MemoryCharge charge(vm.heap(), count * sizeof(size_t));
  std::vector<size_t> places;
  places.reserve(count);
  Patience patience;
  for (size_t offset = 0; places.size() < count; offset = walk(s, offset, TextPlaces::kStep)) {
    patience.step(TextPlaces::kStep);
    places.push_back(offset);
  }
  if (!s->extra) s->extra = all.add();
  TextPlaces::Entry& entry = all[s->extra];
  entry.charge = std::move(charge);
  entry.places = std::move(places);
  return entry.places;
}

}  // namespace

size_t byte_offset(const StrObject* s, int64_t index) {
  if (s->ascii) return static_cast<size_t>(index);
  if (index < TextPlaces::kStep || !is_long(s)) return walk(s, 0, index);
  return walk(s, places_of(s)[static_cast<size_t>(index / TextPlaces::kStep)], index % TextPlaces::kStep);
}

int64_t code_point_index(const StrObject* s, size_t offset) {
  if (s->ascii) return static_cast<int64_t>(offset);
  bool ascii;
  if (offset < TextPlaces::kStep || !is_long(s)) return count_code_points(s->view().substr(0, offset), ascii);
  const std::vector<size_t>& places = places_of(s);
  const auto block = std::upper_bound(places.begin(), places.end(), offset) - places.begin() - 1;
  const size_t begin = places[static_cast<size_t>(block)];
  return block * TextPlaces::kStep + count_code_points(s->view().substr(begin, offset - begin), ascii);
}

size_t room_of(Vm& vm, const StrObject* s) {
  const size_t room = s->extra ? vm.text_places()[s->extra].room : 0;
  return room ? room : s->size + 1;
}

Local<StrObject> substring(Vm& vm, StrObject* s, int64_t start, int64_t stop) {
  if (start <= 0 && stop >= s->length && s->type == vm.types().str) return Local<StrObject>(s);
  if (start >= stop) return vm.names().empty;
  if (s->ascii && stop - start == 1) return Local<StrObject>(vm.letter(s->text[start]));
  const size_t begin = byte_offset(s, start);
  const size_t end = s->ascii || stop - start > TextPlaces::kStep ? byte_offset(s, stop) : walk(s, begin, stop - start);
  return make_part(vm, s->view().substr(begin, end - begin), stop - start);
}

void append(Vm& vm, Value& held, const StrObject* more) {
  auto* s = cast<StrObject>(held);
  const size_t size = s->size + more->size;
  if (room_of(vm, s) <= size) {
    char* text;
    const size_t room = size + size / 4 + 64;
    const uint32_t extra = vm.text_places().add();
    Local<StrObject> larger;
    try {
      larger = make_blank_str(vm, room - 1, text);
    } catch (...) {
      vm.text_places().drop(extra);
      throw;
    }
    copy_bytes(text, s->text, s->size);
    larger->extra = extra;
    vm.text_places()[extra].room = room;
    larger->size = s->size;
    larger->length = s->length;
    larger->ascii = s->ascii;
    held = larger.take();
    s = cast<StrObject>(held);
  }
  char* text = const_cast<char*>(s->text);
  copy_bytes(text + s->size, more->text, more->size);
  text[size] = 0;
  s->size = size;
  s->length += more->length;
  s->ascii = s->ascii && more->ascii;
  s->hash = 0;
  if (s->extra) {
    vm.text_places()[s->extra].places.clear();
    vm.text_places()[s->extra].charge = {};
  }
}

std::string_view text_of(Vm& vm, const Value& v, const char* what) {
  if (!is_kind(v, Kind::Str))
    raise_type_error(vm,
                     std::string(what) + " must be str, not " + (v.is_none() ? std::string("None") : type_name(vm, v)));
  return cast<StrObject>(v)->view();
}

Local<BytesObject> make_bytes(Vm& vm, std::string data) {
  Local<BytesObject> b = vm.heap().make<BytesObject>(vm.types().bytes);
  vm.heap().charge(data.size());
  b->data = std::move(data);
  return b;
}

}  // namespace tsc::interp
