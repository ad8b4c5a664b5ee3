//===- ExplainParts.cpp - The parts of a trail to draw --------------------===//

#include "tools/mlc/ExplainParts.h"
#include "dialects/Definition/Analysis.h"
#include "dialects/Definition/OpInterfaces.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/SmallSet.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include <map>
#include <set>

using namespace mlir;
using namespace mlc;
using namespace mlc::cli;
using llvm::ArrayRef;
using llvm::StringRef;

/// Graphs of up to this many nodes are drawn whole.
static constexpr size_t readable = 48;

//===----------------------------------------------------------------------===//
// Words
//===----------------------------------------------------------------------===//

static std::string dimsText(ArrayRef<IntExpr> dims) {
  std::string text;
  for (IntExpr dim : dims)
    text += (text.empty() ? "" : "x") + dim.str();
  return text;
}

static std::string typeText(Value value) {
  std::optional<llvm::SmallVector<IntExpr>> dims =
      getDims(cast<RankedTensorType>(value.getType()));
  return dims && !dims->empty() ? dimsText(*dims) : "scalar";
}

/// A list of integers, or a single one if all are equal.
static std::string listText(ArrayRef<IntExpr> values) {
  if (!values.empty() && llvm::all_equal(values))
    return values.front().str();
  return dimsText(values);
}

/// An attribute unless it has the default, else nothing.
static std::string attributeText(NamedAttribute attribute) {
  StringRef name = attribute.getName();
  if (auto list = dyn_cast<DimsAttr>(attribute.getValue())) {
    // Already visible in the result's dims.
    if (name == "dims" || name == "sizes")
      return "";
    bool isFactor = name == "strides" || name == "dilations" || name == "steps";
    if (llvm::all_of(list, [&](IntExpr value) {
          return value.isConstant(isFactor ? 1 : 0);
        }))
      return "";
    return " " + name.str() + " " + listText(list.getDims());
  }
  if (auto value = dyn_cast<IntExpr>(attribute.getValue()))
    return value.isConstant(1) ? "" : " " + name.str() + " " + value.str();
  if (auto values = dyn_cast<DenseI64ArrayAttr>(attribute.getValue()))
    return " " + name.str() + " " +
           llvm::join(
               llvm::map_range(values.asArrayRef(),
                               [](int64_t v) { return std::to_string(v); }),
               ",");
  if (auto value = dyn_cast<IntegerAttr>(attribute.getValue()))
    return " " + name.str() + " " + std::to_string(value.getInt());
  return "";
}

/// "conv 64x3x7x7 strides 2 pads 3": the operator, the weights of a
/// contraction, the attributes that matter.
static std::string operatorText(Operation *op,
                                const llvm::DenseSet<Value> &constants) {
  std::string text = op->getName().stripDialect().str();
  if (auto defined = dyn_cast<DefinitionOpInterface>(op))
    if (FailureOr<Definition> definition = getDefinition(defined);
        succeeded(definition) && getKind(*definition).isContraction)
      for (Value operand : op->getOperands())
        if (constants.contains(operand))
          text += " " + typeText(operand);
  for (NamedAttribute attribute : op->getAttrs())
    text += attributeText(attribute);
  return text;
}

//===----------------------------------------------------------------------===//
// Graphs
//===----------------------------------------------------------------------===//

namespace {

/// A node with the terms of its operator's results.
struct TermNode : DrawnNode {
  std::vector<TermId> terms;
};

/// A function as nodes: its arguments, operators and outputs, without values
/// computed from literals alone.
struct TermGraph {
  std::vector<TermNode> nodes;
  std::set<TermId> constants;

