//===- PartialTree.cpp - Random expressions and equal ones ----------------===//

#include "Partial.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"

using llvm::StringRef;

namespace mlc::test {

namespace {

TermRef make(std::string name, char type, std::vector<TermRef> operands = {},
             double number = 0) {
  return std::make_shared<const Term>(
      Term{std::move(name), type, std::move(operands), number});
}
TermRef number(double value, char type = 'f') {
  return make("number", type, {}, value);
}
TermRef select(TermRef c, TermRef a, TermRef b) {
  char type = a->type;
  return make("select", type, {std::move(c), std::move(a), std::move(b)});
}
TermRef binary(StringRef name, TermRef a, TermRef b) {
  char type = a->type;
  return make(name.str(), type, {std::move(a), std::move(b)});
}
TermRef unary(StringRef name, TermRef a) {
  char type = a->type;
  return make(name.str(), type, {std::move(a)});
}

bool same(const TermRef &a, const TermRef &b) {
  return a == b ||
         (a->name == b->name && a->type == b->type && a->number == b->number &&
          a->operands.size() == b->operands.size() &&
          llvm::all_of(llvm::zip(a->operands, b->operands), [](auto pair) {
            return same(std::get<0>(pair), std::get<1>(pair));
          }));
}

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

class Maker {
public:
  Maker(Random &random, std::string arguments)
      : random(random), arguments(std::move(arguments)) {}

  unsigned below(unsigned n) { return random() % n; }
  bool maybe(unsigned oneIn) { return below(oneIn) == 0; }

  TermRef argument(char type) {
    std::vector<unsigned> fitting;
    for (unsigned i = 0; i < arguments.size(); ++i)
      if (arguments[i] == type)
        fitting.push_back(i);
    if (fitting.empty())
      return number(below(2), type);
    return make("argument", type, {}, oneOf(fitting, random));
  }

  TermRef any(char type, unsigned depth) {
    if (type == 'i')
      return integer(depth);
    return type == 'b' ? truth(depth) : real(depth);
  }

  TermRef constant() {
    static constexpr double numbers[] = {0, 1, -1, 0.5, 2, 3};
    if (!maybe(5))
      return number(oneOf(numbers, random));
    // Casts of constants, which may round or not fit.
    static constexpr double wide[] = {257, 2049, 70000, 100000, -513, 3};
    TermRef whole = number(oneOf(wide, random), 'i');
    return maybe(2) ? make("cast", 'f', {whole}) : make(narrow(), 'f', {whole});
  }
  std::string narrow() { return maybe(2) ? "through:f16" : "through:bf16"; }

  /// One that may have no value, mostly.
  TermRef partial(unsigned depth) {
    static const char *const functions[] = {"log", "sqrt", "reciprocal"};
    switch (below(5)) {
    case 0:
      return binary("div", real(depth), real(depth));
    case 1:
      return make("cast", 'f', {make("cast", 'i', {real(depth)})});
    default:
      return unary(oneOf(functions, random), real(depth));
    }
  }

  TermRef real(unsigned depth) {
    if (depth == 0)
      return maybe(4) ? constant() : argument('f');
    --depth;
    static const char *const functions[] = {"neg", "exp", "abs", "tanh"};
    static const char *const arithmetic[] = {"add", "sub", "mul",
                                             "div", "min", "max"};
    switch (below(14)) {
    case 0:
    case 1:
      return partial(depth);
    case 2:
      return unary(oneOf(functions, random), real(depth));
    case 3:
    case 4:
      return binary(oneOf(arithmetic, random), real(depth), real(depth));
    case 5: {
      static constexpr double exponents[] = {0, 1, 2, 3, 0.5, 1.5, -1};
      return binary("pow", real(depth), number(oneOf(exponents, random)));
    }
    case 6:
    case 7:
      return select(truth(depth), real(depth), real(depth));
    case 8:
      return make("cast", 'f', {any(maybe(2) ? 'b' : 'i', depth)});
    case 9:
    case 10:
      return make(maybe(2) ? "gather" : "pick", 'f',
                  {real(depth), integer(depth)});
    case 11:
      return make(maybe(3) ? "sum" : "reverse", 'f', {real(depth)});
    case 12:
      return maybe(2) ? make("top_k", 'f', {real(depth)})
                      : make(narrow(), 'f', {real(depth)});
    default:
      return partial(depth);
    }
  }

