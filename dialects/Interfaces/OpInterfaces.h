//===- OpInterfaces.h - What every operator answers -------------*- C++ -*-===//

#ifndef MLC_DIALECTS_INTERFACES_OPINTERFACES_H
#define MLC_DIALECTS_INTERFACES_OPINTERFACES_H

#include "dialects/Interfaces/Definition.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OpDefinition.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace mlc {
/// Verifier of every operator: the result types are those that follow from its
/// operands.
mlir::LogicalResult verifyResultTypes(mlir::Operation *op);
} // namespace mlc

#include "dialects/Interfaces/OpInterfaces.h.inc"

namespace mlc {

/// The definition of `op` over its operands' dims; fails, with an error, when
/// ranks, types or attributes do not fit. A requirement on constants that does
/// not hold is an error too; symbolic ones stay in the definition.
mlir::FailureOr<Definition> getDefinition(DefinitionOpInterface op);

/// The result types that follow from the operands (definition or opaque).
mlir::FailureOr<llvm::SmallVector<mlir::Type>>
inferResultTypes(mlir::Operation *op);

/// Creates an operator of the mlc dialect whose name, operands and attributes
/// come as data (from a rule, a catalog or a log), and gives it the result
/// types that follow from its operands. Fails, with an error at `loc`, and
/// leaves nothing behind when it is not well formed.
mlir::FailureOr<mlir::Operation *>
createOp(mlir::OpBuilder &builder, mlir::Location loc, llvm::StringRef name,
         mlir::ValueRange operands,
         llvm::ArrayRef<mlir::NamedAttribute> attributes = {},
         unsigned numResults = 1);

namespace detail {
/// An operator of what `fill` gives it, types that stand for those that follow
/// among it.
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

/// Whether `Args` are the operands and attributes of `Op`, all of them, in the
/// order of its declaration (dialects/Graph/*.td). TableGen's builders that
/// take all operands as one list, and attributes as another or not at all, do
/// not count.
template <typename Op, typename... Args>
concept MadeOf =
    !(detail::areAttributes<Op, Args> || ...) &&
    !(sizeof...(Args) == 1 && (detail::isList<Args> && ...)) &&
    requires(mlir::OpBuilder &builder, mlir::OperationState &state,
             mlir::TypeRange types, Args &&...args) {
      Op::build(builder, state, types, std::forward<Args>(args)...);
    };

/// Creates `Op` of these operands and attributes, as they are declared, and
/// gives it the result types that follow:
///
///   createOp<ReduceOp>(builder, loc, x, Reduction::Sum, axes)
///
/// None of them may be null. Fails as above; TableGen's own builders that infer
/// types end the program instead, which a model's dims must not.
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

/// The least value that members of an operator's list of that name may have;
/// nothing where any will do. Definitions do not require it: they would give
/// numbers.
std::optional<int64_t> leastOf(llvm::StringRef list);

} // namespace mlc

#endif // MLC_DIALECTS_INTERFACES_OPINTERFACES_H
