#include "interpreter/cli/test_run.h"

#include <algorithm>
#include <chrono>
#include <memory>

#include "interpreter/cli/doc_examples.h"
#include "interpreter/cli/files.h"
#include "interpreter/cli/session.h"

namespace tsc::cli {
namespace {

using Clock = std::chrono::steady_clock;

struct FreeValue {
  const tsc_api* api;
  void operator()(tsc_value* value) const { api->value_free(value); }
};
using ValueRef = std::unique_ptr<tsc_value, FreeValue>;

std::string trimmed_word(const std::string& text) {
  const size_t begin = text.find_first_not_of(' ');
  return begin == std::string::npos ? "" : text.substr(begin, text.find_last_not_of(' ') - begin + 1);
}

std::vector<std::string> split_at(const std::string& text, const std::string& word) {
  std::vector<std::string> parts;
  for (size_t begin = 0;;) {
    const size_t end = text.find(word, begin);
    parts.push_back(text.substr(begin, end == std::string::npos ? end : end - begin));
    if (end == std::string::npos) return parts;
    begin = end + word.size();
  }
}

void capture_output(void* user, tsc_stream, const char* text, size_t size) {
  static_cast<std::string*>(user)->append(text, size);
}

class Runner {
 public:
  Runner(const Invocation& invocation, FileResult& result)
      : invocation_(invocation), session_(invocation, capture_output, &output_), api_(session_.api()), result_(result) {
  }

  void run(bool functions, bool examples) {
    if (!session_.ok()) return fail_file("the engine could not be made");
    std::string text, problem;
    if (!read_text(result_.path, text, problem)) return fail_file(problem);
    if (!load(text)) return;
    if (functions) run_functions();
    if (examples) run_examples();
  }

 private:
  // ---- The script itself

  void fail_file(const std::string& message) {
    result_.tests.push_back({"(the file)", Outcome::Failed, 0, message, message + "\n", output_});
  }

  // Runs the script under its own name, so that `if __name__ == "__main__":` is not taken.
  bool load(const std::string& text) {
    const size_t slash = result_.path.rfind('/');
    const std::string file = result_.path.substr(slash == std::string::npos ? 0 : slash + 1);
    set_text("__name__", file.substr(0, file.rfind('.')));
    set_text("__file__", result_.path);
    const auto start = Clock::now();
    tsc_status* status = api_.run_source(session_.engine(), result_.path.c_str(), text.data(), text.size());
    if (status == nullptr) return true;
    record("(the file)", start, status);
    return false;
  }

  void set_text(const char* name, const std::string& text) {
    tsc_value* value = nullptr;
    api_.status_free(api_.str_new(session_.engine(), text.data(), text.size(), &value));
    api_.status_free(api_.set(session_.engine(), name, value));
    api_.value_free(value);
  }

  // The texts of a list that an expression gives; none when it fails.
  std::vector<std::string> ask(const std::string& expression) {
    tsc_value* list = nullptr;
    tsc_status* status = api_.run_entry(session_.engine(), "<tests>", expression.data(), expression.size(), &list);
    const ValueRef owned(list, FreeValue{&api_});
    std::vector<std::string> texts;
    size_t count = 0;
    if (status == nullptr && list != nullptr) status = api_.length(list, &count);
    api_.status_free(status);
    for (size_t i = 0; i < count; ++i) {
      tsc_value* item = nullptr;
      const char* text = nullptr;
      size_t size = 0;
      api_.status_free(api_.item(list, i, &item));
      const ValueRef held(item, FreeValue{&api_});
      tsc_status* wrong = api_.as_str(item, &text, &size);
      if (wrong == nullptr) texts.emplace_back(text, size);
      api_.status_free(wrong);
    }
    return texts;
  }

  // ---- Functions and classes

