// _yaml: the tokens and the events of YAML texts, by libyaml. What they mean is the package yaml's to say, which also
// writes.
//
// A token and an event is a tuple: libyaml's number of its type, where it begins and ends (index, line and column each,
// counted in characters from 0), then what it holds. A text that is wrong ends with a tuple that begins with 0: the
// error's number, context, the context's place, problem, the problem's place and the type of the token that the parser
// did not expect.
#include <yaml.h>

#include <vector>

#include "interpreter/heap/patience.h"
#include "interpreter/modules/native_modules.h"

namespace tsc::interp {
namespace {

struct Parser {
  yaml_parser_t parser;
  explicit Parser(std::string_view text) {
    if (!::yaml_parser_initialize(&parser)) throw std::bad_alloc();
    ::yaml_parser_set_input_string(&parser, reinterpret_cast<const unsigned char*>(text.data()), text.size());
    ::yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
  }
  ~Parser() { ::yaml_parser_delete(&parser); }
  Parser(const Parser&) = delete;
  Parser& operator=(const Parser&) = delete;
};

// A tuple in the making: its items stay alive until it is made.
class Row {
 public:
  Row(Vm& vm, int kind) : vm_(vm) { add(kind); }
  Row& add(size_t number) { return add(Value::integer(static_cast<int64_t>(number))); }
  Row& add(int number) { return add(Value::integer(number)); }
  Row& add(bool truth) { return add(Value::boolean(truth)); }
  Row& add(const Value& v) {
    items_.push_back(v);
    return *this;
  }
  Row& add(const yaml_char_t* text) { return add(reinterpret_cast<const char*>(text)); }
  Row& add(const char* text) { return add(text ? str_value(vm_, text) : Value::none()); }
  Row& add(const yaml_char_t* text, size_t length) {
    return add(str_value(vm_, std::string_view(reinterpret_cast<const char*>(text), length)));
  }
  Row& add(const yaml_mark_t& mark) { return add(mark.index).add(mark.line).add(mark.column); }
  Row& pair(const Value& first, const Value& second) {
    const Value both[] = {first, second};
    return add(interp::make_tuple(vm_, both).take());
  }
  Row& pair(const yaml_char_t* first, const yaml_char_t* second) {
    const Value one = str_value(vm_, reinterpret_cast<const char*>(first));
    return pair(one, str_value(vm_, reinterpret_cast<const char*>(second)));
  }
  Value take() { return interp::make_tuple(vm_, items_).take(); }

 private:
  Vm& vm_;
  std::vector<Value> items_;
};

void add_version(Row& row, const yaml_version_directive_t* version) {
  if (!version) row.add(Value::none());
  else row.pair(Value::integer(version->major), Value::integer(version->minor));
}

Value event_row(Vm& vm, const yaml_event_t& e) {
  Row row(vm, e.type);
  row.add(e.start_mark).add(e.end_mark);
  switch (e.type) {
    case YAML_DOCUMENT_START_EVENT: {
      const auto& d = e.data.document_start;
      row.add(!d.implicit);
      add_version(row, d.version_directive);
      Row tags(vm, 0);
      for (const yaml_tag_directive_t* tag = d.tag_directives.start; tag != d.tag_directives.end; ++tag)
        tags.pair(tag->handle, tag->prefix);
      row.add(tags.take());
      break;
    }
    case YAML_DOCUMENT_END_EVENT: row.add(!e.data.document_end.implicit); break;
    case YAML_ALIAS_EVENT: row.add(e.data.alias.anchor); break;
    case YAML_SCALAR_EVENT: {
      const auto& s = e.data.scalar;
      row.add(s.anchor).add(s.tag).add(static_cast<bool>(s.plain_implicit)).add(static_cast<bool>(s.quoted_implicit));
      row.add(s.value, s.length).add(static_cast<int>(s.style));
      break;
    }
    case YAML_SEQUENCE_START_EVENT: {
      const auto& s = e.data.sequence_start;
      row.add(s.anchor).add(s.tag).add(static_cast<bool>(s.implicit)).add(s.style == YAML_FLOW_SEQUENCE_STYLE);
      break;
    }
    case YAML_MAPPING_START_EVENT: {
      const auto& m = e.data.mapping_start;
      row.add(m.anchor).add(m.tag).add(static_cast<bool>(m.implicit)).add(m.style == YAML_FLOW_MAPPING_STYLE);
      break;
    }
    default: break;
  }
  return row.take();
}

Value token_row(Vm& vm, const yaml_token_t& t) {
  Row row(vm, t.type);
  row.add(t.start_mark).add(t.end_mark);
  switch (t.type) {
    case YAML_VERSION_DIRECTIVE_TOKEN:
      row.pair(Value::integer(t.data.version_directive.major), Value::integer(t.data.version_directive.minor));
      break;
    case YAML_TAG_DIRECTIVE_TOKEN: row.pair(t.data.tag_directive.handle, t.data.tag_directive.prefix); break;
    case YAML_ALIAS_TOKEN: row.add(t.data.alias.value); break;
    case YAML_ANCHOR_TOKEN: row.add(t.data.anchor.value); break;
    case YAML_TAG_TOKEN: row.pair(t.data.tag.handle, t.data.tag.suffix); break;
    case YAML_SCALAR_TOKEN:
      row.add(t.data.scalar.value, t.data.scalar.length).add(static_cast<int>(t.data.scalar.style));
      break;
    default: break;
  }
  return row.take();
}

Value error_row(Vm& vm, const yaml_parser_t& p) {
  if (p.error == YAML_MEMORY_ERROR) throw std::bad_alloc();
  Row row(vm, 0);
  row.add(static_cast<int>(p.error)).add(p.context).add(p.context_mark);
  row.add(p.problem).add(p.problem_mark);
  row.add(p.tokens.head != p.tokens.tail ? static_cast<int>(p.tokens.head->type) : 0);
  return row.take();
}

// The rows of all that `next` takes from the parser into an item, up to the end of the text or its first error.
template <class Item, int kEnd>
Value rows(Vm& vm, std::string_view text, int (*next)(yaml_parser_t*, Item*), void (*free)(Item*),
           Value (*row_of)(Vm&, const Item&)) {
  struct Owner {
    Item item{};
    void (*free)(Item*);
    ~Owner() { free(&item); }
  };
  Parser owner(text);
  Local<ListObject> list = make_list(vm);
  Patience patience;
  while (true) {
    Owner got{{}, free};
    if (!next(&owner.parser, &got.item)) {
      list_append(vm, list.get(), error_row(vm, owner.parser));
      return list.take();
    }
    list_append(vm, list.get(), row_of(vm, got.item));
    if (got.item.type == kEnd) return list.take();
    patience.step(64);
  }
}

Value events(Vm& vm, Args& a) {
  return rows<yaml_event_t, YAML_STREAM_END_EVENT>(vm, text_of(vm, a[0], "events() argument 1"), ::yaml_parser_parse,
                                                   ::yaml_event_delete, event_row);
}

Value tokens(Vm& vm, Args& a) {
  return rows<yaml_token_t, YAML_STREAM_END_TOKEN>(vm, text_of(vm, a[0], "tokens() argument 1"), ::yaml_parser_scan,
                                                   ::yaml_token_delete, token_row);
}

}  // namespace

Local<ModuleObject> make_yaml_module(Vm& vm) {
  ModuleBuilder m(vm, "_yaml");
  m.function("events", "text, /", events);
  m.function("tokens", "text, /", tokens);
  m.value("version", str_value(vm, ::yaml_get_version_string()));
  return m.finish();
}

}  // namespace tsc::interp
