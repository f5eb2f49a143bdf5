// _binary: digests that grow, and keys made of passwords.
#include "interpreter/modules/digest_objects.h"

#include "interpreter/builtins/builtins.h"
#include "interpreter/modules/digests.h"
#include "interpreter/value/buffer.h"
#include "interpreter/vm/big_numbers.h"

namespace tsc::interp {
namespace {

struct DigestObject : Instance {
  std::unique_ptr<Digest> digest;
  DigestObject() : Instance(Kind::Native) {}
};
DigestObject* digest_of(const Value& self) { return static_cast<DigestObject*>(self.object()); }

// (digest_size, key, salt, person, fanout, depth, leaf_size, node_offset, node_depth, inner_size, last_node), which
// hashlib has compared with their bounds.
std::unique_ptr<Digest> blake_of(Vm& vm, bool wide, const Value& parameters) {
  const Local<ListObject> given = to_list(vm, parameters);
  const auto& items = given->items;
  auto number = [&](size_t i) { return static_cast<uint64_t>(to_index(vm, items[i])); };
  auto text = [&](size_t i) { return std::string(Buffer(vm, items[i]).bytes()); };
  BlakeParameters made{number(0), text(1), text(2), text(3)};
  made.fanout = static_cast<uint8_t>(number(4));
  made.depth = static_cast<uint8_t>(number(5));
  made.leaf_size = static_cast<uint32_t>(number(6));
  std::string offset;
  bytes_of_int(items[7], sizeof made.node_offset, false, offset);
  for (size_t i = offset.size(); i-- > 0;) made.node_offset = made.node_offset << 8 | static_cast<uint8_t>(offset[i]);
  made.node_depth = static_cast<uint8_t>(number(8));
  made.inner_size = static_cast<uint8_t>(number(9));
  made.last_node = truth(vm, items[10]);
  return make_blake2(wide, made);
}

// Digest(name), or Digest("blake2b", parameters): None in its place where nobody knows the name.
Value construct_digest(Vm& vm, Type* type, Args& args) {
  if (args.count != 1 && args.count != 2) raise_type_error(vm, "a digest has a name");
  const std::string_view name = text_of(vm, args.positional[0]);
  std::unique_ptr<Digest> digest =
      args.count == 2 ? blake_of(vm, name == "blake2b", args.positional[1]) : Digest::named(name);
  if (!digest) return Value::none();
  Local<DigestObject> made = vm.heap().make<DigestObject>(type);
  made->digest = std::move(digest);
  return made.take();
}
Value digest_update(Vm& vm, Args& a) {
  const Buffer data(vm, a[1]);
  digest_of(a[0])->digest->update(data);
  return Value::none();
}
Value digest_copy(Vm& vm, Args& a) {
  Local<DigestObject> made = vm.heap().make<DigestObject>(a[0].object()->type);
  made->digest = digest_of(a[0])->digest->copy();
  return made.take();
}
Value digest_value(Vm& vm, Args& a) {
  return make_bytes(vm, digest_of(a[0])->digest->value(static_cast<size_t>(to_index(vm, a[1])))).take();
}
Value digest_sizes(Vm& vm, Args& a) {
  const Digest& digest = *digest_of(a[0])->digest;
  const auto size = [](size_t n) { return Value::integer(static_cast<int64_t>(n)); };
  return make_tuple(vm, std::vector<Value>{size(digest.size()), size(digest.block_size())}).take();
}

Value make_digest_type(Vm& vm) {
  TypeBuilder type(vm, "digest", Kind::Native);
  type.attribute("__module__", str_value(vm, "_binary"));
  type.slots().destroy = destroy_as<DigestObject>;
  type.slots().construct = construct_digest;
  type.method("update", "self, data, /", digest_update)
      .method("copy", "self", digest_copy)
      .method("value", "self, length=0, /", digest_value)
      .method("sizes", "self", digest_sizes);
  return Value(type.finish());
}

uint64_t count_of(Vm& vm, const Value& v) { return static_cast<uint64_t>(to_index(vm, v)); }

Value pbkdf2_(Vm& vm, Args& a) {
  const Buffer password(vm, a[1]), salt(vm, a[2]);
  return make_bytes(vm, pbkdf2(*digest_of(a[0])->digest, password, salt, count_of(vm, a[3]), count_of(vm, a[4])))
      .take();
}
Value scrypt_(Vm& vm, Args& a) {
  const Buffer password(vm, a[0]), salt(vm, a[1]);
  const ScryptCost cost{count_of(vm, a[2]), count_of(vm, a[3]), count_of(vm, a[4])};
  return make_bytes(vm, scrypt(password, salt, cost, count_of(vm, a[5]))).take();
}

}  // namespace

void add_digests(Vm& vm, ModuleBuilder& module) {
  module.value("Digest", make_digest_type(vm))
      .function("pbkdf2", "digest, password, salt, rounds, length, /", pbkdf2_)
      .function("scrypt", "password, salt, n, r, p, length, /", scrypt_);
}

}  // namespace tsc::interp
