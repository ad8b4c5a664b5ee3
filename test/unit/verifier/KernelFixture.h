//===- KernelFixture.h - Proofs by hand, for tests --------------*- C++ -*-===//

#ifndef MLC_TEST_UNIT_VERIFIER_KERNELFIXTURE_H
#define MLC_TEST_UNIT_VERIFIER_KERNELFIXTURE_H

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/MLIRContext.h"
#include "verifier/kernel/Text.h"
#include <catch2/catch.hpp>

using namespace mlc::kernel;

/// A head by its text (Head::str), which a name that is none's is, too: of a
/// function of which nothing is known.
inline Head headNamed(llvm::StringRef text) {
  static mlir::MLIRContext context;
  static const std::pair<llvm::StringRef, Head::Kind> kinds[] = {
      {"positive", Head::Kind::Positive}, {"zero", Head::Kind::Zero},
      {"less", Head::Kind::Less},         {"%at", Head::Kind::Placed},
      {"max", Head::Kind::Max},           {"min", Head::Kind::Min},
      {"prod", Head::Kind::Prod},         {"any", Head::Kind::Any},
      {"all", Head::Kind::All},           {"parity", Head::Kind::Parity}};
  auto typeNamed = [&](llvm::StringRef name) {
    mlir::Type type =
        name.empty() ? mlir::Type() : mlir::parseType(name, &context);
    REQUIRE((type || name.empty()));
    return type;
  };
  if (text == "in-order:sum:f32:1")
    return Head::inOrder(mlc::ReduceKind::Sum, typeNamed("f32"), 1);
  auto [word, rest] = text.split(':');
  auto [from, to] = rest.split(':');
  if (word == "cast")
    return Head::cast(typeNamed(from), typeNamed(to));
  for (auto [name, kind] : kinds)
    if (word == name)
      return Head(kind, typeNamed(rest));
  if (std::optional<mlc::UnaryFn> function = mlc::unaryNamed(word))
    return Head(*function, typeNamed(rest));
  if (std::optional<mlc::BinaryFn> function = mlc::binaryNamed(word))
    return Head(*function, typeNamed(rest));
  return Head::unwritten(text);
}

inline FactorRef makeCall(llvm::StringRef name, std::vector<Sum> arguments,
                          bool isTruth = false) {
  return mlc::kernel::makeCall(headNamed(name), std::move(arguments), isTruth);
}
inline FactorRef makeReduce(llvm::StringRef name,
                            std::vector<Branch> branches) {
  return mlc::kernel::makeReduce(headNamed(name), std::move(branches));
}

/// One input `a`, a size n, and what is asked of sums over them.
struct Fixture {
  Decider decider{3000000};
  Names names;
  Assumptions assumptions;
  std::vector<Need> given;
  Context context;
  Integer n = Integer::size("n");

  bool accepts(const Sum &sum, const Zero &proof, unsigned width = 0) {
    return Checker(decider, names, assumptions, given)
        .isZero(context, sum, width, proof);
  }
  bool accepts(const Sum &sum, const char *proof, unsigned width = 0) {
    std::string error,
        text = std::string("(proof (case (needs) (results ") + proof + ")))";
    auto cases = parseProof(text, error);
    INFO(error);
    REQUIRE(cases);
    return accepts(sum, cases->cases.front().results.front(), width);
  }

  /// sum over low <= v < n of coefficient * a[index(v)]
  template <class Index>
  Term sumOfReads(int coefficient, Integer low, Index index) {
    Variable v = names.fresh();
    Integer x = Integer::variable(v);
    return {Rational(coefficient),
            {v},
            {Formula::notNegative(x - low), Formula::less(x, n)},
            {makeRead(0, {index(x)}, false)}};
  }
  FactorRef read(Integer index) { return makeRead(0, {index}, false); }
};

inline FactorRef call(const char *name, Sum argument) {
  return makeCall(name, {std::move(argument)});
}

/// Whether a step makes `right` of `left`.
inline bool turns(Fixture &f, const Sum &left, const Sum &right,
                  std::string step) {
  Sum sum = add(left, scaled(right, Rational(-1)));
  Decider &decider = f.decider;
  std::string error,
      text = "(proof (case (needs) (results (zero (" + step + ")))))";
  auto cases = parseProof(text, error);
  INFO(error << " " << text);
  REQUIRE(cases);
  Sum result = left;
  Checker checker(decider, f.names, f.assumptions, f.given);
  return checker.apply(cases->cases.front().results.front().steps.front(),
                       f.context, result) &&
         same(result, right);
}

inline Sum half(Sum sum) { return scaled(std::move(sum), Rational(1, 2)); }
inline Sum minus(Sum sum) { return scaled(std::move(sum), Rational(-1)); }
inline Sum positive(Sum sum) {
  return single(makeCall("positive", {sum}, true));
}
inline Branch point(Sum value) { return {{}, {}, std::move(value)}; }

#endif // MLC_TEST_UNIT_VERIFIER_KERNELFIXTURE_H
