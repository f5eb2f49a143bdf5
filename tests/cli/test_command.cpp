// `tenscript test` as a person meets it.
#include "run_tenscript.h"

using namespace tsc::test;

TEST_CASE("test finds functions and classes, shows operands, exits 1 on a failure") {
  TemporaryFolder folder;
  folder.write("test_sums.tsc",
               "def add(a, b): return a + b\n"
               "def test_good():\n    assert add(1, 2) == 3\n"
               "def test_bad():\n    print('printed')\n    assert add(1, 2) == [4], 'sum'\n"
               "def test_member():\n    assert 3 in {1: 2}\n"
               "def test_value():\n    assert add(0, 0)\n"
               "def test_raises():\n    raise ValueError('boom')\n"
               "class TestBox:\n"
               "    def setup_method(self): self.x = 1\n"
               "    def test_x(self): assert self.x == 1\n"
               "def helper(): raise SystemExit(3)\n"
               "if __name__ == '__main__':\n    raise SystemExit('run as the program')\n");
  folder.write("sub/test_more.tsc", "import sys\ndef test_one(): pass\n");
  folder.write("other.tsc", "def test_not_found(): assert False\n");
  const ProcessResult result = tenscript({"test"}, "", folder.path());
  CHECK(result.exit_code == 1);
  CHECK(contains(result.out, "test_sums.tsc: 2 passed, 4 failed\n"));
  CHECK(contains(result.out, "AssertionError: sum: 3 == [4]\n---- printed:\nprinted\n"));
  CHECK(contains(result.out, "AssertionError: 3 in {1: 2}\n"));
  CHECK(contains(result.out, "AssertionError: 0\n"));
  CHECK(contains(result.out, "line 12, in test_raises\n    raise ValueError('boom')\n"));
  CHECK(contains(result.out, "sub/test_more.tsc: 1 passed\n"));
  CHECK(contains(result.out, "\n3 passed, 4 failed in "));
  CHECK_FALSE(contains(result.out, "test_not_found"));
  CHECK(tenscript({"test", "sub"}, "", folder.path()).exit_code == 0);
  CHECK(tenscript({"test", "other.tsc"}, "", folder.path()).exit_code == 1);
}

TEST_CASE("an assert evaluates its operands once and keeps its meaning") {
  TemporaryFolder folder;
  folder.write("test_a.tsc",
               "calls = []\n"
               "def f(x):\n    calls.append(x)\n    return x\n"
               "def test_once():\n"
               "    assert f(1) < f(2)\n    assert calls == [1, 2]\n"
               "    assert not f(0)\n    assert f(1) and f(2)\n    assert 1 < f(2) < 3\n"
               "    assert f(None) is None\n    assert 3 not in [1, 2], f('unused')\n"
               "    assert 'unused' not in calls\n"
               "def test_caught():\n"
               "    for i in range(3):\n"
               "        try:\n            assert i == 5\n"
               "        except AssertionError as e:\n            assert str(e) == f'{i} == 5'\n");
  const ProcessResult result = tenscript({"test"}, "", folder.path());
  INFO(result.out);
  CHECK(result.exit_code == 0);
}

TEST_CASE("setup and teardown run around each test, a failed teardown is a failure") {
  TemporaryFolder folder;
  folder.write("test_a.tsc",
               "def setup_module(): print('module up')\ndef teardown_module(): print('down')\n"
               "log = []\ndef setup(): log.append('up')\ndef teardown(): log.append('down')\n"
               "def test_1():\n    assert log == ['up']\n    raise KeyError('x')\n"
               "def test_2(): assert log == ['up', 'down', 'up']\n");
  folder.write("test_b.tsc", "def teardown(): raise ValueError('late')\ndef test_1(): pass\n");
  folder.write("test_c.tsc", "def setup_module(): raise ValueError('early')\ndef test_1(): pass\n");
  folder.write("test_d.tsc", "import no_such_module\ndef test_1(): pass\n");
  folder.write("test_e.tsc", "class SkipTest(Exception): pass\ndef test_1(): raise SkipTest('why')\n");
  const ProcessResult result = tenscript({"test", "-j2"}, "", folder.path());
  CHECK(result.exit_code == 1);
  CHECK(contains(result.out, "test_a.tsc: 1 passed, 1 failed"));
  CHECK(contains(result.out, "test_b.tsc: 0 passed, 1 failed"));
  CHECK(contains(result.out, "ValueError: late"));
  CHECK(contains(result.out, "failed setup_module"));
  CHECK(contains(result.out, "failed (the file)"));
  CHECK(contains(result.out, "skipped test_1: test_e.SkipTest: why"));
}

TEST_CASE("test -k selects, --json and --junit report") {
  TemporaryFolder folder;
  folder.write("test_a.tsc", "def test_fast(): pass\ndef test_slow(): pass\ndef test_bad(): assert 1 == 2, '<&>'\n");
  const auto out = [&](std::vector<std::string> words) {
    words.insert(words.begin(), "test");
    return tenscript(words, "", folder.path()).out;
  };
  CHECK(contains(out({"-k", "fast or slow"}), "2 passed in"));
  CHECK(contains(out({"-k", "not slow and not bad"}), "1 passed in"));
  CHECK(contains(out({"--json", "-k", "bad"}), "\"outcome\":\"failed\""));
  CHECK(tenscript({"test", "-k", "none"}, "", folder.path()).exit_code == 2);
  CHECK(tenscript({"test", "nowhere"}, "", folder.path()).exit_code == 2);
  CHECK(tenscript({"test", "--junit", "out.xml"}, "", folder.path()).exit_code == 1);
  const std::string xml = read_file(folder.path() + "/out.xml");
  CHECK(contains(xml, "tests=\"3\" failures=\"1\""));
  CHECK(contains(xml, "message=\"AssertionError: &lt;&amp;&gt;: 1 == 2\""));
}

TEST_CASE("test --doc runs the examples of docstrings") {
  TemporaryFolder folder;
  folder.write("lib.tsc",
               "\"\"\"Adds.\n\n>>> add(1, 2)\n3\n\"\"\"\n"
               "def add(a, b):\n"
               "    \"\"\"The sum.\n\n    >>> for i in range(2):\n    ...     print(add(i, 1))\n"
               "    1\n    2\n    >>> add(1, [])\n    Traceback (most recent call last):\n    ...\n"
               "    TypeError: unsupported operand type(s) for +: 'int' and 'list'\n"
               "    >>> add(1)\n    Traceback (most recent call last):\n      File \"elsewhere\", line 1\n"
               "    TypeError: add() missing 1 required positional argument: 'b'\n"
               "    >>> add('', 1)\n    Traceback (most recent call last):\n"
               "    TypeError: can only concatenate str (not \"int\") to str\n    \"\"\"\n"
               "    return a + b\n"
               "class Box:\n    def area(self):\n        \"\"\"Its area.\n\n"
               "        >>> Box().area()\n        5\n        \"\"\"\n        return 4\n");
  CHECK(tenscript({"test"}, "", folder.path()).exit_code == 2);
  const ProcessResult result = tenscript({"test", "--doc"}, "", folder.path());
  CHECK(result.exit_code == 1);
  CHECK(contains(result.out, "lib.tsc: 5 passed, 1 failed"));
  CHECK(contains(result.out, "example of Box.area, line 3"));
  CHECK(contains(result.out, "expected:\n5\ngot:\n4\n"));
}
