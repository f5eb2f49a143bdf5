// The end of a program that has threads, functions for the end, handlers of signals: what comes in which order, and the
// exit code.
#include "run_tenscript.h"

using namespace tsc::test;

TEST_CASE("threads end, then what atexit has, the last registered first") {
  const char* program =
      "import atexit, threading, time, weakref\n"
      "class Node:\n"
      "    def __del__(self): print('node dies')\n"
      "node = Node()\n"
      "end = weakref.finalize(node, print, 'finalizer')\n"
      "atexit.register(print, 'first')\n"
      "atexit.register(print, 'second')\n"
      "def slow():\n"
      "    threading.main_thread().join()\n"
      "    print('thread')\n"
      "def forever():\n"
      "    try:\n"
      "        while True: pass\n"
      "    finally:\n"
      "        print('never')\n"
      "threading.Thread(target=slow).start()\n"
      "threading.Thread(target=forever, daemon=True).start()\n"
      "threading.Thread(target=threading.Event().wait, daemon=True).start()\n";
  const auto ended = tenscript({"-c", std::string(program) + "print('main')"});
  CHECK(ended.out == "main\nthread\nsecond\nfirst\nfinalizer\nnode dies\n");
  CHECK(ended.exit_code == 0);
  const auto failed = tenscript({"-c", std::string(program) + "raise ValueError('main')"});
  CHECK(failed.out == "thread\nsecond\nfirst\nfinalizer\nnode dies\n");
  CHECK(failed.exit_code == 1);
  const auto left = tenscript({"-c", std::string(program) + "raise SystemExit(5)"});
  CHECK(left.out == "thread\nsecond\nfirst\nfinalizer\nnode dies\n");
  CHECK(left.exit_code == 5);
}

// As CPython's own report: lines that a message has of its own stand without a margin.
TEST_CASE("an exception group that nobody catches is shown in boxes") {
  const auto ended = tenscript({"-c",
                                "group = ExceptionGroup('inner', [KeyError('k')])\n"
                                "group.add_note('note\\nof two lines')\n"
                                "try:\n"
                                "    raise ExceptionGroup('two\\nlines', [ValueError(1), group])\n"
                                "except* ValueError:\n"
                                "    raise OSError('new')"});
  CHECK(ended.exit_code == 1);
  CHECK(ended.err ==
        "  | ExceptionGroup:  (2 sub-exceptions)\n"
        "  +-+---------------- 1 ----------------\n"
        "    | Exception Group Traceback (most recent call last):\n"
        "    |   File \"<string>\", line 4, in <module>\n"
        "    |     raise ExceptionGroup('two\\nlines', [ValueError(1), group])\n"
        "    | ExceptionGroup: two\nlines (1 sub-exception)\n"
        "    +-+---------------- 1 ----------------\n"
        "      | ValueError: 1\n"
        "      +------------------------------------\n"
        "    | \n"
        "    | During handling of the above exception, another exception occurred:\n"
        "    | \n"
        "    | Traceback (most recent call last):\n"
        "    |   File \"<string>\", line 6, in <module>\n"
        "    |     raise OSError('new')\n"
        "    | OSError: new\n"
        "    +---------------- 2 ----------------\n"
        "    | Exception Group Traceback (most recent call last):\n"
        "    |   File \"<string>\", line 4, in <module>\n"
        "    |     raise ExceptionGroup('two\\nlines', [ValueError(1), group])\n"
        "    | ExceptionGroup: two\nlines (1 sub-exception)\n"
        "    +-+---------------- 1 ----------------\n"
        "      | ExceptionGroup: inner (1 sub-exception)\n"
        "      | note\n"
        "      | of two lines\n"
        "      +-+---------------- 1 ----------------\n"
        "        | KeyError: 'k'\n"
        "        +------------------------------------\n");
}

TEST_CASE("what fails at the end is told and changes no exit code") {
  const auto ended = tenscript({"-c",
                                "import atexit, threading\n"
                                "atexit.register(print, 'later')\n"
                                "def fail(): 1 // 0\n"
                                "atexit.register(fail)\n"
                                "thread = threading.Thread(target=fail, name='worker')\n"
                                "thread.start()\n"
                                "thread.join()\n"
                                "print('main')"});
  CHECK(ended.out == "main\nlater\n");
  CHECK(contains(ended.err, "Exception in thread worker:\nTraceback (most recent call last):\n"));
  CHECK(contains(ended.err, "in fail\n"));
  CHECK(contains(ended.err, "ZeroDivisionError: integer division or modulo by zero\n"));
  CHECK(contains(ended.err, "Exception ignored in atexit callback: <function fail at 0x"));
  CHECK(ended.exit_code == 0);
}

TEST_CASE("pools end with the program, after the calls that were submitted") {
  const auto ended = tenscript({"-c",
                                "from concurrent.futures import ThreadPoolExecutor\n"
                                "import threading\n"
                                "pool, gate = ThreadPoolExecutor(1), threading.Event()\n"
                                "pool.submit(gate.wait)\n"
                                "for n in range(4): pool.submit(print, n)\n"
                                "print('main')\ngate.set()"});
  CHECK(ended.out == "main\n0\n1\n2\n3\n");
  CHECK(ended.exit_code == 0);
}

