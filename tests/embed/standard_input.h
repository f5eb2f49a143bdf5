#pragma once
// The process's standard input is a text for as long as this lives.
#include <stdio_ext.h>
#include <unistd.h>

#include <cstdio>
#include <iostream>

#include "process.h"

class StandardInput {
 public:
  explicit StandardInput(const char* text) : before_(::dup(0)) {
    tsc::test::TemporaryFolder folder;
    FILE* file = std::fopen(folder.write("input", text).c_str(), "r");
    become(::dup(fileno(file)));
    std::fclose(file);
  }
  ~StandardInput() { become(before_); }
  StandardInput(const StandardInput&) = delete;

 private:
  // What was read ahead of the one before is dropped.
  static void become(int descriptor) {
    __fpurge(stdin);
    std::clearerr(stdin);
    ::dup2(descriptor, 0);
    ::close(descriptor);
    std::cin.clear();
  }
  int before_;
};
