//===- CreateTest.cpp - Operators that are created by their names ---------===//

#include "dialects/Graph/ModelOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include <catch2/catch.hpp>

using namespace mlc;

namespace {

/// Creates operators over one tensor of 4 floats.
struct Creator {
  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::string message;

  Creator() {
    context.loadDialect<MlcDialect>();
    module = mlir::ModuleOp::create(mlir::UnknownLoc::get(&context));
  }

  bool create(llvm::StringRef name, unsigned numResults) {
    mlir::OpBuilder b = mlir::OpBuilder::atBlockEnd(module->getBody());
    mlir::ScopedDiagnosticHandler handler(&context,
                                          [&](mlir::Diagnostic &diagnostic) {
                                            message = diagnostic.str();
                                            return mlir::success();
                                          });
    auto type = mlir::RankedTensorType::get({4}, b.getF32Type());
    auto zeros = mlir::DenseElementsAttr::get(type, 0.0f);
    auto x = ConstantOp::create(b, b.getUnknownLoc(), type, zeros);
    return succeeded(
        createOp(b, b.getUnknownLoc(), name, x.getResult(), {}, numResults));
  }
};

} // namespace

TEST_CASE("an operator is created with the types that follow") {
  Creator c;
  REQUIRE(c.create("mlc.neg", 1));
  mlir::Operation &made = c.module->getBody()->back();
  CHECK(made.getResult(0).getType() == made.getOperand(0).getType());
}

TEST_CASE("what does not fit is not created, and a message says why") {
  Creator c;
  CHECK(!c.create("mlc.neg", 2));
  CHECK(c.message == "'mlc.neg' op has 1 results, not 2");
  CHECK(!c.create("builtin.unrealized_conversion_cast", 1));
  CHECK(c.message == "'builtin.unrealized_conversion_cast' op states neither "
                     "a definition nor that it is opaque");
  CHECK(llvm::all_of(*c.module->getBody(), [](mlir::Operation &op) {
    return llvm::isa<ConstantOp>(op);
  }));
}
