#pragma once
// Calls that are followed once (call_record.h): which calls have been seen, the records of those that were followed,
// and the recorder of the one that is being followed. Every way in which capture reads the program, asks what is known,
// makes values and writes tensors goes through `recorded` (recorded.cpp); whatever else a call does spoils its record.
// Defined in call_record.cpp, recorded.cpp.
#include "interpreter/capture/rooms.h"

namespace tsc::interp {

class CallRecorder;
enum class Question : uint8_t;
struct AFrame;
struct CallRecord;
struct TensorForm;

// Of the calls of one function with arguments of one form: see call_record.h.
struct SeenCall {
  std::vector<std::shared_ptr<const CallRecord>> records;
  uint32_t steps = 0;   // that the last one took
  uint32_t misses = 0;  // calls that no record fitted
  bool spoiled = false;
};

class RepeatedCalls : private Room {
 public:
  explicit RepeatedCalls(const Rooms& rooms);
  ~RepeatedCalls();
  void spoil_record();  // what goes on now cannot be repeated (call_record.h)
  // What capture decides by, of a tensor.
  TensorForm form_of(const VTensor& tensor) const;
  // Spoils it unless this is part of a step.
  void spoil_outside_steps();
  // A call that is repeated must be protected as the recorded one was.
  void note_protection(bool now);
  void drop_recorder();
  bool is_recording() const { return recorder_ != nullptr; }
  // `run` is part of the record as a whole, which `note` adds it to.
  template <class Run, class Note>
  auto recorded(Run&& run, Note&& note);
  // Null: never worth it.
  SeenCall* seen_call(const FunctionObject* function, const CallArguments& arguments);
  // False: no record fits.
  bool repeat_call(SeenCall& seen, const FunctionObject* function, const CallArguments& arguments,
                   uint16_t destination);
  // Null: the call is not recorded.
  std::unique_ptr<CallRecorder> recorder_for(const SeenCall& seen, FunctionObject* function,
                                             const CallArguments& arguments);
  void begin_call(SeenCall& seen, std::unique_ptr<CallRecorder> recorder);
  void end_call(const AFrame& finished, const Av& result);
  // By an exception: such a call is not repeated.
  void end_unfinished(const AFrame& frame);
  // False: it has been read before.
  bool note_read(const Value& holder, const Value& key, Question question);
  TensorForm form_of_host(const Value& host) const;

 private:
  std::unordered_map<uint64_t, SeenCall> seen_calls_;
  std::unique_ptr<CallRecorder> recorder_;  // of the call that is recorded
  uint32_t recorded_depth_ = 0;             // inside what is recorded as a whole
};

}  // namespace tsc::interp
