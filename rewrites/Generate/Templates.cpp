//===- Templates.cpp - Rules whose after side has solved weights ----------===//

#include "rewrites/Generate/Templates.h"
#include "dialects/Graph/ComputeOps.h"
#include "dialects/Graph/ContractionOps.h"
#include "dialects/Graph/ConvolutionOps.h"
#include "dialects/Graph/MovementOps.h"
#include "dialects/Graph/PointwiseOps.h"
#include "rewrites/Generate/BeforeGraphs.h"
#include "rewrites/Generate/Emit.h"
#include "verifier/search/Holes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/xxhash.h"
#include <chrono>
#include <set>

using namespace mlir;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::StringRef;

namespace mlc::generate {

namespace {

using Clock = std::chrono::steady_clock;

double msSince(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start)
      .count();
}

/// An after side with unknown weights.
struct Template {
  SketchWindow window;
  IntExpr groups;
  bool hasBias = false;
  /// Unique among the templates of one before side.
  std::string name;
};

SmallVector<Sketch::Dims> resultDims(func::FuncOp function) {
  SmallVector<Sketch::Dims> dims;
  for (Value value : function.getBody().front().getTerminator()->getOperands())
    dims.push_back(Sketch::dimsOf(value));
  return dims;
}

/// Templates for `graph`, the smallest first.
std::vector<Template> templatesFor(const BeforeGraph &graph) {
  std::vector<Template> result;
  if (graph.contraction == BeforeGraph::Contraction::MatMul)
    return {{{}, {}, false, "matmul"}, {{}, {}, true, "matmul_and_bias"}};
  for (bool hasBias : {false, true}) {
    if (hasBias && graph.numOps == 1)
      continue;
    for (const auto &[i, window] : llvm::enumerate(graph.windows))
      for (const auto &[j, groups] : llvm::enumerate(graph.groups)) {
        // Make one change at a time; another rule makes the other.
        if (i > 0 && j > 0)
          continue;
        std::string name = i > 0                  ? "larger_conv"
                           : groups.isConstant(1) ? "conv"
                           : j == 0               ? "grouped_conv"
                                                  : "fewer_groups";
        if (hasBias)
          name += "_and_bias";
        result.push_back({window, groups, hasBias, name});
      }
  }
  return result;
}

/// The after side of `graph` from a template: the arguments of the before side,
/// then the holes.
class AfterGraph {
public:
  AfterGraph(const BeforeGraph &graph, const Template &choice)
      : graph(graph), choice(choice),
        s(graph.function.get()->getContext(), "after") {}

  OwningOpRef<func::FuncOp> build() {
    func::FuncOp before = graph.function.get();
    for (auto [argument, value] :
         llvm::zip(graph.arguments, before.getArguments())) {
      Value copy =
          s.argument(argument.name, Sketch::dimsOf(value), argument.isConstant);
      if (!argument.isConstant)
        inputs.push_back(copy);
    }
    outputs = resultDims(before);
    bool isMatrix = graph.contraction == BeforeGraph::Contraction::MatMul;
    IntExpr total = s.integer(0);
    for (const Sketch::Dims &dims : outputs)
      total = total + dims[1];
    Value x = inputs.size() == 1 ? inputs[0] : s.concat(inputs, 1);
    if (!x)
      return {};
    Value y = isMatrix ? matrixProduct(x, total) : convolution(x, total);
    if (!y)
      return {};
    if (choice.hasBias) {
      Sketch::Dims dims = Sketch::dimsOf(y), one(dims.size(), s.integer(1));
      one[1] = total;
      y = s.op<AddOp>({y, s.broadcast(s.argument("hole", one, true), dims)});
    }
    SmallVector<Value> results{y};
    if (outputs.size() > 1) {
      results.clear();
      IntExpr start = s.integer(0);
      for (const Sketch::Dims &dims : outputs) {
        results.push_back(s.slice(y, 1, start, dims[1]));
        start = start + dims[1];
      }
    }
    return s.finish(results);
  }

private:
  Value matrixProduct(Value x, IntExpr columns) {
    return s.op<MatMulOp>(
        {x, s.argument("hole", {Sketch::dimsOf(x)[1], columns}, true)});
  }
  Value convolution(Value x, IntExpr channels) {
    std::optional<IntExpr> each = Sketch::dimsOf(x)[1].exactDiv(choice.groups);
    if (!each || !channels.exactDiv(choice.groups))
      return {};
    Value w = s.argument(
        "hole",
        {channels, *each, choice.window.kernel[0], choice.window.kernel[1]},
        true);
    return s.conv(x, w, choice.window, choice.groups);
  }

