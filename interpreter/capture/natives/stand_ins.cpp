#include "interpreter/capture/natives/stand_ins.h"

#include "interpreter/capture/capture.h"
#include "interpreter/capture/natives/native_table.h"
#include "interpreter/capture/outside/cells.h"
#include "interpreter/capture/outside/structures.h"
#include "interpreter/capture/program/call_record.h"
#include "interpreter/capture/program/frames.h"
#include "interpreter/capture/values/attributes.h"
#include "interpreter/capture/values/containers.h"
#include "interpreter/capture/values/iterators.h"
#include "interpreter/capture/values/numbers.h"
#include "interpreter/capture/values/operators.h"
#include "interpreter/capture/values/tensors.h"
#include "interpreter/capture/written/effects.h"
#include "interpreter/vm/iteration.h"
#include "interpreter/vm/stops.h"

namespace tsc::interp {

namespace {

constexpr size_t kLargest = 4096;  // of containers that are known by identity

bool is_set(const Value& v) { return is_kind(v, Kind::Set); }

// Of the language's own class, whose operations no script has changed.
bool is_own_container(const Types& types, const Value& v) {
  if (!v.is_object()) return false;
  const Type* type = v.object()->type;
  return type == types.list || type == types.dict || type == types.set || type == types.frozenset;
}

// Constants that a native may look at: nothing of them changes, and no operation on them runs code of a script.
bool is_transparent(Vm& vm, const TensorState& tensors, const Value& v) {
  if (!v.is_object()) return true;
  switch (v.object()->kind) {
    case Kind::Str:
    case Kind::Bytes: return !(v.object()->type->type_flags & kScriptClass);
    case Kind::Range: return true;
    case Kind::Type: {  // what makes a container or an iterator makes one of stand-ins
      const Types& types = vm.types();
      for (const Type* made : {types.list, types.dict, types.tuple, types.set, types.frozenset})
        if (v.object() == made) return true;
      return is_iterator_class(cast<Type>(v));
    }
    case Kind::Slice: {
      const SliceObject* slice = cast<SliceObject>(v);
      return !slice->start.is_object() && !slice->stop.is_object() && !slice->step.is_object();
    }
    case Kind::Native: return v.object()->type == tensors.dtype_type;
    default: return v.is(vm.ellipsis()) || v.is(vm.not_implemented());
  }
}

const void* identity_of(const Av& av) {
  return av.is_constant() ? static_cast<const void*>(av.value.object()) : av.object.get();
}

}  // namespace

StandIns::~StandIns() { end(); }

void StandIns::end() {
  for (const Value& v : kept_)
    if (v.object()->type == tokens_) static_cast<Token*>(v.object())->owner = nullptr;
  by_identity_.clear();
  by_id_.clear();
  containers_.clear();
  looked_up_.clear();
  const std::vector<Value> kept = std::exchange(kept_, {});
  const auto meanings = std::exchange(meanings_, {});
}

Value StandIns::remember(const void* identity, Value stand_in, const Av& av) {
  if (identity) by_identity_.emplace(identity, stand_in);
  meanings_.emplace(stand_in.object(), av);
  kept_.push_back(stand_in);
  return stand_in;
}

Value StandIns::token(const Av& av, const void* identity) {
  Vm& vm = capture_.vm();
  if (sees_ == Sees::Values) {
    if (const VText* text = as<VText>(av)) capture_.structures().keep_text_whole(*text);
    break_here(BreakReason::unknown_number, "a call that needs to know its arguments");
  }
  tokens_ = token_type(vm);
  Local<Token> made = vm.heap().make<Token>(tokens_);
  made->owner = this;
  made->av = av;
  return remember(identity, made.take(), av);
}

Value StandIns::tuple(const Av& av, std::span<const Value> items, const void* identity) {
  return remember(identity, make_tuple(capture_.vm(), items).take(), av);
}

Value StandIns::constant(const Av& av) {
  const Value& v = av.value;
  if (sees_ == Sees::Later && is_kind(v, Kind::Range)) return token(av, v.object());
  if (is_transparent(capture_.vm(), capture_.tensor_state(), v)) return v;
  const bool is_plain_class = is_kind(v, Kind::Type) && v.object()->type == capture_.vm().types().type;
  // Nothing that works on values calls it.
  if (sees_ == Sees::Values && is_plain_class) return remember(v.object(), v, av);
  if (v.object()->type != capture_.vm().types().tuple) return token(av, v.object());
  std::vector<Value> items;
  bool is_itself = true;
  for (const Value& item : cast<TupleObject>(v)->span()) {
    items.push_back(value(Av::constant(item)));
    is_itself &= items.back().is(item);
  }
  return is_itself ? v : tuple(av, items, v.object());
}

Value StandIns::value(const Av& given) {
  Av av = given;
  if (av.is_undefined()) break_here(BreakReason::unknown_object, "an unbound value");
  if (av.kind == Av::Kind::Number || av.kind == Av::Kind::Opaque) {
    const auto found = by_id_.find(av.id);
    return found != by_id_.end() ? found->second : by_id_.emplace(av.id, token(av, nullptr)).first->second;
  }
  if (av.is_constant() && !av.value.is_object()) return av.value;
  // A tensor is one object, whether it was met as a value of the program or as one of the region.
  if (av.is_constant() && as_tensor(capture_.tensor_state(), av.value))
    av = Av::of(capture_.tensors().share_tensor(av));
  if (const auto found = by_identity_.find(identity_of(av)); found != by_identity_.end()) return found->second;
  if (av.is_constant()) return constant(av);
  const VTuple* items = is_virtual(av, VirtualKind::Tuple) ? as<VTuple>(av) : nullptr;
  if (!items || items->type) return token(av, av.object.get());
  std::vector<Value> parts;
  for (const Av& item : items->items) parts.push_back(value(item));
  return tuple(av, parts, av.object.get());
}

Value StandIns::argument(const Av& av) {
  const bool has_parts = av.kind == Av::Kind::Virtual || (av.is_constant() && av.value.is_object());
  if (sees_ == Sees::Later || !has_parts) return value(av);
  if (const auto found = by_identity_.find(identity_of(av)); found != by_identity_.end()) return found->second;
  Vm& vm = capture_.vm();
  if (av.is_constant()) return is_own_container(vm.types(), av.value) ? container(av, av.value.object()) : value(av);
  // A native would tell an object of a class of the script from a dict: only views of it are looked at.
  const VDict* dict = as<VDict>(av);
  if (as<VList>(av) || (dict && (!dict->type || dict == shown_as_dict_)) || as<VSet>(av))
    return container(av, av.object.get());
  if (const VDictView* given = as<VDictView>(av)) return view(*given, av);
  if (const VSlice* slice = as<VSlice>(av))
    return remember(av.object.get(), make_slice(vm, value(slice->start), value(slice->stop), value(slice->step)).take(),
                    av);
  const VRange* range = as<VRange>(av);
  const bool is_known = range && range->start.is_constant() && range->stop.is_constant() && range->step.is_constant();
  if (!is_known) return value(av);
  const auto number = [](const Av& part) { return part.value.as_int(); };
  return remember(av.object.get(),
                  make_range(vm, number(range->start), number(range->stop), number(range->step)).take(), av);
}

Value StandIns::view(const VDictView& given, const Av& av) {
  Vm& vm = capture_.vm();
  const char* method = kDictViewMethods[static_cast<size_t>(given.form)];
  const VDict* dict = as<VDict>(given.dict);
  const Value viewed = dict && dict->type ? container(given.dict, &given) : argument(given.dict);
  const Value made = call(vm, *lookup_in_type(vm.types().dict, intern(vm, method).get()), {viewed});
  return remember(av.object.get(), made, av);
}

Value StandIns::container(const Av& av, const void* identity) {
  Vm& vm = capture_.vm();
  const Type* type = capture_.attributes().type_of_av(av);
  Value made;
  if (type == vm.types().list) made = make_list(vm).take();
  else if (as<VDict>(av) || type == vm.types().dict) made = make_dict(vm).take();
  else made = make_set(vm, type == vm.types().frozenset).take();
  remember(identity, made, av);
  std::vector<Value> content = content_of(av);
  fill(made, content);
  containers_.push_back({av, made, std::move(content)});
  return made;
}

// ---- content ----

std::vector<Value> StandIns::content_of(const Av& av) {
  std::vector<Value> out;
  if (const VSet* set = as<VSet>(av)) {
    for (const Av& item : set->items) out.push_back(value(item));
    return out;
  }
  if (capture_.containers().is_dict(av)) {
    for (const Av& key : capture_.containers().dict_keys(av)) {
      out.push_back(value(key));
      out.push_back(value(capture_.containers().dict_find(av, key)));
    }
    return out;
  }
  if (av.is_constant() && is_set(av.value)) {
    capture_.cells().assume_length(av.value);
    const Table& table = cast<SetObject>(av.value)->table;
    if (table.size() > kLargest) break_here(BreakReason::too_large, "a large set from outside");
    for (uint32_t i = 0; i < table.used(); ++i)
      if (table.entry(i).key) out.push_back(value(Av::constant(table.entry(i).key)));
    return out;
  }
  for (const Av& item : capture_.iterators().items_of(av)) out.push_back(value(item));
  return out;
}

std::vector<Value> StandIns::content_of(const Value& object) {
  if (ListObject* list = try_cast<ListObject>(object)) return {list->items.begin(), list->items.end()};
  const bool is_dict = is_kind(object, Kind::Dict);
  const Table& table = is_dict ? cast<DictObject>(object)->table : cast<SetObject>(object)->table;
  std::vector<Value> out;
  for (uint32_t i = 0; i < table.used(); ++i) {
    if (!table.entry(i).key) continue;
    out.push_back(table.entry(i).key);
    if (is_dict) out.push_back(table.entry(i).value);
  }
  return out;
}

void StandIns::fill(const Value& object, const std::vector<Value>& content) {
  Vm& vm = capture_.vm();
  if (ListObject* list = try_cast<ListObject>(object)) {
    list->items.clear();
    for (const Value& item : content) list->items.push_back(item);
    return;
  }
  if (DictObject* dict = try_cast<DictObject>(object)) {
    dict->table.clear();
    for (size_t i = 0; i < content.size(); i += 2) dict_set(vm, dict, content[i], content[i + 1]);
    return;
  }
  SetObject* set = cast<SetObject>(object);
  set->table.clear();
  for (const Value& item : content) set_add(vm, set, item);
}

namespace {

bool are_one(const std::vector<Value>& a, const std::vector<Value>& b) {
  return a.size() == b.size() &&
         std::equal(a.begin(), a.end(), b.begin(), [](const Value& x, const Value& y) { return x.is(y); });
}

}  // namespace

void StandIns::set_content(Virtual& object, const Value& stand_in) {
  const std::vector<Value> content = content_of(stand_in);
  if (object.kind == VirtualKind::List || object.kind == VirtualKind::Set) {
    std::vector<Av> items;
    for (const Value& item : content) items.push_back(back(item));
    const auto is_unknown = [&](const Av& item) {
      return !item.is_constant() || !capture_.numbers().is_plain_data(item.value);
    };
    if (object.kind == VirtualKind::Set && std::any_of(items.begin(), items.end(), is_unknown))
      break_here(BreakReason::unknown_number, "a set of values that only running can tell");
    if (object.kind == VirtualKind::Set) ++static_cast<VSet&>(object).version;
    (object.kind == VirtualKind::List ? static_cast<VList&>(object).items : static_cast<VSet&>(object).items) =
        std::move(items);
    return;
  }
  VDict& dict = static_cast<VDict&>(object);
  std::vector<std::pair<Av, Av>> items;
  bool has_same_keys = 2 * dict.items.size() == content.size();
  for (size_t i = 0; i < content.size(); i += 2) {
    items.push_back({Av::constant(capture_.containers().known_key(back(content[i]))), back(content[i + 1])});
    has_same_keys = has_same_keys && dict.items[i / 2].first.value.is(items.back().first.value);
  }
  dict.items = std::move(items);
  dict.version += !has_same_keys;
}

// What the native has changed so far. `repeat` null: it has not ended.
void StandIns::take_changes(const Repeat* repeat, std::span<const Av> arguments) {
  std::vector<Container*> changed;
  std::vector<VirtualRef> outside;
  for (size_t i = 0; i < containers_.size(); ++i) {
    Container& one = containers_[i];
    if (are_one(one.content, content_of(one.object))) continue;
    if (one.av.is_constant()) break_here(BreakReason::escape, "an object from outside the region is changed");
    capture_.effects().will_change(*one.av.object);
    if (one.av.object->source != Virtual::kMadeHere) outside.push_back(one.av.object);
    changed.push_back(&one);
  }
  if (changed.empty()) return;
  if (!outside.empty()) {
    if (!repeat || !repeat->function || followed_)
      break_here(BreakReason::escape, "an object from outside is changed by a call that runs other code");
    repeat_outside(outside, *repeat, arguments);
  }
  capture_.frames().note_advance();  // whatever breaks from here on
  for (Container* one : changed) {
    set_content(*one->av.object, one->object);
    one->content = content_of(one->object);
  }
}

void StandIns::repeat_outside(std::span<const VirtualRef> changed, const Repeat& repeat,
                              std::span<const Av> arguments) {
  capture_.effects().effect_may_raise();
  for (const VirtualRef& object : changed) capture_.plan().distinct.push_back(object->source);
  HostAction action;
  action.is_store = true;
  action.keywords = repeat.keywords;
  std::vector<Av> values = {Av::constant(repeat.function)};
  values.insert(values.end(), arguments.begin(), arguments.end());
  capture_.effects().host_action(std::move(action), std::move(values));
}

// What followed code has changed, shown to the native.
void StandIns::show_changes() {
  for (size_t i = 0; i < containers_.size(); ++i) {
    std::vector<Value> now = content_of(containers_[i].av);
    Container& one = containers_[i];
    if (are_one(now, one.content)) continue;
    fill(one.object, now);
    one.content = std::move(now);
  }
}

// ---- back ----

namespace {

// A number of a class of the script that has no attributes, as those of numpy: nobody can change it.
bool is_plain_number(const Value& v) {
  return is_kind(v, Kind::BoxedNumber) && (v.object()->type->type_flags & kSlotsOnly);
}

}  // namespace

Av StandIns::back(const Value& v) {
  if (!v.is_object() || is_plain_number(v)) return Av::constant(v);
  if (const auto found = meanings_.find(v.object()); found != meanings_.end()) return found->second;
  if (is_transparent(capture_.vm(), capture_.tensor_state(), v)) return Av::constant(v);
  return as_native_iterator(capture_.vm(), v) ? back_iterator(v) : back_container(v);
}

Av StandIns::back_iterator(const Value& v) {
  std::weak_ptr<Virtual>& known = iterators_[v.object()];
  if (const VirtualRef iterator = known.lock()) return Av::of(iterator);
  const std::shared_ptr<VIterator> made = capture_.iterators().make_lazy(VIterator::Form::Native);
  made->run = shared_from_this();
  made->host = v;
  known = made;
  capture_.iterators().keep(made->run);
  return Av::of(made);
}

Av StandIns::back_container(const Value& v) {
  const Types& types = capture_.vm().types();
  const Type* type = v.object()->type;
  if (type == types.tuple) {
    std::vector<Av> items;
    bool is_constant = true;
    for (const Value& item : cast<TupleObject>(v)->span()) {
      items.push_back(back(item));
      is_constant &=
          items.back().is_constant() && items.back().value.is(item) && capture_.numbers().is_plain_data(item);
    }
    if (is_constant) return Av::constant(v);
    const Av made = capture_.containers().make_tuple_av(std::move(items));
    remember(made.object.get(), v, made);
    return made;
  }
  std::shared_ptr<Virtual> made;
  if (type == types.list) made = capture_.make<VList>();
  else if (type == types.dict) made = capture_.make<VDict>();
  else if (type == types.set || type == types.frozenset) made = capture_.make<VSet>();
  if (!made) break_here(BreakReason::unknown_call, "a call that makes a " + type->name);
  if (type == types.frozenset) static_cast<VSet&>(*made).frozen = true;
  const Av av = Av::of(made);
  remember(made.get(), v, av);
  set_content(*made, v);
  containers_.push_back({av, v, content_of(v)});
  return av;
}

void StandIns::looks_up(const Av& object) {
  const void* identity = identity_of(object);
  if (std::any_of(looked_up_.begin(), looked_up_.end(),
                  [&](const Av& known) { return identity_of(known) == identity; }))
    return;
  for (const Av& known : looked_up_) capture_.operators().is_identical(known, object);
  looked_up_.push_back(object);
}

// ---- a run ----

// What it raises the interpreter is to raise.
template <class Text>
Value StandIns::interpreted(const Text& text) {
  try {
    return text();
  } catch (const ScriptException& raised) {
    pass_on_stops(capture_.vm(), raised);
    break_here(BreakReason::raises, type_name(capture_.vm(), Value(raised.exception())));
  } catch (const Error& error) {
    break_here(BreakReason::raises, error.message());
  }
}

Av StandIns::run(std::span<const Av> arguments, const Native& native, const Repeat& repeat) {
  capture_.vm().check_native_stack();  // a native inside a native inside a native...
  std::vector<Value> values;
  for (const Av& av : arguments) values.push_back(argument(av));
  const Value result = interpreted([&] { return native(values); });
  // It does not know the other operand; who asked goes on to ask that one.
  if (result.is(capture_.vm().not_implemented()) && sees_ == Sees::Tokens)
    break_here(BreakReason::unknown_call, "an operator's method that answers NotImplemented");
  const Av out = back(result);
  take_changes(&repeat, arguments);
  return out;
}

bool StandIns::next(const Value& iterator, Av* out) {
  capture_.vm().check_native_stack();
  show_changes();
  const size_t before = kept_.size();
  Value item = interpreted([&] {
    Value next;
    return iterate_next(capture_.vm(), iterator, next) ? next : Value();
  });
  const bool has_item = !item.is_undefined();
  if (has_item) *out = back(item);
  item = Value();
  take_changes(nullptr, {});
  forget_unheld(before);
  return has_item;
}

// Stand-ins that the iterator has handed on and does not hold itself; latest first, as a tuple stands behind its items.
void StandIns::forget_unheld(size_t from) {
  for (size_t i = kept_.size(); i-- > from;) {
    const Object* object = kept_[i].object();
    const Av meaning = meanings_.at(object);
    const bool has_number = meaning.kind == Av::Kind::Number || meaning.kind == Av::Kind::Opaque;
    const auto by_id = has_number ? by_id_.find(meaning.id) : by_id_.end();
    const auto by_identity = has_number ? by_identity_.end() : by_identity_.find(identity_of(meaning));
    const bool is_named = by_id != by_id_.end() || by_identity != by_identity_.end();
    const bool is_container = std::any_of(containers_.begin(), containers_.end(),
                                          [&](const Container& one) { return one.object.object() == object; });
    if (is_container || object->reference_count > 1u + is_named) continue;
    if (object->type == tokens_) static_cast<Token*>(kept_[i].object())->owner = nullptr;
    if (by_id != by_id_.end()) by_id_.erase(by_id);
    if (by_identity != by_identity_.end()) by_identity_.erase(by_identity);
    meanings_.erase(object);
    kept_.erase(kept_.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

namespace {

struct Tokens : Visitor {
  explicit Tokens(const Type* type) : type(type) {}
  void visit(Object* object) override {
    if (object->type == type) found.push_back(static_cast<Token*>(object));
    else if ((object->kind == Kind::Iterator || object->kind == Kind::Tuple) && object->type->slots.traverse)
      object->type->slots.traverse(object, *this);
  }
  const Type* type;
  std::vector<Token*> found;
};

}  // namespace

std::vector<const VIterator*> StandIns::sources_of(const Value& iterator) {
  Tokens tokens(token_type(capture_.vm()));
  iterator.object()->type->slots.traverse(iterator.object(), tokens);
  std::vector<const VIterator*> sources;
  for (const Token* token : tokens.found)
    if (is_virtual(token->av, VirtualKind::Iterator))
      sources.push_back(static_cast<const VIterator*>(token->av.object.get()));
  return sources;
}

const Token* StandIns::token_of(Vm& vm, const Value& v) {
  return v.is_object() && v.object()->type == token_type(vm) ? static_cast<const Token*>(v.object()) : nullptr;
}

bool StandIns::is_held_here(const Av& av) const {
  return av.object.use_count() == 2;
}  // by the token, and by what that means

Av run_on_stand_ins(Capture& capture, std::span<const Av> arguments, const StandIns::Native& native,
                    const StandIns::Repeat& repeat, StandIns::Sees sees) {
  return std::make_shared<StandIns>(capture, sees)->run(arguments, native, repeat);
}

StandIns::Repeat repeat_by(Capture& capture, const Av& container, const char* method) {
  const Value* found = lookup_in_type(capture.attributes().type_of_av(container), intern(capture.vm(), method).get());
  return {found ? *found : Value(), {}};
}

}  // namespace tsc::interp
