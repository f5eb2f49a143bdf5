// _yaml: YAML text as events, and events as text, by libyaml. What events mean as values is yaml.tsc's to say.
//
// An event is a tuple: ("scalar", anchor, tag, value, plain, quoted, style), ("alias", anchor), ("[", anchor, tag, implicit,
// flow), ("]",), ("{", anchor, tag, implicit, flow), ("}",), ("---", explicit), ("...", explicit); what is parsed has its line and
// column behind it.
#include <yaml.h>

#include <memory>

#include "interpreter/heap/patience.h"
#include "interpreter/modules/native_modules.h"
#include "interpreter/value/text_builder.h"

namespace tsc::interp {
namespace {

Value text_or_none(Vm& vm, const yaml_char_t* text) {
  return text ? str_value(vm, reinterpret_cast<const char*>(text)) : Value::none();
}
Value tuple_of(Vm& vm, std::initializer_list<Value> items) {
  return interp::make_tuple(vm, std::span<const Value>(items.begin(), items.size())).take();
}
Value place(size_t number) { return Value::integer(static_cast<int64_t>(number)); }

// The class of yaml.tsc that the error is of, made from what the library says.
[[noreturn]] void fail(Vm& vm, const char* kind, const char* context, const yaml_mark_t& context_mark, const char* problem,
                       const yaml_mark_t& problem_mark) {
  const Value type = get_attribute(vm, dict_get(vm, vm.modules(), "yaml"), kind);
  const auto mark = [&](const yaml_mark_t& m) { return tuple_of(vm, {place(m.index), place(m.line), place(m.column)}); };
  const Value made = call(vm, get_attribute(vm, type, "_at"),
                          std::initializer_list<Value>{context ? str_value(vm, context) : Value::none(), mark(context_mark),
                                                       str_value(vm, problem ? problem : "invalid text"), mark(problem_mark)});
  throw ScriptException(Local<ExceptionObject>(cast<ExceptionObject>(made)));
}

struct Parser {
  yaml_parser_t parser;
  Parser() {
    if (!::yaml_parser_initialize(&parser)) throw std::bad_alloc();
  }
  ~Parser() { ::yaml_parser_delete(&parser); }
};
struct Event {
  yaml_event_t event{};
  ~Event() { ::yaml_event_delete(&event); }
};

Value event_value(Vm& vm, const yaml_event_t& e) {
  const Value line = place(e.start_mark.line), column = place(e.start_mark.column);
  const auto tuple = [&](std::initializer_list<Value> items) { return tuple_of(vm, items); };
  switch (e.type) {
    case YAML_DOCUMENT_START_EVENT:
      return tuple({str_value(vm, "---"), Value::boolean(!e.data.document_start.implicit), line, column});
    case YAML_DOCUMENT_END_EVENT:
      return tuple({str_value(vm, "..."), Value::boolean(!e.data.document_end.implicit), line, column});
    case YAML_ALIAS_EVENT: return tuple({str_value(vm, "alias"), text_or_none(vm, e.data.alias.anchor), line, column});
    case YAML_SCALAR_EVENT: {
      const auto& s = e.data.scalar;
      return tuple({str_value(vm, "scalar"), text_or_none(vm, s.anchor), text_or_none(vm, s.tag),
                    str_value(vm, std::string_view(reinterpret_cast<const char*>(s.value), s.length)),
                    Value::boolean(s.plain_implicit), Value::boolean(s.quoted_implicit), Value::integer(s.style), line, column});
    }
    case YAML_SEQUENCE_START_EVENT: {
      const auto& s = e.data.sequence_start;
      return tuple({str_value(vm, "["), text_or_none(vm, s.anchor), text_or_none(vm, s.tag), Value::boolean(s.implicit),
                    Value::boolean(s.style == YAML_FLOW_SEQUENCE_STYLE), line, column});
    }
    case YAML_SEQUENCE_END_EVENT: return tuple({str_value(vm, "]"), line, column});
    case YAML_MAPPING_START_EVENT: {
      const auto& m = e.data.mapping_start;
      return tuple({str_value(vm, "{"), text_or_none(vm, m.anchor), text_or_none(vm, m.tag), Value::boolean(m.implicit),
                    Value::boolean(m.style == YAML_FLOW_MAPPING_STYLE), line, column});
    }
    case YAML_MAPPING_END_EVENT: return tuple({str_value(vm, "}"), line, column});
    default: return Value();
  }
}

[[noreturn]] void fail_parsing(Vm& vm, const yaml_parser_t& p) {
  if (p.error == YAML_MEMORY_ERROR) throw std::bad_alloc();
  const char* kind = p.error == YAML_READER_ERROR ? "ReaderError" : p.error == YAML_SCANNER_ERROR ? "ScannerError" : "ParserError";
  yaml_mark_t mark = p.problem_mark;
  if (p.error == YAML_READER_ERROR) mark = {p.problem_offset, 0, p.problem_offset};
  fail(vm, kind, p.context, p.context_mark, p.problem, mark);
}

Value events(Vm& vm, Args& a) {
  const std::string_view text = text_of(vm, a[0], "events() argument 1");
  Parser owner;
  ::yaml_parser_set_input_string(&owner.parser, reinterpret_cast<const unsigned char*>(text.data()), text.size());
  ::yaml_parser_set_encoding(&owner.parser, YAML_UTF8_ENCODING);
  Local<ListObject> list = make_list(vm);
  Patience patience;
  while (true) {
    Event next;
    if (!::yaml_parser_parse(&owner.parser, &next.event)) fail_parsing(vm, owner.parser);
    if (next.event.type == YAML_STREAM_END_EVENT) return list.take();
    if (Value made = event_value(vm, next.event)) list_append(vm, list.get(), made);
    patience.step(64);
  }
}

// ---- text of events ----

struct Emitter {
  yaml_emitter_t emitter;
  TextBuilder out;
  explicit Emitter(Vm& vm) : out(vm) {
    if (!::yaml_emitter_initialize(&emitter)) throw std::bad_alloc();
    ::yaml_emitter_set_output(
        &emitter,
        [](void* to, unsigned char* text, size_t size) {
          // Exceptions may not go through the library.
          try {
            *static_cast<TextBuilder*>(to) += std::string_view(reinterpret_cast<const char*>(text), size);
            return 1;
          } catch (...) {
            return 0;
          }
        },
        &out);
    ::yaml_emitter_set_encoding(&emitter, YAML_UTF8_ENCODING);
  }
  ~Emitter() { ::yaml_emitter_delete(&emitter); }
};

class EventWriter {
 public:
  EventWriter(Vm& vm, yaml_emitter_t& emitter) : vm_(vm), emitter_(emitter) {}

