//===- LinalgRunTest.cpp - What functions of linalg give when run ---------===//

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "verifier/linalg/Interpreter.h"
#include "verifier/linalg/Scalars.h"
#include "llvm/ADT/STLExtras.h"
#include <catch2/catch.hpp>

using namespace mlir;
using namespace mlc;
using interpret::Stop;

namespace {

struct Context {
  MLIRContext context;
  Builder builder{&context};
  Context() {
    context.loadDialect<MlcDialect, func::FuncDialect, linalg::LinalgDialect,
                        tensor::TensorDialect, arith::ArithDialect,
                        math::MathDialect, affine::AffineDialect,
                        scf::SCFDialect>();
  }
};

struct Argument {
  SmallVector<int64_t> dims;
  std::vector<double> numbers;
};

EvalTensor tensorOf(const Argument &argument, Type type) {
  auto make = [&](auto zero) {
    using T = decltype(zero);
    std::vector<T> values;
    for (double number : argument.numbers)
      values.push_back(static_cast<T>(number));
    auto tensor = EvalTensor::of<T>(argument.dims, type, values);
    REQUIRE(bool(tensor));
    auto moved = tensor->toDomain(EvalDomain::Interval);
    REQUIRE(bool(moved));
    return std::move(*moved);
  };
  if (type.isF32())
    return make(float());
  return type.isInteger(8) ? make(int8_t()) : make(int32_t());
}

/// The results of the one function of a text.
interpret::RunResult runText(const std::string &text,
                             ArrayRef<Argument> arguments,
                             uint64_t maxSteps = 1 << 16) {
  Context c;
  auto module = parseSourceString<ModuleOp>(text, &c.context);
  REQUIRE(module);
  func::FuncOp function = *module->getOps<func::FuncOp>().begin();
  std::vector<EvalTensor> inputs;
  for (auto [argument, value] : llvm::zip(arguments, function.getArguments()))
    inputs.push_back(tensorOf(argument, getElementTypeOrSelf(value.getType())));
  interpret::RunOptions options;
  options.maxSteps = maxSteps;
  interpret::RunResult result = interpret::run(function, inputs, options);
  // Types end with the context.
  for (interpret::Tensor &tensor : result.results)
    tensor.elementType = Type();
  return result;
}

std::vector<double> numbersOf(const interpret::RunResult &result) {
  INFO((result.stop ? result.stop->reason : ""));
  REQUIRE_FALSE(result.stop);
  std::vector<double> numbers;
  for (const interpret::Scalar &element : result.results.front().elements) {
    REQUIRE(element.isNumber());
    numbers.push_back(element.integer.getBitWidth() > 1
                          ? double(element.integer.getSExtValue())
                          : element.real.low);
  }
  return numbers;
}

using Numbers = std::vector<double>;

/// One function on %x: tensor<?xf32> and %y: tensor<?xf32>.
std::string onTwo(const std::string &body, const std::string &type) {
  return "func.func @f(%x: tensor<?xf32>, %y: tensor<?xf32>) -> " + type +
         " {\n  %c0 = arith.constant 0 : index\n"
         "  %c1 = arith.constant 1 : index\n"
         "  %c2 = arith.constant 2 : index\n"
         "  %n = tensor.dim %x, %c0 : tensor<?xf32>\n" +
         body + "  return %r : " + type + "\n}\n";
}

const Argument x{{4}, {1, 2, 3, 4}}, y{{3}, {10, 20, 30}};

Numbers runTwo(const std::string &body,
               const std::string &type = "tensor<?xf32>") {
  return numbersOf(runText(onTwo(body, type), {x, y}));
}

Stop::Kind stopOf(const interpret::RunResult &result) {
  REQUIRE(result.stop);
  CHECK_FALSE(result.stop->reason.empty());
  return result.stop->kind;
}

Stop::Kind stopOfTwo(const std::string &body,
                     const std::string &type = "tensor<?xf32>") {
  return stopOf(runText(onTwo(body, type), {x, y}));
}

} // namespace

