//===- RepeatsTest.cpp - Layers that a model repeats ----------------------===//

#include "passes/Stages/Repeats.h"
#include "dialects/Graph/Graph.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include <catch2/catch.hpp>

using namespace mlc;

namespace {

/// A tanh, so many residual layers h + tanh(h w), of which one may have another
/// operator, and a relu.
std::string modelOf(int layers, int odd = -1) {
  const std::string type = "tensor<4x4xf32>",
                    unary = " : (" + type + ") -> " + type,
                    binary = " : (" + type + ", " + type + ") -> " + type;
  std::string text = "func.func @main(%x: " + type + " {mlc.name = \"x\"}",
              body = "%h0 = mlc.tanh %x" + unary + " loc(\"begin\")\n";
  for (int i = 0; i < layers; ++i) {
    const std::string n = std::to_string(i);
    text += ", %w" + n + ": " + type + " {mlc.name = \"w" + n +
            "\", mlc.parameter = dense<0.0> : " + type + "}";
    body += "%p" + n + " = mlc.matmul %h" + n + ", %w" + n + binary +
            " loc(\"product" + n + "\")\n%t" + n +
            (i == odd ? " = mlc.sigmoid %p" : " = mlc.tanh %p") + n + unary +
            " loc(\"tanh" + n + "\")\n%h" + std::to_string(i + 1) +
            " = mlc.add %h" + n + ", %t" + n + binary + " loc(\"add" + n +
            "\")\n";
  }
  return text + ") -> (" + type + " {mlc.name = \"y\"}) {\n" + body +
         "%y = mlc.relu %h" + std::to_string(layers) + unary +
         " loc(\"end\")\nreturn %y : " + type + "\n}\n";
}

struct Shortened {
  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::optional<Repeats> repeats;
  int64_t operators = 0;

  explicit Shortened(const std::string &text, size_t most = 64) {
    context.loadDialect<MlcDialect, mlir::func::FuncDialect>();
    module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    REQUIRE(module);
    repeats = shortenRepeats(*module, most);
    CHECK(mlir::succeeded(mlir::verify(*module)));
    auto main = module->lookupSymbol<mlir::func::FuncOp>("main");
    operators = int64_t(main.getBody().front().getOperations().size());
  }
};

} // namespace

TEST_CASE("three of many layers are left") {
  Shortened model(modelOf(10), /*most=*/10);
  REQUIRE(model.repeats);
  const Repeats &repeats = *model.repeats;
  CHECK(repeats.count == 10);
  CHECK(repeats.parts == 1);
  CHECK(repeats.hasBegin);
  // tanh, three layers of three operators, relu, return.
  CHECK(model.operators == 12);
  CHECK(repeats.ends ==
        std::vector<std::string>{"begin", "add0", "add1", "add9"});
  CHECK(repeats.allEnds.size() == 11);
  CHECK(repeats.allEnds[5] == "add4");
  CHECK(repeats.names.lookup("w1") == std::vector<std::string>{"w1", "w2", "w3",
                                                               "w4", "w5", "w6",
                                                               "w7", "w8"});
  CHECK(repeats.names.lookup("product1")[3] == "product4");
  CHECK(repeats.countLeft() == 5);
  CHECK(repeats.countAll() == 12);
}

TEST_CASE("operators without names are not named") {
  std::string text = modelOf(8);
  for (size_t at; (at = text.find(" loc(\"tanh")) != std::string::npos;)
    text.erase(at, text.find(')', at) + 1 - at);
  Shortened model(text, /*most=*/8);
  REQUIRE(model.repeats);
  CHECK(!model.repeats->names.empty());
  for (const auto &copies : model.repeats->names) {
    CHECK(!copies.getKey().empty());
    CHECK(copies.getValue().size() == 6);
  }
}

TEST_CASE("parts know what they stand for, and their neighbours") {
  Shortened model(modelOf(6), /*most=*/6);
  REQUIRE(model.repeats);
  const Repeats &repeats = *model.repeats;
  using All = std::vector<int64_t>;
  CHECK(repeats.standsFor(0) == All{0});
  CHECK(repeats.standsFor(1) == All{1});
  CHECK(repeats.standsFor(2) == All{2, 3, 4, 5});
  CHECK(repeats.standsFor(3) == All{6});
  CHECK(repeats.standsFor(4) == All{7});
  // Each of the middle reads the one before it, and is read by the next one.
  CHECK(repeats.neighbours(2, 1) == std::vector<All>{{1}, {2}, {3}, {4}});
  CHECK(repeats.neighbours(2, 3) == std::vector<All>{{3}, {4}, {5}, {6}});
  CHECK(repeats.neighbours(2, 0) == std::vector<All>{{0}, {0}, {0}, {0}});
  CHECK(repeats.neighbours(2, 4) == std::vector<All>{{7}, {7}, {7}, {7}});
  CHECK(repeats.neighbours(1, 2) == std::vector<All>{{2}});
  CHECK(repeats.neighbours(3, 2) == std::vector<All>{{5}});
  CHECK(repeats.neighbours(0, 2) == std::vector<All>{{2, 3, 4, 5}});
  CHECK(repeats.neighbours(4, 3) == std::vector<All>{{6}});
}

TEST_CASE("layers are joined where there are too many, and cut where few") {
  Shortened joined(modelOf(40), /*most=*/10);
  REQUIRE(joined.repeats);
  CHECK(joined.repeats->count == 10);
  CHECK(joined.repeats->allEnds[1] == "add3");
  Shortened cut(modelOf(8), /*most=*/64);
  REQUIRE(cut.repeats);
  CHECK(cut.repeats->parts > 1);
  CHECK(cut.repeats->allEnds.size() == size_t(1 + 8 * cut.repeats->parts));
}

TEST_CASE("models that repeat little stay") {
  for (const std::string &text : {modelOf(5), modelOf(10, /*odd=*/5)}) {
    Shortened model(text);
    CHECK(!model.repeats);
    CHECK(model.operators > 17);
  }
  // The longer side of a layer that differs is enough.
  Shortened model(modelOf(14, /*odd=*/2), /*most=*/14);
  REQUIRE(model.repeats);
  CHECK(model.repeats->count == 11);
}
