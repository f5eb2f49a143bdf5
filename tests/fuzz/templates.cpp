#include "templates.h"

#include <cctype>
#include <sstream>

namespace tsc::fuzz {

std::string indented(const std::string& text) {
  std::string out;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) out += "    " + line + "\n";
  return out;
}

std::string TemplateText::hole(char kind, int depth) {
  if (const auto names = grammar_.variables.find(kind); names != grammar_.variables.end())
    return random.pick(names->second);
  const Templates& choices = grammar_.expressions.at(kind);
  const char variable = static_cast<char>(std::toupper(kind));
  if (depth > 5) return grammar_.variables.count(variable) ? hole(variable, depth) : expand(choices[0], depth + 1);
  // Deep down only the first ones, which are short.
  const size_t count = depth > 1 ? std::min<size_t>(choices.size(), depth > 2 ? 2 : 6) : choices.size();
  return expand(choices[random.below(count)], depth + 1);
}

std::string TemplateText::expand(const std::string& text, int depth) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool opens = text[i] == '{';
    if (opens && text.compare(i, 2, "{{") == 0) out += text[++i];
    else if (opens && text.compare(i, 3, "{:}") == 0) out += "\n" + indented(suite(depth + 1, 3)), i += 2;
    else if (opens) out += hole(text[i + 1], depth), i += 2;
    else if (text.compare(i, 2, "}}") == 0) out += text[++i];
    else out += text[i];
  }
  return out;
}

std::string TemplateText::statement(int depth) {
  const bool compound = depth < 3 && random.once_in(3);
  std::string text = expand(random.pick(compound ? grammar_.compound : grammar_.simple), compound ? depth : 0);
  if (text.back() != '\n') text += '\n';
  return text;
}

std::string TemplateText::suite(int depth, size_t most) {
  std::string out;
  for (size_t i = random.below(most) + 1; i > 0; --i) out += statement(depth);
  return out;
}

std::string TemplateText::guarded(size_t count) {
  std::string out;
  for (; count > 0; --count) {
    const std::string one = statement(0);
    out += random.once_in(2) ? "try:\n" + indented(one) + "except Exception as error:\n    out.append(name_of(error))\n"
                             : one;
  }
  return out;
}

namespace {

bool is_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

// The text with `with(word)` in the place of each word.
template <class With>
std::string replace_words(const std::string& text, With with) {
  std::string out, word;
  for (const char c : text + '\n') {
    if (is_name(c)) {
      word += c;
      continue;
    }
    out += with(word) + c;
    word.clear();
  }
  out.pop_back();
  return out;
}

class Calls {
 public:
  Calls(const CallsProgram& program, uint64_t seed)
      : program_(program), text_(program.grammar, seed), random_(text_.random) {}
  std::string text();

 private:
  std::string argument(const Parameter& parameter);
  std::string arguments();
  std::string function();
  std::string calls();
  std::string between();

  const CallsProgram& program_;
  TemplateText text_;
  Random& random_;
  std::vector<Parameter> used_;
  std::string names_;
  bool made_anew_ = false;
};

// One of a few, one after the other, one that comes seldom, or one that is new.
std::string Calls::argument(const Parameter& parameter) {
  constexpr const char* kNumbers[] = {"turn", "turn % 3", "1", "turn % 2"};
  constexpr const char* kTurns[] = {"1", "2", "3", "5", "9"};
  if (!parameter.pool) return random_.pick(kNumbers);
  const std::string pool = parameter.pool, count = " % len(" + pool + ")";
  const std::string fixed = std::to_string(random_.below(3)) + count;
  switch (random_.below(8)) {
    case 0:
    case 1:
    case 2: return pool + "[" + fixed + "]";
    case 3:
    case 4:
    case 5: return pool + "[turn // " + random_.pick(kTurns) + count + "]";
    case 6: return pool + "[" + fixed + " if turn % 5 else -1]";
    default: return parameter.fresh;
  }
}

std::string Calls::arguments() {
  std::string out;
  for (const Parameter& parameter : used_) out += argument(parameter) + ", ";
  return out;
}

std::string Calls::function() {
  std::string body = text_.guarded(2 + random_.below(6));
  replace_words(body, [&](const std::string& word) {
    for (const Parameter& parameter : program_.parameters)
      if (word == parameter.name && names_.find(word + ",") == std::string::npos) {
        used_.push_back(parameter);
        names_ += word + ", ";
      }
    return word;
  });
  body += "return out, n, ";
  for (const Parameter& parameter : used_)
    if (random_.once_in(3)) body += parameter.name + std::string(", ");
  body = std::string(program_.begin) + "n, out = 0, []\n" + body + "\n";
  made_anew_ = !used_.empty() && random_.once_in(4);
  if (!made_anew_) return "@torch.compile\ndef f(turn, " + names_ + "):\n" + indented(body);
  const std::string cells = names_.substr(0, names_.size() - 2);
  return "def maker(" + names_ + "):\n    @torch.compile\n    def f(turn):\n        nonlocal " + cells + "\n" +
         indented(indented(body)) + "    def reset(*new):\n        nonlocal " + cells + "\n        " + names_ +
         "= new\n    return f, reset\n";
}

std::string Calls::calls() {
  const auto some = [&] { return std::to_string(2 + random_.below(7)); };
  if (!made_anew_)
    return "print(turn, show(f(turn, " + arguments() + ")))\nif turn % " + some() +
           " == 0: print('again', show(f(turn % 2, " + arguments() + ")))\n";
  return "if turn % " + some() + " == 0: made[turn % 2] = maker(" + arguments() + ")\nif turn % " + some() +
         " == 1: made[0][1](" + arguments() + ")\nprint(turn, show(made[turn // " + some() + " % 2][0](turn)))\n";
}

// What the program does beside the calls, to the objects that they are given.
std::string Calls::between() {
  std::string out;
  for (size_t i = random_.below(4); i > 0; --i) {
    std::string one = text_.expand(random_.pick(program_.grammar.simple), 1);
    one = replace_words(one, [&](const std::string& word) {
      for (const Parameter& parameter : program_.parameters)
        if (word == parameter.name) return argument(parameter);
      return word;
    });
    if (one.find("return") != std::string::npos) continue;
    out += "if turn % " + std::to_string(2 + random_.below(8)) + " == " + std::to_string(random_.below(3)) +
           ":\n    try:\n        out, n = [], 1\n" + indented(indented(one)) +
           "    except Exception as error:\n        print('between', name_of(error))\n";
  }
  return out;
}

std::string Calls::text() {
  std::string program = std::string(program_.prelude) + program_.pools + function() + "turn = 0\n";
  if (made_anew_) program += "made = [maker(" + arguments() + "), maker(" + arguments() + ")]\n";
  program +=
      "for turn in range(32):\n    trim()\n    try:\n" + indented(indented(calls())) +
      "    except Exception as error:\n        print(name_of(error), str(error).split('inplace operation')[0])\n" +
      indented(program_.shown);
  return program + indented(between());
}

}  // namespace

std::string calls_program(const CallsProgram& program, uint64_t seed) { return Calls(program, seed).text(); }

}  // namespace tsc::fuzz