  void run_functions() {
    const auto functions =
        ask("[_n for _n, _v in globals().items() if _n.startswith('test_') and callable(_v) and "
            "not isinstance(_v, type)]");
    const auto classes =
        ask("[_n for _n, _v in globals().items() if _n.startswith('Test') and isinstance(_v, type) and "
            "_v.__module__ == __name__]");
    bool ready = true;
    if (has("setup_module")) ready = record("setup_module", Clock::now(), call("setup_module"), true);
    for (const std::string& name : functions)
      if (ready && selected(name)) run_function(name);
    for (const std::string& name : classes)
      if (ready) run_class(name);
    if (has("teardown_module")) record("teardown_module", Clock::now(), call("teardown_module"), true);
  }

  bool selected(const std::string& name) {
    const bool takes = matches_pattern(invocation_.test_pattern, name);
    result_.left_out += !takes;
    return takes;
  }

  bool has(const std::string& dotted_name) {
    tsc_value* value = nullptr;
    tsc_status* status = api_.get(session_.engine(), dotted_name.c_str(), &value);
    api_.value_free(value);
    const bool found = status == nullptr;
    api_.status_free(status);
    return found;
  }

  tsc_status* call_value(tsc_value* function, tsc_value** out = nullptr) {
    return api_.call(session_.engine(), function, nullptr, 0, nullptr, nullptr, 0, out);
  }

  tsc_status* call(const std::string& name) {
    tsc_value* function = nullptr;
    tsc_status* status = api_.get(session_.engine(), name.c_str(), &function);
    const ValueRef owned(function, FreeValue{&api_});
    return status != nullptr ? status : call_value(function);
  }

  void run_function(const std::string& name) {
    const auto start = Clock::now();
    tsc_status* status = has("setup_function") ? call("setup_function") : nullptr;
    if (status == nullptr && has("setup")) status = call("setup");
    if (status == nullptr) status = call(name);
    for (const char* teardown : {"teardown", "teardown_function"})
      if (has(teardown)) status = first_of(status, call(teardown));
    record(name, start, status);
  }

  // The first thing that went wrong is what is reported.
  tsc_status* first_of(tsc_status* first, tsc_status* second) {
    if (first == nullptr) return second;
    api_.status_free(second);
    return first;
  }

  void run_class(const std::string& name) {
    const auto methods = ask("list(dict.fromkeys(_m for _k in reversed(" + name +
                             ".__mro__) for _m in vars(_k) if _m.startswith('test')))");
    for (const std::string& method : methods) {
      const std::string full = name + "." + method;
      if (!selected(full)) continue;
      const auto start = Clock::now();
      record(full, start, run_method(name, method));
    }
  }

  // Each test has an object of its own.
  tsc_status* run_method(const std::string& class_name, const std::string& method) {
    tsc_value *type = nullptr, *object = nullptr;
    tsc_status* status = api_.get(session_.engine(), class_name.c_str(), &type);
    const ValueRef owned_type(type, FreeValue{&api_});
    if (status == nullptr) status = call_value(type, &object);
    const ValueRef owned(object, FreeValue{&api_});
    if (status != nullptr) return status;
    for (const char* setup : {"setup_method", "setup", "setUp"})
      if (status == nullptr) status = call_method(object, setup, true);
    if (status == nullptr) status = call_method(object, method, false);
    for (const char* teardown : {"tearDown", "teardown", "teardown_method"})
      status = first_of(status, call_method(object, teardown, true));
    return status;
  }

  tsc_status* call_method(tsc_value* object, const std::string& name, bool optional) {
    tsc_value* method = nullptr;
    tsc_status* status = api_.get_attribute(session_.engine(), object, name.c_str(), &method);
    const ValueRef owned(method, FreeValue{&api_});
    if (status == nullptr) return call_value(method);
    if (!optional) return status;
    api_.status_free(status);
    return nullptr;
  }

