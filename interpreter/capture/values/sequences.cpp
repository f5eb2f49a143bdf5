// Containers while capturing: virtual lists, tuples and dicts, host ones read element by element.

#include "interpreter/capture/house.h"
#include "interpreter/capture/natives/stand_ins.h"

namespace tsc::interp {

Av Containers::make_tuple_av(std::vector<Av> items) {
  auto tuple = make<VTuple>();
  tuple->items = std::move(items);
  return Av::of(tuple);
}

Av Containers::make_list_av(std::vector<Av> items) {
  auto list = make<VList>();
  list->items = std::move(items);
  return Av::of(list);
}

void Containers::append(const Av& list, const Av& item) {
  VList& known = static_cast<VList&>(*list.object);
  if (!known.rows.is_undefined()) return rolled_.append(known, item);
  effects_.write_through(list, "append", {item});
  (known.unread ? known.tail : known.items).push_back(item);
}

Av Containers::make_tuple_like(const Av& source, std::vector<Av> items) {
  const bool is_size = attributes_.type_of_av(source) == tensor_state_.size_type;
  for (const Av& item : items)
    if (is_size && attributes_.type_of_av(item) != vm_.types().integer)
      break_here(BreakReason::raises, "a size that is no integer");
  Av made = make_tuple_av(std::move(items));
  if (is_size) as<VTuple>(made)->type = Local<Type>(tensor_state_.size_type);
  return made;
}

bool Containers::is_sequence_of(const Av& av, Kind kind) const {
  if (av.is_constant()) return is_kind(av.value, kind);
  if (av.kind != Av::Kind::Virtual) return false;
  return av.object->kind == (kind == Kind::List ? VirtualKind::List : VirtualKind::Tuple);
}

namespace {

std::vector<Av> constants_of(std::span<const Value> items) {
  std::vector<Av> out;
  for (const Value& v : items) out.push_back(Av::constant(v));
  return out;
}

}  // namespace

namespace {

// The script's class that the value is of; null: it is of another one.
Type* script_class_of(const Av& av) {
  Type* type = nullptr;
  if (av.is_constant() && av.value.is_object()) type = av.value.object()->type;
  else if (is_virtual(av, VirtualKind::Tuple)) type = as<VTuple>(av)->type.get();
  else if (is_virtual(av, VirtualKind::Dict)) type = as<VDict>(av)->type.get();
  else if (is_virtual(av, VirtualKind::Instance)) type = as<VInstance>(av)->type.get();
  return type && type->type_flags & kScriptClass ? type : nullptr;
}

}  // namespace

const Value* Calls::own_method(const Av& av, const char* name) {
  Type* type = script_class_of(av);
  const Value* found = type ? attributes_.class_attribute(type, intern(vm_, name).get(), nullptr) : nullptr;
  if (!found || is_kind(*found, Kind::NativeFunction)) return nullptr;
  if (!is_kind(*found, Kind::Function)) break_here(BreakReason::unknown_call, std::string(name) + " of " + type->name);
  return found;
}

std::optional<Av> Calls::call_own(const char* name, std::vector<Av> arguments) {
  const Value* method = own_method(arguments[0], name);
  if (!method) return std::nullopt;
  CallArguments call_arguments;
  call_arguments.positional = std::move(arguments);
  return frames_.call_now(Av::constant(*method), std::move(call_arguments));
}

void Calls::refuse_override(const Av& av, std::initializer_list<const char*> names) {
  for (const char* name : names)
    if (own_method(av, name))
      break_here(BreakReason::unknown_call, std::string(name) + " of " + script_class_of(av)->name);
}

// By a function __call__ of the class of the class.
bool Calls::construct_by_metaclass(Type* type, CallArguments& arguments, uint16_t destination) {
  if (type->type == vm_.types().type || !(type->type->type_flags & kScriptClass)) return false;
  const Value* method = attributes_.class_attribute(type->type, vm_.names().call.get(), nullptr);
  if (!method || !is_kind(*method, Kind::Function)) return false;
  arguments.positional.insert(arguments.positional.begin(), Av::constant(Value(type)));
  call(Av::constant(*method), std::move(arguments), destination);
  return true;
}

std::vector<Av> Containers::dict_keys(const Av& dict) {
  if (!is_dict(dict)) break_here(BreakReason::unknown_object, "the keys of a value that is no dict");
  calls_.refuse_override(dict, {"__iter__", "keys", "items", "__getitem__"});
  std::vector<Av> keys;
  if (VDict* made = as<VDict>(dict)) {
    for (const auto& [key, value] : made->items) keys.push_back(key);
    return keys;
  }
  DictObject* host = cast<DictObject>(dict.value);
  cells_.assume_length(dict.value);
  for (uint32_t i = 0; i < host->table.used(); ++i)
    if (!host->table.entry(i).key.is_undefined()) keys.push_back(Av::constant(host->table.entry(i).key));
  return keys;
}

bool Containers::is_dict(const Av& av) const {
  return as<VDict>(av) || (av.is_constant() && is_kind(av.value, Kind::Dict));
}

std::vector<Av> Iterators::range_items(const Av& start, const Av& stop, const Av& step) {
  int64_t first = numbers_.concrete_int(start), last = numbers_.concrete_int(stop), by = numbers_.concrete_int(step);
  if (by == 0) break_here(BreakReason::raises, "range() step is 0");
  std::vector<Av> items;
  for (int64_t i = first; by > 0 ? i < last : i > last; i += by) {
    if (items.size() > 100000) break_here(BreakReason::too_large, "loop of more than 100000 rounds");
    items.push_back(Av::integer(i));
  }
  return items;
}

std::vector<Av> Iterators::items_of(const Av& av) {
  if (calls_.own_method(av, "__iter__")) return items_of(iterate(av));
  calls_.refuse_override(av, {"__getitem__"});
  if (VTuple* tuple = as<VTuple>(av)) return tuple->items;
  if (VList* list = as<VList>(av)) return list->items;
  if (VRange* range = as<VRange>(av)) return range_items(range->start, range->stop, range->step);
  if (const VDictView* view = as<VDictView>(av)) {
    std::vector<Av> items = containers_.dict_keys(view->dict);
    if (view->form == VDictView::Form::Keys) return items;
    for (Av& item : items) {
      Av value = containers_.dict_find(view->dict, item);
      item = view->form == VDictView::Form::Values ? value : containers_.make_tuple_av({item, value});
    }
    return items;
  }
  if (VSet* set = as<VSet>(av)) {  // in the order that the interpreter's set has after the same insertions
    Local<SetObject> made = make_set(vm_);
    for (const Av& item : set->items) {
      if (!item.is_constant()) break_here(BreakReason::unknown_object, "iteration over a set of unknown values");
      set_add(vm_, made.get(), item.value);
    }
    return constants_of(to_list(vm_, made.value())->items);
  }
  if (VIterator* iterator = as<VIterator>(av)) {
    std::vector<Av> items;
    Av item;
    constexpr size_t kMostItems = 100000;  // those of an iterator without an end are the interpreter's to run out of
    while (next(*iterator, &item)) {
      if (items.size() == kMostItems) break_here(BreakReason::too_large, "an iterator of many items");
      items.push_back(item);
    }
    return items;
  }
  if (containers_.is_dict(av)) return containers_.dict_keys(av);
  if (VTensor* tensor = tensors_.tensor_of(av)) return tensors_.unbind(av, *tensor);
  if (!av.is_constant() || !av.value.is_object())
    break_here(BreakReason::unknown_object, "iteration over an unknown value");
  Object* object = av.value.object();
  switch (object->kind) {
    case Kind::Tuple: return constants_of(cast<TupleObject>(av.value)->span());
    case Kind::List: {
      ListObject* list = cast<ListObject>(av.value);
      cells_.assume_length(av.value);
      std::vector<Av> items;
      for (size_t i = 0; i < list->items.size(); ++i)
        items.push_back(cells_.load_element(list, static_cast<int64_t>(i)));
      return items;
    }
    case Kind::Range: {
      RangeObject* range = cast<RangeObject>(av.value);
      return range_items(Av::integer(range->start), Av::integer(range->stop), Av::integer(range->step));
    }
    case Kind::Str: return constants_of(to_list(vm_, av.value)->items);
    default: break_here(BreakReason::unknown_object, "iteration over " + type_name(vm_, av.value));
  }
}

std::vector<Av> Tensors::unbind(const Av& av, VTensor& tensor) {
  const jit::Type type = region_.type(current(tensor));
  if (type.sizes.empty()) break_here(BreakReason::raises, "iteration over a 0-d tensor");
  int64_t count = numbers_.concrete_int(numbers_.int_av(type.sizes[0]));
  if (count > 10000) break_here(BreakReason::too_large, "iteration over a long tensor");
  std::vector<Av> items;
  std::vector<ValueId> row(type.sizes.begin() + 1, type.sizes.end());
  ValueId one = builder_.constant(int64_t{1});
  OpAttributes attributes;
  attributes.axes = Sizes{0};
  for (int64_t i = 0; i < count; ++i) {
    const ValueId scalars[] = {builder_.constant(i), one, one};
    Av part = emit(Op::slice, {&av, 1}, scalars, attributes);
    items.push_back(emit(Op::reshape, {&part, 1}, row, {}));
  }
  return items;
}

Av Iterators::iterate(const Av& av) {
  if (as<VIterator>(av)) return av;
  if (std::optional<Av> own = calls_.call_own("__iter__", {av})) {
    if (!as<VIterator>(*own)) break_here(BreakReason::unknown_call, "an iterator of a script's class");
    return *own;
  }
  auto iterator = make<VIterator>();
  begin(*iterator, av);
  if (!as<VList>(av) && !containers_.is_sequence_of(av, Kind::Tuple)) {  // one of a tuple is made again of what is left
    iterator->made_in = frames_.frame().code;
    iterator->made_at = frames_.frame().pc;
  }
  return Av::of(iterator);
}

Av Iterators::iterate_later(const Av& av, bool reverse) {
  const bool is_range = as<VRange>(av) || (av.is_constant() && is_kind(av.value, Kind::Range));
  if (!is_range && !is_virtual(av, VirtualKind::Tensor)) return iterate(av);
  std::shared_ptr<VIterator> iterator = make_lazy(VIterator::Form::Items);
  iterator->pending = av;
  iterator->reverse = reverse;
  iterator->open = loops_.has_open_length(av);
  return Av::of(iterator);
}

namespace {

std::optional<uint64_t> version_of_keys(const Av& av) {
  if (const VDict* dict = as<VDict>(av)) return dict->version;
  if (const VSet* set = as<VSet>(av)) return set->version;
  return std::nullopt;
}

}  // namespace

// What may change meanwhile is read when its turn comes: the items of a list, the values of a dict. Keys stay as they
// are.
void Iterators::begin(VIterator& iterator, const Av& av, bool reverse) {
  if (containers_.is_sequence_of(av, Kind::List)) {
    calls_.refuse_override(av, {"__getitem__"});
    if (av.is_constant()) cells_.assume_length(av.value);
    iterator.form = VIterator::Form::Live;
    iterator.items = {av};
    iterator.reverse = reverse;
    const size_t size = av.is_constant() ? cast<ListObject>(av.value)->items.size() : as<VList>(av)->items.size();
    iterator.count = static_cast<int64_t>(size) - 1;
    iterator.open = loops_.has_open_length(av);
    return;
  }
  const VDictView* view = as<VDictView>(av);
  const bool reads_values = view && view->form != VDictView::Form::Keys;
  iterator.items = reads_values ? containers_.dict_keys(view->dict) : items_of(av);
  iterator.open = loops_.has_open_length(av);
  if (reverse) std::reverse(iterator.items.begin(), iterator.items.end());
  if (reads_values) iterator.view = av;
  const Av& keyed = view ? view->dict : av;
  const std::optional<uint64_t> version = version_of_keys(keyed);
  if (!version) return;
  iterator.keyed = keyed;
  iterator.keyed_version = *version;
  iterator.begun_in = frames_.frame().code;
  iterator.begun_at = frames_.step_pc();
}

bool Iterators::next_live(VIterator& iterator, Av* out) {
  const Av list = iterator.items[0];
  ListObject* host = list.is_constant() ? cast<ListObject>(list.value) : nullptr;
  const size_t size = host ? host->items.size() : as<VList>(list)->items.size();
  const int64_t index = iterator.reverse ? iterator.count : static_cast<int64_t>(iterator.position);
  if (index < 0 || index >= static_cast<int64_t>(size)) {  // it has ended, whatever comes into the list from now on
    iterator.form = VIterator::Form::Items;
    iterator.items.clear();
    iterator.position = 0;
    return false;
  }
  ++iterator.position;
  --iterator.count;
  *out = host ? cells_.load_element(host, index) : as<VList>(list)->items[static_cast<size_t>(index)];
  return true;
}

bool Iterators::next_item(VIterator& iterator, Av* out) {
  if (!iterator.pending.is_undefined()) {
    iterator.items = items_of(std::exchange(iterator.pending, Av()));
    if (iterator.reverse) std::reverse(iterator.items.begin(), iterator.items.end());
  }
  const std::optional<uint64_t> version = version_of_keys(iterator.keyed);
  if (version && *version != iterator.keyed_version)
    frames_.refuse(iterator.begun_in.get(), iterator.begun_at,
                   {BreakReason::raises, "a dict or a set changes while it is iterated over"});
  if (iterator.position >= iterator.items.size()) {
    iterator.keyed = Av();  // it has ended
    return false;
  }
  *out = iterator.items[iterator.position++];
  const VDictView* view = as<VDictView>(iterator.view);
  if (!view) return true;
  const Av value = containers_.dict_find(view->dict, *out);
  *out = view->form == VDictView::Form::Values ? value : containers_.make_tuple_av({*out, value});
  return true;
}

bool Iterators::next(VIterator& iterator, Av* out) {
  effects_.will_change(iterator);
  frames_.note_advance();
  switch (iterator.form) {
    case VIterator::Form::Native: {
      const std::shared_ptr<StandIns> run = iterator.run;
      ++iterator.position;
      return run->next(iterator.host, out);
    }
    case VIterator::Form::Generator: return frames_.resume(iterator, out);
    case VIterator::Form::Outside: return structures_.next_from_outside(iterator, out);
    case VIterator::Form::Items: return next_item(iterator, out);
    case VIterator::Form::Counted: break;
    case VIterator::Form::Live: return next_live(iterator, out);
  }
  return false;
}

// `item in container`. What looks for one place only is not compared with all of them.
bool Containers::contains(const Av& container, const Av& item) {
  if (tensors_.tensor_of(container)) break_here(BreakReason::tensor_branch, "in");
  if (std::optional<Av> own = calls_.call_own("__contains__", {container, item})) return numbers_.truth(*own);
  if (as<VIterator>(container)) break_here(BreakReason::unknown_object, "`in` takes items from an iterator");
  if (is_dict(container)) return !dict_find(container, item).is_undefined();
  if (container.is_constant() && item.is_constant() && numbers_.is_plain_data(container.value) &&
      numbers_.is_plain_data(item.value))
    return interp::contains(vm_, container.value, item.value);
  if (calls_.own_method(container, "__iter__") || calls_.own_method(container, "__getitem__"))
    return contains(make_tuple_av(iterators_.items_of(container)), item);
  // Conditions, and not the number itself.
  const VSet* set = item.is_number() ? as<VSet>(container) : nullptr;
  const Av among = set || as<VRange>(container) ? make_tuple_av(iterators_.items_of(container)) : container;
  if (!is_container(among)) break_here(BreakReason::unknown_object, "`in` a value the compiler does not know");
  const auto native = [&](std::span<const Value> v) { return Value::boolean(interp::contains(vm_, v[0], v[1])); };
  return run_on_stand_ins(capture_, {operators_.as_container(among), item}, native).value.as_bool();
}

// ---- items ----

namespace {

// Storing into a place the very object that is there changes nothing: x[k] += y of a tensor.
bool is_same_virtual(const Av& a, const Av& b) {
  return a.kind == Av::Kind::Virtual && b.kind == Av::Kind::Virtual && a.object == b.object;
}

bool is_text(const Av& av) {
  return av.is_constant() && (is_kind(av.value, Kind::Str) || is_kind(av.value, Kind::Bytes));
}

bool is_hashable(const Value& v) {
  if (const auto* tuple = try_cast<TupleObject>(v)) return std::ranges::all_of(tuple->span(), is_hashable);
  return !v.is_object() || v.object()->type->slots.hash;
}

}  // namespace

Av Containers::slice_items(const Av& container, const VSlice& slice) {
  const bool is_size = attributes_.type_of_av(container) == tensor_state_.size_type;
  const Av plain = is_size ? make_tuple_av(iterators_.items_of(container)) : container;
  const auto native = [&](std::span<const Value> v) {
    return interp::get_item(vm_, v[0], interp::make_slice(vm_, v[1], v[2], v[3]).value());
  };
  const StandIns::Sees sees = is_text(container) ? StandIns::Sees::Values : StandIns::Sees::Tokens;
  const Av out = run_on_stand_ins(capture_, {plain, slice.start, slice.stop, slice.step}, native, {}, sees);
  return is_size ? make_tuple_like(container, iterators_.items_of(out)) : out;
}

std::shared_ptr<VSlice> Containers::slice_of(const Av& key) {
  if (key.kind == Av::Kind::Virtual && key.object->kind == VirtualKind::Slice)
    return std::static_pointer_cast<VSlice>(key.object);
  if (!key.is_constant() || !is_kind(key.value, Kind::Slice)) return nullptr;
  SliceObject* host = cast<SliceObject>(key.value);
  auto slice = make<VSlice>();
  slice->start = Av::constant(host->start);
  slice->stop = Av::constant(host->stop);
  slice->step = Av::constant(host->step);
  return slice;
}

size_t Containers::checked_index(const Av& key, size_t size) {
  int64_t index = numbers_.concrete_int(key);
  if (index < 0) index += static_cast<int64_t>(size);
  if (index < 0 || index >= static_cast<int64_t>(size)) break_here(BreakReason::raises, "IndexError");
  return static_cast<size_t>(index);
}

Av Containers::get_item(const Av& container, const Av& key) {
  if (tensors_.tensor_of(container)) break_here(BreakReason::unknown_call, "tensor item outside an instruction");
  if (std::optional<Av> own = calls_.call_own("__getitem__", {container, key})) return *own;
  if (!as<VDict>(container)) calls_.refuse_override(container, {"__missing__"});
  if (is_dict(container)) {
    Av found = dict_find(container, key);
    if (!found.is_undefined()) return found;
    if (std::optional<Av> made = calls_.call_own("__missing__", {container, key})) return *made;
    break_here(BreakReason::raises, "KeyError");
  }
  if (is_sequence(container)) {
    bool list = is_sequence_of(container, Kind::List);
    if (std::shared_ptr<VSlice> slice = slice_of(key)) {
      if (container.is_constant() && list) cells_.assume_length(container.value);
      return slice_items(container, *slice);
    }
    if (container.is_constant() && list) {
      ListObject* host = cast<ListObject>(container.value);
      cells_.assume_length(container.value);
      return cells_.load_element(host, static_cast<int64_t>(checked_index(key, host->items.size())));
    }
    if (container.is_constant()) {
      std::span<const Value> items = cast<TupleObject>(container.value)->span();
      return Av::constant(items[checked_index(key, items.size())]);
    }
    if (const Av* appended = structures_.appended_item(container, key)) return *appended;
    VTuple* tuple = as<VTuple>(container);
    const std::vector<Av>& items = tuple ? tuple->items : as<VList>(container)->items;
    return items[checked_index(key, items.size())];
  }
  if (std::shared_ptr<VSlice> slice = slice_of(key);
      slice && is_text(container) && numbers_.is_plain_data(container.value))
    return slice_items(container, *slice);
  if (container.is_constant() && key.is_constant() && numbers_.is_plain_data(container.value) &&
      !is_kind(container.value, Kind::Type))
    return Av::constant(interp::get_item(vm_, container.value, key.value));
  break_here(BreakReason::unknown_object, "item of a value the compiler does not know");
}

// What a dict is asked for: numbers of it are a fact from here on.
Value Containers::known_key(const Av& key) {
  if (key.is_constant()) {
    const Value* hash = calls_.own_method(key, "__hash__");  // of members of enumerations it is that of the name
    const bool is_member =
        hash && cast<FunctionObject>(*hash)->module && cast<FunctionObject>(*hash)->module->name == "enum";
    if (!is_member) calls_.refuse_override(key, {"__hash__"});
    calls_.refuse_override(key, {"__eq__"});
    if (!is_hashable(key.value)) break_here(BreakReason::raises, "TypeError: a key that is not hashable");
    return key.value;
  }
  if (key.is_number() && key.scalar_kind == jit::ValueKind::Int) return Value::integer(numbers_.concrete_int(key));
  if (key.is_number() && key.scalar_kind == jit::ValueKind::Bool) return Value::boolean(numbers_.truth(key));
  if (as<VInstance>(key)) break_here(BreakReason::unknown_object, "a dict key that is another object in each call");
  const VTuple* tuple = as<VTuple>(key);
  if (!tuple || tuple->type) break_here(BreakReason::unknown_number, "dict key");
  std::vector<Value> items;
  for (const Av& item : tuple->items) items.push_back(known_key(item));
  return interp::make_tuple(vm_, items).take();
}

Av Containers::dict_find(const Av& dict, const Av& key) {
  const Value wanted = known_key(key);
  if (VDict* made = as<VDict>(dict)) {
    for (auto& [k, v] : made->items)
      if (equal(vm_, k.value, wanted)) return v;
    return Av();
  }
  if (!is_dict(dict)) break_here(BreakReason::unknown_object, "an entry of a dict");
  return cells_.load_dict_entry(cast<DictObject>(dict.value), wanted);
}

void Containers::set_item(const Av& container, const Av& key, const Av& value) {
  if (calls_.call_own("__setitem__", {container, key, value})) return;
  if (is_virtual(container, VirtualKind::List) && slice_of(key)) {
    const auto native = [&](std::span<const Value> v) {
      return interp::set_item(vm_, v[0], v[1], v[2]), Value::none();
    };
    run_on_stand_ins(capture_, {container, key, value}, native, repeat_by(capture_, container, "__setitem__"));
    return;
  }
  if (VList* list = as<VList>(container)) {
    Av& item = list->items[checked_index(key, list->items.size())];
    if (is_same_virtual(item, value)) return;
    effects_.write_through(container, "__setitem__", {key, value});
    item = value;
    return;
  }
  if (VDict* dict = as<VDict>(container)) {
    const Value wanted = known_key(key);
    auto place = std::find_if(dict->items.begin(), dict->items.end(),
                              [&](const auto& item) { return equal(vm_, item.first.value, wanted); });
    if (place != dict->items.end() && is_same_virtual(place->second, value)) return;
    effects_.write_through(container, "__setitem__", {key, value});
    if (place != dict->items.end()) {
      place->second = value;
    } else {
      dict->items.push_back({Av::constant(wanted), value});
      ++dict->version;
    }
    return;
  }
  if (container.is_constant() && is_kind(container.value, Kind::Dict) && key.is_constant() &&
      is_kind(key.value, Kind::Str))
    return store_dict(container, key, value);
  if (container.is_constant() && is_kind(container.value, Kind::List)) {
    ListObject* host = cast<ListObject>(container.value);
    cells_.assume_length(container.value);
    size_t index = checked_index(key, host->items.size());
    OverlayKey place{host, nullptr, static_cast<int64_t>(index) + 1};
    cells_.written_by_region(place, container.value);
    overlay_.note_stored(place, value);
    HostAction action;
    action.form = HostAction::Form::SetItem;
    return effects_.host_action(std::move(action), {container, Av::integer(static_cast<int64_t>(index)), value});
  }
  break_here(BreakReason::unknown_object, "store into a value the compiler does not know");
}

void Containers::delete_item(const Av& container, const Av& key) {
  if (calls_.call_own("__delitem__", {container, key})) return;
  if (!is_virtual(container, VirtualKind::List) && !is_virtual(container, VirtualKind::Dict))
    break_here(BreakReason::unknown_object, "del of an item of a value from outside the region");
  const auto native = [&](std::span<const Value> v) { return interp::delete_item(vm_, v[0], v[1]), Value::none(); };
  run_on_stand_ins(capture_, {container, key}, native, repeat_by(capture_, container, "__delitem__"));
}

void Containers::store_dict(const Av& container, const Av& key, const Av& value) {
  DictObject* host = cast<DictObject>(container.value);
  Local<StrObject> name = intern(vm_, cast<StrObject>(key.value));
  OverlayKey place{host, name.get(), 0};
  bool present = !dict_get(vm_, host, name.value()).is_undefined() || overlay_.stored_at(place);
  if (!present) (void)cells_.load_dict_entry(host, name.value());  // once it is there the region goes on
  if (!present) break_here(BreakReason::escape, "a new key of a dict outside the region");
  cells_.written_by_region(place, container.value);
  overlay_.note_stored(place, value);
  HostAction action;
  action.form = HostAction::Form::SetItem;
  effects_.host_action(std::move(action), {container, Av::constant(name.value()), value});
}

// A cell that the region writes must not be one it assumed: then it is read at every entry instead.
void Cells::written_by_region(const OverlayKey& place, const Value& holder) {
  structures_.keep_apart_from(holder);
  CaptureMemory::Cell cell{place.holder, place.name, place.index};
  if (!constant_cells_.count(place) || memory_.is_dynamic(cell)) return;
  memory_.make_dynamic(cell, holder);
  if (place.name) memory_.keep_alive.push_back(Value(place.name));
  throw CaptureRestart{};
}

}  // namespace tsc::interp
