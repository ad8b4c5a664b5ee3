//===- Pair.h - Two functions, built in a few lines -------------*- C++ -*-===//

#ifndef MLC_TEST_UNIT_VERIFIER_PAIR_H
#define MLC_TEST_UNIT_VERIFIER_PAIR_H

#include "dialects/Definition/OpInterfaces.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "verifier/Verifier.h"
#include "verifier/read/AssumeText.h"
#include <catch2/catch.hpp>

namespace mlc::test {

/// Builds one function operator by operator; result types are inferred.
class Side {
public:
  Side(mlir::func::FuncOp function)
      : function(function),
        builder(mlir::OpBuilder::atBlockEnd(&function.getBody().front())) {}

  mlir::Value operator[](unsigned i) { return function.getArgument(i); }

  /// `op("conv", {x, w}, "strides = #mlc.dims<[s]>, ...")`.
  mlir::Value op(llvm::StringRef name, llvm::ArrayRef<mlir::Value> operands,
                 const std::string &attributes = "") {
    auto dictionary = mlir::cast<mlir::DictionaryAttr>(
        mlir::parseAttribute("{" + attributes + "}", builder.getContext()));
    mlir::FailureOr<mlir::Operation *> made =
        createOp(builder, builder.getUnknownLoc(), ("mlc." + name).str(),
                 operands, dictionary.getValue());
    REQUIRE(mlir::succeeded(made));
    return (*made)->getResult(0);
  }

  mlir::Value conv(mlir::Value x, mlir::Value w,
                   const std::string &stride = "1",
                   const std::string &pads = "0, 0",
                   const std::string &dilation = "1",
                   const std::string &groups = "1") {
    return op("conv", {x, w},
              "strides = #mlc.dims<[" + stride + "]>, pads = #mlc.dims<[" +
                  pads + "]>, dilations = #mlc.dims<[" + dilation +
                  "]>, groups = #mlc.int<" + groups + ">");
  }
  mlir::Value reshape(mlir::Value x, const std::string &dims) {
    return op("reshape", {x}, "dims = #mlc.dims<[" + dims + "]>");
  }
  mlir::Value broadcast(mlir::Value x, const std::string &dims) {
    return op("broadcast", {x}, "dims = #mlc.dims<[" + dims + "]>");
  }
  mlir::Value transpose(mlir::Value x, const std::string &permutation) {
    return op("transpose", {x},
              "permutation = array<i64: " + permutation + ">");
  }
  mlir::Value concat(llvm::ArrayRef<mlir::Value> xs, int axis) {
    return op("concat", xs, "axis = " + std::to_string(axis) + " : i64");
  }
  mlir::Value slice(mlir::Value x, const std::string &starts,
                    const std::string &sizes, const std::string &steps) {
    return op("slice", {x},
              "starts = #mlc.dims<[" + starts + "]>, sizes = #mlc.dims<[" +
                  sizes + "]>, steps = #mlc.dims<[" + steps + "]>");
  }
  mlir::Value pad(mlir::Value x, const std::string &low,
                  const std::string &high, const std::string &value = "0.0",
                  const std::string &mode = "constant") {
    return op("pad", {x},
              "low = #mlc.dims<[" + low + "]>, high = #mlc.dims<[" + high +
                  "]>, mode = \"" + mode + "\", value = #mlc.real<" + value +
                  ">");
  }
  mlir::Value fill(const std::string &dims, const std::string &value) {
    return op("fill", {},
              "dims = #mlc.dims<[" + dims + "]>, value = #mlc.real<" + value +
                  ">, type = f32");
  }
  mlir::Value reduce(mlir::Value x, const std::string &kind,
                     const std::string &axes) {
    return op("reduce", {x},
              "kind = \"" + kind + "\", axes = array<i64: " + axes + ">");
  }
  /// Attributes of a pool over one spatial dim.
  static std::string window(const std::string &kernel,
                            const std::string &stride = "1",
                            const std::string &pads = "0, 0",
                            const std::string &ceilPads = "0") {
    return "kernel = #mlc.dims<[" + kernel + "]>, strides = #mlc.dims<[" +
           stride + "]>, pads = #mlc.dims<[" + pads +
           "]>, dilations = #mlc.dims<[1]>, ceil_pads = #mlc.dims<[" +
           ceilPads + "]>";
  }
  mlir::Value maxPool(mlir::Value x, const std::string &attributes) {
    return op("max_pool", {x}, attributes);
  }
  mlir::Value avgPool(mlir::Value x, const std::string &attributes,
                      bool countPads) {
    return op("avg_pool", {x},
              attributes +
                  ", count_include_pad = " + (countPads ? "true" : "false"));
  }
  mlir::Value relu(mlir::Value x) { return op("relu", {x}); }
  mlir::Value add(mlir::Value a, mlir::Value b) { return op("add", {a, b}); }
  mlir::Value mul(mlir::Value a, mlir::Value b) { return op("mul", {a, b}); }
  mlir::Value matmul(mlir::Value a, mlir::Value b) {
    return op("matmul", {a, b});
  }

