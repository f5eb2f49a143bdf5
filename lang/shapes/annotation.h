#pragma once
// Annotations that say what a tensor is: Tensor, Tensor[f32], Tensor["b t"], Tensor[f32, "b t c"], alone
// or inside Optional, Union, tuple, list, dict and their like. Read from the tree, written as one
// canonical text, which is what bytecode keeps. docs/language.md ("Shapes in annotations") is the
// grammar. Knows: the tree, diagnostics. Must not know: tensors, values, who compares (match.h).
// Keeps: what is no tensor annotation is Unknown and matches everything; a fault inside a tensor
// annotation is a warning, and that annotation is Unknown too.
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "lang/ast.h"
#include "lang/bytecode/bytecode.h"
#include "lang/diagnostic.h"

namespace tsc::lang {

// A size computed from named sizes, in the order of a stack machine.
struct SizeTerm {
  enum class Kind : uint8_t { Number, Name, Add, Subtract, Multiply, FloorDivide, Modulo } kind;
  int64_t number = 0;
  std::string name;
};

struct Dimension {
  enum class Kind : uint8_t {
    Any,       // _
    Exact,     // 3
    Name,      // b
    Rest,      // *batch: any number of dimensions
    AnyRest,   // ...
    Computed,  // b//2: in results
  } kind;
  std::string text;  // as written; of Name and Rest: the name
  int64_t size = 0;  // Exact
  std::vector<SizeTerm> terms;
};

struct TensorShape {
  std::vector<std::string> dtypes;  // short names (f32); empty: any
  std::string dtype_text;           // "f32", "float", "f32 | bf16"
  bool has_dimensions = false;      // else any rank
  std::vector<Dimension> dimensions;
};

struct Annotation {
  enum class Kind : uint8_t {
    Unknown,  // matches everything
    None,
    Other,   // a class that no tensor is an instance of: int, str, list without a tensor inside...
    Tensor,  // `tensor`
    Union,   // any of `parts`
    Tuple,   // of exactly `parts`
    Items,   // each item of `container` is parts[0]
    Values,  // each value of `container` is parts[0]
  } kind = Kind::Unknown;
  std::string container;  // Items: "tuple", "list", "Sequence"; Values: "dict", "Mapping"
  TensorShape tensor;
  std::vector<Annotation> parts;

  bool holds_tensor() const;
};

// The canonical text, which read_annotation_text reads again.
std::string annotation_text(const Annotation& annotation);

// What the names of a module mean in annotations. A name that the module binds to something else
// than torch's is no tensor.
class ShapeNames {
 public:
  ShapeNames() = default;  // Tensor, torch.Tensor
  explicit ShapeNames(const Module& module);
  bool is_tensor(const Expr* e) const;
  bool is_torch(const Expr* e) const;  // the module torch
  // The annotation that a module gave a name of its own: Image = "Tensor[f32, 'c h w']".
  const Expr* alias(std::string_view name) const;

 private:
  void statement(const Stmt* s, bool at_top);
  void assign(const Expr* target, const Expr* value, bool at_top);
  void import_from(const ImportFrom& node);
  void bind(std::string_view name, bool is_foreign);

  std::unordered_set<std::string_view> tensors_{"Tensor"}, torches_{"torch"}, foreign_, bound_;
  std::unordered_map<std::string_view, const Expr*> aliases_;
};

// Where an annotation stands: computed sizes are for results, whose names the parameters bind.
struct AnnotationPlace {
  bool is_result = false;
  // Of a result: names of sizes (false) and of rests (true) that the parameters bind. Reading a
  // parameter adds its own.
  std::unordered_map<std::string, bool>* names = nullptr;
};

// Faults go to `diagnostics`, or nowhere when that is null.
Annotation read_annotation(const Expr* e, const Source& source, const ShapeNames& names, const AnnotationPlace& place,
                           Diagnostics* diagnostics);

// ---- one function

struct ShapeParameter {
  std::string name;  // "x"; "*xs" and "**named" are told by the stars
  Annotation annotation;
};

struct ShapeSignature {
  std::vector<ShapeParameter> parameters;  // those whose annotation holds a tensor
  Annotation result;                       // Unknown: none
};

// Parameters in the order of their registers. A parameter whose default is None may be None.
ShapeSignature read_signature(const Arguments& args, const Expr* returns, const Source& source, const ShapeNames& names,
                              Diagnostics* diagnostics);
// A tuple name, text, name, text...; "return" names the result. Not for an empty signature.
Literal signature_literal(const ShapeSignature& signature);
ShapeSignature signature_of(const std::vector<std::string>& texts);

// dtypes that a name in an annotation stands for: short names; nullopt: it is none.
std::optional<std::vector<std::string>> dtypes_of_name(std::string_view name, bool of_torch);
// The dimensions of "b t c". A fault: its place in `text` and what it is.
struct ShapeFault {
  size_t begin = 0, end = 0;
  std::string message, help;
};
std::optional<ShapeFault> parse_dimensions(std::string_view text, const AnnotationPlace& place,
                                           std::vector<Dimension>& out);

}  // namespace tsc::lang
