#include "interpreter/value/search.h"

#include <cstring>

#include "interpreter/heap/patience.h"

namespace tsc::interp {
namespace {

constexpr size_t kNone = std::string_view::npos;

// Bytes from the front or from the back: the same search serves both directions.
template <bool backward>
struct Bytes {
  std::string_view text;
  size_t size() const { return text.size(); }
  unsigned char operator[](size_t i) const {
    return static_cast<unsigned char>(text[backward ? text.size() - 1 - i : i]);
  }
};

// Crochemore and Perrin's two-way search: linear, with no memory of its own.
template <class Text>
class TwoWay {
 public:
  explicit TwoWay(Text needle) : needle_(needle), size_(needle.size()) {
    size_t period, reverse_period;
    const size_t cut = maximal_suffix(false, period), reverse_cut = maximal_suffix(true, reverse_period);
    cut_ = std::max(cut, reverse_cut);
    period_ = cut > reverse_cut ? period : reverse_period;
    periodic_ = true;
    for (size_t i = 0; i < cut_ && periodic_; ++i) {
      patience_.step();
      periodic_ = i + period_ < size_ && needle_[i] == needle_[i + period_];
    }
    if (!periodic_) period_ = std::max(cut_, size_ - cut_) + 1;
  }

  size_t find(Text text) {
    size_t remembered = 0;
    for (size_t at = 0; at + size_ <= text.size();) {
      size_t i = std::max(cut_, remembered);
      while (i < size_ && needle_[i] == text[at + i]) patience_.step(), ++i;
      patience_.step();
      if (i < size_) {
        at += i - cut_ + 1;
        remembered = 0;
        continue;
      }
      i = cut_;
      while (i > remembered && needle_[i - 1] == text[at + i - 1]) patience_.step(), --i;
      if (i <= remembered) return at;
      at += period_;
      remembered = periodic_ ? size_ - period_ : 0;
    }
    return kNone;
  }

 private:
  // Where the largest suffix begins (by the alphabet, or by its reverse), and its period.
  size_t maximal_suffix(bool reverse, size_t& period) {
    size_t suffix = kNone, at = 0, k = 1;  // kNone + k wraps to k - 1
    period = 1;
    while (at + k < size_) {
      patience_.step();
      const unsigned char a = needle_[at + k], b = needle_[suffix + k];
      if (a == b) {
        if (k == period) at += period, k = 1;
        else ++k;
      } else if (reverse ? a > b : a < b) {
        at += k;
        k = 1;
        period = at - suffix;
      } else {
        suffix = at++;
        k = period = 1;
      }
    }
    return suffix + 1;
  }

  Text needle_;
  size_t size_, cut_ = 0, period_ = 1;
  bool periodic_ = false;
  Patience patience_;
};

constexpr size_t kPiece = 256 << 10;

// The library's search over pieces that overlap by the needle's length.
size_t find_in_pieces(std::string_view text, std::string_view needle, size_t from) {
  for (size_t at = from; at + needle.size() <= text.size(); at += kPiece) {
    if (at != from) hear_stop();
    const size_t size = std::min(kPiece + needle.size() - 1, text.size() - at);
    const void* found = needle.size() == 1 ? std::memchr(text.data() + at, needle[0], size)
                                           : ::memmem(text.data() + at, size, needle.data(), needle.size());
    if (found) return static_cast<size_t>(static_cast<const char*>(found) - text.data());
  }
  return kNone;
}

size_t rfind_in_pieces(std::string_view text, std::string_view needle) {
  for (size_t end = text.size(); end >= needle.size();) {
    const size_t size = std::min(kPiece + needle.size() - 1, end), begin = end - size;
    const size_t found = text.substr(begin, size).rfind(needle);
    if (found != kNone) return begin + found;
    if (begin == 0) return kNone;
    end = begin + needle.size() - 1;
    hear_stop();
  }
  return kNone;
}

}  // namespace

size_t find_text(std::string_view text, std::string_view needle, size_t from) {
  if (from > text.size() || needle.size() > text.size() - from) return kNone;
  if (needle.empty() || text.size() - from <= 256) return text.find(needle, from);
  if (needle.size() <= kPiece / 4) return find_in_pieces(text, needle, from);
  const size_t found = TwoWay<Bytes<false>>({needle}).find({text.substr(from)});
  return found == kNone ? kNone : from + found;
}

size_t rfind_text(std::string_view text, std::string_view needle) {
  if (needle.size() > text.size()) return kNone;
  if (needle.empty() || text.size() <= 256) return text.rfind(needle);
  if (needle.size() <= 64) return rfind_in_pieces(text, needle);
  const size_t found = TwoWay<Bytes<true>>({needle}).find({text});
  return found == kNone ? kNone : text.size() - found - needle.size();
}

size_t count_text(std::string_view text, std::string_view needle) {
  size_t count = 0;
  Patience patience;
  for (size_t at = 0; (at = find_text(text, needle, at)) != kNone; at += needle.size()) {
    patience.step(16);
    ++count;
  }
  return count;
}

}  // namespace tsc::interp