  // Takes the status; false when it was one. `quiet`: success is no result.
  bool record(const std::string& name, Clock::time_point start, tsc_status* status, bool quiet = false) {
    TestResult test;
    test.name = name;
    test.seconds = std::chrono::duration<double>(Clock::now() - start).count();
    test.output = std::move(output_);
    output_.clear();
    const bool good = status == nullptr;
    if (!good) {
      std::string type = api_.status_type(status);
      type = type.substr(type.rfind('.') + 1);
      test.outcome = type == "SkipTest" ? Outcome::Skipped : Outcome::Failed;
      test.message = api_.status_message(status);
      api_.status_render(status, 0, append_text, &test.details);
      if (test.message.empty()) test.message = "stopped: sys.exit()";
      api_.status_free(status);
    }
    if (!good || !quiet) result_.tests.push_back(std::move(test));
    return good;
  }

  // ---- Examples

  void run_examples() {
    const auto names =
        ask("['(module)'] * bool(__doc__ if '__doc__' in globals() else None) + "
            "[_n for _n, _v in globals().items() if getattr(_v, '__module__', None) == __name__ and "
            "(isinstance(_v, type) or getattr(_v, '__doc__', None))]");
    for (const std::string& name : names) {
      const auto docs = ask("[" + (name == "(module)" ? "" : name + ".") + "__doc__]");
      if (!docs.empty()) run_docstring(name, docs[0]);
      if (name == "(module)") continue;
      const auto methods = ask("[_m for _m, _v in vars(" + name + ").items() if callable(_v) and _v.__doc__] if " +
                               "isinstance(" + name + ", type) else []");
      for (const std::string& method : methods) {
        const auto text = ask("[" + name + "." + method + ".__doc__]");
        if (!text.empty()) run_docstring(name + "." + method, text[0]);
      }
    }
  }

  void run_docstring(const std::string& name, const std::string& text) {
    for (const DocExample& example : doc_examples(text)) {
      const std::string full = "example of " + name + ", line " + std::to_string(example.line);
      if (!selected(full)) continue;
      const auto start = Clock::now();
      output_.clear();
      std::string got = run_example(example.source);
      TestResult test{full, Outcome::Passed, 0, "", "", ""};
      test.seconds = std::chrono::duration<double>(Clock::now() - start).count();
      if (!matches_expected(example.expected, got)) {
        test.outcome = Outcome::Failed;
        test.message = "the example gives something else";
        test.details = example.source + "expected:\n" + example.expected + "got:\n" + got + "\n";
      }
      result_.tests.push_back(std::move(test));
    }
  }

  // What a prompt would show: the printed text, then the value or the error.
  std::string run_example(const std::string& source) {
    tsc_value* value = nullptr;
    tsc_status* status = api_.run_entry(session_.engine(), "<example>", source.data(), source.size(), &value);
    const ValueRef owned(value, FreeValue{&api_});
    if (status == nullptr && value != nullptr && api_.kind(value) != TSC_NONE)
      status = api_.represent(session_.engine(), value, append_text, &output_);
    std::string got = std::move(output_);
    output_.clear();
    if (status != nullptr)
      got += std::string("Traceback (most recent call last):\n...\n") + api_.status_message(status);
    api_.status_free(status);
    return got;
  }

  const Invocation& invocation_;
  std::string output_;
  Session session_;
  const tsc_api& api_;
  FileResult& result_;
};

}  // namespace

bool matches_pattern(const std::string& pattern, const std::string& name) {
  if (pattern.empty()) return true;
  for (const std::string& any : split_at(pattern, " or ")) {
    bool all = true;
    for (std::string word : split_at(any, " and ")) {
      word = trimmed_word(word);
      const bool inverted = word.rfind("not ", 0) == 0;
      if (inverted) word = trimmed_word(word.substr(4));
      all = all && (name.find(word) != std::string::npos) != inverted;
    }
    if (all) return true;
  }
  return false;
}

FileResult run_test_file(const Invocation& invocation, const std::string& path, bool functions, bool examples) {
  FileResult result;
  result.path = path;
  Invocation own = invocation;
  own.arguments = {path};
  const size_t slash = path.rfind('/');
  own.search_paths.insert(own.search_paths.begin(), slash == std::string::npos ? "." : path.substr(0, slash));
  Runner(own, result).run(functions, examples);
  return result;
}

}  // namespace tsc::cli
