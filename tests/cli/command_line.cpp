// The executable as a person meets it: output, exit codes, messages.
#include "run_tenscript.h"

using namespace tsc::test;

TEST_CASE("code from the command line, a file, standard input") {
  CHECK(tenscript({"-c", "print(6 * 7)"}).out == "42\n");
  TemporaryFolder folder;
  const std::string script = folder.write("a.tsc", "import sys\nprint(sys.argv[1:])\n");
  CHECK(tenscript({script, "x", "--seed"}).out == "['x', '--seed']\n");
  CHECK(tenscript({"run", script}).out == "[]\n");
  CHECK(tenscript({"-"}, "print('in')").out == "in\n");
  CHECK(tenscript({}, "print('piped')").out == "piped\n");
}

TEST_CASE("a folder runs its __main__, -m finds modules beside the script") {
  TemporaryFolder folder;
  folder.write("job/__main__.tsc", "print('main', __name__)\n");
  folder.write("pack/__init__.tsc", "");
  folder.write("pack/mod.tsc", "print('module')\n");
  CHECK(tenscript({"job"}, "", folder.path()).out == "main __main__\n");
  CHECK(tenscript({"-m", "pack.mod"}, "", folder.path()).out == "module\n");
}

TEST_CASE("exit codes") {
  CHECK(tenscript({"-c", "pass"}).exit_code == 0);
  CHECK(tenscript({"-c", "1 / 0"}).exit_code == 1);
  CHECK(tenscript({"-c", "x ="}).exit_code == 1);
  CHECK(tenscript({"-c", "import sys\nsys.exit(7)"}).exit_code == 7);
  CHECK(tenscript({"-c", "import sys\nsys.exit()"}).exit_code == 0);
  const ProcessResult message = tenscript({"-c", "import sys\nsys.exit('why')"});
  CHECK(message.exit_code == 1);
  CHECK(message.err == "why\n");
  CHECK(tenscript({"no_such_file.tsc"}).exit_code == 2);
  CHECK(tenscript({"--nojit"}).exit_code == 2);
  CHECK(tenscript({"--emit=bytecod", "-c", "1"}).exit_code == 2);
  CHECK(tenscript({"-m", "no.such.module"}).exit_code != 0);
}

TEST_CASE("a module run by -m is part of its package") {
  TemporaryFolder folder;
  folder.write("pkg/__init__.tsc", "print('init', __package__)\n");
  folder.write("pkg/__main__.tsc", "from .part import x\nprint(__name__, __package__, x)\n");
  folder.write("pkg/part.tsc", "x = 1\nprint(__name__, __package__)\n");
  folder.write("pkg/job.tsc", "from . import part\nfrom .part import x\nprint(__name__, __package__, x)\n");
  folder.write("plain.tsc", "print(__name__, repr(__package__), __doc__, __spec__)\n");
  CHECK(tenscript({"-m", "pkg.job"}, "", folder.path()).out == "init pkg\npkg.part pkg\n__main__ pkg 1\n");
  CHECK(tenscript({"-m", "pkg"}, "", folder.path()).out == "init pkg\npkg.part pkg\n__main__ pkg 1\n");
  CHECK(tenscript({"-m", "plain"}, "", folder.path()).out == "__main__ '' None None\n");
  CHECK(tenscript({"plain.tsc"}, "", folder.path()).out == "__main__ None None None\n");
  const ProcessResult alone = tenscript({"pkg/job.tsc"}, "", folder.path());
  CHECK(contains(alone.err, "ImportError: attempted relative import with no known parent package"));
}

TEST_CASE("mistakes on the command line name the nearest word") {
  CHECK(contains(tenscript({"--treads", "2"}).err, "did you mean '--threads'?"));
  CHECK(contains(tenscript({"explian"}).err, "did you mean the command 'explain'?"));
  CHECK(contains(tenscript({"tset"}).err, "did you mean the command 'test'?"));
  CHECK(contains(tenscript({"--emit=bytecod", "-c", "1"}).err, "did you mean 'bytecode'?"));
  TemporaryFolder folder;
  const std::string script = folder.write("train.tsc", "");
  CHECK(contains(tenscript({script.substr(0, script.size() - 4)}).err, "train.tsc'?"));
}

