// What loops and branches keep for their backwards.
#include <functional>

#include "jit/autodiff/block_region.h"
#include "jit/autodiff/branch_gradient.h"
#include "jit/autodiff/joint_builder.h"
#include "jit/autodiff/rules.h"
#include "jit/autodiff/split.h"
#include "jit/autodiff/turn_ways.h"

namespace tsc::jit {
namespace {

// The region with its backward behind it.
Region joint_region(const Region& forward, std::span<const ValueId> outputs, std::span<const ValueId> wrt,
                    const ValueSet& stops) {
  Region joint = forward.clone();
  JointBuilder builder(joint);
  std::vector<GradientSeed> seeds;
  for (ValueId output : outputs) seeds.push_back({output, joint.add_value(Type(joint.type(output)))});
  append_backward_parts(builder, seeds, wrt, stops);
  return joint;
}

// Prepares one loop or branch of a region after the other, those inside first.
class Preparing {
 public:
  explicit Preparing(const ValueSet& stops) : stops_(stops) {}

  void prepare(Region& region, size_t place, std::span<const ValueId> results, std::span<const ValueId> wrt) const {
    Region front = region.clone();
    front.body.instructions.resize(place + 1);
    const ValueSet needed = computed_from(front, ValueSet(wrt.begin(), wrt.end()), stops_);
    const auto is_needed = [&](ValueId value) {
      const Type& type = front.type(value);
      return needed.count(value) && type.kind == ValueKind::Tensor && is_differentiable(type.dtype);
    };
    prepare_inside(front, front.body.instructions[place], is_needed);
    if (front.body.instructions[place].code == Code::If) {
      RegionBuilder builder(front);
      add_saved_results(builder, place, stops_, is_needed);
      return adopt(front, place, &region, &region.body.instructions[place]);
    }
    const Region joint = joint_region(front, results, wrt, stops_);
    for (size_t i = 0; results.size() > 1 && i < results.size(); ++i)
      joint_region(front, results.subspan(i, 1), wrt, stops_);
    adopt(joint, place, &region, &region.body.instructions[place]);
  }

 private:
  using IsNeeded = std::function<bool(ValueId)>;

  void prepare_inside(Region& region, Instruction& outer, const IsNeeded& is_needed) const {
    if (outer.code == Code::Loop) {
      RegionBuilder builder(region);
      const WayOfTurn way = way_of_turn(builder, outer, 0);
      return prepare_block(region, way.block, way.sources, is_needed);
    }
    for (const auto& block : outer.blocks) {
      std::vector<Instruction*> sources;
      for (Instruction& one : block->instructions) sources.push_back(&one);
      sources.pop_back();
      prepare_block(region, *block, sources, is_needed);
    }
  }
  // `sources`: what the instructions of the block are copies of, or they themselves.
  void prepare_block(Region& region, const Block& block, const std::vector<Instruction*>& sources,
                     const IsNeeded& is_needed) const {
    for (size_t i = 0; i < sources.size(); ++i) {
      Instruction& inner = *sources[i];
      std::vector<ValueId> results;
      for (ValueId result : inner.results)
        if (!inner.blocks.empty() && is_needed(result) && !stops_.count(result)) results.push_back(result);
      if (results.empty()) continue;
      RegionBuilder builder(region);
      Region own = region_of_block(builder, block).region;
      std::vector<ValueId> wrt;
      for (ValueId value : own.body.parameters)
        if (is_needed(value)) wrt.push_back(value);
      const size_t place = own.body.instructions.size() - block.instructions.size() + i;
      prepare(own, place, results, wrt);
      adopt(own, place, &region, &inner);
    }
  }

  // Instruction number `place` of a region that has grown from a clone of `region`.
  static void adopt(const Region& grown, size_t place, Region* region, Instruction* instruction) {
    const size_t known = region->value_count();
    ValueMap<ValueId> names;
    std::vector<ValueId> made;
    const auto name = [&](ValueId value) -> ValueId {
      if (value < known) return value;
      if (const auto found = names.find(value); found != names.end()) return found->second;
      made.push_back(region->add_value(Type(grown.type(value))));
      return names[value] = made.back();
    };
    Instruction copy = clone_instruction(grown.body.instructions[place]);
    const auto rename = [&](const auto& self, Instruction& one) -> void {
      for (ValueId& operand : one.operands) operand = name(operand);
      for (const auto& block : one.blocks)
        for (Instruction& inner : block->instructions) self(self, inner);
      for (ValueId& result : one.results) result = name(result);
    };
    rename(rename, copy);
    for (size_t i = 0; i < made.size(); ++i) {
      Type type = region->type(made[i]);
      for (ValueId& size : type.sizes) size = name(size);
      region->type(made[i]) = std::move(type);
    }
    *instruction = std::move(copy);
  }

  const ValueSet& stops_;
};

}  // namespace

bool prepare_backward(Region& region, size_t place, std::span<const ValueId> results, std::span<const ValueId> wrt,
                      const ValueSet& stops, std::string* why) {
  try {
    Preparing(stops).prepare(region, place, results, wrt);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::NotImplementedError) throw;
    if (why) *why = error.message();
    return false;
  }
  return true;
}

}  // namespace tsc::jit
