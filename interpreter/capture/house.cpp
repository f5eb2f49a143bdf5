#include "interpreter/capture/house.h"

namespace tsc::interp {

// The rooms hold references to each other, which are taken before the rooms are there.
House::House(Capture& capture, Vm& vm, CaptureMemory& memory)
    : tensor_state(interp::tensor_state(vm)), builder(region, capture), modes(tensor_state.modes),
      rooms{capture,
            vm,
            tensor_state,
            memory,
            region,
            builder,
            plan,
            modes,
            objects_made,
            rings,
            frames,
            calls,
            raising,
            loops,
            rolled,
            turn_items,
            turn_conditions,
            turn_values,
            whiles,
            repeats,
            guesses,
            forks,
            shared_memory,
            cells,
            inputs,
            structures,
            overlay,
            effects,
            writes,
            tensors,
            shapes,
            gradients,
            numbers,
            operators,
            attributes,
            containers,
            iterators,
            texts,
            conditions,
            size_checks,
            exits},
      frames(rooms), calls(rooms), raising(rooms), loops(rooms), rolled(rooms), turn_items(rooms),
      turn_conditions(rooms), turn_values(rooms), whiles(rooms), repeats(rooms), guesses(rooms), forks(rooms),
      shared_memory(rooms), cells(rooms), inputs(rooms), structures(rooms), overlay(rooms), effects(rooms),
      writes(rooms), tensors(rooms), shapes(rooms), gradients(rooms), numbers(rooms), operators(rooms),
      attributes(rooms), containers(rooms), iterators(rooms), texts(rooms), conditions(rooms), size_checks(rooms),
      exits(rooms) {
  plan.modes = modes;
  plan.origins.emplace_back();
}

// What counts references never frees an object that contains itself.
static void let_go(Virtual& object) {
  switch (object.kind) {
    case VirtualKind::List: static_cast<VList&>(object).items.clear(), static_cast<VList&>(object).tail.clear(); break;
    case VirtualKind::Dict:
      static_cast<VDict&>(object).items.clear(), static_cast<VDict&>(object).fields.clear();
      break;
    case VirtualKind::Instance: static_cast<VInstance&>(object).fields.clear(); break;
    case VirtualKind::Cell: static_cast<VCell&>(object).content = Av(); break;
    default: break;
  }
}

House::~House() {
  for (const std::weak_ptr<Virtual>& ring : rings)
    if (const VirtualRef alive = ring.lock()) let_go(*alive);
}

Capture::Capture(std::unique_ptr<House> house, const Frame& frame) : Room(house->rooms), house_(std::move(house)) {
  frames_.enter_frame(frame);
}

Capture::Capture(Vm& vm, const Frame& frame, CaptureMemory& memory)
    : Capture(std::make_unique<House>(*this, vm, memory), frame) {}

Capture::~Capture() = default;

}  // namespace tsc::interp