TEST_CASE("a traceback: oldest call first, source lines, carets") {
  TemporaryFolder folder;
  folder.write("t.tsc", "def f(a):\n    return a + undefined_name\n\ndef g():\n    f(1)\n\ng()\n");
  const ProcessResult result = tenscript({"t.tsc"}, "", folder.path());
  CHECK(result.exit_code == 1);
  CHECK(contains(result.err, "Traceback (most recent call last):"));
  const std::size_t outer = result.err.find("line 7"), inner = result.err.find("line 2");
  REQUIRE(outer != std::string::npos);
  REQUIRE(inner != std::string::npos);
  CHECK(outer < inner);
  CHECK(contains(result.err, "    return a + undefined_name"));
  CHECK(contains(result.err, "^^^^"));
  CHECK(contains(result.err, "NameError: name 'undefined_name' is not defined"));
}

TEST_CASE("a traceback of code that is in no file shows its lines") {
  CHECK(contains(tenscript({"-c", "x = 1\nx.nope"}).err, "x.nope"));
}

TEST_CASE("syntax errors: all of them, with carets") {
  const ProcessResult result = tenscript({"-c", "x = (1,\ny = 2\nfor in z: pass\n"});
  CHECK(result.exit_code == 1);
  CHECK(contains(result.err, "<string>:"));
  CHECK(contains(result.err, "^"));
}

TEST_CASE("output before an error comes before it") {
  const ProcessResult result = tenscript({"-c", "print('before')\nraise ValueError('after')"});
  CHECK(result.out == "before\n");
  CHECK(contains(result.err, "ValueError: after"));
}

TEST_CASE("version, help, info") {
  CHECK(tenscript({"-V"}).out.rfind("tenscript 0.", 0) == 0);
  CHECK(contains(tenscript({"-h"}).out, "usage: tenscript"));
  CHECK(contains(tenscript({"info"}).out, "threads:"));
  CHECK(contains(tenscript({"info", "--json"}).out, "\"threads\""));
  CHECK(contains(tenscript({"info", "--env"}).out, "TENSCRIPT_LOGS"));
}

TEST_CASE("stages of the source") {
  CHECK(contains(tenscript({"--emit=tokens", "-c", "x = 1"}).out, "NAME"));
  CHECK(contains(tenscript({"--emit=ast", "-c", "x = 1"}).out, "Assign"));
  CHECK(contains(tenscript({"--emit=bytecode", "-c", "x = 1"}).out, "x"));
  CHECK(tenscript({"--emit=bytecode", "-c", "x = ("}).exit_code == 1);
}

TEST_CASE("the plain prompt, fed by a pipe") {
  const ProcessResult result =
      tenscript({"repl"}, "x = 20\nx + 1\n_ * 2\nNone\nx;\ndef f():\n    return 'f'\n\nf()\n1/0\nx\n");
  CHECK(result.out == "21\n42\n'f'\n20\n");
  CHECK(contains(result.err, "ZeroDivisionError"));
  CHECK(result.exit_code == 0);
  CHECK(tenscript({"repl"}, "import sys\nsys.exit(3)\n").exit_code == 3);
  CHECK(tenscript({"repl"}, "exit\n").exit_code == 0);
  CHECK(tenscript({"-i", "-c", "y = 5"}, "y\n").out == "5\n");
}