  const BeforeGraph &graph;
  const Template &choice;
  Sketch s;
  SmallVector<Value> inputs;
  SmallVector<Sketch::Dims> outputs;
};

/// Whether the results' dims are equal for some sizes; otherwise solving is
/// pointless.
bool dimsFit(func::FuncOp before, func::FuncOp after) {
  SmallVector<Sketch::Dims> a = resultDims(before), b = resultDims(after);
  for (unsigned sample = 0; sample < 6; ++sample) {
    // Symbols are small and positive, images larger than windows.
    auto valueOf = [&](StringRef symbol) -> std::optional<int64_t> {
      uint64_t draw =
          llvm::xxh3_64bits((symbol + "#" + std::to_string(sample)).str());
      bool isImage = symbol == "h" || symbol == "w";
      return 1 + draw % 4 + (isImage ? 40 : 0);
    };
    for (auto [x, y] : llvm::zip(a, b))
      for (auto [dim, other] : llvm::zip(x, y))
        if (dim != other && dim.evaluate(valueOf) != other.evaluate(valueOf))
          return false;
  }
  return true;
}

/// Whether a weight is an unchanged argument.
bool isCopy(ComputeOp op, const Definition &definition) {
  const Piece &piece = definition.stages.back().pieces.front();
  if (op.getNumOperands() != 1 || piece.body->kind != Expr::Kind::Read ||
      op.getOperand(0).getType() != op.getResult().getType())
    return false;
  return llvm::all_of(
      llvm::zip(piece.body->indices(), piece.loops), [](const auto &pair) {
        const auto &[index, loop] = pair;
        if (index->kind == Expr::Kind::Loop)
          return index->loop == loop.id;
        return index->kind == Expr::Kind::Int && index->integer.isConstant(0) &&
               loop.extent.isConstant(1);
      });
}

/// Whether there was something to solve: a rule whose weights are all arguments
/// needs no constants, and one with a weight of zeros needs a smaller template.
bool isWorthwhile(func::FuncOp after) {
  bool onlyCopies = true, hasZero = false;
  after.walk([&](ComputeOp op) {
    FailureOr<Definition> definition =
        getDefinition(cast<DefinitionOpInterface>(op.getOperation()));
    if (failed(definition))
      return;
    onlyCopies &= isCopy(op, *definition);
    const Expr &body = definition->stages.back().pieces.front().body;
    hasZero |= body->kind == Expr::Kind::Constant && body->number == 0;
  });
  return !onlyCopies && !hasZero;
}

/// The rule in the syntax of rewrites/*.mlir.
std::string definitionOf(const HoleRule &rule, func::FuncOp before,
                         func::FuncOp after,
                         ArrayRef<Sketch::Argument> arguments,
                         ArrayRef<Condition> conditions) {
  Location loc = UnknownLoc::get(before.getContext());
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  OpBuilder at = OpBuilder::atBlockEnd(module->getBody());
  auto def = rule::DefOp::create(at, loc, rule.name, rule.text);
  Block &body = def.getBody().emplaceBlock();
  body.push_back(before->clone());
  body.push_back(after->clone());
  Assumptions assumptions;
  assumptions.integers.assign(conditions.begin(), conditions.end());
  for (auto [i, argument] : llvm::enumerate(arguments))
    if (argument.isConstant)
      assumptions.tensors.push_back(
          {static_cast<unsigned>(i), ElementPredicate::Constant});
  addCondition(def, assumptions);
  return ruleText(*module);
}

class Generator {
public:
  Generator(MLIRContext *context, const HoleRuleOptions &options,
            HoleRuleReport &report)
      : context(context), options(options), report(report) {}

