//===- Holes.cpp - Weights that a rewrite needs, solved -------------------===//

#include "verifier/search/Holes.h"
#include "dialects/Definition/DefinitionText.h"
#include "dialects/Graph/ComputeOps.h"
#include "verifier/read/Goal.h"
#include "verifier/search/Equality.h"
#include "verifier/search/HoleText.h"
#include "llvm/ADT/STLExtras.h"

using llvm::ArrayRef;
using llvm::SmallVector;

namespace mlc {

using namespace verifier;

namespace {

using TensorPredicate = llvm::function_ref<bool(unsigned)>;

bool reads(const Sum &sum, TensorPredicate predicate);

bool reads(const Atom &atom, TensorPredicate predicate) {
  return (atom.kind == Atom::Kind::Read && predicate(atom.tensor)) ||
         llvm::any_of(atom.arguments,
                      [&](const Sum &s) { return reads(s, predicate); }) ||
         llvm::any_of(atom.branches, [&](const Branch &b) {
           return reads(b.value, predicate);
         });
}

bool reads(const Sum &sum, TensorPredicate predicate) {
  return llvm::any_of(sum.terms, [&](const Term &term) {
    return llvm::any_of(term.factors, [&](const Factor &f) {
      return reads(*f.atom, predicate);
    });
  });
}

bool mentionsAny(IntExpr expr, ArrayRef<IntExpr> symbols) {
  return llvm::any_of(symbols, [&](IntExpr s) { return mentions(expr, s); });
}
bool mentionsAny(const Term &term, ArrayRef<IntExpr> symbols) {
  bool found = false;
  walkIndices(term, [&](IntExpr e) { found |= mentionsAny(e, symbols); });
  return found;
}

/// The solution of one hole, part by part.
struct Hole {
  SmallVector<IntExpr> indices; // j
  TensorShape shape;
  Facts range; // of j
  struct Part {
    SmallVector<Guard> domain;
    Sum value;
  };
  std::vector<Part> parts;
};

/// A term of the after side that reads a hole, seen from the hole's element j.
struct HoleTerm {
  unsigned hole = 0;
  /// Its activation factors and its known factors, with indices over j and the
  /// positions F.
  Term activations, known;
  SmallVector<IntExpr> positions; // F
  /// The result's indices and the term's variables in terms of j.
  Substitution inverse;
  SmallVector<Guard> domain; // over j alone
  Facts facts;               // all that holds where the term is not 0
};

class HoleSolver {
public:
  HoleSolver(const HoleProblem &problem, const Goal &goal, const Case &one,
             Normalizer &normalizer, Solver &solver)
      : problem(problem), one(one), n(normalizer), prover(n, solver),
        numArguments(problem.isConstant.size()) {
    for (const Guard &guard : one.guards)
      facts.add(guard);
    for (unsigned i = numArguments; i < goal.numArguments; ++i) {
      Hole hole;
      hole.shape = one.after.inputs[i];
      hole.range = facts;
      for (IntExpr dim : hole.shape.dims) {
        hole.indices.push_back(n.freshVariable());
        hole.range.add(Guard::less(hole.indices.back(), dim));
      }
      holes.push_back(std::move(hole));
    }
  }

  bool run() {
    for (unsigned i = 0; i < one.before.results.size(); ++i)
      if (!solveResult(i))
        return false;
    return n.getBudget().check() || fail(n.getBudget().reason());
  }

  std::vector<Hole> holes;
  std::string failure;

private:
  bool fail(const llvm::Twine &reason) {
    if (failure.empty())
      failure = reason.str();
    return false;
  }
  bool isHole(unsigned tensor) const {
    return tensor >= numArguments && tensor < numArguments + holes.size();
  }
  bool isActivation(unsigned tensor) const {
    return tensor < numArguments ? !problem.isConstant[tensor]
                                 : !isHole(tensor);
  }

  bool solveResult(unsigned result);
  bool solveSums(Sum before, const Sum &after, const Facts &inside,
                 ArrayRef<IntExpr> free);
  std::optional<HoleTerm> invert(const Term &term, const Facts &inside,
                                 ArrayRef<IntExpr> free);
  enum class Outcome { Matched, Different, Failed };
  Outcome match(const Term &term, const HoleTerm &holeTerm, Sum &value);
  bool addPart(unsigned hole, ArrayRef<Guard> domain, const Sum &value);

  /// The factors of `term` that read activations, as a term of their own.
  Term activationsOf(const Term &term) {
    Term result{Fraction(1), term.domain, {}};
    for (const Factor &f : term.factors)
      if (reads(*f.atom, [&](unsigned t) { return isActivation(t); }))
        result.factors.push_back(f);
    return result;
  }