TEST_CASE("what moves elements is run", "[linalg-run]") {
  CHECK(runTwo("%r = tensor.extract_slice %x[1] [2] [2] : tensor<?xf32> to "
               "tensor<2xf32>\n",
               "tensor<2xf32>") == Numbers{2, 4});
  CHECK(runTwo("%s = tensor.extract_slice %y[1] [2] [1] : tensor<?xf32> to "
               "tensor<2xf32>\n"
               "%r = tensor.insert_slice %s into %x[1] [2] [2] : "
               "tensor<2xf32> into tensor<?xf32>\n") == Numbers{1, 20, 3, 30});
  CHECK(runTwo("%z = arith.constant 7.0 : f32\n"
               "%r = tensor.pad %y low[1] high[%c2] {\n^bb0(%i: index):\n"
               "  tensor.yield %z : f32\n} : tensor<?xf32> to "
               "tensor<?xf32>\n") == Numbers{7, 10, 20, 30, 7, 7});
  CHECK(runTwo("%r = tensor.concat dim(0) %y, %x : (tensor<?xf32>, "
               "tensor<?xf32>) -> tensor<?xf32>\n") ==
        Numbers{10, 20, 30, 1, 2, 3, 4});
  CHECK(runTwo("%m = affine.apply affine_map<()[s] -> (s floordiv 2)>()[%n]\n"
               "%e = tensor.expand_shape %x [[0, 1]] output_shape [%m, 2] : "
               "tensor<?xf32> into tensor<?x2xf32>\n"
               "%t = tensor.empty(%m) : tensor<2x?xf32>\n"
               "%p = linalg.transpose ins(%e : tensor<?x2xf32>) outs(%t : "
               "tensor<2x?xf32>) permutation = [1, 0]\n"
               "%r = tensor.collapse_shape %p [[0, 1]] : tensor<2x?xf32> into "
               "tensor<?xf32>\n") == Numbers{1, 3, 2, 4});
  CHECK(runTwo("%r = tensor.generate %n {\n^bb0(%i: index):\n"
               "  %j = affine.apply affine_map<(d)[s] -> (s - d - 1)>(%i)[%n]\n"
               "  %v = tensor.extract %x[%j] : tensor<?xf32>\n"
               "  tensor.yield %v : f32\n} : tensor<?xf32>\n") ==
        Numbers{4, 3, 2, 1});
  CHECK(runTwo("%v = tensor.extract %y[%c2] : tensor<?xf32>\n"
               "%r = tensor.splat %v : tensor<2xf32>\n",
               "tensor<2xf32>") == Numbers{30, 30});
  CHECK(runTwo("%r = tensor.cast %x : tensor<?xf32> to tensor<4xf32>\n",
               "tensor<4xf32>") == Numbers{1, 2, 3, 4});
}

TEST_CASE("loops are run", "[linalg-run]") {
  CHECK(runTwo("%r = scf.for %i = %c1 to %n step %c2 iter_args(%t = %x) -> "
               "(tensor<?xf32>) {\n"
               "  %s = tensor.extract_slice %t[%i] [1] [1] : tensor<?xf32> to "
               "tensor<1xf32>\n"
               "  %w = tensor.insert_slice %s into %t[0] [1] [1] : "
               "tensor<1xf32> into tensor<?xf32>\n"
               "  scf.yield %w : tensor<?xf32>\n}\n") == Numbers{4, 2, 3, 4});
  CHECK(runTwo("%r = scf.forall (%i) in (3) shared_outs(%t = %x) -> "
               "(tensor<?xf32>) {\n"
               "  %s = tensor.extract_slice %y[%i] [1] [1] : tensor<?xf32> to "
               "tensor<1xf32>\n"
               "  %j = affine.apply affine_map<(d) -> (3 - d)>(%i)\n"
               "  scf.forall.in_parallel {\n"
               "    tensor.parallel_insert_slice %s into %t[%j] [1] [1] : "
               "tensor<1xf32> into tensor<?xf32>\n  }\n}\n") ==
        Numbers{1, 30, 20, 10});
  CHECK(stopOfTwo("%r = scf.forall (%i) in (3) shared_outs(%t = %x) -> "
                  "(tensor<?xf32>) {\n"
                  "  %s = tensor.extract_slice %y[%i] [1] [1] : tensor<?xf32> "
                  "to tensor<1xf32>\n"
                  "  scf.forall.in_parallel {\n"
                  "    tensor.parallel_insert_slice %s into %t[0] [1] [1] : "
                  "tensor<1xf32> into tensor<?xf32>\n  }\n}\n") ==
        Stop::Kind::Undefined);
}

