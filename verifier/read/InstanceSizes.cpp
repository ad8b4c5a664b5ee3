//===- InstanceSizes.cpp - Sizes that satisfy a condition -----------------===//
//
// Sizes are drawn around the numbers that the functions and their conditions
// mention, and beyond all of them: what happens from n = 100 on is not seen
// below. What is drawn is then repaired: a guard that fails is met by moving
// one of its symbols as far as its slope says, until all hold. So conditions
// like "2 * p == k - 1" and "n >= 100" are met though no list holds such
// numbers together.
//
//===----------------------------------------------------------------------===//

#include "verifier/read/Instance.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

using llvm::StringRef;

namespace mlc::verifier {

//===----------------------------------------------------------------------===//
// What a goal can vary
//===----------------------------------------------------------------------===//

/// Larger ones say nothing of sizes that can be evaluated.
static constexpr int64_t mostNumber = 1 << 16;

namespace {
/// Gathers what definitions and guards mention.
class Collector {
public:
  explicit Collector(Unknowns &out) : out(out) {}

  void visit(IntExpr expr) {
    if (expr.isConstant())
      number(expr.getConstant());
    if (expr.getKind() == IntExpr::Kind::Symbol)
      out.symbols.insert(expr.getSymbol().str());
    for (IntExpr operand : expr.getOperands())
      visit(operand);
  }

  void visit(const Definition &definition) {
    auto each = [&](IntExpr expr) { visit(expr); };
    for (const TensorShape &input : definition.inputs)
      llvm::for_each(input.dims, each);
    for (const Requirement &r : definition.requirements) {
      visit(r.lhs);
      visit(r.rhs);
    }
    for (const Stage &stage : definition.stages) {
      llvm::for_each(stage.dims, each);
      for (const Piece &piece : stage.pieces) {
        llvm::for_each(piece.offset, each);
        walk(piece.body, [&](const ExprNode &node) { visit(node); });
      }
    }
  }

private:
  void visit(const ExprNode &node) {
    if (node.integer) {
      visit(node.integer);
      tile(node.integer);
    }
    for (const Loop &loop : node.loops) {
      visit(loop.extent);
      tile(loop.extent);
    }
    if (node.kind == Expr::Kind::Param)
      out.parameters.insert(node.parameter);
    // An index may be compared with them after a cast.
    if (node.kind == Expr::Kind::Constant) {
      number(node.integerNumber);
      if (std::abs(node.number) <= mostNumber &&
          std::trunc(node.number) == node.number)
        number(static_cast<int64_t>(node.number));
    }
  }

  void number(int64_t value) {
    if (value >= -mostNumber && value <= mostNumber)
      out.numbers.insert(std::abs(value));
  }

  void tile(IntExpr expr) {
    if (expr.isConstant() && expr.getConstant() > 7 && expr.getConstant() < 48)
      out.tiles.insert(expr.getConstant());
    for (IntExpr operand : expr.getOperands())
      tile(operand);
  }

  Unknowns &out;
};
} // namespace

Unknowns::Unknowns(const Goal &goal) {
  Collector collector(*this);
  for (const Case &one : goal.cases) {
    collector.visit(one.before);
    collector.visit(one.after);
    for (const Guard &guard : one.guards)
      collector.visit(guard.expr);
    for (const auto &[name, value] : one.solved) {
      symbols.insert(name);
      collector.visit(value);
    }
  }
}

//===----------------------------------------------------------------------===//
// Satisfying guards
//===----------------------------------------------------------------------===//

static bool holds(Guard::Kind kind, int64_t value) {
  switch (kind) {
  case Guard::Kind::NonNegative:
    return value >= 0;
  case Guard::Kind::Zero:
    return value == 0;
  case Guard::Kind::NonZero:
    return value != 0;
  }
  llvm_unreachable("unknown guard");
}

static bool holds(const Guard &guard, const SymbolValues &values) {
  std::optional<int64_t> value = valueOf(guard.expr, values);
  return value && holds(guard.kind, *value);
}

namespace {
/// Moves symbols until all guards hold.
class Repair {
public:
  Repair(const Case &one, SymbolValues &values, std::mt19937_64 &random)
      : values(values), random(random), guards(one.guards) {
    for (const auto &[name, value] : one.solved)
      guards.push_back(Guard::nonNegative(value));
  }

