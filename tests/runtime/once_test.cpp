#include "runtime/base/once.h"

#include <stdexcept>
#include <thread>
#include <vector>

#include "catch2/catch.hpp"

using namespace tsc;

TEST_CASE("what throws is tried again, and done once") {
  Once once;
  int tries = 0;
  const auto attempt = [&] {
    if (++tries < 3) throw std::runtime_error("not yet");
  };
  CHECK_THROWS(once.call(attempt));
  CHECK_THROWS(once.call(attempt));
  for (int i = 0; i < 3; ++i) once.call(attempt);
  CHECK(tries == 3);
}

TEST_CASE("the threads that come second wait for the first, and for the next where it throws") {
  for (int round = 0; round < 200; ++round) {
    Once once;
    int tries = 0, value = 0;  // what call() does is seen by all behind it
    std::vector<int> seen(4);
    std::vector<std::thread> threads;
    for (int& mine : seen)
      threads.emplace_back([&] {
        for (;;) try {
            once.call([&] {
              if (++tries < 3) throw std::runtime_error("not yet");
              value = 7;
            });
            break;
          } catch (const std::runtime_error&) {
          }
        mine = value;
      });
    for (std::thread& thread : threads) thread.join();
    CHECK(seen == std::vector<int>(4, 7));
    CHECK(tries == 3);
  }
}