TEST_CASE("structured operations are run", "[linalg-run]") {
  const char *matmul =
      "func.func @f(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %c: "
      "tensor<?x?xf32>) -> tensor<?x?xf32> {\n"
      "  %r = linalg.matmul ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>) "
      "outs(%c : tensor<?x?xf32>) -> tensor<?x?xf32>\n"
      "  return %r : tensor<?x?xf32>\n}\n";
  Argument a{{2, 2}, {1, 2, 3, 4}}, b{{2, 2}, {5, 6, 7, 8}},
      c{{2, 2}, {100, 0, 0, 0}}, wide{{2, 3}, {0, 0, 0, 0, 0, 0}};
  CHECK(numbersOf(runText(matmul, {a, b, c})) == Numbers{119, 22, 43, 50});
  CHECK(stopOf(runText(matmul, {wide, b, c})) == Stop::Kind::Undefined);
  const char *conv =
      "func.func @f(%x: tensor<?xf32>, %w: tensor<?xf32>, %o: tensor<?xf32>) "
      "-> tensor<?xf32> {\n"
      "  %r = linalg.conv_1d ins(%x, %w : tensor<?xf32>, tensor<?xf32>) "
      "outs(%o : tensor<?xf32>) -> tensor<?xf32>\n"
      "  return %r : tensor<?xf32>\n}\n";
  Argument w{{2}, {1, -1}}, three{{3}, {0, 0, 0}}, four{{4}, {0, 0, 0, 0}};
  CHECK(numbersOf(runText(conv, {x, w, three})) == Numbers{-1, -1, -1});
  CHECK(stopOf(runText(conv, {x, w, four})) == Stop::Kind::Undefined);
  // The largest of two results, and where it was not found.
  const char *two =
      "func.func @f(%x: tensor<?xf32>, %m: tensor<f32>, %s: tensor<f32>) -> "
      "(tensor<f32>, tensor<f32>) {\n"
      "  %r:2 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, "
      "affine_map<(i) -> ()>, affine_map<(i) -> ()>], iterator_types = "
      "[\"reduction\"]} ins(%x : tensor<?xf32>) outs(%m, %s : tensor<f32>, "
      "tensor<f32>) {\n  ^bb0(%a: f32, %b: f32, %c: f32):\n"
      "    %p = arith.maximumf %a, %b : f32\n"
      "    %i = linalg.index 0 : index\n"
      "    %j = arith.index_cast %i : index to i32\n"
      "    %k = arith.sitofp %j : i32 to f32\n"
      "    %q = arith.addf %c, %k : f32\n"
      "    linalg.yield %p, %q : f32, f32\n  } -> (tensor<f32>, tensor<f32>)\n"
      "  return %r#0, %r#1 : tensor<f32>, tensor<f32>\n}\n";
  Argument zero{{}, {0}};
  interpret::RunResult both = runText(two, {x, zero, zero});
  CHECK(numbersOf(both) == Numbers{4});
  CHECK(both.results[1].elements[0].real.low == 6);
}