  const HoleProblem &problem;
  const Case &one;
  Normalizer &n;
  Prover prover;
  unsigned numArguments;
  Facts facts;
};

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

bool HoleSolver::solveResult(unsigned result) {
  Facts inside = facts;
  SmallVector<IntExpr> free;
  for (IntExpr dim :
       one.before.shapeOf({true, one.before.results[result]}).dims) {
    free.push_back(n.freshVariable());
    inside.add(Guard::less(free.back(), dim));
  }
  Expander before(one.before, n), after(one.after, n);
  Sum a = n.simplify(before.expandResult(result, free, inside), inside);
  Sum b = n.simplify(after.expandResult(result, free, inside), inside);
  for (const Expander *side : {&before, &after})
    if (!side->getFailure().empty())
      return fail(side->getFailure());
  while (splitFreeIndex({&a, &b}, inside, free, n))
    ;
  return n.getBudget().check() ? solveSums(std::move(a), b, inside, free)
                               : fail(n.getBudget().reason());
}

bool HoleSolver::solveSums(Sum before, const Sum &after, const Facts &inside,
                           ArrayRef<IntExpr> free) {
  // Terms of the after side without holes do not contribute to them.
  Sum known;
  std::vector<HoleTerm> holeTerms;
  for (const Term &term : after.terms) {
    Sum single{{term}};
    if (!reads(single, [&](unsigned t) { return isHole(t); })) {
      known = add(known, single);
      continue;
    }
    std::optional<HoleTerm> inverted = invert(term, inside, free);
    if (!inverted)
      return false;
    holeTerms.push_back(std::move(*inverted));
  }
  if (!known.isZero())
    before = n.simplify(add(before, negated(known)), inside);
  std::vector<bool> used(before.terms.size());
  for (const HoleTerm &holeTerm : holeTerms) {
    Sum value;
    for (size_t i = 0; i < before.terms.size(); ++i) {
      if (used[i])
        continue;
      switch (match(before.terms[i], holeTerm, value)) {
      case Outcome::Matched:
        used[i] = true;
        break;
      case Outcome::Different:
        break;
      case Outcome::Failed:
        return false;
      }
    }
    if (!addPart(holeTerm.hole, holeTerm.domain, value))
      return false;
  }
  for (size_t i = 0; i < used.size(); ++i)
    if (!used[i])
      return fail("no weight of the after side stands where it could give " +
                  str(before.terms[i]));
  return true;
}

//===----------------------------------------------------------------------===//
// Terms of the after side
//===----------------------------------------------------------------------===//

std::optional<HoleTerm> HoleSolver::invert(const Term &term,
                                           const Facts &inside,
                                           ArrayRef<IntExpr> free) {
  const Atom *read = nullptr;
  for (const Factor &f : term.factors) {
    if (!reads(*f.atom, [&](unsigned t) { return isHole(t); }))
      continue;
    if (read || f.power != 1 || f.atom->kind != Atom::Kind::Read) {
      fail("the after side is not linear in its weights");
      return std::nullopt;
    }
    read = f.atom.get();
  }
  HoleTerm result;
  result.hole = read->tensor - numArguments;
  const Hole &hole = holes[result.hole];

  // The domain in which the term is not 0, and facts about its variables.
  SmallVector<IntExpr> unknowns(free);
  llvm::append_range(unknowns, term.domain.variables);
  SmallVector<Guard> guards(term.domain.guards.begin(),
                            term.domain.guards.end());
  for (const Guard &guard : inside.getGuards())
    if (mentionsAny(guard.expr, free))
      guards.push_back(guard);
  std::vector<IntExpr> zeros;
  for (auto [index, j] : llvm::zip(read->index, hole.indices))
    zeros.push_back(index - j);
  std::optional<Substitution> theta = solveEquations(
      {zeros, unknowns, {}, hole.indices, {}, guards, hole.range.getGuards()},
      inside.with(guards).with(hole.range.getGuards()), /*pairByRange=*/false);
  if (!theta) {
    fail("the index of a weight cannot be inverted: " + str(*read));
    return std::nullopt;
  }
  Facts around = hole.range;
  for (IntExpr v : unknowns) {
    auto solved = theta->find(v.getSymbol().str());
    if (solved == theta->end())
      result.positions.push_back(v);
    else
      guards.push_back(Guard::nonNegative(solved->second));
  }
  for (Guard &guard : guards)
    guard.expr = substitute(guard.expr, *theta);
  for (IntExpr zero : zeros)
    guards.push_back(Guard::zero(substitute(zero, *theta)));
  for (const Guard &guard : guards) {
    Guard simple = around.simplify(guard);
    if (around.implies(simple))
      continue;
    around.add(simple);
    if (mentionsAny(simple.expr, result.positions) ||
        prover.holds(simple, hole.range, "the element lies in the hole"))
      continue;
    result.domain.push_back(simple);
  }
  result.facts = around;
  result.inverse = *theta;

  Term image = substitute(term, *theta);
  result.activations = activationsOf(image);
  result.known.coefficient = term.coefficient;
  for (const Factor &f : image.factors)
    if (!reads(*f.atom,
               [&](unsigned t) { return isHole(t) || isActivation(t); }))
      result.known.factors.push_back(f);
  return result;
}

//===----------------------------------------------------------------------===//
// Terms of the before side
//===----------------------------------------------------------------------===//

/// Adds to `value` what `original` contributes to the hole.
HoleSolver::Outcome HoleSolver::match(const Term &original,
                                      const HoleTerm &holeTerm, Sum &value) {
  // The result's indices are the hole term's.
  Term term = n.freshened(substitute(original, holeTerm.inverse));
  Term activations = activationsOf(term);
  if (signatureOf(activations) != signatureOf(holeTerm.activations))
    return Outcome::Different;
  SmallVector<IntExpr> positions(holeTerm.positions);
  Term rest{term.coefficient / holeTerm.known.coefficient, term.domain, {}};
  for (const Factor &f : term.factors)
    if (!reads(*f.atom, [&](unsigned t) { return isActivation(t); }))
      rest.factors.push_back(f);
  for (const Factor &f : holeTerm.known.factors)
    rest.factors.push_back({f.atom, -f.power});
  bool sawPosition = false;
  for (const std::vector<unsigned> &partner :
       factorPairings(activations, holeTerm.activations)) {
    Equations equations;
    bool fits = true;
    for (size_t i = 0; i < activations.factors.size() && fits; ++i)
      fits = collectEquations(*activations.factors[i].atom,
                              *holeTerm.activations.factors[partner[i]].atom,
                              equations) &&
             equations.leftInner.empty();
    if (!fits)
      continue;
    Term candidate = rest;
    for (IntExpr zero : equations.zeros)
      candidate.domain.guards.push_back(Guard::zero(zero));
    Sum found = n.simplify(
        n.multiply(Sum{{candidate}}, constantSum(Fraction(1))), holeTerm.facts);
    bool isElsewhere = false, depends = false;
    for (const Term &part : found.terms) {
      isElsewhere |= llvm::any_of(part.domain.guards, [&](const Guard &g) {
        return g.kind == Guard::Kind::Zero && mentionsAny(g.expr, positions);
      });
      depends |= mentionsAny(part, positions);
    }
    if (isElsewhere || found.isZero())
      continue;
    if (depends) {
      sawPosition = true;
      continue;
    }
    value = add(value, found);
    return Outcome::Matched;
  }
  if (!sawPosition)
    return Outcome::Different;
  fail("weight " + llvm::Twine(holeTerm.hole) +
       " would depend on the output position");
  return Outcome::Failed;
}

/// The hole has `value` where `domain` holds. Overlapping parts must agree; the
/// proof of the rewrite checks that.
bool HoleSolver::addPart(unsigned number, ArrayRef<Guard> domain,
                         const Sum &value) {
  Hole &hole = holes[number];
  for (const Hole::Part &other : hole.parts) {
    Facts there = hole.range.with(other.domain);
    if (llvm::any_of(domain, [&](const Guard &g) { return there.refutes(g); }))
      continue;
    Facts here = hole.range.with(domain);
    if (llvm::all_of(other.domain,
                     [&](const Guard &g) { return here.implies(g); }))
      return true;
    return fail("weight " + llvm::Twine(number) +
                " is used in two ways that overlap");
  }
  Sum inside = n.simplify(guarded(value, domain), hole.range);
  hole.parts.push_back({SmallVector<Guard>(domain), std::move(inside)});
  return true;
}

//===----------------------------------------------------------------------===//
// The after side with its weights
//===----------------------------------------------------------------------===//

mlir::func::FuncOp withHoleArguments(mlir::func::FuncOp before,
                                     mlir::func::FuncOp after) {
  auto result = before.clone();
  mlir::Block &block = result.getBody().front();
  for (unsigned i = before.getNumArguments(); i < after.getNumArguments(); ++i)
    block.addArgument(after.getArgument(i).getType(), after.getLoc());
  result.setType(mlir::FunctionType::get(
      before.getContext(), after.getArgumentTypes(), before.getResultTypes()));
  return result;
}

std::vector<std::string> namesFor(const HoleProblem &problem,
                                  ArrayRef<unsigned> inputs) {
  std::vector<std::string> names;
  for (unsigned input : inputs)
    names.push_back(input < problem.names.size() &&
                            !problem.names[input].empty()
                        ? problem.names[input]
                        : "c" + std::to_string(input));
  return names;
}

/// Replaces hole `i` of `after` by the operator that computes it.
mlir::LogicalResult fillHole(const HoleProblem &problem, const Hole &hole,
                             ArrayRef<TensorShape> shapes, unsigned i,
                             mlir::func::FuncOp after, std::string &failure) {
  SolvedTensor solved{
      hole.indices, hole.shape.dims, hole.shape.elementType, {}};
  for (const Hole::Part &part : hole.parts)
    solved.value = add(solved.value, part.value);
  Definition definition;
  SmallVector<unsigned> used;
  failure = toDefinition(solved, shapes, definition, used);
  if (!failure.empty())
    return mlir::failure();
  DefinitionText text = printDefinition(definition, namesFor(problem, used));

  mlir::MLIRContext *context = after.getContext();
  SmallVector<IntExpr> integers;
  for (const std::string &name : text.integers)
    integers.push_back(IntExpr::symbol(context, name));
  SmallVector<mlir::Attribute> reals;
  for (const std::string &name : text.reals)
    reals.push_back(RealAttr::getSymbolic(context, name));
  auto builder = mlir::OpBuilder::atBlockBegin(&after.getBody().front());
  mlir::BlockArgument argument =
      after.getArgument(problem.isConstant.size() + i);
  if (!argument.use_empty() &&
      mlir::isa<ComputeOp>(argument.getParentBlock()->front()))
    builder.setInsertionPointAfter(&argument.getParentBlock()->front());
  SmallVector<mlir::Value> operands;
  for (unsigned input : used)
    operands.push_back(after.getArgument(input));
  auto type = mlir::cast<mlir::RankedTensorType>(argument.getType());
  mlir::FailureOr<ComputeOp> made =
      createOp<ComputeOp>(builder, after.getLoc(), operands, text.text,
                          DimsAttr::get(context, *getDims(type)),
                          DimsAttr::get(context, ArrayRef<IntExpr>(integers)),
                          builder.getArrayAttr(reals), type.getElementType());
  if (mlir::failed(made)) {
    failure = "the weight's text is not accepted: " + text.text;
    return mlir::failure();
  }
  argument.replaceAllUsesWith(made->getResult());
  return mlir::success();
}

} // namespace

HoleSolution solveHoles(const HoleProblem &problem,
                        const VerifierOptions &options) {
  HoleSolution solution;
  mlir::func::FuncOp first = problem.before, function = problem.after;
  auto fail = [&](const llvm::Twine &reason) {
    solution.failure = reason.str();
    return std::move(solution);
  };
  mlir::OwningOpRef<mlir::func::FuncOp> before =
      withHoleArguments(problem.before, problem.after);
  Goal goal = makeGoal(*before, problem.after, problem.assumptions);
  if (!goal.failure.empty())
    return fail(goal.failure);
  if (goal.cases.size() != 1)
    return fail("the condition has several cases; solve them one by one");
  const Case &one = goal.cases.front();
  for (const auto &entry : one.solved) {
    bool hasQuotient = false;
    entry.second.walkSymbols(
        [&](llvm::StringRef symbol) { hasQuotient |= isOwnName(symbol); });
    if (hasQuotient)
      return fail("write dims that a condition divides as products");
  }
  Budget budget(options);
  Normalizer normalizer(before->getContext(),
                        knownValues(goal, problem.assumptions), budget);
  // Only to drop conditions that always hold.
  VerifierOptions little = options;
  little.maxLemmaWork /= 4;
  Solver lemmas(little);
  HoleSolver solver(problem, goal, one, normalizer, lemmas);
  if (!solver.run())
    return fail(solver.failure);

  // A weight that cannot be expressed is an answer here, not an error to
  // report.
  mlir::ScopedDiagnosticHandler quiet(
      before->getContext(), [](mlir::Diagnostic &) { return mlir::success(); });
  mlir::OwningOpRef<mlir::func::FuncOp> after = function.clone();
  for (auto [i, hole] : llvm::enumerate(solver.holes)) {
    std::string failure;
    if (mlir::failed(
            fillHole(problem, hole, one.before.inputs, i, *after, failure)))
      return fail(failure);
  }
  after->getBody().front().eraseArguments(problem.isConstant.size(),
                                          solver.holes.size());
  // Result dims may be equal but spelled differently.
  after->setType(mlir::FunctionType::get(
      before->getContext(), first.getArgumentTypes(), after->getResultTypes()));
  solution.after = std::move(after);
  return solution;
}

} // namespace mlc
