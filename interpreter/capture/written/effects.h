#pragma once
// What the region does to the host, in program order: stores, calls of natives in the host, changes of objects that
// came in. In front of whatever may raise, the memory of tensors is brought up to date (writes.h), so that whoever
// catches the exception finds the program where it stopped. Inside try or with, where a raise must find its handler, an
// effect breaks; an operation may stay as long as the region has no effect, since the interpreter can then run it all
// again. Stores of what has a gradient history wait until the region is left, and all stores behind such a one; all
// stores and writes do where that keeps a region together (CaptureMemory::Stores). What raises meanwhile has the
// interpreter run everything again. Defined in effects.cpp, program/recorded.cpp.
#include "interpreter/capture/rooms.h"

namespace tsc::interp {

// A store that is made when the region is left.
struct WaitingStore {
  HostAction action;
  std::vector<Av> values;
};

class Effects : private Room {
 public:
  explicit Effects(const Rooms& rooms) : Room(rooms) {}
  // The region changes what it knows of a container that came in; this changes the real one: method(container, ...).
  void write_through(const Av& container, const char* method, std::vector<Av> arguments);
  // In front of every change of a virtual object. One that a host instruction has built exists outside already:
  // the interpreter changes it.
  void will_change(const Virtual& object);
  // In front of every write to the elements of a tensor, of one that it is a view of and of the views of that.
  void will_write(VTensor& tensor);
  // In front of what runs in the host, and of an operation that may raise.
  void effect_may_raise();
  void operation_may_raise();
  // In front of an operation whose int may need more than 64 bits, which the interpreter alone makes.
  void may_need_big_int();
  // What the host does at this place of the program; with a result, that is a register of the region.
  void host_action(HostAction action, std::vector<Av> values);
  // `.grad` of the real tensor; where the region is left there, a gradient with a history is one of the waiting stores.
  void set_gradient(const Av& tensor, const Av& gradient, bool leaving);
  Av host_action_with_result(HostAction action, std::vector<Av> values);
  // Whether what the region does to the host stands behind what may raise from here on.
  bool writes_wait() const { return all_wait() || !waiting_stores_.empty(); }
  // Whether the interpreter can run everything again from the entry on, and nobody sees that it ran before: as it is
  // now; or once stores wait, with which capture begins again then.
  bool has_done_nothing() const;
  bool can_begin_anew();
  // Counts the places at which the region may raise, or brings memory up to date.
  void note_raise() { ++raises_; }
  uint32_t raises() const { return raises_; }
  const std::vector<WaitingStore>& waiting_stores() const { return waiting_stores_; }

 private:
  bool has_written_back() const;
  bool all_wait() const { return memory_.stores == CaptureMemory::Stores::Behind; }
  // In front of what runs host code or may raise: whoever looks then must find all that was stored.
  void stores_must_not_wait();
  void may_raise_here();
  void perform(HostAction action, std::vector<Av> values, bool may_wait);

  uint32_t raises_ = 0;  // places at which the region may raise, or brings memory up to date
  // Stores of what has a gradient history, which is made when the region is left, and all stores behind one.
  std::vector<WaitingStore> waiting_stores_;
};

}  // namespace tsc::interp
