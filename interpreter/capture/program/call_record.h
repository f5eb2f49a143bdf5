#pragma once
// Calls that are followed once: the layers of a model and the parameters of an optimizer go through the same functions
// again and again. While such a call is captured, it is recorded what it reads of the program and what it does to the
// region and to tensors. A later call of the function whose arguments have the same form, and for which everything that
// was read reads the same with each object exchanged for its counterpart, does the same to its own tensors, and no
// bytecode is followed for it. Of a call that does anything else there is no record: spoil() says so.
// First all is compared, which changes nothing; should something then come out otherwise than in the recorded call (a
// condition that does not hold, a tensor that another one has written), capture starts again and follows all calls of
// that function.
// Knows what recorded.cpp defines of the rooms; must not know instructions.
#include <set>

#include "interpreter/capture/capture.h"
#include "interpreter/capture/program/counterparts.h"
#include "interpreter/capture/program/repeated_calls.h"

namespace tsc::interp {

class Repetition;

bool is_same(const std::optional<Scalar>& a, const std::optional<Scalar>& b);

// What capture decides by, of a tensor.
struct TensorForm {
  DType dtype = DType::F32;
  size_t rank = 0;
  uint32_t facts = 0;
  const Type* type = nullptr;
  bool operator==(const TensorForm&) const = default;
};

// How a holder was asked for what a key names.
enum class Question : uint8_t { Content, Attribute, HasAttribute, Unchanged };

// A value as it was when the call was recorded.
struct RecordedValue {
  Av::Kind kind = Av::Kind::Undefined;
  VirtualKind form = VirtualKind::Tensor;  // Virtual
  jit::ValueKind scalar_kind = jit::ValueKind::Int;
  ValueId id = kNoValue;             // Number; of a tensor, what it was
  uint32_t number = 0;               // Tensor
  TensorForm tensor;                 // of what a step made
  Value constant;                    // Constant; the script tensor behind an input; what the number was
  std::vector<RecordedValue> items;  // Tuple
  Local<Type> type;
};

// Counts are of the recorded call alone.
struct CallRecord {
  struct Read {
    Value holder, key;  // as in Watched
    Question question;
    std::optional<TensorForm> form{};  // of a tensor that was found, and the script tensor
    Value tensor{};
  };
  struct Step {
    std::function<void(Repetition&)> run;
    uint32_t origin;             // of the instructions that it appended
    std::vector<uint32_t> last;  // tensors that no later step is given
  };
  Local<FunctionObject> function;
  std::vector<RecordedValue> arguments;
  std::vector<Read> reads;
  std::vector<std::pair<ValueId, std::optional<Scalar>>> asked;  // numbers whose value decided something
  std::vector<Step> steps;
  RecordedValue result;
  Modes modes, after_raise;
  bool is_protected = false;
  size_t deepest = 0;  // with fewer frames below it the call has room
  uint32_t first_origin = 0, origins = 0;
  uint32_t instructions = 0, steps_taken = 0;
  size_t region_size = 0;
};

// Of the call that is being followed.
class CallRecorder {
 public:
  CallRecorder(Capture& capture, FunctionObject* function, std::span<const Av> arguments);
  // The call does what a record does not hold.
  void spoil() { spoiled_ = true; }
  bool spoiled() const { return spoiled_; }
  bool is_protected() const { return record_->is_protected; }
  void follow();  // its frame has been made
  // False: it has been asked before.
  bool read(const Value& holder, const Value& key, Question question);
  // What has just been read.
  RecordedValue found(const Av& av);
  // What a step is given, and what it makes.
  RecordedValue given(const Av& av) { return describe(av, false); }
  RecordedValue given_tensor(const VTensor& tensor);
  std::vector<RecordedValue> given(std::span<const Av> avs);
  ValueId given(ValueId id);
  std::vector<ValueId> given(std::span<const ValueId> ids);
  RecordedValue made(const Av& av) { return describe(av, true); }
  ValueId made(ValueId id);
  bool is_constant(ValueId id) const;
  bool are_constants(std::span<const ValueId> ids) const;
  void add(std::function<void(Repetition&)> step);
  // What the number is now decided something.
  bool asks_first(ValueId id, const std::optional<Scalar>& now);
  // Null: spoiled.
  std::shared_ptr<CallRecord> finish(const Av& result);

 private:
  // What is made is known from here on; what is given has to be.
  RecordedValue describe(const Av& av, bool made);
  void describe_object(const Av& av, bool made, RecordedValue& value);
  void describe_tensor(const VTensor& tensor, bool made, RecordedValue& value);
  void refuse_parts(const Av& argument);

  Capture& capture_;
  std::shared_ptr<CallRecord> record_;
  bool spoiled_ = false;
  std::unordered_set<ValueId> known_ids_, asked_;
  std::unordered_set<uint32_t> tuples_;            // arguments
  std::unordered_map<uint32_t, size_t> last_use_;  // of the tensors that are known
  std::set<std::tuple<Object*, Object*, int64_t, Question>> reads_;
};

// A call that is not followed.
class Repetition {
 public:
  Repetition(Capture& capture, const CallRecord& record) : capture(capture), record_(record), objects_(capture.vm()) {}
  // Whether it is one. The capture has not been changed then.
  bool fits(const FunctionObject* function, std::span<const Av> arguments);
  Av run();

  Capture& capture;
  Av value(const RecordedValue& old) const;
  VTensor& tensor(const RecordedValue& old) const;
  std::vector<Av> values(std::span<const RecordedValue> old) const;
  ValueId id(ValueId old) const;
  std::vector<ValueId> ids(std::span<const ValueId> old) const;
  Value object(const Value& old) const;
  // Inside a call that is recorded, of whose record all of this is a part.
  bool is_recorded() const { return capture.repeats().is_recording(); }
  // What is read of an object that stays is known since the call that was followed.
  bool must_read(const Value& old) const { return is_recorded() || !object(old).is(old); }
  bool are_the_same(std::span<const RecordedValue> numbers) const;
  // What has been made must be of the form of the old.
  void take(const RecordedValue& old, const Av& now);
  void take(ValueId old, ValueId now);
  void expect(bool holds) const;

 private:
  bool fits(const RecordedValue& old, const Av& now);
  bool fits(const CallRecord::Read& read);
  bool reads_alike(const CallRecord::Read& read);
  bool bind(const RecordedValue& old, const Av& now);
  bool bind(ValueId old, ValueId now);
  uint32_t copy_origins();

  const CallRecord& record_;
  Counterparts objects_;
  std::unordered_map<uint32_t, Av> tensors_;
  std::unordered_map<const Virtual*, uint32_t> taken_;
  std::unordered_map<ValueId, ValueId> ids_;
  std::unordered_map<ValueId, Av> numbers_;
};

}  // namespace tsc::interp