TEST_CASE("integers wrap, and division by 0 has no meaning", "[linalg-run]") {
  const std::string text =
      "func.func @f(%x: tensor<?xi8>, %y: tensor<?xi8>) -> tensor<?xi8> {\n"
      "  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, "
      "affine_map<(i) -> (i)>], iterator_types = [\"parallel\"]} ins(%x : "
      "tensor<?xi8>) outs(%y : tensor<?xi8>) {\n  ^bb0(%a: i8, %b: i8):\n"
      "    %v = arith.OP %a, %b : i8\n    linalg.yield %v : i8\n"
      "  } -> tensor<?xi8>\n  return %r : tensor<?xi8>\n}\n";
  auto with = [&](const std::string &op, Numbers a, Numbers b) {
    std::string own = text;
    own.replace(own.find("OP"), 2, op);
    return runText(own, {{{int64_t(a.size())}, a}, {{int64_t(b.size())}, b}});
  };
  CHECK(numbersOf(with("muli", {100, -128}, {3, -1})) == Numbers{44, -128});
  CHECK(numbersOf(with("divsi", {-7, 7}, {2, -2})) == Numbers{-3, -3});
  CHECK(numbersOf(with("divui", {-7, 7}, {2, 2})) == Numbers{124, 3});
  CHECK(stopOf(with("divsi", {1}, {0})) == Stop::Kind::Undefined);
  CHECK(stopOf(with("divsi", {-128}, {-1})) == Stop::Kind::Undefined);
  // Nothing is divided where nothing is run.
  CHECK(numbersOf(with("divsi", {}, {})).empty());
}

TEST_CASE("scalar arithmetic is what upstream folds", "[linalg-run]") {
  Context c;
  interpret::Run run;
  unsigned numCompared = 0;
  for (unsigned width : {1u, 8u, 32u, 64u})
    for (StringRef name :
         {"arith.addi",      "arith.subi",       "arith.muli",
          "arith.divsi",     "arith.divui",      "arith.ceildivsi",
          "arith.ceildivui", "arith.floordivsi", "arith.remsi",
          "arith.remui",     "arith.andi",       "arith.ori",
          "arith.xori",      "arith.maxsi",      "arith.maxui",
          "arith.minsi",     "arith.minui",      "arith.shli",
          "arith.shrsi",     "arith.shrui"}) {
      Type type = c.builder.getIntegerType(width);
      Location location = UnknownLoc::get(&c.context);
      Block block;
      block.addArguments({type, type}, {location, location});
      OperationState state(location, name);
      state.addOperands(block.getArguments());
      state.addTypes(type);
      Operation *op = Operation::create(state);
      block.push_back(op);
      interpret::ScalarFn function =
          interpret::scalarFunction(op, [](Value) { return nullptr; }, run);
      REQUIRE(function);
      std::vector<llvm::APInt> values;
      for (int64_t v : {0, 1, 2, 3, 7, -1, -2, -7})
        values.emplace_back(width, v, true, true);
      values.push_back(llvm::APInt::getSignedMinValue(width));
      values.push_back(llvm::APInt::getSignedMaxValue(width));
      for (const llvm::APInt &a : values)
        for (const llvm::APInt &b : values) {
          SmallVector<OpFoldResult> folded;
          Attribute numbers[] = {IntegerAttr::get(type, a),
                                 IntegerAttr::get(type, b)};
          run.stop.reset();
          interpret::Scalar value =
              function({interpret::Scalar::of(a), interpret::Scalar::of(b)});
          if (failed(op->fold(numbers, folded)) || folded.size() != 1)
            continue;
          IntegerAttr expected;
          if (auto attribute = dyn_cast<Attribute>(folded[0]))
            expected = dyn_cast<IntegerAttr>(attribute);
          else
            expected = cast<IntegerAttr>(
                numbers[cast<BlockArgument>(cast<Value>(folded[0]))
                            .getArgNumber()]);
          if (!expected || run.stop || !value.isNumber())
            continue;
          INFO(name.str() << " of " << a.getSExtValue() << " and "
                          << b.getSExtValue());
          CHECK(value.integer == expected.getValue());
          ++numCompared;
        }
    }
  CHECK(numCompared > 5000);
}