  TermRef integer(unsigned depth) {
    if (depth == 0)
      return maybe(5) ? number(below(3), 'i') : argument('i');
    --depth;
    switch (below(7)) {
    case 0:
    case 1:
      return binary(maybe(2)   ? "add"
                    : maybe(2) ? "sub"
                               : "mul",
                    integer(depth), integer(depth));
    case 2:
    case 3:
      return make("cast", 'i', {real(depth)});
    case 4:
      return select(truth(depth), integer(depth), integer(depth));
    case 5:
      return maybe(3) ? make("top_k:indices", 'i', {real(depth)})
                      : make("reverse", 'i', {integer(depth)});
    default:
      return integer(0);
    }
  }

  TermRef truth(unsigned depth) {
    if (depth == 0)
      return argument('b');
    --depth;
    static const char *const predicates[] = {"eq", "ne", "lt",
                                             "le", "gt", "ge"};
    static const char *const junctions[] = {"and", "or", "and", "or", "xor"};
    switch (below(5)) {
    case 0:
    case 1: {
      char type = maybe(4) ? 'i' : 'f';
      return make(std::string("compare:") + oneOf(predicates, random), 'b',
                  {any(type, depth), any(type, depth)});
    }
    case 2:
      return binary(oneOf(junctions, random), truth(depth), truth(depth));
    case 3:
      return unary("not", truth(depth));
    default:
      return argument('b');
    }
  }

  Random &random;
  std::string arguments;
};

//===----------------------------------------------------------------------===//
// Equal expressions
//===----------------------------------------------------------------------===//

class Changer : public Maker {
public:
  using Maker::Maker;

  void collect(const TermRef &term, std::vector<TermRef> &all) {
    if (llvm::is_contained(all, term))
      return;
    all.push_back(term);
    for (const TermRef &operand : term->operands)
      collect(operand, all);
  }

  TermRef replaced(const TermRef &root, const TermRef &from,
                   const TermRef &to) {
    if (root == from)
      return to;
    Term term = *root;
    bool isChanged = false;
    for (TermRef &operand : term.operands) {
      TermRef other = replaced(operand, from, to);
      isChanged |= other != operand;
      operand = other;
    }
    return isChanged ? std::make_shared<const Term>(std::move(term)) : root;
  }

  TermRef always() {
    TermRef x = argument(maybe(2) ? 'f' : 'i');
    return make("compare:eq", 'b', {x, x});
  }

  bool is(const TermRef &term, StringRef name) const {
    return term->name == name;
  }
  static bool isPointwise(const TermRef &term) {
    StringRef name = term->name;
    return !(name == "gather" || name == "pick" || name == "reverse" ||
             name == "sum" || name.starts_with("top_k") ||
             term->operands.empty());
  }

  /// Equal, and defined exactly where it is; null where none was found.
  TermRef equal(const TermRef &e) {
    switch (below(9)) {
    case 0: {
      static const StringRef names[] = {"add", "mul", "min", "max",
                                        "and", "or",  "xor"};
      if (!llvm::is_contained(names, StringRef(e->name)))
        return nullptr;
      return binary(e->name, e->operands[1], e->operands[0]);
    }
    case 1:
      if (e->type == 'b')
        return unary("not", unary("not", e));
      return maybe(2)   ? binary("add", e, number(0, e->type))
             : maybe(2) ? binary("mul", number(1, e->type), e)
                        : unary("neg", unary("neg", e));
    case 2: // what is not taken need not be defined
      return select(always(), e, any(e->type, 1 + below(2)));
    case 3:
      if (!is(e, "select"))
        return nullptr;
      return select(
          e->operands[0],
          select(e->operands[0], e->operands[1], any(e->type, 1 + below(2))),
          e->operands[2]);
    case 4: // into the branches
    case 5:
      for (auto [i, operand] : llvm::enumerate(e->operands))
        if (isPointwise(e) && is(operand, "select") && !is(e, "select")) {
          std::vector<TermRef> yes = e->operands, no = e->operands;
          yes[i] = operand->operands[1];
          no[i] = operand->operands[2];
          return select(operand->operands[0], make(e->name, e->type, yes),
                        make(e->name, e->type, no));
        }
      return nullptr;
    case 6: // and out of them
      if (is(e, "select") && is(e->operands[1], e->operands[2]->name) &&
          isPointwise(e->operands[1]) && e->operands[1]->operands.size() == 1 &&
          e->operands[2]->operands.size() == 1 &&
          e->operands[1]->operands[0]->type ==
              e->operands[2]->operands[0]->type)
        return make(e->operands[1]->name, e->type,
                    {select(e->operands[0], e->operands[1]->operands[0],
                            e->operands[2]->operands[0])});
      return nullptr;
    case 7:
      if (e->type != 'b')
        return nullptr;
      return binary("or", e, binary("and", e, truth(1 + below(2))));
    default:
      return select(argument('b'), e, e);
    }
  }