  bool run() {
    constexpr unsigned mostMoves = 40;
    for (unsigned moves = 0; moves < mostMoves; ++moves) {
      std::vector<const Guard *> failing;
      for (const Guard &guard : guards)
        if (!verifier::holds(guard, values))
          failing.push_back(&guard);
      if (failing.empty())
        return true;
      move(*failing[random() % failing.size()]);
    }
    return false;
  }

private:
  /// One symbol of the guard, to where the guard holds if that is found.
  void move(const Guard &guard) {
    std::vector<std::string> names;
    guard.expr.walkSymbols([&](StringRef name) {
      if (values.count(name.str()) && !llvm::is_contained(names, name))
        names.push_back(name.str());
    });
    if (names.empty())
      return;
    std::string &name = names[random() % names.size()];
    int64_t &value = values[name], old = value;
    std::optional<int64_t> now = valueOf(guard.expr, values);
    if (now) {
      value = old + 1;
      std::optional<int64_t> next = valueOf(guard.expr, values);
      value = old;
      int64_t slope = 0, step = 0;
      if (next && !llvm::SubOverflow(*next, *now, slope) && slope != 0 &&
          reach(guard.kind, *now, slope, step) &&
          !llvm::AddOverflow(old, step, value) && value >= 0 &&
          value <= mostNumber * 4 && verifier::holds(guard, values))
        return;
      value = old;
    }
    // Rests, minima and quotients: what is near, in either direction.
    for (int64_t distance = 1; distance <= 64; ++distance)
      for (int64_t candidate : {old + distance, old - distance}) {
        if (candidate < 0)
          continue;
        value = candidate;
        if (verifier::holds(guard, values))
          return;
      }
    value = int64_t(random() % 8);
  }

  /// How far to go where the guard's value is `now` and grows by `slope`.
  bool reach(Guard::Kind kind, int64_t now, int64_t slope, int64_t &step) {
    if (now == std::numeric_limits<int64_t>::min() ||
        slope == std::numeric_limits<int64_t>::min())
      return false;
    switch (kind) {
    case Guard::Kind::NonNegative: {
      // Down, not further than 0; up, some way beyond.
      int64_t least = llvm::divideCeilSigned(-now, std::abs(slope));
      int64_t beyond = random() % 2 ? random() % 4 : 0;
      step = -least;
      return slope < 0 || !llvm::AddOverflow(least, beyond, step);
    }
    case Guard::Kind::Zero:
      step = -now / slope;
      return now % slope == 0;
    case Guard::Kind::NonZero:
      step = 1;
      return true;
    }
    llvm_unreachable("unknown guard");
  }