TEST_CASE("what has no meaning ends a run", "[linalg-run]") {
  CHECK(stopOfTwo("%r = tensor.extract_slice %x[2] [3] [1] : tensor<?xf32> to "
                  "tensor<3xf32>\n",
                  "tensor<3xf32>") == Stop::Kind::Undefined);
  CHECK(stopOfTwo("%m = arith.subi %c1, %n : index\n"
                  "%r = tensor.empty(%m) : tensor<?xf32>\n") ==
        Stop::Kind::Undefined);
  CHECK(stopOfTwo("%r = tensor.cast %x : tensor<?xf32> to tensor<5xf32>\n",
                  "tensor<5xf32>") == Stop::Kind::Undefined);
  CHECK(stopOfTwo("%r = tensor.expand_shape %x [[0, 1]] output_shape [%c2, 3] "
                  ": tensor<?xf32> into tensor<?x3xf32>\n",
                  "tensor<?x3xf32>") == Stop::Kind::Undefined);
  CHECK(stopOfTwo("%v = tensor.extract %x[%n] : tensor<?xf32>\n"
                  "%r = tensor.splat %v : tensor<1xf32>\n",
                  "tensor<1xf32>") == Stop::Kind::Undefined);
  CHECK(stopOfTwo("%r = tensor.bitcast %x : tensor<?xf32> to tensor<?xi32>\n",
                  "tensor<?xi32>") == Stop::Kind::Unknown);
}

TEST_CASE("no text makes a run long or large", "[linalg-run]") {
  const char *large = "%m = arith.constant 4611686018427387904 : index\n";
  CHECK(stopOfTwo(std::string(large) +
                  "%r = tensor.empty(%m) : tensor<?xf32>\n") ==
        Stop::Kind::Open);
  CHECK(stopOfTwo(std::string(large) +
                      "%r = tensor.empty(%m, %m) : tensor<?x?xf32>\n",
                  "tensor<?x?xf32>") == Stop::Kind::Open);
  CHECK(stopOfTwo(std::string(large) +
                  "%r = scf.for %i = %c0 to %m step %c1 iter_args(%t = %x) -> "
                  "(tensor<?xf32>) {\n  scf.yield %t : tensor<?xf32>\n}\n") ==
        Stop::Kind::Open);
  CHECK(stopOfTwo(std::string(large) + "%k = arith.muli %m, %c2 : index\n"
                                       "%r = tensor.empty(%k) : "
                                       "tensor<?xf32>\n") == Stop::Kind::Open);
  CHECK(stopOfTwo(std::string(large) +
                  "%r = tensor.extract_slice %x[0] [%c2] [%m] : "
                  "tensor<?xf32> to tensor<?xf32>\n") == Stop::Kind::Undefined);
  CHECK(stopOfTwo(std::string(large) +
                  "%z = arith.constant 0.0 : f32\n"
                  "%r = tensor.pad %x low[%m] high[%m] {\n^bb0(%i: index):\n"
                  "  tensor.yield %z : f32\n} : tensor<?xf32> to "
                  "tensor<?xf32>\n") == Stop::Kind::Open);
}

TEST_CASE("what is beyond a function or a type is no number", "[linalg-run]") {
  auto areNumbers = [](const std::string &operation, const std::string &type) {
    std::string text =
        "func.func @f(%x: tensor<?xf32>, %y: tensor<?x" + type +
        ">) -> tensor<?x" + type +
        "> {\n  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, "
        "affine_map<(i) -> (i)>], iterator_types = [\"parallel\"]} ins(%x : "
        "tensor<?xf32>) outs(%y : tensor<?x" +
        type + ">) {\n  ^bb0(%a: f32, %b: " + type +
        "):\n    %v = " + operation + "\n    linalg.yield %v : " + type +
        "\n  } -> tensor<?x" + type + ">\n  return %r : tensor<?x" + type +
        ">\n}\n";
    interpret::RunResult result =
        runText(text, {{{2}, {-200, 4}}, {{2}, {0, 0}}});
    REQUIRE_FALSE(result.stop);
    const auto &elements = result.results.front().elements;
    return std::pair(elements[0].isNumber(), elements[1].isNumber());
  };
  const std::pair second(false, true);
  CHECK(areNumbers("math.log %a : f32", "f32") == second);
  CHECK(areNumbers("math.sqrt %a : f32", "f32") == second);
  CHECK(areNumbers("arith.fptosi %a : f32 to i8", "i8") == second);
}
