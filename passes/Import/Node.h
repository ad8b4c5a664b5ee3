//===- Node.h - The handlers' view of an ONNX node --------------*- C++ -*-===//
//
// The interface for handlers of ONNX operators. Handlers do not test after
// every step: an accessor records the first error, operators on a null value
// are null, and the importer checks once, at the end. Inputs that the operator
// table requires are present and have types.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_PASSES_IMPORT_NODE_H
#define MLC_PASSES_IMPORT_NODE_H

#include "dialects/Definition/OpInterfaces.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Value.h"
#include "passes/Base/Remedy.h"
#include "passes/Import/KnownValues.h"
#include "passes/Import/TensorData.h"
#include "llvm/ADT/MapVector.h"
#include <limits>
#include <utility>

namespace mlc {

/// A tensor of the model: an operator's value, or a constant that becomes one
/// when an operator needs it.
struct Tensor {
  llvm::SmallVector<IntExpr> dims;
  mlir::Type elementType;
  mlir::Value value;           // null until materialized
  mlir::ElementsAttr constant; // what it holds until then

  unsigned rank() const { return dims.size(); }
};

/// The element type of a value; a null value has none.
mlir::Type elementTypeOf(mlir::Value value);

struct RuntimeCheck {
  IntExpr lhs, rhs;
  std::string message;
};

/// A number known at run time that must be at least `low` or at most `high`;
/// the other one is null.
struct IndexCheck {
  mlir::Value value;
  IntExpr low, high;
  std::string message; // runtime/Program.h: Check
};

/// State that the nodes of one graph share.
struct ImportState {
  explicit ImportState(mlir::MLIRContext *context) : builder(context) {}

  mlir::OpBuilder builder;
  /// In the order of discovery, without duplicates.
  llvm::MapVector<std::pair<IntExpr, IntExpr>, std::string> checks;
  /// Open output sizes of convolutions, pools and the like.
  llvm::DenseSet<IntExpr> windowDims;
  /// ImportOptions::inTraining and checked.
  bool inTraining = false, checked = false;
  std::vector<IndexCheck> indexChecks;
  /// Inputs whose elements are indices, with the extents that bound them.
  llvm::MapVector<mlir::Value, IntExpr> indexInputs;
  /// For each running statistic, its value after the nodes so far.
  llvm::MapVector<mlir::Value, mlir::Value> statistics;
  ModelFile *file = nullptr;
  KnownValues known;
};

class Node {
public:
  Node(ImportState &state, const onnx::NodeProto &proto, int64_t opset,
       mlir::Location loc);

  //===--- Inputs and outputs --------------------------------------------===//

  unsigned numInputs() const { return inputs.size(); }
  bool has(unsigned i) const { return i < inputs.size() && inputs[i]; }
  Tensor &in(unsigned i) { return *inputs[i]; }
  llvm::ArrayRef<IntExpr> dims(unsigned i) { return in(i).dims; }
  int64_t rank(unsigned i) { return in(i).rank(); }
  mlir::Type type(unsigned i) { return in(i).elementType; }
  /// Input `i` as a value, created on first use.
  mlir::Value value(unsigned i) { return materialize(in(i)); }
  mlir::Value materialize(Tensor &tensor);

  /// The constant of input `i`, if it is not too expensive to write out.
  mlir::ElementsAttr literal(unsigned i);
  /// The elements of input `i` that follow from dims and constants; null if
  /// none do.
  const Elements *elements(unsigned i);
  /// Input `i` if all of its elements are constant integers.
  std::optional<llvm::SmallVector<int64_t>> knownIntegers(unsigned i);
  /// Which elements of input `i` are not 0. Records an error if that is not
  /// known, because the output's shape depends on it.
  std::optional<llvm::SmallVector<bool>> truths(unsigned i);
  /// Input `i` as integers known at compile time; records an error ("must be
  /// known") if they are not.
  std::optional<Dims> ints(unsigned i, llvm::StringRef what);
  std::optional<llvm::SmallVector<int64_t>> constants(unsigned i,
                                                      llvm::StringRef what);
  /// The single element of constant input `i`.
  std::optional<double> scalar(unsigned i, llvm::StringRef what);

  unsigned numOutputs() const { return outputs.size(); }
  bool wants(unsigned i) const { return i < isRead.size() && isRead[i]; }
  mlir::LogicalResult result(unsigned i, mlir::Value value);
  mlir::LogicalResult result(unsigned i, Tensor tensor);
  mlir::LogicalResult result(mlir::Value value) { return result(0, value); }

  //===--- Attributes ----------------------------------------------------===//

