#include "interpreter/builtins/host_codecs.h"

#include <iconv.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdint>

namespace tsc::interp {
namespace {

constexpr const char* kCharmap = "charmap";

struct Row {
  std::string_view name;  // lower case, letters and digits alone
  const char* host;       // as iconv knows it
  const char* messages;   // as Python's messages call it
};
// clang-format off
constexpr Row kRows[] = {
    {"cp437", "CP437", kCharmap}, {"cp775", "CP775", kCharmap}, {"cp850", "CP850", kCharmap},
    {"cp852", "CP852", kCharmap}, {"cp855", "CP855", kCharmap}, {"cp857", "CP857", kCharmap},
    {"cp858", "CP858", kCharmap}, {"cp860", "CP860", kCharmap}, {"cp861", "CP861", kCharmap},
    {"cp862", "CP862", kCharmap}, {"cp863", "CP863", kCharmap}, {"cp865", "CP865", kCharmap},
    {"cp866", "CP866", kCharmap}, {"cp869", "CP869", kCharmap}, {"cp1125", "CP1125", kCharmap},
    {"cp1250", "CP1250", kCharmap}, {"cp1251", "CP1251", kCharmap}, {"cp1252", "CP1252", kCharmap},
    {"cp1253", "CP1253", kCharmap}, {"cp1254", "CP1254", kCharmap}, {"cp1256", "CP1256", kCharmap},
    {"cp1257", "CP1257", kCharmap},
    {"iso88592", "ISO-8859-2", kCharmap}, {"latin2", "ISO-8859-2", kCharmap}, {"l2", "ISO-8859-2", kCharmap},
    {"iso88593", "ISO-8859-3", kCharmap}, {"latin3", "ISO-8859-3", kCharmap}, {"l3", "ISO-8859-3", kCharmap},
    {"iso88594", "ISO-8859-4", kCharmap}, {"latin4", "ISO-8859-4", kCharmap}, {"l4", "ISO-8859-4", kCharmap},
    {"iso88595", "ISO-8859-5", kCharmap}, {"cyrillic", "ISO-8859-5", kCharmap},
    {"iso88596", "ISO-8859-6", kCharmap}, {"arabic", "ISO-8859-6", kCharmap},
    {"iso88597", "ISO-8859-7", kCharmap}, {"greek", "ISO-8859-7", kCharmap},
    {"iso88598", "ISO-8859-8", kCharmap}, {"hebrew", "ISO-8859-8", kCharmap},
    {"iso88599", "ISO-8859-9", kCharmap}, {"latin5", "ISO-8859-9", kCharmap}, {"l5", "ISO-8859-9", kCharmap},
    {"iso885910", "ISO-8859-10", kCharmap}, {"latin6", "ISO-8859-10", kCharmap}, {"l6", "ISO-8859-10", kCharmap},
    {"iso885911", "ISO-8859-11", kCharmap}, {"thai", "ISO-8859-11", kCharmap},
    {"iso885913", "ISO-8859-13", kCharmap}, {"latin7", "ISO-8859-13", kCharmap}, {"l7", "ISO-8859-13", kCharmap},
    {"iso885914", "ISO-8859-14", kCharmap}, {"latin8", "ISO-8859-14", kCharmap}, {"l8", "ISO-8859-14", kCharmap},
    {"iso885915", "ISO-8859-15", kCharmap}, {"latin9", "ISO-8859-15", kCharmap}, {"l9", "ISO-8859-15", kCharmap},
    {"iso885916", "ISO-8859-16", kCharmap}, {"latin10", "ISO-8859-16", kCharmap}, {"l10", "ISO-8859-16", kCharmap},
    {"koi8r", "KOI8-R", kCharmap}, {"koi8u", "KOI8-U", kCharmap}, {"koi8t", "KOI8-T", kCharmap},
    {"gbk", "GBK", "gbk"}, {"cp936", "GBK", "gbk"}, {"ms936", "GBK", "gbk"}, {"936", "GBK", "gbk"},
    {"gb2312", "GB2312", "gb2312"}, {"euccn", "GB2312", "gb2312"}, {"chinese", "GB2312", "gb2312"},
    {"gb18030", "GB18030", "gb18030"}, {"gb180302000", "GB18030", "gb18030"},
    {"big5", "BIG5", "big5"}, {"big5tw", "BIG5", "big5"},
    {"big5hkscs", "BIG5-HKSCS", "big5hkscs"}, {"hkscs", "BIG5-HKSCS", "big5hkscs"},
    {"cp950", "CP950", "cp950"}, {"ms950", "CP950", "cp950"}, {"950", "CP950", "cp950"},
    {"shiftjis", "SHIFT_JIS", "shift_jis"}, {"sjis", "SHIFT_JIS", "shift_jis"},
    {"cp932", "CP932", "cp932"}, {"ms932", "CP932", "cp932"}, {"mskanji", "CP932", "cp932"}, {"932", "CP932", "cp932"},
    {"eucjp", "EUC-JP", "euc_jp"}, {"ujis", "EUC-JP", "euc_jp"},
    {"euckr", "EUC-KR", "euc_kr"}, {"korean", "EUC-KR", "euc_kr"}, {"ksc5601", "EUC-KR", "euc_kr"},
    {"cp949", "CP949", "cp949"}, {"ms949", "CP949", "cp949"}, {"uhc", "CP949", "cp949"}, {"949", "CP949", "cp949"},
};
// clang-format on

// The longest character in any of them.
constexpr size_t kMostBytes = 4;

const Row* row_named(std::string name) {
  for (const Row& row : kRows)
    if (name == row.name) return &row;
  // A code page may be named by its number, or by whose it is.
  for (const std::string_view owner : {"windows", "ibm", ""}) {
    if (!name.starts_with(owner)) continue;
    const std::string page = "cp" + name.substr(owner.size());
    for (const Row& row : kRows)
      if (page == row.name) return &row;
  }
  return nullptr;
}

// The C library takes these alone for characters in encodings of many bytes; Python does not.
bool is_no_character(std::string_view byte) {
  const auto b = static_cast<uint8_t>(byte[0]);
  return byte.size() == 1 && b >= 0x80 && (b <= 0xA0 || b == 0xFF);
}

iconv_t converter(void* handle) { return static_cast<iconv_t>(handle); }

// The C library's error; 0: all bytes became something.
int convert(void* handle, std::string_view from, std::string& out) {
  std::string copy(from);  // iconv wants to be able to write
  char* in = copy.data();
  size_t left = copy.size();
  char buffer[32];
  char* to = buffer;
  size_t room = sizeof buffer;
  iconv(converter(handle), nullptr, nullptr, nullptr, nullptr);
  if (iconv(converter(handle), &in, &left, &to, &room) == static_cast<size_t>(-1)) return errno;
  iconv(converter(handle), nullptr, nullptr, &to, &room);
  if (to == buffer) return EINVAL;
  out.append(buffer, static_cast<size_t>(to - buffer));
  return 0;
}

}  // namespace

std::unique_ptr<HostCodec> HostCodec::find(std::string_view name) {
  std::string plain;
  for (const char c : name)
    if (std::isalnum(static_cast<unsigned char>(c)))
      plain += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  const Row* row = row_named(std::move(plain));
  if (!row) return nullptr;
  const auto failed = reinterpret_cast<iconv_t>(-1);
  const iconv_t decoder = iconv_open("UTF-8", row->host);
  if (decoder == failed) return nullptr;
  const iconv_t encoder = iconv_open(row->host, "UTF-8");
  if (encoder == failed) {
    iconv_close(decoder);
    return nullptr;
  }
  return std::unique_ptr<HostCodec>(new HostCodec(row->messages, decoder, encoder));
}

HostCodec::~HostCodec() {
  iconv_close(converter(decoder_));
  iconv_close(converter(encoder_));
}

bool HostCodec::is_charmap() const { return name_ == kCharmap; }

const char* HostCodec::unknown_text() const {
  return is_charmap() ? "character maps to <undefined>" : "illegal multibyte sequence";
}

size_t HostCodec::decode_one(std::string_view bytes, std::string& out, bool& cut_off) {
  cut_off = false;
  std::string character;
  const size_t most = is_charmap() ? 1 : std::min(bytes.size(), kMostBytes);
  for (size_t n = 1; n <= most; ++n) {
    const int error = convert(decoder_, bytes.substr(0, n), character);
    if (error == 0 && !is_charmap() && is_no_character(bytes.substr(0, n))) {
      cut_off = bytes.size() == 1;
      return 0;
    }
    if (error == 0) {
      out += character;
      return n;
    }
    if (error != EINVAL) return 0;
    cut_off = n == bytes.size();
  }
  return 0;
}

bool HostCodec::encode_one(std::string_view character, std::string& out) {
  std::string bytes;
  if (convert(encoder_, character, bytes) != 0 || (!is_charmap() && is_no_character(bytes))) return false;
  out += bytes;
  return true;
}

}  // namespace tsc::interp