  /// `termOf` gives the term of an operator's first result.
  TermGraph(func::FuncOp function,
            llvm::function_ref<TermId(Operation *)> termOf) {
    Block &block = function.getBody().front();
    for (BlockArgument argument : block.getArguments())
      add("input",
          nameOf(function.getArgAttr(argument.getArgNumber(), "mlc.name")),
          {argument}, {}, argument.getArgNumber());
    for (Operation &op : block.without_terminator()) {
      TermId term = termOf(&op);
      if (llvm::all_of(op.getOperands(), [&](Value operand) {
            return literals.contains(operand);
          })) {
        for (auto [i, result] : llvm::enumerate(op.getResults())) {
          literals.insert(result);
          constants.insert(term + i);
        }
        continue;
      }
      add(operatorText(&op, literals), placeOf(op.getLoc()), op.getResults(),
          op.getOperands(), term);
    }
    for (auto [i, value] :
         llvm::enumerate(block.getTerminator()->getOperands()))
      add("output", nameOf(function.getResultAttr(i, "mlc.name")), {}, {value},
          noTerm);
  }

private:
  static std::string nameOf(Attribute attribute) {
    auto name = dyn_cast_or_null<StringAttr>(attribute);
    return name ? name.str() : "";
  }

  void add(std::string op, std::string name, ValueRange results,
           ValueRange operands, TermId term) {
    TermNode node;
    node.op = std::move(op);
    node.name = std::move(name);
    if (!results.empty())
      node.dims = typeText(results.front());
    for (Value operand : operands)
      if (auto it = indices.find(operand); it != indices.end())
        node.inputs.push_back(it->second);
    for (auto [i, result] : llvm::enumerate(results)) {
      indices[result] = nodes.size();
      node.terms.push_back(term + i);
    }
    nodes.push_back(std::move(node));
  }

  llvm::DenseMap<Value, unsigned> indices;
  llvm::DenseSet<Value> literals;
};

//===----------------------------------------------------------------------===//
// Groups of steps
//===----------------------------------------------------------------------===//

/// Groups steps that share a term that is not computed from literals alone.
class Groups {
public:
  Groups(TermId numTerms, const std::set<TermId> &constants, const Trail &trail,
         ArrayRef<Rule *> rules)
      : constants(constants), next(numTerms) {
    for (auto [i, step] : llvm::enumerate(trail.steps))
      add(i, step, *rules[i]);
  }

  /// The group of a node; nothing if no step involves it.
  std::optional<TermId> of(const TermNode &node) const {
    for (TermId term : node.terms)
      if (auto it = classes.findLeader(term); it != classes.member_end())
        return *it;
    return std::nullopt;
  }

  /// The steps of each group.
  std::map<TermId, std::vector<unsigned>> steps() const {
    std::map<TermId, std::vector<unsigned>> result;
    for (auto [step, term] : firstTerms)
      result[*classes.findLeader(term)].push_back(step);
    return result;
  }

private:
  void add(unsigned index, const TrailStep &step, Rule &rule) {
    std::vector<TermId> touched;
    for (TermId term : step.before)
      if (!constants.count(term))
        touched.push_back(term);
    llvm::DenseMap<Value, TermId> terms;
    Block &after = rule.getAfter().getBody().front();
    for (auto [argument, term] :
         llvm::zip_equal(after.getArguments(), step.arguments))
      terms[argument] = term;
    for (Operation &op : after.without_terminator()) {
      bool isConstant = llvm::all_of(op.getOperands(), [&](Value operand) {
        return constants.count(terms.lookup(operand)) != 0;
      });
      for (Value result : op.getResults()) {
        terms[result] = next;
        if (isConstant)
          constants.insert(next);
        else
          touched.push_back(next);
        ++next;
      }
    }
    for (TermId term : touched)
      classes.unionSets(touched.front(), term);
    if (!touched.empty())
      firstTerms.push_back({index, touched.front()});
  }

  std::set<TermId> constants;
  TermId next;
  llvm::EquivalenceClasses<TermId> classes;
  std::vector<std::pair<unsigned, TermId>> firstTerms;
};

} // namespace