  void finish(llvm::ArrayRef<mlir::Value> results) {
    mlir::func::ReturnOp::create(builder, builder.getUnknownLoc(), results);
    function.setType(builder.getFunctionType(
        function.getArgumentTypes(), mlir::ValueRange(results).getTypes()));
  }

private:
  mlir::func::FuncOp function;
  mlir::OpBuilder builder;
};

using Body = llvm::function_ref<mlir::Value(Side &)>;

/// Verifies `before` against `after` over float tensors with these dims under
/// these assumptions (texts as in AssumeText.h).
class Pair {
public:
  explicit Pair(std::vector<std::string> arguments,
                std::vector<std::string> conditions = {}) {
    context.loadDialect<MlcDialect, mlir::func::FuncDialect>();
    module = mlir::ModuleOp::create(mlir::UnknownLoc::get(&context));
    for (const std::string &dims : arguments) {
      auto attribute = mlir::cast<DimsAttr>(
          mlir::parseAttribute("#mlc.dims<[" + dims + "]>", &context));
      types.push_back(
          getTensorType(attribute.getDims(), mlir::Float32Type::get(&context)));
    }
    mlir::Builder builder(&context);
    std::vector<mlir::Attribute> texts;
    texts.reserve(conditions.size());
    for (const std::string &text : conditions)
      texts.push_back(builder.getStringAttr(text));
    assume = builder.getArrayAttr(texts);
  }

  Pair &where(unsigned argument, const std::string &predicate) {
    predicates.push_back({argument, predicate});
    return *this;
  }

  /// What `question` answers to the two functions and their assumptions.
  template <typename Question>
  auto ask(Body before, Body after, Question question) {
    mlir::func::FuncOp first = make("before", before),
                       second = make("after", after);
    mlir::Builder builder(&context);
    first->setAttr("mlc.assume", assume);
    for (auto &[argument, predicate] : predicates)
      first.setArgAttr(argument, "mlc.assume",
                       builder.getStrArrayAttr({predicate}));
    llvm::Expected<Assumptions> assumptions = readAssumptions(first);
    REQUIRE(bool(assumptions));
    return question(first, second, *assumptions);
  }

  Verdict verify(Body before, Body after, const VerifierOptions &options = {}) {
    Verdict verdict =
        ask(before, after,
            [&](auto first, auto second, const Assumptions &assumptions) {
              return mlc::verify(first, second, assumptions, options);
            });
    if (!verdict.isProved())
      INFO(verdict.reason << verdict.counterexample.text);
    return verdict;
  }

  /// As `verify`; the prover alone, without numbers, must find no proof either.
  Verdict refute(Body before, Body after) {
    VerifierOptions proverOnly;
    proverOnly.trialsBefore = 0;
    proverOnly.trialsAfter = 0;
    REQUIRE_FALSE(verify(before, after, proverOnly).isProved());
    return verify(before, after);
  }

private:
  mlir::func::FuncOp make(llvm::StringRef name, Body body) {
    mlir::OpBuilder builder = mlir::OpBuilder::atBlockEnd(module->getBody());
    auto function =
        mlir::func::FuncOp::create(builder, builder.getUnknownLoc(), name,
                                   builder.getFunctionType(types, {}));
    function.addEntryBlock();
    Side side(function);
    side.finish({body(side)});
    return function;
  }

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::vector<mlir::Type> types;
  mlir::ArrayAttr assume;
  std::vector<std::pair<unsigned, std::string>> predicates;
};

/// A counterexample that the evaluator has run, and no proof.
inline void requireRefuted(const Verdict &verdict) {
  INFO(name(verdict.kind).str() << ' ' << verdict.reason);
  REQUIRE_FALSE(verdict.isProved());
  REQUIRE(verdict.isRefuted());
  CHECK_FALSE(verdict.counterexample.text.empty());
}

} // namespace mlc::test

#endif // MLC_TEST_UNIT_VERIFIER_PAIR_H
