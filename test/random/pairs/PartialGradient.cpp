//===- PartialGradient.cpp - Functions and their derivatives --------------===//

#include "Partial.h"

using llvm::StringRef;

namespace mlc::test {

static TermRef function(Random &random, unsigned depth) {
  auto below = [&](unsigned n) { return unsigned(random() % n); };
  auto argument = [](unsigned number, char type) {
    return make("argument", type, {}, number);
  };
  if (depth == 0)
    return below(4) == 0 ? number(1 + below(3)) : argument(0, 'f');
  --depth;
  static const char *const functions[] = {"neg", "exp",  "log",
                                          "log", "sqrt", "reciprocal"};
  switch (below(5)) {
  case 0:
    return binary(below(2) == 0 ? "add" : "sub", function(random, depth),
                  function(random, depth));
  case 1:
    return binary("mul", function(random, depth), function(random, depth));
  case 2:
    return select(argument(1, 'b'), function(random, depth),
                  function(random, depth));
  default:
    return unary(oneOf(functions, random), function(random, depth));
  }
}

TermRef makeDifferentiable(Random &random) {
  return function(random, 1 + random() % 3);
}

TermRef derivativeOf(const TermRef &e) {
  StringRef name = e->name;
  if (name == "argument")
    return e->number == 0 ? number(1) : nullptr;
  if (name == "number")
    return nullptr;
  auto at = [&](unsigned i) { return e->operands[i]; };
  if (name == "select") {
    TermRef yes = derivativeOf(at(1)), no = derivativeOf(at(2));
    return yes || no ? select(at(0), yes ? yes : number(0), no ? no : number(0))
                     : nullptr;
  }
  auto sum = [](StringRef sign, TermRef a, TermRef b) {
    if (a && b)
      return binary(sign, a, b);
    return a || !b || sign == "add" ? (a ? a : b) : unary("neg", b);
  };
  if (name == "add" || name == "sub")
    return sum(name, derivativeOf(at(0)), derivativeOf(at(1)));
  auto times = [](TermRef a, TermRef b) {
    return a ? binary("mul", a, b) : nullptr;
  };
  if (name == "mul")
    return sum("add", times(derivativeOf(at(0)), at(1)),
               times(derivativeOf(at(1)), at(0)));
  TermRef inner = derivativeOf(at(0));
  if (!inner)
    return nullptr;
  if (name == "neg")
    return unary("neg", inner);
  if (name == "exp")
    return binary("mul", inner, e);
  if (name == "log")
    return binary("div", inner, at(0));
  if (name == "sqrt")
    return binary("div", inner, binary("mul", number(2), e));
  return unary("neg", binary("div", inner, binary("mul", at(0), at(0))));
}

} // namespace mlc::test
