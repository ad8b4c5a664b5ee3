//===- Fixture.h - Tensors and definitions for tests ------------*- C++ -*-===//

#ifndef MLC_TEST_UNIT_EVALUATOR_FIXTURE_H
#define MLC_TEST_UNIT_EVALUATOR_FIXTURE_H

#include "dialects/Evaluator/Evaluator.h"
#include "dialects/Symbolic/Attributes.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/MLIRContext.h"
#include <catch2/catch.hpp>

namespace mlc {

struct Fixture {
  mlir::MLIRContext context;
  Fixture() { context.loadDialect<MlcDialect>(); }
  mlir::Type f32 = mlir::Float32Type::get(&context);
  mlir::Type i64 = mlir::IntegerType::get(&context, 64);

  IntExpr c(int64_t value) { return IntExpr::constant(&context, value); }
  IntExpr s(llvm::StringRef name) { return IntExpr::symbol(&context, name); }

  EvalTensor floats(llvm::ArrayRef<int64_t> dims,
                    llvm::ArrayRef<float> values) {
    return llvm::cantFail(EvalTensor::of<float>(dims, f32, values));
  }

  /// The failure that `result` must be.
  static std::pair<EvalFailure, std::string>
  failureOf(llvm::Expected<std::vector<EvalTensor>> result) {
    std::pair<EvalFailure, std::string> failure{EvalFailure::Input, ""};
    REQUIRE_FALSE(static_cast<bool>(result));
    llvm::handleAllErrors(result.takeError(), [&](const EvalError &e) {
      failure = {e.getFailure(), e.getText().str()};
    });
    return failure;
  }
};

} // namespace mlc

#endif // MLC_TEST_UNIT_EVALUATOR_FIXTURE_H
