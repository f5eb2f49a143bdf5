// The editor alone, on a pseudo-terminal of its own, with a language in which a block ends with a
// dot.
#include "interpreter/cli/editor.h"

#include <pty.h>
#include <unistd.h>

#include <thread>

#include "catch2/catch.hpp"

using namespace tsc::cli;

namespace {

struct Edited {
  EditResult result;
  std::string text;
};

// What one read() gives for these keys.
Edited edit(const std::string& keys, History& history) {
  int outer = -1, inner = -1;
  REQUIRE(openpty(&outer, &inner, nullptr, nullptr, nullptr) == 0);
  Edited edited{};
  std::thread screen([&] {
    char buffer[4096];
    while (read(outer, buffer, sizeof buffer) > 0) {
    }
  });
  {
    Terminal terminal(inner, inner);
    EditorQuestions questions;
    questions.is_complete = [](const std::string& text) {
      return !text.empty() && text.find_last_of('.') == text.size() - 1;
    };
    questions.complete = [](const std::string& text, std::size_t cursor) {
      const std::size_t space = text.rfind(' ', cursor);
      const std::size_t begin = space == std::string::npos ? 0 : space + 1;
      std::vector<std::string> names;
      for (const char* name : {"apple", "apricot", "banana"})
        if (std::string(name).rfind(text.substr(begin, cursor - begin), 0) == 0)
          names.push_back(name);
      return std::make_pair(begin, names);
    };
    Editor editor(terminal, history, questions);
    terminal.raw();
    REQUIRE(write(outer, keys.data(), keys.size()) == static_cast<ssize_t>(keys.size()));
    edited.result = editor.read(">>> ", "... ", edited.text);
  }
  close(inner);
  screen.join();
  close(outer);
  return edited;
}

std::string text_of(const std::string& keys) {
  History history("");
  const Edited edited = edit(keys, history);
  CHECK(edited.result == EditResult::Entry);
  return edited.text;
}

constexpr char kUp[] = "\033[A", kLeft[] = "\033[D", kHome[] = "\033[H";

}  // namespace

TEST_CASE("typing, moving, erasing") {
  CHECK(text_of("abc.\r") == "abc.");
  CHECK(text_of("ac" + std::string(kLeft) + "b\x05.\r") == "abc.");
  CHECK(text_of("xbc." + std::string(kHome) + "\033[3~a\x05\r") == "abc.");
  CHECK(text_of("abx\x7f"
                "c.\r") == "abc.");
  CHECK(text_of("one two\x17three.\r") == "one three.");
  CHECK(text_of("abc\x15"
                "d.\r") == "d.");
  CHECK(text_of("abc.\033OHx\x0b.\r") == "x.");
}

TEST_CASE("characters of several bytes are one step") {
  CHECK(text_of("é世\x7f.\r") == "é.");
  CHECK(text_of("é世" + std::string(kLeft) + std::string(kLeft) + "a\x05.\r") == "aé世.");
}

TEST_CASE("Enter goes on where the block is not complete, with indentation") {
  CHECK(text_of("if:\rb\r\x7f.\r") == "if:\n    b\n.");
  CHECK(text_of("a\033\rb.\r") == "a\nb.");
}

TEST_CASE("Up walks lines, then the history, as blocks") {
  History history("");
  history.add("first\nblock.");
  history.add("second.");
  CHECK(edit(std::string(kUp) + "\r", history).text == "second.");
  CHECK(edit(std::string(kUp) + kUp + "\r", history).text == "first\nblock.");
  CHECK(edit(std::string(kUp) + kUp + kUp + "x\x0b\033[B\x05\r", history).text == "firstx\nblock.");
  CHECK(edit("dr" + std::string(kUp) + "\033[Baft.\r", history).text == "draft.");
  CHECK(edit("\x12"
             "fir\r\r",
             history)
            .text == "first\nblock.");
}

TEST_CASE("a bracketed paste is text, its prompts go") {
  CHECK(text_of("\033[200~a\rb.\033[201~\r") == "a\nb.");
  CHECK(text_of("\033[200~>>> for:\n...     x.\033[201~\r") == "for:\n    x.");
  CHECK(text_of("\033[200~>>> a\nanswer\n>>> b.\033[201~\r") == "a\nb.");
  CHECK(text_of("\033[200~no\n>>> prompt.\033[201~\r") == "no\n>>> prompt.");
}

TEST_CASE("Tab completes what all candidates share") {
  CHECK(text_of("ba\t.\r") == "banana.");
  CHECK(text_of("a\tr\t.\r") == "apricot.");
  CHECK(text_of("zz\t.\r") == "zz.");
  CHECK(text_of("\tx.\r") == "    x.");
}

TEST_CASE("Ctrl-C gives the block up, Ctrl-D on nothing ends") {
  History history("");
  CHECK(edit("abc\x03", history).result == EditResult::Cancelled);
  CHECK(edit("\x04", history).result == EditResult::End);
  CHECK(edit("ab" + std::string(kHome) + "\x04\x05.\r", history).text == "b.");
}

TEST_CASE("a block larger than the screen, a line longer than it") {
  std::string tall;
  for (int i = 0; i < 100; ++i) tall += "line\033\r";
  CHECK(text_of(tall + ".\r").size() == 100 * 5 + 1);
  CHECK(text_of(std::string(1000, 'w') + ".\r").size() == 1001);
}