  std::vector<HoleRule> run() {
    static const std::vector<std::string> contractions = {"conv", "avg_pool",
                                                          "matmul"};
    if (!options.ops.empty() &&
        llvm::none_of(contractions, [&](const std::string &op) {
          return llvm::is_contained(options.ops, op);
        }))
      return {};
    std::vector<BeforeGraph> graphs =
        enumerateBeforeGraphs(context, options.maxOps);
    for (BeforeGraph &graph : graphs) {
      if (!isAsked(graph))
        continue;
      std::set<std::string> known = knownFrom(graph);
      if (graph.numOps > 1 && !known.empty())
        continue;
      options.progress("solving weights: " + std::to_string(rules.size()) +
                       " rules from " + std::to_string(report.befores) +
                       " graphs");
      ++report.befores;
      // A graph that a smaller rule reduces follows from that rule and others.
      if (llvm::any_of(found, [&](const Found &other) {
            return other.graph->numOps > 1 && graph.contains(*other.graph);
          })) {
        ++report.derived;
        continue;
      }
      if (containsUnsolvable(graph)) {
        ++report.hopeless;
        continue;
      }
      std::set<std::string> names;
      for (const Template &choice : templatesFor(graph)) {
        // One rule is enough if it saves operators.
        if (!names.empty() && graph.numOps > 1)
          break;
        if (known.count(choice.name))
          continue;
        Attempt outcome = tryTemplate(graph, choice);
        if (outcome == Attempt::Proved)
          names.insert(choice.name);
        // A rule without weights covers this, and larger templates add nothing.
        if (outcome == Attempt::Trivial && graph.numOps > 1)
          break;
      }
      if (!names.empty())
        found.push_back({&graph, std::move(names)});
      else
        unsolvable.insert(graph.steps);
    }
    return std::move(rules);
  }

private:
  /// A before side that has rules, and their templates.
  struct Found {
    const BeforeGraph *graph;
    std::set<std::string> templates;
  };

  /// Templates with which more general graphs have rules.
  std::set<std::string> knownFrom(const BeforeGraph &graph) {
    std::set<std::string> result;
    for (const Found &other : found)
      if (graph.isInstanceOf(*other.graph))
        result.insert(other.templates.begin(), other.templates.end());
    return result;
  }

  /// Whether all operators are among those asked for.
  bool isAsked(const BeforeGraph &graph) const {
    if (options.ops.empty())
      return true;
    func::FuncOp function = graph.function.get();
    return llvm::all_of(
        function.getBody().front().without_terminator(), [&](Operation &op) {
          return isa<BroadcastOp>(op) ||
                 llvm::is_contained(options.ops, op.getName().stripDialect());
        });
  }

  /// Whether two consecutive steps of a longer chain are known not to be a
  /// contraction; more steps cannot make them one.
  bool containsUnsolvable(const BeforeGraph &graph) const {
    if (graph.shape != BeforeGraph::Shape::Chain)
      return false;
    for (size_t i = 0; i + 2 <= graph.steps.size() && graph.steps.size() > 2;
         ++i)
      if (unsolvable.count({graph.steps[i], graph.steps[i + 1]}))
        return true;
    return false;
  }

  enum class Attempt { None, Trivial, Proved };

  Attempt tryTemplate(const BeforeGraph &graph, const Template &choice) {
    ++report.templates;
    func::FuncOp before = graph.function.get();
    OwningOpRef<func::FuncOp> after = AfterGraph(graph, choice).build();
    if (!after || !dimsFit(before, *after))
      return Attempt::None;
    ++report.fitting;
    HoleProblem problem;
    problem.before = before;
    problem.after = *after;
    for (const Sketch::Argument &argument : graph.arguments) {
      problem.isConstant.push_back(argument.isConstant);
      problem.names.push_back(argument.name);
    }
    HoleRule rule;
    Clock::time_point start = Clock::now();
    HoleSolution solution = solveHoles(problem, options.verifier);
    rule.solveMs = msSince(start);
    if (!solution.after)
      return Attempt::None;
    if (!isWorthwhile(*solution.after))
      return Attempt::Trivial;
    ++report.solved;
    return prove(graph, choice, *solution.after, std::move(rule))
               ? Attempt::Proved
               : Attempt::None;
  }

