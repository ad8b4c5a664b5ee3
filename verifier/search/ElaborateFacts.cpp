//===- ElaborateFacts.cpp - Steps from facts about functions --------------===//

#include "verifier/kernel/Unfold.h"
#include "verifier/search/Elaborate.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using llvm::ArrayRef;
using namespace mlc::kernel;

namespace mlc::elaborate {

/// The text of a term without its coefficient and variable names.
static std::string nameless(const Term &term) {
  Term one = term;
  one.coefficient = Rational(1);
  std::string text = str(Sum{one}), result;
  for (size_t i = 0; i < text.size(); ++i)
    if (i == 0 || text[i - 1] != '%' || !llvm::isDigit(text[i]))
      result += text[i];
    else
      while (i + 1 < text.size() && llvm::isDigit(text[i + 1]))
        ++i;
  return result;
}

/// The coefficient of the first term in a fixed order in which numbers come
/// last; 0 if there are no terms.
static Rational leadingNumber(const Sum &sum) {
  const Term *first = nullptr;
  std::string name;
  for (const Term &term : sum)
    if (std::string own = asConstant({term}) ? "~" : nameless(term);
        !first || own < name) {
      first = &term;
      name = own;
    }
  return first ? first->coefficient : Rational(0);
}

static bool isMirrored(const Sum &sum) {
  return leadingNumber(sum) < Rational(0);
}

/// Whether a step applies to a factor by itself.
bool Elaborator::worksOn(const Step &step, const Context &inside,
                         const Factor &factor) {
  Sum trial = single(std::make_shared<const Factor>(factor));
  return checker.apply(step, inside, trial);
}

/// A step for functions of two residues.
std::optional<Step> Elaborator::stepForResidues(const Context &inside,
                                                const Term &term, unsigned f) {
  const Factor &factor = *term.factors[f];
  for (Step::Kind kind : {Step::Kind::OfNumber, Step::Kind::OrderEnds,
                          Step::Kind::OfBits, Step::Kind::DivideByOne})
    if (Step step{.kind = kind}; worksOn(step, inside, factor))
      return step;
  Step low{.kind = Step::Kind::LowBits, .factor = f};
  Sum trial{term};
  if (checker.apply(low, inside, trial))
    return low;
  const Sum &x = factor.arguments[0], &y = factor.arguments[1];
  // A number comes last.
  bool isTurned = !asConstant(y) && (asConstant(x) || str(y) < str(x));
  Step turned{.kind = Step::Kind::Commute};
  return isTurned && worksOn(turned, inside, factor) ? std::optional(turned)
                                                     : std::nullopt;
}

/// A step for [x = 0] and [x > 0]: for numbers, for the same function of two
/// values, and to normalize the leading coefficient to 1 or, if the sign
/// matters, -1.
std::optional<Step> Elaborator::stepForOrder(const Context &inside,
                                             const Term &term, unsigned f) {
  const Factor &factor = *term.factors[f];
  const Sum &argument = factor.arguments[0];
  std::vector<Sum> path = pathOf(term, f, f);
  if (Step step{.kind = Step::Kind::OfNumber}; worksOn(step, inside, factor))
    return step;
  Step same{.kind = Step::Kind::SameOrder, .factor = f};
  const Factor *call =
      argument.size() == 2 ? onlyFactor({argument[0]}) : nullptr;
  std::optional<UnaryFn> function = call ? functionOf(*call) : std::nullopt;
  if (function && !factsOf(*function).isDefinedEverywhere())
    for (const Term &part : argument)
      if (const Factor *one = onlyFactor({part});
          one && !one->arguments.empty())
        if (auto shown =
                show(factsOf(*function).where.isOpen ? Need::Kind::Positive
                                                     : Need::Kind::NotNegative,
                     0, inside, one->arguments[0], path))
          same.need.push_back(std::move(*shown));
  Sum trial{term};
  if (function && checker.apply(same, inside, trial))
    return same;
  if (Step step{.kind = Step::Kind::OrderOfInfinity};
      worksOn(step, inside, factor))
    return step;
  constexpr size_t mostValues = 4;
  for (auto [i, part] : llvm::enumerate(argument)) {
    const Factor *maximum = onlyFactor({part});
    Step step{.kind = Step::Kind::OrderOfMaximum,
              .other = static_cast<unsigned>(i)};
    if (maximum && maximum->branches.size() <= mostValues &&
        worksOn(step, inside, factor))
      return step;
  }
  Rational first = leadingNumber(argument);
  bool isPositive = factor.head == Head::Kind::Positive,
       isOfReals = factor.head == Head::Kind::Zero;
  Rational by = isPositive ? abs(first) : isOfReals ? first : Rational(1);
  if (!isPositive && !isOfReals && first < Rational(0))
    by = Rational(-1);
  llvm::DynamicAPInt most(std::numeric_limits<int32_t>::max());
  if (by == Rational(0) || by == Rational(1) || abs(by.num) > most ||
      by.den > most)
    return std::nullopt;
  Rational inverse = Rational(1) / by;
  if (inverse.den < llvm::DynamicAPInt(0))
    inverse = Rational(-inverse.num, -inverse.den);
  Step scale{.kind = Step::Kind::ScaleOrder,
             .integers = {Integer(static_cast<int64_t>(inverse.num)),
                          Integer(static_cast<int64_t>(inverse.den))}};
  return worksOn(scale, inside, factor) ? std::optional(scale) : std::nullopt;
}

std::optional<Step> Elaborator::stepForCall(const Context &inside,
                                            const Term &term, unsigned f) {
  const Factor &factor = *term.factors[f];
  if (factor.arguments.size() == 2 && factor.head.getType())
    return stepForResidues(inside, term, f);
  if (factor.arguments.size() != 1)
    return std::nullopt;
  const Sum &argument = factor.arguments[0];
  std::optional<UnaryFn> function = functionOf(factor);
  if (argument.empty() && function && factsOf(*function).hasZero())
    return Step{.kind = Step::Kind::AtZero};
  if (Step step{.kind = Step::Kind::AtOne};
      function && asConstant(argument) && worksOn(step, inside, factor))
    return step;
  const Factor *inner = onlyFactor(argument);
  bool isPlain = inner && argument[0].coefficient == Rational(1);
  if (function == UnaryFn::Reciprocal) {
    bool isProduct = argument.size() == 1 && argument[0].variables.empty() &&
                     argument[0].guards.empty() &&
                     argument[0].coefficient != Rational(0);
    if (isProduct && (!isPlain || isCall(*inner, UnaryFn::Reciprocal)))
      return Step{.kind = Step::Kind::SplitReciprocal};
  }
  if (function == UnaryFn::Reciprocal && isPlain &&
      isCall(*inner, UnaryFn::Exp))
    return Step{.kind = Step::Kind::InvertExponential};
  if (function == UnaryFn::Log && isPlain && isCall(*inner, UnaryFn::Exp))
    return Step{.kind = Step::Kind::LogOfExp};
  if (function == UnaryFn::Exp)
    for (auto [i, part] : llvm::enumerate(argument))
      if (const Factor *log = onlyFactor({part});
          log && isCall(*log, UnaryFn::Log) &&
          abs(part.coefficient) == Rational(1))
        if (auto shown = show(Need::Kind::Positive, 0, inside,
                              log->arguments[0], pathOf(term, f, f)))
          return Step{.kind = Step::Kind::ExpOfLog,
                      .other = static_cast<unsigned>(i),
                      .need = {*shown}};
  if (Step step{.kind = Step::Kind::OfNumber};
      castOf(factor) && worksOn(step, inside, factor))
    return step;
  bool isPositive = factor.head == Head::Kind::Positive;
  bool isOrder = isPositive || factor.head.getKind() == Head::Kind::Zero;
  if (isOrder)
    if (auto step = stepForOrder(inside, term, f))
      return step;
  if (isPositive && !inside.values.empty())
    return decisionFor(inside, term, f);
  // Odd and even functions of the table: both sides choose the same sign.
  if (function && factsOf(*function).parity != Parity::None &&
      factsOf(*function).isDefinedEverywhere() && isMirrored(argument))
    return Step{.kind = Step::Kind::Mirror};
  return std::nullopt;
}

/// A step for [x > 0] if the sign of x is known. Inside a proof that a given
/// value equals another one, given values are not used, because these have
/// their own signs.
std::optional<Step> Elaborator::decisionFor(const Context &inside,
                                            const Term &term, unsigned f) {
  const Sum &x = term.factors[f]->arguments[0];
  std::vector<Sum> path = pathOf(term, f, f);
  auto shown = [&](Need::Kind kind, const Sum &value) {
    Shown signs;
    if (depth <= 1)
      return show(kind, 0, inside, value, path);
    if (checker.isShown(kind, 0, inside, value, path, signs))
      return std::optional(signs);
    return showBound(kind, alongPath(inside, path), value);
  };
  if (auto one = shown(Need::Kind::Positive, x))
    return Step{.kind = Step::Kind::Decide, .part = 1, .need = {*one}};
  if (auto one = shown(Need::Kind::NotNegative, scaled(x, Rational(-1))))
    return Step{.kind = Step::Kind::Decide, .part = 0, .need = {*one}};
  return std::nullopt;
}

std::optional<Step> Elaborator::stepForPair(const Context &inside,
                                            const Term &term, unsigned f,
                                            unsigned g) {
  const Factor &first = *term.factors[f], &second = *term.factors[g];
  if (f < g && isCall(first, UnaryFn::Exp) && isCall(second, UnaryFn::Exp))
    return Step{.kind = Step::Kind::JoinExponentials, .other = g};
  if (f < g && isCall(first, UnaryFn::Sqrt) && same(first, second))
    if (auto shown = show(Need::Kind::NotNegative, 0, inside,
                          first.arguments[0], pathOf(term, f, g)))
      return Step{
          .kind = Step::Kind::SquareOfRoot, .other = g, .need = {*shown}};
  if (f < g && isCall(first, UnaryFn::Sin) && same(first, second))
    return Step{.kind = Step::Kind::SquareOfSine, .other = g};
  bool isOfResidues = first.head.getType() &&
                      first.head == Head(UnaryFn::Abs, first.head.getType());
  if (f < g && isOfResidues && same(first, second))
    return Step{.kind = Step::Kind::SquareOfMagnitude, .other = g};
  bool arePowers = f < g && first.kind == Factor::Kind::Call &&
                   first.head == BinaryFn::Pow && second.head == first.head &&
                   first.arguments.size() == 2 &&
                   second.arguments.size() == 2 &&
                   same(first.arguments[0], second.arguments[0]);
  if (arePowers)
    if (auto shown = show(Need::Kind::Positive, 0, inside, first.arguments[0],
                          pathOf(term, f, g)))
      return Step{.kind = Step::Kind::JoinPowers, .other = g, .need = {*shown}};
  if (!isCall(second, UnaryFn::Reciprocal))
    return std::nullopt;
  const Factor *inverted = onlyFactor(second.arguments[0]);
  bool isInverse =
      inverted &&
      (same(*inverted, first) ||
       (inverted->kind == Factor::Kind::Number &&
        first.kind == Factor::Kind::Number &&
        decider.holds(inside.known,
                      Formula::equal(inverted->index[0], first.index[0]))));
  if (isInverse)
    if (auto shown = show(Need::Kind::NotZero, 0, inside,
                          single(term.factors[f]), pathOf(term, f, g)))
      return Step{.kind = Step::Kind::Cancel, .other = g, .need = {*shown}};
  return std::nullopt;
}

} // namespace mlc::elaborate
