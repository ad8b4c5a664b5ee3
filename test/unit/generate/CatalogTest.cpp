//===- CatalogTest.cpp - What variants mean, and where they apply ---------===//

#include "rewrites/Generate/Catalog.h"
#include "dialects/Evaluator/Evaluator.h"
#include "dialects/Symbolic/Attributes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <catch2/catch.hpp>

using namespace mlc;
using namespace mlc::generate;
using llvm::SmallVector;

namespace {

/// One variant on leaves, in fingerprints and in doubles.
class Comparison {
public:
  Comparison(Catalog &catalog) : catalog(catalog), builder(&context) {
    context.loadDialect<MlcDialect, mlir::func::FuncDialect>();
  }

  void run(uint32_t variant, std::vector<unsigned> leaves) {
    std::vector<uint32_t> types;
    for (unsigned leaf : leaves)
      types.push_back(catalog.typeOfLeaf(leaf));
    std::optional<uint32_t> application = catalog.apply(variant, types);
    if (!application)
      return;
    ++count;
    INFO(allVariants()[variant].name);
    for (unsigned i = 0; i < catalog.getNumInstantiations(); ++i)
      compareAt(catalog.application(*application), leaves, i);
  }
  unsigned count = 0;

private:
  EvalTensor tensorOf(llvm::ArrayRef<Guided> numbers, mlir::Type type,
                      const Assignment &sizes) {
    SmallVector<int64_t> dims;
    SmallVector<IntExpr> own =
        *getDims(mlir::cast<mlir::RankedTensorType>(type));
    for (IntExpr dim : own)
      dims.push_back(*sizes.evaluate(dim));
    std::vector<double> values;
    for (const Guided &number : numbers)
      values.push_back(number.guide);
    return llvm::cantFail(
        EvalTensor::of<double>(dims, mlir::Float64Type::get(&context), values));
  }

  void compareAt(const Application &application,
                 const std::vector<unsigned> &leaves, unsigned i) {
    const Assignment &sizes = catalog.getLeafSet().sizes[i];
    mlir::Type f64 = mlir::Float64Type::get(&context);
    mlir::Location loc = mlir::UnknownLoc::get(&context);
    mlir::Block block;
    mlir::OpBuilder at(&context);
    at.setInsertionPointToEnd(&block);
    llvm::DenseMap<mlir::Value, EvalTensor> tensors;
    SmallVector<mlir::Value> operands;
    std::vector<std::vector<Guided>> numbers;
    for (unsigned leaf : leaves) {
      SmallVector<IntExpr> dims =
          parseDims(&context, catalog.getLeafSet().leaves[leaf].dims);
      mlir::Type type = getTensorType(dims, f64);
      operands.push_back(block.addArgument(type, loc));
      uint32_t size = catalog.type(catalog.typeOfLeaf(leaf)).counts[i];
      numbers.push_back(sampleValues(leaf + 17 * i, size, Signs::Positive));
      tensors[operands.back()] = tensorOf(numbers.back(), type, sizes);
    }
    size_t next = 0;
    auto constant = [&](llvm::StringRef, llvm::ArrayRef<IntExpr> dims) {
      mlir::Type type = getTensorType(dims, f64);
      mlir::Value value = block.addArgument(type, loc);
      size_t size = 1;
      for (IntExpr dim : dims)
        size *= *sizes.evaluate(dim);
      const Guided *from = catalog.constant(application.constants[next++], i);
      tensors[value] = tensorOf({from, size}, type, sizes);
      return value;
    };
    auto result = builder.build(at, allVariants()[application.variant].steps,
                                operands, constant);
    // A fill names its type; such variants are compared in f32 elsewhere.
    if (mlir::failed(result))
      return;
    EvalOptions options;
    for (const auto &entry : sizes.integers)
      options.symbols[entry.getKey()] = entry.getValue();
    for (const auto &entry : sizes.reals)
      options.parameters[entry.getKey()] = entry.getValue();
    for (mlir::Operation &op : block) {
      std::vector<EvalTensor> inputs;
      for (mlir::Value operand : op.getOperands())
        inputs.push_back(tensors[operand]);
      tensors[op.getResult(0)] =
          llvm::cantFail(evaluateOp(&op, inputs, options))[0];
    }
    SmallVector<const Guided *> inputs;
    for (const std::vector<Guided> &one : numbers)
      inputs.push_back(one.data());
    std::vector<Guided> out(catalog.type(application.type).counts[i]);
    catalog.run(application, i, inputs, out.data());
    const EvalTensor &expected = tensors[*result];
    REQUIRE(expected.getNumElements() == int64_t(out.size()));
    ++numCompared;
    for (size_t k = 0; k < out.size(); ++k)
      CHECK(out[k].guide ==
            Approx(expected.getDouble(k)).epsilon(1e-9).margin(1e-12));
  }

public:
  unsigned numCompared = 0;

private:
  Catalog &catalog;
  mlir::MLIRContext context;
  VariantBuilder builder;
};

} // namespace

TEST_CASE("fingerprints of every variant lie beside its values") {
  for (const LeafSet &leafSet : leafSets()) {
    Catalog catalog(leafSet, {});
    Comparison comparison(catalog);
    for (unsigned a = 0; a < leafSet.leaves.size(); ++a) {
      for (uint32_t variant : catalog.unaryVariants())
        comparison.run(variant, {a});
      for (unsigned b = 0; b < leafSet.leaves.size(); ++b)
        for (uint32_t variant : catalog.binaryVariants())
          comparison.run(variant, {a, b});
    }
    CHECK(comparison.count > 40);
    CHECK(comparison.numCompared > 40 * catalog.getNumInstantiations());
  }
}

TEST_CASE("a variant applies where it is well formed in every instantiation") {
  const LeafSet &matrices = leafSets()[0];
  Catalog catalog(matrices, {"matmul", "add"});
  auto number = [](llvm::StringRef name) {
    for (auto [i, variant] : llvm::enumerate(allVariants()))
      if (variant.name == name)
        return uint32_t(i);
    FAIL("no such variant");
    return 0u;
  };
  uint32_t x = catalog.typeOfLeaf(0), w = catalog.typeOfLeaf(3);
  CHECK(catalog.apply(number("matmul"), {x, w}));
  CHECK_FALSE(catalog.apply(number("matmul"), {x, x}));
  CHECK(catalog.apply(number("add"), {x, x}));
  CHECK_FALSE(catalog.apply(number("add"), {x, w}));
  CHECK(catalog.unaryVariants().empty());
}