TEST_CASE("a limit at the end of a program ends it, and what is left is not called") {
  const auto ended = tenscript({"--time-limit=0.2s", "-c",
                                "import atexit\n"
                                "def forever():\n"
                                "    print('begun')\n"
                                "    while True: pass\n"
                                "atexit.register(print, 'never')\n"
                                "atexit.register(forever)\n"});
  CHECK(ended.out == "begun\n");
  CHECK(contains(ended.err, "LimitError: the script ran longer than its time limit"));
  CHECK(ended.exit_code == 3);
}

TEST_CASE("a limit ends all threads of a program") {
  const auto ended = tenscript({"--time-limit=0.2s", "-c",
                                "import threading\n"
                                "def work():\n"
                                "    while True: pass\n"
                                "threads = [threading.Thread(target=work) for _ in range(3)]\n"
                                "for thread in threads: thread.start()\n"
                                "for thread in threads: thread.join()"});
  CHECK(contains(ended.err, "LimitError"));
  CHECK(ended.exit_code == 3);
}

TEST_CASE("Ctrl-C is for the main thread, also while it waits for another one at the end") {
  const char* interrupts =
      "import _thread, threading, time\n"
      "def interrupt():\n"
      "    time.sleep(0.05)\n"
      "    _thread.interrupt_main()\n"
      "def work():\n"
      "    end = time.monotonic() + 0.3\n"
      "    while time.monotonic() < end: pass\n"
      "    print('work is done')\n"
      "threading.Thread(target=work).start()\n"
      "threading.Thread(target=interrupt).start()\n";
  const auto caught =
      tenscript({"-c", std::string(interrupts) + "try:\n    threading.Event().wait()\n"
                                                 "except KeyboardInterrupt:\n    print('interrupted')"});
  CHECK(caught.out == "interrupted\nwork is done\n");
  CHECK(caught.exit_code == 0);
  const auto at_end = tenscript({"-c", interrupts});
  CHECK(contains(at_end.err, "Exception ignored in: <module 'threading'"));
  CHECK(contains(at_end.err, "KeyboardInterrupt"));
  CHECK(at_end.exit_code == 0);
}

TEST_CASE("a signal without a handler ends the process, one with a handler does what that does") {
  const auto handled = tenscript({"-c",
                                  "import signal, sys\n"
                                  "signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(7))\n"
                                  "signal.raise_signal(signal.SIGTERM)\n"
                                  "while True: pass"});
  CHECK(handled.exit_code == 7);
  const auto ended = tenscript({"-c", "import signal\nsignal.raise_signal(signal.SIGTERM)\nwhile True: pass"});
  CHECK(ended.exit_code != 0);
}

TEST_CASE("the sandbox starts no programs and no threads unless it is told to") {
  const char* program =
      "import subprocess\nprint(subprocess.run(['echo', 'here'], stdout=-1, env={'PATH': '/bin:/usr/bin'}).stdout)";
  CHECK(contains(tenscript({"--sandbox", "-c", program}).err, "--allow-run"));
  CHECK(tenscript({"--allow-run", "-c", program}).out == "b'here\\n'\n");
  const char* threads =
      "import threading\nthread = threading.Thread(target=print, args=['ran'])\nthread.start()\nthread.join()";
  CHECK(contains(tenscript({"--sandbox", "-c", threads}).err, "--allow-threads"));
  CHECK(tenscript({"--allow-threads", "-c", threads}).out == "ran\n");
}

TEST_CASE("the program's own sys.excepthook is told of what nobody catches") {
  const std::string hook = "import sys\nsys.excepthook = lambda kind, value, tb: print('told', kind.__name__, value)\n";
  const auto told = tenscript({"-c", hook + "raise ValueError(3)"});
  CHECK(told.out == "told ValueError 3\n");
  CHECK(told.err.empty());
  CHECK(told.exit_code == 1);
  const auto left = tenscript({"-c", hook + "sys.exit(4)"});
  CHECK(left.out.empty());
  CHECK(left.exit_code == 4);
  const auto back = tenscript({"-c", hook + "sys.excepthook = sys.__excepthook__\nraise ValueError(3)"});
  CHECK(back.out.empty());
  CHECK(back.err.find("\nValueError: 3\n") != std::string::npos);
  const auto failed = tenscript({"-c", "import sys\nsys.excepthook = lambda *told: 1 / 0\nraise ValueError(3)"});
  CHECK(failed.err.find("Error in sys.excepthook:\n") == 0);
  CHECK(failed.err.find("\nZeroDivisionError: division by zero\n\nOriginal exception was:\nTraceback") !=
        std::string::npos);
  CHECK(failed.err.find("\nValueError: 3\n") != std::string::npos);
  CHECK(failed.exit_code == 1);
}
