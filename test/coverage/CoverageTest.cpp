//===- CoverageTest.cpp - Every operator answers every question -----------===//

#include "dialects/Definition/Analysis.h"
#include "dialects/Definition/OpInterfaces.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "test/coverage/Questions.h"
#include "llvm/Support/MemoryBuffer.h"
#include <catch2/catch.hpp>
#include <map>

using namespace mlir;
using namespace mlc;
using namespace mlc::coverage;

namespace {

struct Samples {
  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  std::vector<Sample> samples;

  Samples() {
    context.loadDialect<MlcDialect, func::FuncDialect>();
    module = parseSourceFile<ModuleOp>(MLC_SAMPLES, &context);
    if (!module)
      return;
    for (auto function : module->getOps<func::FuncOp>()) {
      Sample sample;
      sample.function = function;
      sample.op = &function.front().front();
      auto bind = [&](Type type) {
        auto dims = getDims(cast<RankedTensorType>(type));
        for (IntExpr dim : *dims)
          dim.walkSymbols(
              [&](llvm::StringRef symbol) { sample.symbols[symbol] = 3; });
      };
      llvm::for_each(sample.op->getOperandTypes(), bind);
      llvm::for_each(sample.op->getResultTypes(), bind);
      // Symbols of attributes (int_tensor).
      for (NamedAttribute attribute : sample.op->getAttrs())
        if (auto dims = dyn_cast<DimsAttr>(attribute.getValue()))
          for (IntExpr dim : dims)
            dim.walkSymbols(
                [&](llvm::StringRef symbol) { sample.symbols[symbol] = 3; });
      samples.push_back(std::move(sample));
    }
  }
};

std::string nameOf(const Sample &sample) {
  return cast<func::FuncOp>(sample.function).getSymName().str();
}

} // namespace

TEST_CASE("every operator has samples") {
  Samples all;
  REQUIRE(all.module);
  std::map<std::string, int> plain;
  for (const Sample &sample : all.samples)
    ++plain[sample.op->getName().getStringRef().str()];
  auto operators = all.context.getRegisteredOperationsByDialect("mlc");
  REQUIRE(operators.size() > 50);
  for (RegisteredOperationName op : operators) {
    if (op.hasTrait<OpTrait::ZeroResults>())
      continue; // stands in the module and computes nothing
    if (op.hasTrait<OpTrait::Scalarizable>())
      continue; // computes numbers, in code
    INFO(op.getStringRef().str());
    // One plain, and of most one empty and one symbolic.
    CHECK(plain[op.getStringRef().str()] >= 2);
  }
}

TEST_CASE("every operator answers every question") {
  Samples all;
  REQUIRE(all.module);
  for (const Sample &sample : all.samples)
    for (const Question &question : getQuestions()) {
      INFO(nameOf(sample) << ": " << question.name);
      CHECK(question.ask(sample) == "");
    }
}

TEST_CASE("every operator has a summary and a description") {
  Samples all;
  auto file = llvm::MemoryBuffer::getFile(MLC_OPS_DOC);
  REQUIRE(file);
  llvm::StringRef text = (*file)->getBuffer();
  for (RegisteredOperationName op :
       all.context.getRegisteredOperationsByDialect("mlc")) {
    std::string heading = "### `" + op.getStringRef().str() + "`";
    INFO(heading);
    size_t at = text.find(heading);
    REQUIRE(at != llvm::StringRef::npos);
    llvm::StringRef section = text.substr(at);
    section = section.substr(0, section.find("\n### ", 1));
    size_t summary = section.find("\n_");
    CHECK(summary != llvm::StringRef::npos);
    // What stands between the syntax and the tables.
    size_t start = section.find("```\n", section.find("```") + 3);
    size_t end = section.find("\nTraits:");
    bool described = start != llvm::StringRef::npos && start + 4 < end &&
                     !section.slice(start + 4, end).trim().empty();
    CHECK(described);
  }
}

TEST_CASE("kinds follow from definitions") {
  Samples all;
  REQUIRE(all.module);
  std::map<std::string, DefinitionKind> kinds;
  for (const Sample &sample : all.samples)
    if (auto defined = dyn_cast<DefinitionOpInterface>(sample.op))
      kinds[nameOf(sample)] = getKind(*getDefinition(defined));
  for (const char *op : {"exp", "add", "select", "cast", "clip_symbolic"}) {
    INFO(op);
    CHECK(kinds[op].isElementwise);
    CHECK_FALSE(kinds[op].hasReduction);
  }
  for (const char *op : {"reshape", "transpose", "slice", "concat", "pad",
                         "gather", "reverse", "broadcast"}) {
    INFO(op);
    CHECK(kinds[op].isMovement);
    CHECK_FALSE(kinds[op].isElementwise);
    CHECK(kinds[op].isReplicating == (std::string(op) == "broadcast"));
  }
  for (const char *op : {"matmul", "conv", "conv_transpose", "laid_out"}) {
    INFO(op);
    CHECK(kinds[op].isContraction);
  }
  CHECK(kinds["softmax"].hasReduction);
  CHECK_FALSE(kinds["softmax"].isContraction);
  CHECK(kinds["iota"].isLeaf);
}

TEST_CASE("loops of a convolution have the roles that one expects") {
  Samples all;
  REQUIRE(all.module);
  for (const Sample &sample : all.samples) {
    if (nameOf(sample) != "conv")
      continue;
    Definition definition =
        *getDefinition(cast<DefinitionOpInterface>(sample.op));
    std::vector<LoopInfo> loops =
        getLoops(definition, [](unsigned i) { return i == 1; });
    REQUIRE(loops.size() >= 7);
    CHECK(loops[0].role == LoopRole::Sample);
    CHECK(loops[2].role == LoopRole::Attribute);
    CHECK(loops[2].hasHalo);
    CHECK(loops[4].role == LoopRole::Reduction);
    // 2 x 1 x 3 x 5 x 6 outputs times 2 x 3 x 2 products.
    DefinitionCost cost = getCost(&all.context, definition);
    CHECK(cost.operations.asConstant() == 2 * (6 * 3 * 5) * (2 * 3 * 2));
  }
}