  bool hasAttr(llvm::StringRef name) { return find(name) != nullptr; }
  int64_t intAttr(llvm::StringRef name, int64_t otherwise);
  double floatAttr(llvm::StringRef name, double otherwise);
  std::string stringAttr(llvm::StringRef name, llvm::StringRef otherwise);
  llvm::SmallVector<int64_t> intsAttr(llvm::StringRef name,
                                      llvm::ArrayRef<int64_t> otherwise = {});
  llvm::SmallVector<double> floatsAttr(llvm::StringRef name);
  const onnx::AttributeProto *find(llvm::StringRef name,
                                   onnx::AttributeProto::AttributeType type);

  //===--- Errors --------------------------------------------------------===//

  /// The model contradicts ONNX or itself.
  mlir::LogicalResult invalid(const llvm::Twine &reason);
  /// The model is right, but mlc cannot compile this.
  mlir::LogicalResult unsupported(const llvm::Twine &reason,
                                  llvm::ArrayRef<Remedy> remedies = {});
  bool failed() const { return !reason.empty(); }
  bool isInvalid() const { return contradiction; }
  llvm::StringRef getReason() const { return reason; }
  llvm::ArrayRef<Remedy> getRemedies() const { return remedies; }

  /// `axis` of a tensor of `rank`, made non-negative; records an error and
  /// returns 0 if it is out of range.
  int64_t axis(int64_t axis, int64_t rank);
  llvm::SmallVector<int64_t> axes(llvm::ArrayRef<int64_t> axes, int64_t rank);
  /// Records that the model implies lhs = rhs; an error if they cannot be
  /// equal.
  void requireEqual(IntExpr lhs, IntExpr rhs, const llvm::Twine &message);
  void requireNonNegative(IntExpr value, const llvm::Twine &message);
  /// Records that `dim` may be broadcast to `target`.
  void requireOneOr(IntExpr dim, IntExpr target);
  bool isFloat(unsigned i) { return llvm::isa<mlir::FloatType>(type(i)); }

  //===--- Making operators ----------------------------------------------===//

  int64_t opset() const { return version; }
  llvm::StringRef opType() const { return proto.op_type(); }
  mlir::MLIRContext *context() { return state.builder.getContext(); }
  mlir::OpBuilder &builder() { return state.builder; }
  mlir::Location location() const { return loc; }
  ModelFile &file() { return *state.file; }
  ImportState &getState() { return state; }
  const onnx::NodeProto &getProto() const { return proto; }
  /// Whether operators with two forms have their training form.
  bool inTraining() const { return state.inTraining; }
  /// The value of `value` after the nodes so far if it is a running statistic
  /// that is kept, otherwise null.
  mlir::Value *findStatistic(mlir::Value value) {
    auto it = state.statistics.find(value);
    return it == state.statistics.end() ? nullptr : &it->second;
  }

  /// Creates an mlc operator from its operands and attributes, in the order of
  /// its declaration (dialects/Graph/*.td). Null, with the error recorded, if
  /// an operand is null or they do not fit.
  template <typename Op, typename... Args> Op make(const Args &...args) {
    if (failed() || (isNull(args) || ...))
      return {};
    mlir::FailureOr<Op> made = createOp<Op>(state.builder, loc, args...);
    return succeeded(made) && accepts(*made) ? *made : Op();
  }
  /// The result of an operator that has one. Several operands stand in braces,
  /// so that their operators are created in order:
  ///
  ///   n.op<ConvOp>({n.value(0), n.value(1)}, strides, pads, dilations, groups)
  template <typename Op, typename... Args> mlir::Value op(const Args &...args) {
    static_assert((std::is_convertible_v<Args, mlir::Value> + ... + 0) <= 1,
                  "several operands stand in braces");
    return resultOf(make<Op>(args...));
  }
  template <typename Op, size_t N, typename... Args>
  mlir::Value op(const mlir::Value (&operands)[N], const Args &...attributes) {
    return makeEach<Op>(operands, std::make_index_sequence<N>(), attributes...);
  }

  IntExpr integer(int64_t value) { return IntExpr::constant(context(), value); }
  RealAttr real(double value) { return RealAttr::get(context(), value); }
  DimsAttr dimsAttr(llvm::ArrayRef<IntExpr> dims) {
    return DimsAttr::get(context(), dims);
  }
  DimsAttr dimsAttr(llvm::ArrayRef<int64_t> dims) {
    return DimsAttr::get(context(), dims);
  }

  //===--- Common steps --------------------------------------------------===//