  SymbolValues &values;
  std::mt19937_64 &random;
  std::vector<Guard> guards;
};
} // namespace

//===----------------------------------------------------------------------===//
// Drawing
//===----------------------------------------------------------------------===//

bool Instance::setSymbols(const Unknowns &unknowns,
                          llvm::function_ref<int64_t(StringRef)> pick) {
  symbols.clear();
  for (const std::string &symbol : unknowns.symbols)
    if (!one.solved.count(symbol))
      symbols[symbol] = pick(symbol);
  return llvm::all_of(one.guards,
                      [&](const Guard &g) { return holds(g, symbols); }) &&
         solveSymbols();
}

bool Instance::solveSymbols() {
  for (const auto &[name, expr] : one.solved) {
    std::optional<int64_t> value = valueOf(expr, symbols);
    if (!value || *value < 0)
      return false;
    symbols[name] = *value;
  }
  return true;
}

bool Instance::repairSymbols(const Unknowns &unknowns,
                             llvm::function_ref<int64_t(StringRef)> pick) {
  symbols.clear();
  for (const std::string &symbol : unknowns.symbols)
    if (!one.solved.count(symbol))
      symbols[symbol] = pick(symbol);
  return Repair(one, symbols, random).run() && solveSymbols();
}

/// Few zeros and ones: coincidences live there.
static constexpr int64_t ordinary[] = {1, 2, 2, 3, 3, 3, 4,
                                       4, 5, 6, 7, 0, 1, 2};
static constexpr int64_t corner[] = {0, 0, 1, 1, 1, 2};

bool Instance::drawSymbols(const Unknowns &unknowns, SizeKind kind) {
  if (kind == SizeKind::Ordinary || kind == SizeKind::Corner) {
    std::vector<int64_t> choices(std::begin(ordinary), std::end(ordinary));
    if (kind == SizeKind::Corner)
      choices.assign(std::begin(corner), std::end(corner));
    for (int64_t number : unknowns.tiles)
      choices.insert(choices.end(), {number - 1, number, number + 1});
    auto pick = [&](StringRef) { return choices[random() % choices.size()]; };
    for (unsigned attempt = 0; attempt < 400; ++attempt)
      if (setSymbols(unknowns, pick))
        return true;
    return repairSymbols(unknowns, pick);
  }
  std::vector<int64_t> numbers(unknowns.numbers.begin(),
                               unknowns.numbers.end());
  int64_t most = numbers.empty() ? 8 : std::max<int64_t>(8, numbers.back());
  auto small = [&] { return ordinary[random() % std::size(ordinary)]; };
  auto near = [&]() -> int64_t {
    if (numbers.empty() || random() % 2)
      return small();
    int64_t k = numbers[random() % numbers.size()];
    const int64_t choices[] = {k - 1, k,         k + 1, 2 * k - 1,
                               2 * k, 2 * k + 1, 3 * k};
    return std::max<int64_t>(0, choices[random() % std::size(choices)]);
  };
  // Beyond everything, near to it or by an order of magnitude.
  auto beyond = [&]() -> int64_t {
    return random() % 2
               ? most + 1 + random() % (most + 64)
               : 8 + (int64_t(1) << (3 + random() % 6)) + random() % 40;
  };
  constexpr unsigned attempts = 12;
  for (unsigned attempt = 0; attempt < attempts; ++attempt) {
    // Few at once, or nothing of that size can be evaluated.
    size_t large = 1 + random() % 2;
    std::set<size_t> chosen;
    for (size_t i = 0; i < large; ++i)
      chosen.insert(random() % std::max<size_t>(1, unknowns.symbols.size()));
    bool otherwiseCorner = random() % 2;
    size_t position = 0;
    bool fits = repairSymbols(unknowns, [&](StringRef name) -> int64_t {
      // Solved symbols are not asked for; the position counts all of them.
      position = std::distance(unknowns.symbols.begin(),
                               unknowns.symbols.find(name.str()));
      if (kind == SizeKind::Numbers)
        return near();
      if (chosen.count(position))
        return beyond();
      return otherwiseCorner ? corner[random() % std::size(corner)] : small();
    });
    if (fits && fixSizes(mostElementsBeyond))
      return true;
  }
  return false;
}

//===----------------------------------------------------------------------===//
// Real parameters
//===----------------------------------------------------------------------===//

ParameterRange Instance::rangeOf(const std::string &parameter) const {
  auto it = goal.parameters.find(parameter);
  mlir::Type type = it == goal.parameters.end() ? mlir::Type() : it->second;
  return ParameterRange(parameter, type, assumptions.reals);
}

bool Instance::drawParameters(const Unknowns &unknowns) {
  for (const std::string &name : unknowns.parameters) {
    std::optional<double> value = rangeOf(name).draw(random);
    if (!value)
      return false;
    reals[name] = *value;
  }
  return true;
}

} // namespace mlc::verifier