  void emit(int made, yaml_event_t& event) {
    if (!made) throw std::bad_alloc();
    // The library takes the event, also where it fails.
    if (!::yaml_emitter_emit(&emitter_, &event))
      fail(vm_, "EmitterError", nullptr, {}, emitter_.problem ? emitter_.problem : "the text could not be written", {});
  }

  void write(const Value& v) {
    const TupleObject* t = cast<TupleObject>(v);
    const std::string_view kind = text_of(vm_, t->items[0]);
    yaml_event_t event{};
    if (kind == "scalar") {
      const std::string_view value = text_of(vm_, t->items[3]);
      const std::string anchor = text(t->items[1]), tag = text(t->items[2]);
      emit(::yaml_scalar_event_initialize(&event, chars(anchor), chars(tag),
                                          reinterpret_cast<const yaml_char_t*>(value.data()), static_cast<int>(value.size()),
                                          is_true(t->items[4]), is_true(t->items[5]),
                                          static_cast<yaml_scalar_style_t>(int_value(t->items[6]))),
           event);
    } else if (kind == "[") {
      const std::string anchor = text(t->items[1]), tag = text(t->items[2]);
      emit(::yaml_sequence_start_event_initialize(&event, chars(anchor), chars(tag), is_true(t->items[3]),
                                                  is_true(t->items[4]) ? YAML_FLOW_SEQUENCE_STYLE : YAML_BLOCK_SEQUENCE_STYLE),
           event);
    } else if (kind == "{") {
      const std::string anchor = text(t->items[1]), tag = text(t->items[2]);
      emit(::yaml_mapping_start_event_initialize(&event, chars(anchor), chars(tag), is_true(t->items[3]),
                                                 is_true(t->items[4]) ? YAML_FLOW_MAPPING_STYLE : YAML_BLOCK_MAPPING_STYLE),
           event);
    } else if (kind == "alias") {
      const std::string anchor = text(t->items[1]);
      emit(::yaml_alias_event_initialize(&event, chars(anchor)), event);
    } else if (kind == "]") {
      emit(::yaml_sequence_end_event_initialize(&event), event);
    } else if (kind == "}") {
      emit(::yaml_mapping_end_event_initialize(&event), event);
    } else if (kind == "---") {
      emit(::yaml_document_start_event_initialize(&event, nullptr, nullptr, nullptr, !is_true(t->items[1])), event);
    } else {
      emit(::yaml_document_end_event_initialize(&event, !is_true(t->items[1])), event);
    }
  }

 private:
  std::string text(const Value& v) { return v.is_none() ? std::string() : std::string(text_of(vm_, v)); }
  static bool is_true(const Value& v) { return int_value(v) != 0; }
  static yaml_char_t* chars(const std::string& text) {
    return text.empty() ? nullptr : reinterpret_cast<yaml_char_t*>(const_cast<char*>(text.c_str()));
  }
  Vm& vm_;
  yaml_emitter_t& emitter_;
};

Value emit(Vm& vm, Args& a) {
  const Local<ListObject> list(cast<ListObject>(a[0]));
  Emitter owner(vm);
  yaml_emitter_t& e = owner.emitter;
  ::yaml_emitter_set_canonical(&e, int_value(a[1]) != 0);
  ::yaml_emitter_set_indent(&e, static_cast<int>(to_index(vm, a[2])));
  ::yaml_emitter_set_width(&e, static_cast<int>(to_index(vm, a[3])));
  ::yaml_emitter_set_unicode(&e, int_value(a[4]) != 0);
  EventWriter writer(vm, e);
  yaml_event_t event{};
  writer.emit(::yaml_stream_start_event_initialize(&event, YAML_UTF8_ENCODING), event);
  Patience patience;
  for (size_t i = 0; i < list->items.size(); ++i) {
    writer.write(list->items[i]);
    patience.step(64);
  }
  writer.emit(::yaml_stream_end_event_initialize(&event), event);
  if (!::yaml_emitter_flush(&e)) throw std::bad_alloc();
  return owner.out.str();
}

}  // namespace

Local<ModuleObject> make_yaml_module(Vm& vm) {
  ModuleBuilder m(vm, "_yaml");
  m.function("events", "text, /", events);
  m.function("emit", "events, canonical, indent, width, allow_unicode, /", emit);
  m.value("version", str_value(vm, ::yaml_get_version_string()));
  return m.finish();
}

}  // namespace tsc::interp