  mlir::Value constant(mlir::ElementsAttr value);
  /// A rank-0 constant of `type`.
  mlir::Value scalarConstant(mlir::Type type, double value);
  /// `value` with other dims, the same elements. No operator when equal.
  mlir::Value reshape(mlir::Value value, llvm::ArrayRef<IntExpr> dims);
  mlir::Value transpose(mlir::Value value, llvm::ArrayRef<int64_t> order);
  mlir::Value cast(mlir::Value value, mlir::Type type);
  /// `dim` / `by`; the model implies that the division is exact.
  IntExpr divided(IntExpr dim, IntExpr by, const llvm::Twine &message);
  /// The common dims of tensors that ONNX broadcasts together. For two open
  /// dims it is the larger: at run time they are equal or one is 1. `isMeant`:
  /// feature maps of one pixel are broadcast, too.
  Dims broadcastDims(llvm::ArrayRef<llvm::ArrayRef<IntExpr>> all,
                     bool isMeant = false);
  /// `value` broadcast to `dims` by ONNX's rule. An open dim may turn out to
  /// be 1 at run time.
  mlir::Value broadcast(mlir::Value value, llvm::ArrayRef<IntExpr> dims,
                        bool isMeant = false);
  /// Broadcasts `values` together; false if one is null.
  bool broadcastTogether(llvm::MutableArrayRef<mlir::Value> values);
  /// Pointwise operator over operands that are broadcast together; a null
  /// operand makes none.
  template <typename Op, size_t N, typename... Args>
  mlir::Value pointwise(const mlir::Value (&operands)[N],
                        const Args &...attributes) {
    mlir::Value values[N];
    llvm::copy(operands, values);
    if (!broadcastTogether(values))
      return {};
    return makeEach<Op>(values, std::make_index_sequence<N>(), attributes...);
  }
  /// `value op scalar` with a scalar constant of value's element type.
  template <typename Op>
  mlir::Value withScalar(mlir::Value value, double scalar) {
    if (!value)
      return {};
    return pointwise<Op>({value, scalarConstant(elementTypeOf(value), scalar)});
  }
  mlir::Value compare(ComparePredicate predicate, mlir::Value a, mlir::Value b);
  mlir::Value reduce(Reduction kind, mlir::Value value,
                     llvm::ArrayRef<int64_t> axes);
  mlir::Value pad(mlir::Value value, llvm::ArrayRef<IntExpr> low,
                  llvm::ArrayRef<IntExpr> high, PadMode mode, double with);
  mlir::Value slice(mlir::Value value, llvm::ArrayRef<IntExpr> starts,
                    llvm::ArrayRef<IntExpr> sizes,
                    llvm::ArrayRef<IntExpr> steps);

  /// Set by the importer.
  llvm::SmallVector<Tensor *> inputs;
  llvm::SmallVector<std::optional<Tensor>> outputs;
  /// For each output, whether anything in the model reads it.
  llvm::SmallVector<bool> isRead;

private:
  const onnx::AttributeProto *find(llvm::StringRef name);
  IntExpr broadcastDim(IntExpr a, IntExpr b, bool isMeant);
  bool yields(IntExpr dim, IntExpr other, bool isMeant);
  /// Whether an argument of `make` is a null operand.
  template <typename Arg> static bool isNull(const Arg &arg) {
    if constexpr (std::is_convertible_v<Arg, mlir::Value>)
      return !arg;
    else if constexpr (std::is_convertible_v<Arg, mlir::ValueRange>)
      return llvm::is_contained(mlir::ValueRange(arg), mlir::Value());
    return false;
  }
  template <typename Op, size_t... I, typename... Args>
  mlir::Value makeEach(const mlir::Value *operands, std::index_sequence<I...>,
                       const Args &...attributes) {
    return resultOf(make<Op>(operands[I]..., attributes...));
  }
  static mlir::Value resultOf(mlir::Operation *made) {
    return made ? mlir::Value(made->getResult(0)) : mlir::Value();
  }
  /// Records the requirements of the new operator. False, with an error
  /// recorded and the operator erased, if its dims are unreasonable.
  bool accepts(mlir::Operation *made);
  mlir::LogicalResult checkSize(llvm::ArrayRef<IntExpr> dims, mlir::Type type);
  void recordRequirements(mlir::Operation *op);

  ImportState &state;
  const onnx::NodeProto &proto;
  int64_t version;
  mlir::Location loc;
  std::string reason;
  std::vector<Remedy> remedies;
  bool contradiction = false;
};

/// Whether an integer that was read as a double is exact: from 2^53 on doubles
/// round.
inline bool isExactInteger(double value) {
  return std::isinf(value) || std::abs(value) < double(int64_t(1) << 53);
}

/// False if an expression of the dims is unreasonably large, which happens only
/// in a hostile model.
bool isTame(llvm::ArrayRef<IntExpr> dims);

} // namespace mlc

#endif // MLC_PASSES_IMPORT_NODE_H
