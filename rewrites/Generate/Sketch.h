//===- Sketch.h - One side of a rule, built step by step --------*- C++ -*-===//

#ifndef MLC_REWRITES_GENERATE_SKETCH_H
#define MLC_REWRITES_GENERATE_SKETCH_H

#include "dialects/Definition/OpInterfaces.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/OwningOpRef.h"
#include <array>
#include <tuple>

namespace mlc::generate {

/// The window of a convolution or pool over two spatial dims.
struct SketchWindow {
  std::array<IntExpr, 2> kernel, strides, dilations;
  std::array<IntExpr, 4> pads; // top, left, bottom, right
};

/// The suffix for names of the i-th of several operators: nothing, 2, 3, ...
inline std::string suffixOf(size_t i) { return i ? std::to_string(i + 1) : ""; }

/// A function under construction. Arguments are added as needed. Once an
/// operator cannot be built, all results are null.
class Sketch {
public:
  using Dims = llvm::SmallVector<IntExpr>;

  Sketch(mlir::MLIRContext *context, llvm::StringRef name);

  struct Argument {
    std::string name;
    bool isConstant;
  };
  /// Adds an f32 argument.
  mlir::Value argument(llvm::StringRef name, llvm::ArrayRef<IntExpr> dims,
                       bool isConstant);
  const std::vector<Argument> &getArguments() const { return arguments; }

  IntExpr symbol(llvm::StringRef name) const;
  IntExpr integer(int64_t value) const;
  static Dims dimsOf(mlir::Value value);

  /// Operands in braces, then attributes, in the order of the operator's
  /// declaration.
  template <typename Op, size_t N, typename... Args>
  mlir::Value op(const mlir::Value (&operands)[N], const Args &...attributes) {
    failed |= llvm::is_contained(operands, mlir::Value());
    return std::apply(
        [&](auto... each) { return make<Op>(each..., attributes...); },
        std::to_array(operands));
  }
  mlir::Value conv(mlir::Value x, mlir::Value w, const SketchWindow &window,
                   IntExpr groups);
  /// Average pooling; null pads are counted when `countPads`.
  mlir::Value averagePool(mlir::Value x, const SketchWindow &window,
                          bool countPads);
  mlir::Value zeroPad(mlir::Value x, llvm::ArrayRef<IntExpr> low,
                      llvm::ArrayRef<IntExpr> high);
  mlir::Value broadcast(mlir::Value x, llvm::ArrayRef<IntExpr> dims);
  mlir::Value concat(llvm::ArrayRef<mlir::Value> xs, int64_t axis);
  /// Elements `start` to `start + size` along `axis`.
  mlir::Value slice(mlir::Value x, unsigned axis, IntExpr start, IntExpr size);

  bool hasFailed() const { return failed; }
  mlir::OwningOpRef<mlir::func::FuncOp>
  finish(llvm::ArrayRef<mlir::Value> results);

private:
  DimsAttr list(llvm::ArrayRef<IntExpr> values) {
    return DimsAttr::get(builder.getContext(), values);
  }
  template <typename Op, typename... Args>
  mlir::Value make(const Args &...args) {
    if (failed)
      return {};
    // Failing to build is an answer here, not an error to report.
    mlir::ScopedDiagnosticHandler quiet(
        builder.getContext(),
        [](mlir::Diagnostic &) { return mlir::success(); });
    mlir::FailureOr<Op> made =
        createOp<Op>(builder, builder.getUnknownLoc(), args...);
    failed = mlir::failed(made);
    return failed ? mlir::Value() : made->getResult();
  }

  mlir::OwningOpRef<mlir::func::FuncOp> function;
  mlir::OpBuilder builder;
  std::vector<Argument> arguments;
  bool failed = false;
};

} // namespace mlc::generate

#endif // MLC_REWRITES_GENERATE_SKETCH_H