  /// Equal wherever `e` is defined, and maybe elsewhere.
  TermRef simpler(const TermRef &e) {
    auto at = [&](unsigned i) { return e->operands[i]; };
    if (is(e, "mul") && e->type == 'f')
      for (unsigned i : {0, 1})
        if (is(at(i), "cast") && at(i)->operands[0]->type == 'b')
          return select(at(i)->operands[0], at(1 - i), number(0));
    if (is(e, "sub") && same(at(0), at(1)))
      return number(0, e->type);
    if (is(e, "mul") && is(at(0), "number") && at(0)->number == 0)
      return at(0);
    if (is(e, "div") && same(at(0), at(1)))
      return number(1);
    for (auto [outer, inner] : {std::pair("exp", "log"),
                                {"log", "exp"},
                                {"reciprocal", "reciprocal"}})
      if (is(e, outer) && is(at(0), inner))
        return at(0)->operands[0];
    if (is(e, "mul") && is(at(0), "sqrt") && same(at(0), at(1)))
      return at(0)->operands[0];
    if (is(e, "sub") && is(at(0), "add") && same(at(0)->operands[1], at(1)))
      return at(0)->operands[0];
    if (is(e, "select") && maybe(2) && same(at(1), at(2)))
      return at(1);
    return nullptr;
  }

  /// The other way round: what `simpler` makes `e` of.
  TermRef fuller(const TermRef &e) {
    TermRef p = any(e->type, 1 + below(2));
    if (e->type == 'b')
      return nullptr;
    if (is(e, "number") && e->number == 0)
      return maybe(2) ? binary("sub", p, p) : binary("mul", e, p);
    if (e->type == 'f' && is(e, "number") && e->number == 1)
      return binary("div", p, p);
    if (is(e, "select") && e->type == 'f' && is(e->operands[2], "number") &&
        e->operands[2]->number == 0)
      return binary("mul", make("cast", 'f', {e->operands[0]}), e->operands[1]);
    switch (below(4)) {
    case 0:
      return e->type == 'f' ? unary("exp", unary("log", e)) : nullptr;
    case 1: {
      if (e->type != 'f')
        return nullptr;
      TermRef root = unary("sqrt", e);
      return binary("mul", root, root);
    }
    case 2:
      return e->type == 'f' ? unary("reciprocal", unary("reciprocal", e))
                            : nullptr;
    default:
      return binary("sub", binary("add", e, p), p);
    }
  }

  /// Anything.
  TermRef other(const TermRef &e) {
    if (is(e, "select") && !maybe(3)) {
      if (e->type == 'f' && maybe(2)) // masked no longer
        return binary(
            "add",
            binary("mul", make("cast", 'f', {e->operands[0]}), e->operands[1]),
            binary("mul", make("cast", 'f', {unary("not", e->operands[0])}),
                   e->operands[2]));
      return e->operands[1 + below(2)];
    }
    if ((is(e, "gather") || is(e, "pick")) && maybe(2)) {
      TermRef from = e->operands[0];
      if (isPointwise(from) && from->operands.size() == 1 &&
          from->operands[0]->type == 'f')
        return make(from->name, e->type,
                    {make(e->name, 'f', {from->operands[0], e->operands[1]})});
      return make(e->name, e->type, {from, integer(1)});
    }
    if (e->operands.size() == 2 && e->operands[0]->type == e->operands[1]->type)
      return make(e->name, e->type, {e->operands[1], e->operands[0]});
    return any(e->type, below(3));
  }
};

//===----------------------------------------------------------------------===//
// Gradients
//===----------------------------------------------------------------------===//

/// A function of floats, element by element, with its derivative in the first
/// argument.
class Differentiated : public Maker {
public:
  using Maker::Maker;

