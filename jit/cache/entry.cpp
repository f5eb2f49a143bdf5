#include "jit/cache/entry.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstring>

namespace tsc::jit {
namespace {

// An entry: magic, size of the whole, two words of checksum over what follows; then the fields.
struct Format {
  std::string_view magic, suffix;
};
constexpr Format kFormats[] = {{"TSCKERN1", ".kernel"}, {"TSCPLAN1", ".plan"}};
constexpr size_t kMagicBytes = 8, kHeaderBytes = 32;

const Format& format_of(CacheEntry::Kind kind) { return kFormats[static_cast<size_t>(kind)]; }

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

bool read_image(Reader& reader, CodeImage& image) {
  uint32_t imports = 0;
  if (!reader.text(&image.text) || !reader.text(&image.data) || !reader.number(&image.entry) ||
      !reader.number(&imports))
    return false;
  image.imports.clear();
  for (uint32_t i = 0; i < imports; ++i) {
    CodeImage::Import import;
    if (!reader.number(&import.slot) || !reader.text(&import.name)) return false;
    image.imports.push_back(std::move(import));
  }
  return true;
}

bool read_fields(std::string_view bytes, CacheEntry* entry) {
  Reader reader(bytes);
  if (!reader.text(&entry->identity) || !reader.text(&entry->program)) return false;
  const bool whole =
      entry->kind == CacheEntry::Kind::Plan ? reader.text(&entry->plan) : read_image(reader, entry->image);
  return whole && reader.at_end();
}

void append_image(std::string* out, const CodeImage& image) {
  append_text(out, image.text);
  append_text(out, image.data);
  append_number(out, image.entry, 4);
  append_number(out, image.imports.size(), 4);
  for (const CodeImage::Import& import : image.imports) {
    append_number(out, import.slot, 4);
    append_text(out, import.name);
  }
}

}  // namespace

std::string pack_entry(const CacheEntry& entry) {
  std::string fields;
  append_text(&fields, entry.identity);
  append_text(&fields, entry.program);
  if (entry.kind == CacheEntry::Kind::Plan) append_text(&fields, entry.plan);
  else append_image(&fields, entry.image);
  const Hash128 checksum = hash_bytes(fields);
  std::string bytes(format_of(entry.kind).magic);
  append_number(&bytes, kHeaderBytes + fields.size(), 8);
  append_number(&bytes, checksum.high, 8);
  append_number(&bytes, checksum.low, 8);
  return bytes + fields;
}

std::string unpack_entry(std::string_view bytes, CacheEntry* entry) {
  if (bytes.size() < kHeaderBytes) return "it has " + std::to_string(bytes.size()) + " bytes, less than a header";
  const auto* format = std::find_if(std::begin(kFormats), std::end(kFormats),
                                    [&](const Format& known) { return bytes.starts_with(known.magic); });
  if (format == std::end(kFormats)) return "it is no kernel or plan of this format";
  entry->kind = static_cast<CacheEntry::Kind>(format - kFormats);
  uint64_t words[3];
  std::memcpy(words, bytes.data() + kMagicBytes, sizeof words);
  if (words[0] != bytes.size())
    return "it has " + std::to_string(bytes.size()) + " bytes, its header says " + std::to_string(words[0]);
  const std::string_view fields = bytes.substr(kHeaderBytes);
  if (!(hash_bytes(fields) == Hash128{words[1], words[2]})) return "its checksum does not match";
  if (!read_fields(fields, entry)) return "its fields do not fill it";
  return entry->kind == CacheEntry::Kind::Kernel ? image_problem(entry->image) : "";
}

std::string_view entry_suffix(CacheEntry::Kind kind) { return format_of(kind).suffix; }

std::string entry_file_name(std::string_view identity, std::string_view program, CacheEntry::Kind kind) {
  const Hash128 key = hash_bytes(std::string(identity) + '\0' + std::string(program));
  char name[48];
  std::snprintf(name, sizeof name, "%016" PRIx64 "%016" PRIx64, key.high, key.low);
  return std::string(name).append(entry_suffix(kind));
}

}  // namespace tsc::jit
