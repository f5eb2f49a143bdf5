#pragma once
// Makes new texts of programs: pieces of the corpus joined, then edits of bytes, tokens and lines.
// Half of the texts are edited gently, so that many of them stay programs.
#include <string>

#include "corpus.h"
#include "random.h"

namespace tsc::fuzz {

enum class Temper {
  Any,      // gentle or rough, half and half
  Program,  // gentle nearly always: for targets that want texts that run
};

std::string mutated_program(const Corpus& corpus, Random& random, Temper temper);

}  // namespace tsc::fuzz
