#include "interpreter/value/shape.h"

#include "interpreter/value/string.h"
#include "interpreter/value/type.h"

namespace tsc::interp {

Shape::~Shape() {
  transitions_.clear();
  for (StrObject* name : names_)
    if (--name->reference_count == 0) destroy_object(name);
}

int32_t Shape::find_in_index(StrObject* name) const {
  auto it = index_.find(name);
  return it == index_.end() ? -1 : it->second;
}

Shape* Shape::with(StrObject* name) {
  for (auto& [key, shape] : transitions_)
    if (key == name) return shape.get();
  auto next = std::make_unique<Shape>(type_, false);
  std::vector<StrObject*> names;
  names.reserve(names_.size() + 1);
  names = names_;
  names.push_back(name);
  for (StrObject* n : names) ++n->reference_count;
  next->names_ = std::move(names);
  if (next->names_.size() > 12)
    for (size_t i = 0; i < next->names_.size(); ++i) next->index_[next->names_[i]] = static_cast<int32_t>(i);
  Shape* result = next.get();
  transitions_.emplace_back(name, std::move(next));
  return result;
}

}  // namespace tsc::interp