  TermRef function(unsigned depth) {
    if (depth == 0)
      return maybe(4) ? number(1 + below(3)) : argument('f');
    --depth;
    static const char *const functions[] = {"neg", "exp",  "log",
                                            "log", "sqrt", "reciprocal"};
    switch (below(5)) {
    case 0:
      return binary(maybe(2) ? "add" : "sub", function(depth), function(depth));
    case 1:
      return binary("mul", function(depth), function(depth));
    case 2:
      return select(argument('b'), function(depth), function(depth));
    default:
      return unary(oneOf(functions, random), function(depth));
    }
  }

  static TermRef derivative(const TermRef &e) {
    StringRef name = e->name;
    if (name == "argument")
      return number(e->number == 0 ? 1 : 0);
    if (name == "number")
      return number(0);
    auto at = [&](unsigned i) { return e->operands[i]; };
    if (name == "select")
      return select(at(0), derivative(at(1)), derivative(at(2)));
    if (name == "add" || name == "sub")
      return binary(name, derivative(at(0)), derivative(at(1)));
    if (name == "mul")
      return binary("add", binary("mul", derivative(at(0)), at(1)),
                    binary("mul", at(0), derivative(at(1))));
    TermRef inner = derivative(at(0));
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
};

} // namespace

static void change(PartialPair &pair, Changer &changer) {
  auto at = [&](TermRef &side, auto make) {
    std::vector<TermRef> all;
    changer.collect(side, all);
    for (unsigned tries = 0; tries < 12; ++tries) {
      TermRef from = all[changer.below(all.size())], to = make(from);
      if (to && !(from->name == "number" && from->type == 'i')) {
        side = changer.replaced(side, from, to);
        return;
      }
    }
  };
  for (unsigned i = 1 + changer.below(3); i > 0; --i)
    switch (changer.below(6)) {
    case 0: // before may need more
      at(pair.after, [&](const TermRef &e) { return changer.simpler(e); });
      break;
    case 1:
      at(pair.before, [&](const TermRef &e) { return changer.fuller(e); });
      break;
    case 2:
      (changer.maybe(2) ? pair.deadBefore : pair.deadAfter)
          .push_back(changer.partial(1 + changer.below(2)));
      break;
    default:
      at(changer.maybe(4) ? pair.before : pair.after,
         [&](const TermRef &e) { return changer.equal(e); });
    }
  pair.isTrue = changer.below(3) > 0;
  if (pair.isTrue)
    return;
  switch (changer.below(4)) {
  case 0:
    at(pair.before, [&](const TermRef &e) { return changer.simpler(e); });
    break;
  case 1:
    at(pair.after, [&](const TermRef &e) { return changer.fuller(e); });
    break;
  default:
    at(pair.after, [&](const TermRef &e) { return changer.other(e); });
  }
}

PartialPair makePartialPair(Random &random) {
  PartialPair pair;
  if (random() % 8 == 0) {
    pair.arguments = "fb";
    Differentiated maker(random, pair.arguments);
    pair.function = maker.function(1 + random() % 3);
    // The cotangent is the last argument.
    pair.before = binary("mul", Differentiated::derivative(pair.function),
                         make("argument", 'f', {}, 2));
  } else {
    pair.arguments = "ffiibb";
    Maker maker(random, pair.arguments);
    pair.before = maker.any(random() % 5   ? 'f'
                            : random() % 2 ? 'b'
                                           : 'i',
                            1 + random() % 3);
  }
  pair.after = pair.before;
  Changer changer(random, pair.arguments);
  TermRef derivative = pair.before;
  change(pair, changer);
  if (pair.function) { // what mlc derives is not ours to change
    pair.arguments += 'f';
    pair.isTrue &= pair.before == derivative;
    pair.before = derivative;
    pair.deadBefore.clear();
  }
  return pair;
}

} // namespace mlc::test
