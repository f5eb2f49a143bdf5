// Native iterators while capturing: what is asked of them beside their items.
#include "interpreter/capture/natives/stand_ins.h"
#include "interpreter/capture/values/iterators.h"
#include "interpreter/vm/iteration.h"

namespace tsc::interp {

Iterators::~Iterators() {
  for (const std::weak_ptr<StandIns>& one : runs_)
    if (const std::shared_ptr<StandIns> run = one.lock()) run->end();
}

std::optional<std::vector<Av>> Iterators::arguments_of(const VIterator& iterator) {
  const Value arguments = as_native_iterator(vm_, iterator.host)->arguments(vm_);
  if (arguments.is_undefined()) return std::nullopt;
  std::vector<Av> out;
  for (const Value& argument : cast<TupleObject>(arguments)->span()) out.push_back(iterator.run->back(argument));
  return out;
}

std::vector<const VIterator*> Iterators::sources_of(const VIterator& iterator) {
  return iterator.run ? iterator.run->sources_of(iterator.host) : std::vector<const VIterator*>();
}

std::optional<Iterators::Rows> Iterators::rows_of(const VIterator& iterator) {
  if (iterator.form != VIterator::Form::Native) return std::nullopt;
  const std::optional<NativeIterator::Rows> rows = as_native_iterator(vm_, iterator.host)->rows();
  if (!rows) return std::nullopt;
  Rows out{{}, rows->count};
  for (const Value& inner : rows->iterators) {
    const Token* token = StandIns::token_of(vm_, inner);
    if (!token || !iterator.run->is_held_here(token->av)) return std::nullopt;
    out.iterators.push_back(&token->av);
  }
  return out;
}

}  // namespace tsc::interp
