//===- ScalarFunctionTable.cpp - What is known of each scalar function ----===//

#include "dialects/Definition/Definition.h"
#include "dialects/Definition/ScalarArithmetic.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>
#include <numbers>

using llvm::ArrayRef;
using llvm::StringRef;

namespace mlc {

namespace {

constexpr double infinity = Span::infinity;

// For the derivatives in the table.
using B = const DefinitionBuilder;
using X = const Expr;

/// The slope of sqrt; 0 at 0, where it is infinite.
Expr slopeOfRoot(B &b, X &x) {
  Expr zero = b.constant(x->type, 0);
  return select(compare(ComparePredicate::GT, x, zero),
                b.constant(x->type, 0.5) / unary(UnaryFn::Sqrt, x), zero);
}

const ScalarFunction functions[] = {
#define SCALAR_FUNCTION(Fn, ...) {__VA_ARGS__},
#include "dialects/Definition/ScalarFunctions.def"
};

const ScalarFunction2 functions2[] = {
#define SCALAR_FUNCTION_2(Fn, ...) {__VA_ARGS__},
#include "dialects/Definition/ScalarFunctions.def"
};

template <typename Fn, typename Row, typename Holds>
std::optional<Fn> findRow(ArrayRef<Row> rows, Holds holds) {
  const Row *row = llvm::find_if(rows, holds);
  if (row == rows.end())
    return std::nullopt;
  return static_cast<Fn>(row - rows.begin());
}

template <typename Holds> const ScalarFunction *findFunction(Holds holds) {
  const ScalarFunction *row = llvm::find_if(functions, holds);
  return row == std::end(functions) ? nullptr : row;
}

} // namespace

ArrayRef<ScalarFunction> scalarFunctions() { return functions; }

const ScalarFunction &factsOf(UnaryFn fn) {
  return functions[static_cast<unsigned>(fn)];
}

const ScalarFunction2 &factsOf(BinaryFn fn) {
  return functions2[static_cast<unsigned>(fn)];
}

std::optional<UnaryFn> unaryNamed(StringRef name) {
  return findRow<UnaryFn>(ArrayRef(functions),
                          [&](const auto &row) { return row.name == name; });
}

std::optional<BinaryFn> binaryNamed(StringRef name) {
  return findRow<BinaryFn>(ArrayRef(functions2),
                           [&](const auto &row) { return row.name == name; });
}

std::optional<UnaryFn> unaryOfOperation(StringRef operation) {
  return findRow<UnaryFn>(ArrayRef(functions), [&](const auto &row) {
    return !operation.empty() && row.operation == operation;
  });
}

const ScalarFunction *findByMnemonic(StringRef mnemonic) {
  return findFunction(
      [&](const auto &row) { return row.mnemonic == mnemonic; });
}

const ScalarFunction *findByOnnxName(StringRef name) {
  return findFunction(
      [&](const auto &row) { return !name.empty() && row.onnx.name == name; });
}

} // namespace mlc
