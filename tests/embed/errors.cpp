// Errors as data.
#include "catch2/catch.hpp"
#include "interpreter/embed/tenscript.hpp"

using namespace tenscript;

namespace {
Error error_of(const std::string& text) {
  Engine engine;
  try {
    engine.run_source(text, "job.tsc");
  } catch (const Error& error) {
    return error;  // outlives its engine
  }
  throw std::logic_error("no error");
}
}  // namespace

TEST_CASE("an uncaught exception: type, message, traceback") {
  const Error error = error_of("def f(x):\n    return 1 / x\n\nf(0)\n");
  CHECK(error.code() == TSC_SCRIPT_ERROR);
  CHECK(error.type() == "ZeroDivisionError");
  CHECK(std::string(error.what()) == "ZeroDivisionError: division by zero");
  const auto frames = error.traceback();
  REQUIRE(frames.size() == 2);
  CHECK(frames[0].line == 4);
  CHECK(frames[0].function == "<module>");
  CHECK(frames[1].file == "job.tsc");
  CHECK(frames[1].function == "f");
  CHECK(frames[1].line == 2);
  CHECK(frames[1].source_line == "    return 1 / x");
  CHECK(frames[1].column == 12);
  CHECK(frames[1].end_column == 17);
  CHECK(error.render().find("Traceback (most recent call last)") == 0);
  CHECK(error.render(true).find("\033[") != std::string::npos);
  CHECK(error.render().find("\033[") == std::string::npos);
}

TEST_CASE("a syntax error: place and rendering") {
  const Error error = error_of("x = 1\ny = (2\n");
  CHECK(error.code() == TSC_SYNTAX_ERROR);
  CHECK(error.type() == "SyntaxError");
  REQUIRE_FALSE(error.traceback().empty());
  CHECK(error.traceback()[0].line == 2);
  CHECK(error.render().find("job.tsc:2") != std::string::npos);
}

TEST_CASE("sys.exit is no error of the script") {
  CHECK(error_of("import sys\nsys.exit(4)").code() == TSC_EXIT);
  CHECK(error_of("import sys\nsys.exit(4)").exit_code() == 4);
  CHECK(error_of("import sys\nsys.exit('reason')").exit_code() == 1);
  CHECK(error_of("import sys\nsys.exit('reason')").render() == "reason\n");
  CHECK(error_of("raise SystemExit").exit_code() == 0);
}

TEST_CASE("wrong use of the interface") {
  Engine engine;
  CHECK_THROWS_WITH(engine.get("nothing"), "the name 'nothing' is not defined");
  CHECK_THROWS_WITH(engine.value("text").as<int>(), "the value is of type str, not int");
  CHECK_THROWS_WITH(engine.value(1).size(), Catch::Contains("of type int"));
  CHECK_THROWS_AS(engine.list({})[0], Error);
  CHECK_THROWS_AS(engine.run_file("no/such/file.tsc"), Error);
  tsc_status* status = api().run_source(nullptr, "a", "", 0);
  CHECK(status != nullptr);
  api().status_free(status);
}

TEST_CASE("hostile sources are refused, not crashed on") {
  for (const std::string& text : {std::string(100000, '('), std::string(5000, '-') + "1",
                                  std::string("\xff\xfe\x00", 3), std::string("def f(:\n"), std::string("x = '\n"),
                                  std::string("\t x\n y\n"), "f(" + std::string(2000, '[') + ")"}) {
    CHECK(error_of(text).code() == TSC_SYNTAX_ERROR);
  }
}
