// lang's code objects made runnable.
#include "interpreter/value/complex.h"
#include "interpreter/vm/big_numbers.h"
#include "interpreter/vm/vm.h"
#include "lang/bytecode/bytecode.h"

namespace tsc::interp {
namespace {

Value literal_value(Vm& vm, const lang::Literal& literal) {
  using lang::LiteralKind;
  switch (literal.kind) {
    case LiteralKind::None: return Value::none();
    case LiteralKind::False: return Value::boolean(false);
    case LiteralKind::True: return Value::boolean(true);
    case LiteralKind::Ellipsis: return vm.ellipsis();
    case LiteralKind::Int: return Value::integer(literal.integer);
    case LiteralKind::BigInt: return int_of_literal(vm, literal.text);
    case LiteralKind::Float: return Value::real(literal.real);
    case LiteralKind::Imaginary: return make_complex(vm, {0, literal.real});
    case LiteralKind::Bytes: return make_bytes(vm, literal.text).take();
    case LiteralKind::Str:
      // Short texts are often names: getattr(x, "weight"), keys of keyword dictionaries.
      return literal.text.size() <= 32 ? intern(vm, literal.text).take() : str_value(vm, literal.text);
    case LiteralKind::Tuple: {
      Local<TupleObject> tuple = make_tuple(vm, literal.items.size());
      for (size_t i = 0; i < literal.items.size(); ++i) tuple->items[i] = literal_value(vm, literal.items[i]);
      return tuple.take();
    }
    case LiteralKind::Slice:
      return make_slice(vm, literal_value(vm, literal.items[0]), literal_value(vm, literal.items[1]),
                        literal_value(vm, literal.items[2]))
          .take();
  }
  return Value::none();
}

}  // namespace

const lang::CodeObject& LangCode::whole() const { return code_->whole(); }

Local<CodeObject> make_code(Vm& vm, std::shared_ptr<const lang::CodeObject> source) {
  Local<CodeObject> code = vm.heap().make<CodeObject>(vm.types().code);
  code->name = intern(vm, source->name);
  code->qualified_name = make_str(vm, source->qualname);
  code->code = std::move(source);
  return code;
}

Value doc_of(Vm& vm, const CodeObject* code) {
  const lang::CodeObject& source = code->code.signature();
  return source.has_docstring ? str_value(vm, source.docstring) : Value::none();
}

Value doc_of(Vm& vm, FunctionObject* function) {
  if (!function->doc) function->doc = doc_of(vm, function->code.get());
  return function->doc;
}

void fill_code(Vm& vm, CodeObject* code) {
  const lang::CodeObject& source = *code->code;
  std::vector<Value> constants;
  constants.reserve(source.constants.size());
  for (const lang::Literal& literal : source.constants) constants.push_back(literal_value(vm, literal));
  std::vector<Local<StrObject>> names, parameter_names;
  for (const std::string& name : source.names) names.push_back(intern(vm, name));
  for (const std::string& name : source.parameters.names) parameter_names.push_back(intern(vm, name));
  std::vector<Local<CodeObject>> nested;
  for (const lang::CodeRef& inner : source.codes) nested.push_back(make_code(vm, inner));
  // Nothing below fails: a code is prepared whole or not at all.
  auto caches = std::make_unique<InlineCache[]>(2 * source.sites.size());
  code->constants = std::move(constants);
  code->names = std::move(names);
  code->parameter_names = std::move(parameter_names);
  code->nested = std::move(nested);
  code->caches = std::move(caches);
  const lang::ParameterList& p = source.parameters;
  const bool plain = !source.is_generator && p.keyword_only == 0 && !p.has_varargs && !p.has_varkwargs;
  if (plain) code->plain_arguments = p.positional;
  code->register_count = source.register_count;
  code->first_constant = code->constants.data();
  code->first_cache = code->caches.get();
  code->instructions = source.instructions.data();
}

}  // namespace tsc::interp