TEST_CASE("starting is quick and small") {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return;  // a sanitizer's own start is larger than the budget
#endif
  // The budgets are 5 ms and 12 MB. Processor time, because a busy machine stretches the clock.
  double best = 1;
  for (int i = 0; i < 10; ++i) best = std::min(best, tenscript({"-c", "pass"}).cpu_seconds);
  INFO(best);
  CHECK(best < 0.010);
  const ProcessResult memory = tenscript({"-c",
                                          "for line in open('/proc/self/status'):\n"
                                          "    if line.startswith('VmHWM'): print(line.split()[1])\n"});
  CHECK(std::stol(memory.out) < 12000);
}

TEST_CASE("the sandbox denies, --allow-* gives back") {
  TemporaryFolder folder;
  const std::string data = folder.write("in/data.txt", "data");
  const std::string script = folder.write("a.tsc",
                                          "import sys\nf = open(sys.argv[1], sys.argv[2])\nprint(f.read() if f.mode == "
                                          "'r' else 'w')\n");
  CHECK(tenscript({script, data, "r"}).out == "data\n");
  const ProcessResult denied = tenscript({"--sandbox", script, data, "r"});
  CHECK(denied.exit_code == 1);
  CHECK(contains(denied.err, "PermissionError: reading '" + data + "'"));
  CHECK(contains(denied.err, "--allow-read=DIR"));
  const std::string allow = "--allow-read=" + folder.path() + "/in";
  CHECK(tenscript({"--sandbox", allow, script, data, "r"}).out == "data\n");
  CHECK(tenscript({allow, script, data, "r"}).out == "data\n");
  CHECK(tenscript({allow, script, data, "w"}).exit_code == 1);
  CHECK(tenscript({allow, script, folder.path() + "/a.tsc", "r"}).exit_code == 1);
  CHECK(tenscript({"--allow-write=" + folder.path(), script, data, "w"}).exit_code == 0);
  CHECK(tenscript({"--sandbox", "-c", "import time\ntime.time()"}).exit_code == 1);
  CHECK(tenscript({"--sandbox", "--allow-clock", "-c", "import time\ntime.time()"}).exit_code == 0);
  CHECK(tenscript({"--sandbox", "-c", "import os\nprint(len(os.environ))"}).out == "0\n");
  CHECK(contains(tenscript({"--sandbox", "-c", "input()"}, "line\n").err, "--allow-input"));
  CHECK(contains(tenscript({"--sandbox", "-c", "exec('1')"}).err, "--allow-code"));
  CHECK(contains(tenscript({"--sandbox", "-c", "eval('1')"}).err, "TSC_GRANT_CODE"));
  CHECK(tenscript({"--allow-code", "-c", "print(eval('1 + 1'))"}).out == "2\n");
  CHECK(tenscript({"--allow-input", "-c", "print(input())"}, "line\n").out == "line\n");
  CHECK(tenscript({"--allow-env", "-c", "import os\nprint(os.getenv('NO_COLOR'))"}).out == "1\n");
}

TEST_CASE("limits end a program with exit code 3, whatever it catches") {
  const std::string stubborn = "while True:\n    try:\n        while True: pass\n    except BaseException: pass\n";
  const ProcessResult late = tenscript({"--time-limit", "200ms", "-c", stubborn});
  CHECK(late.exit_code == 3);
  CHECK(contains(late.err, "LimitError: the script ran longer than its time limit of 200 ms"));
  CHECK(late.seconds < 10);
  const ProcessResult fat = tenscript({"--mem-limit=64M", "-c", "x = []\nwhile True: x.append('a' * 1000)"});
  CHECK(fat.exit_code == 3);
  CHECK(contains(fat.err, "the memory limit of 67108864 bytes"));
  CHECK(tenscript({"--mem-limit=1G", "--time-limit=100", "-c", "print(1)"}).out == "1\n");
  for (const char* wrong :
       {"--mem-limit=much", "--mem-limit=0", "--time-limit=0", "--time-limit=5x", "--time-limit=-1", "--time-limit="})
    CHECK(tenscript({wrong, "-c", "pass"}).exit_code == 2);
}