/// The nodes of `graph` that `isRewritten` selects, with their neighbours, or
/// all nodes. `isNew`: rewriting made those nodes.
static std::vector<DrawnNode>
cutOut(const TermGraph &graph, bool isWhole, bool isNew,
       llvm::function_ref<bool(const TermNode &)> isRewritten) {
  std::vector<bool> kept(graph.nodes.size(), isWhole);
  for (auto [i, node] : llvm::enumerate(graph.nodes)) {
    bool rewritten = isRewritten(node);
    kept[i] = kept[i] || rewritten;
    for (unsigned input : node.inputs) {
      kept[i] = kept[i] || isRewritten(graph.nodes[input]);
      if (rewritten)
        kept[input] = true;
    }
  }
  std::vector<unsigned> place(graph.nodes.size());
  std::vector<DrawnNode> drawn;
  for (auto [i, node] : llvm::enumerate(graph.nodes)) {
    if (!kept[i])
      continue;
    place[i] = drawn.size();
    DrawnNode copy = node;
    copy.inputs.clear();
    for (unsigned input : node.inputs)
      if (kept[input])
        copy.inputs.push_back(place[input]);
    if (isRewritten(node))
      copy.mark = DrawnNode::Mark::Rewritten;
    // Operators made by a rule are not nodes of the model.
    if (isNew && isRewritten(node))
      copy.name.clear();
    drawn.push_back(std::move(copy));
  }
  return drawn;
}

/// A text that is equal for parts that look alike: omits names, sizes and
/// attributes.
static std::string looksOf(const DrawnPart &part, const Trail &trail) {
  std::string text;
  for (const auto *side : {&part.before, &part.after}) {
    text += "|";
    for (const DrawnNode &node : *side) {
      text += StringRef(node.op).split(' ').first.str() +
              (node.mark == DrawnNode::Mark::Same ? ";" : "!");
      for (unsigned input : node.inputs)
        text += std::to_string(input) + ",";
    }
  }
  for (unsigned step : part.steps)
    text += "\n" + trail.steps[step].rule;
  return text;
}

std::vector<DrawnPart> mlc::cli::findParts(func::FuncOp before,
                                           func::FuncOp after,
                                           const Trail &trail,
                                           ArrayRef<Rule *> rules) {
  TermId numTerms = before.getNumArguments();
  TermGraph left(before, [&](Operation *op) {
    TermId term = numTerms;
    numTerms += op->getNumResults();
    return term;
  });
  auto chosen = trail.chosen.begin();
  TermGraph right(after, [&](Operation *) { return (chosen++)->term; });
  Groups groups(numTerms, left.constants, trail, rules);

  std::set<TermId> stays;
  for (const TermNode &node : right.nodes)
    stays.insert(node.terms.begin(), node.terms.end());
  auto isGone = [&](const TermNode &node) {
    return !node.terms.empty() && !stays.count(node.terms.front());
  };
  auto isMade = [&](const TermNode &node) {
    return !node.terms.empty() && node.terms.front() >= numTerms;
  };
  bool isWhole =
      left.nodes.size() <= readable && right.nodes.size() <= readable;
  if (isWhole) {
    DrawnPart part{cutOut(left, true, false, isGone),
                   cutOut(right, true, true, isMade),
                   {}};
    for (unsigned i = 0; i < trail.steps.size(); ++i)
      part.steps.push_back(i);
    return {part};
  }
  std::vector<DrawnPart> parts;
  llvm::StringMap<size_t> known;
  for (auto &[group, steps] : groups.steps()) {
    auto belongs = [&, leader = group](const TermNode &node) {
      return groups.of(node) == leader;
    };
    DrawnPart part{
        cutOut(left, false, false,
               [&](const TermNode &n) { return isGone(n) && belongs(n); }),
        cutOut(right, false, true,
               [&](const TermNode &n) { return isMade(n) && belongs(n); }),
        steps};
    if (part.before.empty() && part.after.empty())
      continue;
    auto [it, isNew] = known.try_emplace(looksOf(part, trail), parts.size());
    if (isNew)
      parts.push_back(std::move(part));
    else
      ++parts[it->second].count;
  }
  llvm::stable_sort(parts, [](const DrawnPart &a, const DrawnPart &b) {
    return a.steps.front() < b.steps.front();
  });
  return parts;
}
