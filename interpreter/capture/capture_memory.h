#pragma once
// What is remembered between captures of one place. A capture that finds that it took something for granted which does
// not hold writes it down here and starts again (CaptureRestart); the next one knows it from the beginning.
#include <functional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "interpreter/capture/plan.h"

namespace tsc::interp {

// A loop of the program: where its turns begin. Or a branch.
struct LoopPlace {
  const CodeObject* code;
  uint32_t head;
  bool operator==(const LoopPlace&) const = default;
};

class Branches;

struct CaptureMemory {
  struct Cell {
    Object* holder;
    Object* name;  // interned str; null: cell content; or element index below
    int64_t index;
    bool operator==(const Cell&) const = default;
  };
  std::vector<Cell> dynamic;  // cells that changed: read at every entry instead of being assumed
  // Instructions at which the region is left: one ran script code that had to leave, or made an iterator
  // that outlived the region.
  struct Refusal {
    const CodeObject* code;
    uint32_t pc;
    BreakReason reason;
    std::string detail;
  };
  std::vector<Refusal> refused;
  const Refusal* refusal(const CodeObject* code, uint32_t pc) const;
  // Instructions that needed more than the class of an object from outside: its place is in `whole` since, of a list or
  // dict in `read`. Where `whole` was not enough for the instruction either, it is refused, and the object handed on
  // again.
  struct Look {
    std::string place;
    const CodeObject* code;
    uint32_t pc;
    // In a function of the library: where the program has called that. It is not to be left half way for a list.
    const CodeObject* caller;
    uint32_t call;
  };
  std::vector<Look> looks;
  // Places (source_place) of lists and dicts whose items something reads; of objects that must be taken by
  // identity; of instances that differ from call to call and are taken apart; of strings that do and are
  // only carried along.
  std::unordered_set<std::string> read, whole, apart, text;
  // How often a call brought another object where one is known by identity because an instruction looks at it, and the
  // lengths of a list whose items an instruction reads. After a few, that instruction is the interpreter's, unless the
  // program keeps the objects, as it does the layers of a model.
  std::unordered_map<std::string, uint32_t> others;
  std::unordered_map<std::string, std::unordered_set<size_t>> lengths;
  void another_whole(const std::string& place, const std::function<bool()>& is_abandoned);
  void another_length(const std::string& place, size_t length);
  // The same of a tuple, which is read as a whole: a region that begins with one of many lengths, in the middle of a
  // function, is not worth its captures.
  bool is_of_many_lengths(const std::string& place, size_t length);
  bool refuse_looks(const std::string& place, const char* detail);
  // Loops that have another number of turns in each call (compiler/loop_turns.h): the region is left behind each turn.
  std::vector<LoopPlace> varied;
  bool follows_whole_loops = false;       // a region is to hold all turns, however many, and both ways of each branch
                                          // (fullgraph=True)
  std::vector<LoopPlace> different_ends;  // rolled loops whose last turn decides something else than those before
  std::vector<LoopPlace> late_loops;  // of which one turn in front does not show what changes (program/while_loops.h)
  std::vector<LoopPlace> certain_turns;  // tests of loops where tensors have a gradient history after a turn alone
  std::vector<LoopPlace> left_loops;     // `for` loops that a test on a value leaves,
  std::vector<std::pair<LoopPlace, uint32_t>> loop_exits;  // and where such tests go on behind their loops
  std::vector<LoopPlace> unsteady_loops;                   // whose ints change by more than a little in a turn
  // Branches that cannot be Ifs of the region (program/forks.h), and why.
  struct RefusedFork {
    LoopPlace place;
    std::string why;
  };
  std::vector<RefusedFork> refused_forks;
  std::vector<LoopPlace> followed_loops;  // whose turns differ in more than a rolled loop can (program/rolled_loops.h)
  std::unordered_set<std::string>
      shared;  // places of tensors whose memory is another one's too: not written in a region
  // Places of tensors that are another input in one call and a tensor of their own in the next: each is an input of its
  // own. Not where the program asks which of them are one.
  std::unordered_set<std::string> separate;
  bool tells_apart = false;
  // Functions of which no call is repeated (call_record.h): one was, and came out differently; or of none.
  std::unordered_set<const Object*> followed;
  bool follows_calls = false;
  const Branches* branches = nullptr;  // which way those go that only the run decides; null: the region ends there
  bool any_closure = false;        // calls bring other functions made by the same def: their cells are entry sources
  bool specialises = false;        // sizes and ints are facts
  bool follows_loops = false;      // no loop is rolled, and no branch is an If
  bool breaks_everywhere = false;  // every statement leaves its region (a test world)
  bool only_call = false;          // the region ends behind its first instruction, a call
  bool lacks_memory = false;       // inside try or with, memory was not there: each new tensor may raise
  enum class Stores : uint8_t {
    AsTheyCome,      // each store is made at its place; one of a tensor with a history, and those behind it, when the
                     // region is left
    Behind,          // all are made when the region is left, since something that may raise stands between two of them
    InFrontOfCalls,  // as AsTheyCome, for good: a call of the host must find them
  } stores = Stores::AsTheyCome;
  bool has_effects = false;  // what raises inside try or with, or needs a longer int, cannot be run a second time
  std::vector<Value> keep_alive;
  // One more place in one of the lists above; its code stays alive.
  void add(std::vector<LoopPlace>& places, const LoopPlace& place);
  void keep(const LoopPlace& place);
  bool is_dynamic(const Cell& cell) const;
  void make_dynamic(const Cell& cell, const Value& holder);
};

// Names an entry source across captures.
std::string source_place(const std::vector<EntrySource>& sources, const EntrySource& source);

// An object that holds data: when a call brings another one, it is taken apart.
bool holds_data(Vm& vm, const Value& v);
// Any other object that is none of the program's own pieces: when a call brings another one, a region that only hands
// it on knows its class alone.
bool may_be_handed_on(const Value& v);

}  // namespace tsc::interp
