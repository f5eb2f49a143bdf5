#pragma once
// The border at natives. A native function, an operator of a container, a slice: what the interpreter has a C++ text
// for is not said a second time here. That text runs, on stand-ins: real objects of the heap that stand for what
// capture knows.
//   a constant without parts          itself
//   a list, dict, set, tuple, slice   a real one, made for this run; what lies in it stands there by stand-ins of its
//   own everything else                   a token: an object with no content, the same one wherever the same value is
//   met
// A token's slots are capture's own operations (token_type.cpp): adding two tokens adds two values of the region,
// comparing them becomes a condition at entry, calling one follows the function that it stands for, iterating runs the
// generator. What capture cannot do on a value, no native can do on its token: the region ends in front of the call. So
// a native that nobody thought of costs speed, and never a meaning. Behind the run the results become abstract values
// again, and so does what the native has changed. What it changed of an object from outside is done again on the real
// one, by the same call, in program order. A native iterator stays what it is, as an abstract iterator that the run
// goes on for: each of its items is made by the interpreter's text when the program asks for it. Knows abstract values
// and the slots of types; must not know any native.
#include <deque>
#include <functional>

#include "interpreter/capture/capture.h"
#include "interpreter/capture/program/frames.h"

namespace tsc::interp {

struct Token;

class StandIns : public std::enable_shared_from_this<StandIns> {
 public:
  using Native = std::function<Value(std::span<const Value>)>;
  // The call that does the same to the real objects: function(arguments..., last ones by keyword). Without a function
  // nothing from outside may change.
  struct Repeat {
    Value function;
    std::vector<Local<StrObject>> keywords;
  };

  // Which arguments a native may see: any, or such only as need no token. What works on texts and numbers asks what
  // kind of value it has got, and does another thing with another kind. Later: an iterator that the native makes reads
  // them when it is asked for items, so that containers are tokens, too, and have the content that they have then.
  enum class Sees : uint8_t { Tokens, Values, Later };
  StandIns(Capture& capture, Sees sees) : capture_(capture), sees_(sees) {}
  ~StandIns();
  StandIns(const StandIns&) = delete;
  // A dict of a class of the script, which the native does not tell from a dict.
  void show_as_dict(const Av& av) { shown_as_dict_ = as_dict(av); }
  Av run(std::span<const Av> arguments, const Native& native, const Repeat& repeat);

  // ---- for iterators that the run goes on for ----
  // The next item; false: there is none.
  bool next(const Value& iterator, Av* out);
  // The iterators of the program that a native one takes its items from.
  std::vector<const VIterator*> sources_of(const Value& iterator);
  // Null: the value is no token.
  static const Token* token_of(Vm& vm, const Value& v);
  // Whether nobody but this run holds it.
  bool is_held_here(const Av& av) const;
  // Behind the capture: whoever is reached through what the run holds may hold the run.
  void end();

  // ---- for the slots of tokens ----
  Capture& capture() { return capture_; }
  Value value(const Av& av);  // the stand-in of what lies inside another value
  Av back(const Value& v);    // what a stand-in, or a new object of the native, is to capture
  // A table is asked for the object by its identity: it is none of the others that were.
  void looks_up(const Av& object);
  // Runs code of the script in the middle of the native: it sees what the native has done so far, and the native sees
  // what it does.
  template <class F>
  auto follow(F&& script) {
    take_changes(nullptr, {});
    followed_ = true;
    auto result = script();
    capture_.frames().note_advance();  // the instruction cannot be left as if it had not begun
    show_changes();
    return result;
  }

 private:
  // A container that stands for one of capture's, and its content when the two were last the same.
  struct Container {
    Av av;
    Value object;
    std::vector<Value> content;
  };
  template <class Text>
  Value interpreted(const Text& text);
  void forget_unheld(size_t from);
  Value argument(const Av& av);
  Value token(const Av& av, const void* identity);
  Value constant(const Av& av);
  Value tuple(const Av& av, std::span<const Value> items, const void* identity);
  Value container(const Av& av, const void* identity);
  Value view(const VDictView& view, const Av& av);
  bool has_container(const Av& av) const;
  std::vector<Value> content_of(const Av& av);  // as stand-ins
  static std::vector<Value> content_of(const Value& object);
  void fill(const Value& object, const std::vector<Value>& content);
  void set_content(Virtual& object, const Value& stand_in);
  void take_changes(const Repeat* repeat, std::span<const Av> arguments);
  void repeat_outside(std::span<const VirtualRef> changed, const Repeat& repeat, std::span<const Av> arguments);
  void show_changes();
  Av back_container(const Value& v);
  Av back_iterator(const Value& v);
  Value remember(const void* identity, Value stand_in, const Av& av);

  static const Virtual* as_dict(const Av& av) { return is_virtual(av, VirtualKind::Dict) ? av.object.get() : nullptr; }

  Capture& capture_;
  Sees sees_;
  const Virtual* shown_as_dict_ = nullptr;
  bool followed_ = false;
  std::unordered_map<const void*, Value> by_identity_;
  std::unordered_map<ValueId, Value> by_id_;
  std::unordered_map<const Object*, Av> meanings_;                       // of everything that is alive in `kept_`
  std::unordered_map<const Object*, std::weak_ptr<Virtual>> iterators_;  // which hold the run
  std::vector<Value> kept_;
  Type* tokens_ = nullptr;  // their type, once there is one: the end of this object allocates nothing
  std::deque<Container> containers_;
  std::vector<Av> looked_up_;
};

// What has no content of its own: its slots ask capture.
struct Token : Object {
  StandIns* owner = nullptr;  // null: the run is over
  Av av;
  Token() : Object(Kind::Native) {}
};
Type* token_type(Vm& vm);

// Runs the interpreter's text of an operation on stand-ins of the arguments.
Av run_on_stand_ins(Capture& capture, std::span<const Av> arguments, const StandIns::Native& native,
                    const StandIns::Repeat& repeat = {}, StandIns::Sees sees = StandIns::Sees::Tokens);
inline Av run_on_stand_ins(Capture& capture, std::initializer_list<Av> arguments, const StandIns::Native& native,
                           const StandIns::Repeat& repeat = {}, StandIns::Sees sees = StandIns::Sees::Tokens) {
  return run_on_stand_ins(capture, std::span<const Av>(arguments.begin(), arguments.size()), native, repeat, sees);
}
// A list, tuple, dict, set, or a view of a dict.
bool is_container(const Av& av);
// Repeats by the method of that name of the container's class.
StandIns::Repeat repeat_by(Capture& capture, const Av& container, const char* method);

}  // namespace tsc::interp
