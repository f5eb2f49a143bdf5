#pragma once
// Encodings that the C library converts: the code pages of Windows and DOS, ISO 8859, KOI8, and those of Chinese,
// Japanese and Korean. All have ASCII as their first 128 characters. Knows: iconv. Must not know: error handlers.
#include <memory>
#include <string>
#include <string_view>

namespace tsc::interp {

class HostCodec {
 public:
  // Null: the C library has no encoding of this name, which is written as Python allows ("cp1252", "ISO-8859-15").
  static std::unique_ptr<HostCodec> find(std::string_view name);
  ~HostCodec();
  HostCodec(const HostCodec&) = delete;
  HostCodec& operator=(const HostCodec&) = delete;

  // What messages call it: "charmap" where each character is one byte.
  const char* name() const { return name_; }
  bool is_charmap() const;
  const char* unknown_text() const;  // why a character, or a byte, has no counterpart
  // Appends what stands at the front of `bytes` as UTF-8 and gives its size. 0: it is no character; `cut_off` tells
  // whether more bytes could make it one.
  size_t decode_one(std::string_view bytes, std::string& out, bool& cut_off);
  // Appends the bytes of one character, given as UTF-8; false: the encoding has not got it.
  bool encode_one(std::string_view character, std::string& out);

 private:
  HostCodec(const char* name, void* decoder, void* encoder) : name_(name), decoder_(decoder), encoder_(encoder) {}
  const char* name_;
  void* decoder_;  // iconv_t
  void* encoder_;
};

}  // namespace tsc::interp
