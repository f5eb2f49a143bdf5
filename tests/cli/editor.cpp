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
Edited edit(const std::string& keys, History& history, EditKeys style = EditKeys::Emacs) {
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
        if (std::string(name).rfind(text.substr(begin, cursor - begin), 0) == 0) names.push_back(name);
      return std::make_pair(begin, names);
    };
    Editor editor(terminal, history, questions, style);
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

// With vi's keys.
std::string vi(const std::string& keys) {
  History history("");
  history.add("old.");
  history.add("wanted one.");
  const Edited edited = edit(keys, history, EditKeys::Vi);
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

TEST_CASE("what was killed can be brought back") {
  CHECK(text_of("one two\x17three \x19.\r") == "one three two.");
  CHECK(text_of("one two\x17\x17\x19.\r") == "one two.");  // two kills in a row are one text
  CHECK(text_of("one\x15two \x19.\r") == "two one.");
  CHECK(text_of("one two" + std::string(kHome) + "\033d\x05 \x19.\r") == " two one.");
  CHECK(text_of("one two" + std::string(kHome) + "\x0b\x19\x19.\r") == "one twoone two.");
}

TEST_CASE("characters change places, words their case") {
  CHECK(text_of("ab\x14.\r") == "ba.");
  CHECK(text_of("abc" + std::string(kLeft) + "\x14.\r") == "acb.");
  CHECK(text_of("a\x14\x14.\r") == "a.");
  CHECK(text_of("\xC3\xA4x\x14.\r") == "x\xC3\xA4.");
  const std::string start = kHome;
  CHECK(text_of("one two" + start + "\033u.\x05.\r") == "ONE. two.");
  CHECK(text_of("ONE" + start + "\033l.\r") == "one.");
  CHECK(text_of("oNE two" + start + "\033c\033c.\r") == "One Two.");
}

TEST_CASE("Ctrl-_ undoes one change after the other") {
  CHECK(text_of("one two\x17\x1f.\r") == "one two.");
  CHECK(text_of("one two\x17\x7f\x1f\x1f.\r") == "one two.");
  CHECK(text_of("one two\x17x\x1f\x1f\x1f\x1f.\r") == ".");
}

TEST_CASE("Enter anywhere in a complete line runs it, above the last line it splits") {
  CHECK(text_of("abc." + std::string(kHome) + "\r") == "abc.");
  CHECK(text_of("ab\033\rc." + std::string(kUp) + kHome + "\r\x05\x0e\x0e\r") == "\nab\nc.");
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

TEST_CASE("vi: insert mode types, Escape leaves it, Enter runs from both") {
  CHECK(vi("abc.\r") == "abc.");
  CHECK(vi("abc.\033\r") == "abc.");
  CHECK(vi("ac.\033hhaB\033A!\033I<\033ix\033$r.\r") == "x<aBc..");
  CHECK(vi("a\x7f"
           "b.\r") == "b.");
  CHECK(vi("if:\033\rb\r\x7f.\r") == "if:\n    b\n.");
  CHECK(vi("é世b.\033hhs!\033\r") == "é!b.");
}

TEST_CASE("vi: motions") {
  CHECK(vi("one two.x three.\0330wiA\033\r") == "one Atwo.x three.");
  CHECK(vi("one two.x three.\0330WWiA\033\r") == "one two.x Athree.");
  CHECK(vi("one two.x three.\0330eeaA\033\r") == "one twoA.x three.");
  CHECK(vi("one two.x three.\033BiA\033\r") == "one two.x Athree.");
  CHECK(vi("one two.x three.\033bbbiA\033\r") == "one twoA.x three.");
  CHECK(vi("  ab.\033^iA\0330iB\033\r") == "B  Aab.");
  CHECK(vi("f(a, [b], c).\0330fb~\r") == "f(a, [B], c).");
  CHECK(vi("f(a, [b], c).\0330%i!\033\r") == "f(a, [b], c!).");
  CHECK(vi("a.b.c.d.\0330f.;;x\r") == "a.b.cd.");
  CHECK(vi("a.b.c.d.\0330f.;;,x\r") == "a.bc.d.");
  CHECK(vi("a.b.c.d.\033T.x\r") == "a.b.c..");
  CHECK(vi("a\033\rb\033\rc.\033ggx\033Gx\r") == "\nb\n.");
}

TEST_CASE("vi: verbs take motions, counts and text objects") {
  CHECK(vi("one two three.\0330dw\r") == "two three.");
  CHECK(vi("one two three.\03302dw\r") == "three.");
  CHECK(vi("one two three.\0330d2w\r") == "three.");
  CHECK(vi("one two three.\0330wcwTWO\033\r") == "one TWO three.");
  CHECK(vi("a b.\0330cwx\033\r") == "x b.");
  CHECK(vi("one two three.\0330wD\r.\r") == "one \n.");
  CHECK(vi("one two three.\0330dt.\r") == ".");
  CHECK(vi("one two three.\0330wdb\r") == "two three.");
  CHECK(vi("print('a b').\033hhhci'x\033\r") == "print('x').");
  CHECK(vi("f(a, g(b)).\0330fbci(x\033\r") == "f(a, g(x)).");
  CHECK(vi("f(a, g(b)).\0330fada(\r") == "f.");
  CHECK(vi("one two three.\0330wdaw\r") == "one three.");
  CHECK(vi("ab.\0330xp\r") == "ba.");
  CHECK(vi("ab.\03303x\033i.\r") == ".");
  CHECK(vi("ab.\0330yw$P\r") == "abab.");
}

TEST_CASE("vi: lines, undo and repetition") {
  const std::string lines = "if:\rb\rc.\033";
  CHECK(vi(lines + "kdd\r") == "if:\n    c.");
  CHECK(vi(lines + "kddp\r\x7f.\r") == "if:\n    c.\n    b\n.");
  CHECK(vi(lines + "ggJ\r") == "if: b\n    c.");
  CHECK(vi(lines + "kod\033\r") == "if:\n    b\n    d\n    c.");
  CHECK(vi(lines + "kOd\033\r") == "if:\n    d\n    b\n    c.");
  CHECK(vi("ab.\0330xxu\r") == "b.");
  CHECK(vi("ab.\0330xxuu\r") == "ab.");
  CHECK(vi("ab.\0330xxuu\x12\r") == "b.");
  CHECK(vi("ab.\033uix.\r") == "x.");
  CHECK(vi("a b c.\0330cwx\033w.w.\r") == "x x x.");
  CHECK(vi("aaaa.\0330x..\r") == "a.");
}

TEST_CASE("vi: history by j, k and /; what is no command does nothing") {
  CHECK(vi("\033k\r") == "wanted one.");
  CHECK(vi("\033kk\r") == "old.");
  CHECK(vi("x\033kkjj\033A.\r") == "x.");
  CHECK(vi("\033/ol\r\r") == "old.");
  CHECK(vi("ab.\033Qzd\033gx\r") == "ab.");
  CHECK(vi("\033uxdwdd.Gp%i.\r") == ".");
}
