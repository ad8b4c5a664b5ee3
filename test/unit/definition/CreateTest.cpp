//===- CreateTest.cpp - Operators whose types follow ----------------------===//

#include "dialects/Graph/ConvolutionOps.h"
#include "dialects/Graph/ModelOps.h"
#include "dialects/Graph/MovementOps.h"
#include "dialects/Graph/OpaqueOps.h"
#include "dialects/Graph/PointwiseOps.h"
#include "dialects/Graph/ReductionOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Verifier.h"
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

  /// What `make(builder, location, x)` returns; `message` is its error.
  template <typename Make> auto with(Make make) {
    mlir::OpBuilder b = mlir::OpBuilder::atBlockEnd(module->getBody());
    message.clear();
    mlir::ScopedDiagnosticHandler handler(&context,
                                          [&](mlir::Diagnostic &diagnostic) {
                                            message = diagnostic.str();
                                            return mlir::success();
                                          });
    auto type = mlir::RankedTensorType::get({4}, b.getF32Type());
    auto zeros = mlir::DenseElementsAttr::get(type, 0.0f);
    auto x = ConstantOp::create(b, b.getUnknownLoc(), type, zeros);
    return make(b, b.getUnknownLoc(), mlir::Value(x.getResult()));
  }

  bool create(llvm::StringRef name, unsigned numResults) {
    return succeeded(
        with([&](mlir::OpBuilder &b, mlir::Location loc, mlir::Value x) {
          return createOp(b, loc, name, x, {}, numResults);
        }));
  }

  bool holdsConstantsAlone() {
    return llvm::all_of(*module->getBody(), [](mlir::Operation &op) {
      return llvm::isa<ConstantOp>(op);
    });
  }
  /// Of the last operator.
  std::string typesText() {
    std::string text;
    llvm::raw_string_ostream stream(text);
    llvm::interleaveComma(module->getBody()->back().getResultTypes(), stream);
    return text;
  }
};

// What is missing, too much or misplaced does not compile.
using mlir::Value;
static_assert(
    MadeOf<ConvOp, Value, Value, DimsAttr, DimsAttr, DimsAttr, IntExpr>);
static_assert(!MadeOf<ConvOp, Value, Value, DimsAttr, DimsAttr, DimsAttr>);
static_assert(!MadeOf<ConvOp, Value, Value, DimsAttr, DimsAttr, DimsAttr,
                      IntExpr, IntExpr>);
static_assert(
    !MadeOf<ConvOp, Value, Value, DimsAttr, DimsAttr, IntExpr, DimsAttr>);
static_assert(!MadeOf<ConvOp, Value, DimsAttr, DimsAttr, DimsAttr, IntExpr>);
static_assert(MadeOf<ReduceOp, Value, Reduction, llvm::SmallVector<int64_t> &>);
static_assert(!MadeOf<ReduceOp, Value, PadMode, llvm::SmallVector<int64_t> &>);
// Nor do lists of all operands, attributes by name, and no attributes.
static_assert(!MadeOf<AddOp, mlir::ValueRange>);
static_assert(!MadeOf<ConvOp, llvm::SmallVector<Value> &>);
static_assert(
    !MadeOf<AddOp, mlir::ValueRange, llvm::ArrayRef<mlir::NamedAttribute>>);
static_assert(!MadeOf<ConvOp, mlir::ValueRange, ConvOp::Properties &>);
static_assert(!MadeOf<ConcatOp, mlir::ValueRange>);
static_assert(MadeOf<ConcatOp, mlir::ValueRange, int64_t>);

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
  CHECK(c.holdsConstantsAlone());
}

TEST_CASE("an operator of declared operands and attributes has their types") {
  Creator c;
  using B = mlir::OpBuilder;
  using Loc = mlir::Location;
  auto concat = c.with([](B &b, Loc loc, Value x) {
    llvm::SmallVector<Value> twice = {x, x};
    return createOp<ConcatOp>(b, loc, twice, 0);
  });
  REQUIRE(succeeded(concat));
  CHECK(c.typesText() == "tensor<8xf32>");
  CHECK(concat->getAxis() == 0);
  CHECK(concat->getInputs().size() == 2);

  auto reduce = c.with([](B &b, Loc loc, Value x) {
    return createOp<ReduceOp>(b, loc, x, Reduction::Max,
                              llvm::SmallVector<int64_t>{0});
  });
  REQUIRE(succeeded(reduce));
  CHECK(c.typesText() == "tensor<1xf32>");
  CHECK(reduce->getKind() == Reduction::Max);

  auto largest = c.with([](B &b, Loc loc, Value x) {
    return createOp<TopKOp>(b, loc, x, 0, IntExpr::constant(b.getContext(), 3),
                            true, false);
  });
  REQUIRE(succeeded(largest));
  CHECK(c.typesText() == "tensor<3xf32>, tensor<3xi64>");
  CHECK(largest->getLargest());
  CHECK_FALSE(largest->getSorted());
  CHECK(succeeded(mlir::verify(*c.module)));
}

TEST_CASE("declared operands and attributes that do not fit are an error") {
  Creator c;
  using B = mlir::OpBuilder;
  using Loc = mlir::Location;
  CHECK(failed(c.with([](B &b, Loc loc, Value x) {
    return createOp<ReduceOp>(b, loc, x, Reduction::Sum,
                              llvm::SmallVector<int64_t>{1});
  })));
  CHECK(c.message == "'mlc.reduce' op requires an axis in [0, 1), got 1");
  CHECK(failed(c.with([](B &b, Loc loc, Value x) {
    return createOp<ReshapeOp>(
        b, loc, x, DimsAttr::get(b.getContext(), llvm::ArrayRef<int64_t>(5)));
  })));
  CHECK(c.message == "'mlc.reshape' op numbers of elements must be equal (4 == "
                     "5 does not hold)");
  // No tensor at all.
  CHECK(failed(c.with([](B &b, Loc loc, Value) {
    auto cast = mlir::UnrealizedConversionCastOp::create(b, loc, b.getF32Type(),
                                                         mlir::ValueRange());
    auto made = createOp<NegOp>(b, loc, cast.getResult(0));
    cast.erase();
    return made;
  })));
  CHECK(c.message == "'mlc.neg' op operand #0 must be a ranked tensor whose "
                     "dims are static or named, got 'f32'");
  CHECK(c.holdsConstantsAlone());
}