  /// Tries without a condition, then with all sizes positive.
  bool prove(const BeforeGraph &graph, const Template &choice,
             func::FuncOp after, HoleRule rule) {
    func::FuncOp before = graph.function.get();
    rule.name = graph.name() + "_as_" + choice.name;
    Clock::time_point start = Clock::now();
    Verdict verdict;
    Assumptions assumptions;
    std::optional<Condition> change = realChange(graph, choice);
    for (bool positive : {false, true}) {
      if (positive)
        assumptions.integers = positiveSizes(after);
      if (change)
        assumptions.integers.push_back(*change);
      verdict = verify(before, after, assumptions, options.verifier);
      if (verdict.isProved())
        break;
    }
    rule.proveMs = msSince(start);
    if (!verdict.isProved()) {
      ++(verdict.isRefuted() ? report.refuted : report.unknown);
      report.notProved.push_back(
          rule.name + ": " +
          (verdict.isRefuted() ? verdict.counterexample.text : verdict.reason));
      return false;
    }
    ++report.proved;
    rule.text = describe(graph, choice);
    rule.numOps = graph.numOps;
    rule.floatClass = verdict.floatClass;
    rule.definition = definitionOf(rule, before, after, graph.arguments,
                                   assumptions.integers);
    report.times.push_back(
        {rule.name, rule.solveMs / 1000, rule.proveMs / 1000});
    rules.push_back(std::move(rule));
    return true;
  }

  /// The condition under which one convolution replaced by another really
  /// changes: fewer groups. A rule whose sides may be the same operator would
  /// apply forever.
  std::optional<Condition> realChange(const BeforeGraph &graph,
                                      const Template &choice) const {
    std::optional<IntExpr> each;
    func::FuncOp before = graph.function.get();
    if (graph.numOps == 1 && choice.groups)
      before.walk(
          [&](ConvOp op) { each = op.getGroups().exactDiv(choice.groups); });
    if (!each || each->isConstant())
      return std::nullopt;
    return Condition::compare(*each, ComparePredicate::GE,
                              IntExpr::constant(context, 2));
  }

  /// size >= 1 for groups and for the tensors that make the weights: an empty
  /// tensor has no channel to divide by.
  std::vector<Condition> positiveSizes(func::FuncOp after) {
    std::set<std::string> names;
    auto add = [&](StringRef symbol) { names.insert(symbol.str()); };
    after.walk([&](ComputeOp op) {
      for (IntExpr integer : op.getIntegers())
        integer.walkSymbols(add);
    });
    after.walk([&](ConvOp op) { op.getGroups().walkSymbols(add); });
    std::vector<Condition> conditions;
    for (const std::string &name : names)
      conditions.push_back(Condition::compare(IntExpr::symbol(context, name),
                                              ComparePredicate::GE,
                                              IntExpr::constant(context, 1)));
    return conditions;
  }

  static std::string words(StringRef name) {
    std::string text = name.str();
    std::replace(text.begin(), text.end(), '_', ' ');
    return text;
  }
  std::string describe(const BeforeGraph &graph, const Template &choice) {
    std::string text;
    for (auto [i, step] : llvm::enumerate(graph.steps))
      text += (i ? ", " : "") + words(step);
    switch (graph.shape) {
    case BeforeGraph::Shape::Chain:
      break;
    case BeforeGraph::Shape::Results:
      text += " of one input";
      break;
    case BeforeGraph::Shape::Sum:
      text += graph.numActivations > 1 ? " of two inputs, added"
                                       : " of one input, added";
      break;
    }
    return text + ": " + words(choice.name) + " with weights made for it";
  }

  MLIRContext *context;
  const HoleRuleOptions &options;
  HoleRuleReport &report;
  std::vector<Found> found;
  std::set<std::vector<std::string>> unsolvable;
  std::vector<HoleRule> rules;
};

} // namespace

std::vector<HoleRule> generateHoleRules(MLIRContext *context,
                                        const HoleRuleOptions &options,
                                        HoleRuleReport &report) {
  context->loadDialect<MlcDialect, func::FuncDialect, rule::RuleDialect>();
  Clock::time_point start = Clock::now();
  std::vector<HoleRule> rules = Generator(context, options, report).run();
  report.seconds = msSince(start) / 1000;
  return rules;
}

} // namespace mlc::generate
