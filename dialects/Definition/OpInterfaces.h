//===- OpInterfaces.h - The interfaces of operators -------------*- C++ -*-===//

#ifndef MLC_DIALECTS_DEFINITION_OPINTERFACES_H
#define MLC_DIALECTS_DEFINITION_OPINTERFACES_H

#include "dialects/Definition/Definition.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OpDefinition.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"
#include <vector>

namespace mlc {

class EvalTensor;
struct EvalOptions;

/// Verifier of every operator: the result types must follow from its operands.
mlir::LogicalResult verifyResultTypes(mlir::Operation *op);

/// Computes the results of an opaque operator; its errors are EvalErrors
/// (dialects/Evaluator).
using OpaqueEvaluator = llvm::Expected<std::vector<EvalTensor>> (*)(
    mlir::Operation *op, llvm::ArrayRef<EvalTensor> inputs,
    const EvalOptions &options);

/// A dim that operands and results of an opaque operator have in common: its
/// place in each operand (nothing: it has no such dim) and in each result.
struct SharedDim {
  llvm::SmallVector<std::optional<unsigned>, 2> operands;
  llvm::SmallVector<unsigned, 2> results;
};

/// All dims but one, of an operator whose operands and results have the same
/// dims in the same places.
llvm::SmallVector<SharedDim> getDimsBeside(mlir::Operation *op, unsigned dim);

/// A dim of an operand of which each of `numParts` ranks has a part.
struct OpaqueSplit {
  unsigned operand, dim;
  IntExpr numParts;
  /// Where the rank's own part begins.
  IntExpr begin;
  /// The size of the smallest part, and whether all are as large.
  IntExpr least;
  bool areEqual;
};

/// Emits operators that compute the definition's only result.
using EmitDefinition = llvm::function_ref<mlir::FailureOr<mlir::Value>(
    Definition definition, mlir::ValueRange inputs)>;

} // namespace mlc

#include "dialects/Definition/OpInterfaces.h.inc"

namespace mlc {

/// The definition of `op` over its operands' dims. Fails, with an error, if
/// ranks, types or attributes do not fit. A violated requirement on constants
/// is an error too; symbolic ones stay in the definition.
mlir::FailureOr<Definition> getDefinition(DefinitionOpInterface op);

/// The result types that follow from the operands (definition or opaque).
mlir::FailureOr<llvm::SmallVector<mlir::Type>>
inferResultTypes(mlir::Operation *op);

/// Creates an mlc operator from a name, operands and attributes that are data
/// (from a rule, a catalog or a log), with the result types that follow from
/// its operands. If it is not well formed, emits an error at `loc` and leaves
/// nothing behind.
mlir::FailureOr<mlir::Operation *>
createOp(mlir::OpBuilder &builder, mlir::Location loc, llvm::StringRef name,
         mlir::ValueRange operands,
         llvm::ArrayRef<mlir::NamedAttribute> attributes = {},
         unsigned numResults = 1);

namespace detail {
/// Creates an operator from what `fill` adds to the state, including
/// placeholder types for the results.
mlir::FailureOr<mlir::Operation *> createInferred(
    mlir::OpBuilder &builder, mlir::Location loc, llvm::StringRef name,
    unsigned numResults,
    llvm::function_ref<void(mlir::OperationState &, mlir::TypeRange)> fill);

template <typename Op> constexpr unsigned countResults() {
  if (Op::template hasTrait<mlir::OpTrait::OneResult>())
    return 1;
  return Op::template hasTrait<mlir::OpTrait::NResults<2>::template Impl>() ? 2
                                                                            : 0;
}

/// Attributes of `Op` by their names or as one struct.
template <typename Op, typename Arg>
constexpr bool areAttributes =
    std::is_convertible_v<Arg, llvm::ArrayRef<mlir::NamedAttribute>> ||
    std::is_convertible_v<Arg, const typename Op::Properties &>;
/// Several operands in one list.
template <typename Arg>
constexpr bool isList = std::is_convertible_v<Arg, mlir::ValueRange> &&
                        !std::is_convertible_v<Arg, mlir::Value>;
} // namespace detail

/// Whether `Args` are all operands and attributes of `Op`, in the order of its
/// declaration (dialects/Graph/*.td). TableGen's builders that take all
/// operands as one list, and attributes as another or not at all, do not count.
template <typename Op, typename... Args>
concept MadeOf =
    !(detail::areAttributes<Op, Args> || ...) &&
    !(sizeof...(Args) == 1 && (detail::isList<Args> && ...)) &&
    requires(mlir::OpBuilder &builder, mlir::OperationState &state,
             mlir::TypeRange types, Args &&...args) {
      Op::build(builder, state, types, std::forward<Args>(args)...);
    };

/// Creates `Op` from these operands and attributes, in the order of
/// declaration, with the result types that follow:
///
///   createOp<ReduceOp>(builder, loc, x, Reduction::Sum, axes)
///
/// None of them may be null. Fails like the function above. TableGen's own
/// builders that infer types end the program instead, which a model's dims must
/// not do.
template <typename Op, typename... Args>
  requires MadeOf<Op, Args...>
mlir::FailureOr<Op> createOp(mlir::OpBuilder &builder, mlir::Location loc,
                             Args &&...args) {
  static_assert(detail::countResults<Op>() != 0, "not counted yet");
  mlir::FailureOr<mlir::Operation *> op = detail::createInferred(
      builder, loc, Op::getOperationName(), detail::countResults<Op>(),
      [&](mlir::OperationState &state, mlir::TypeRange types) {
        Op::build(builder, state, types, std::forward<Args>(args)...);
      });
  if (mlir::failed(op))
    return mlir::failure();
  return mlir::cast<Op>(*op);
}

/// The least value of the members of an operator's list of that name; nothing
/// if any will do. Definitions do not require it, because they give numbers for
/// other values, too.
std::optional<int64_t> leastOf(llvm::StringRef list);

} // namespace mlc

#endif // MLC_DIALECTS_DEFINITION_OPINTERFACES_H
