//===- WriteBack.cpp - Which nodes stay as they were ----------------------===//

#include "passes/Export/WriteBack.h"
#include "dialects/Symbolic/Attributes.h"
#include "passes/Import/GraphChecks.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace mlc;
using llvm::SmallVector;
using llvm::StringRef;

static constexpr StringRef termAttribute = "mlc.term";
static constexpr StringRef readsAttribute = "mlc.reads";

//===----------------------------------------------------------------------===//
// Notes
//===----------------------------------------------------------------------===//

bool WriteBack::tag(func::FuncOp main, const Trail &trail) {
  Block &body = main.getBody().front();
  Builder b(main.getContext());
  if (size_t(std::distance(body.begin(), body.end())) !=
      trail.chosen.size() + 1)
    return false;
  for (auto [op, chosen] : llvm::zip(body.without_terminator(), trail.chosen)) {
    if (op.getNumOperands() != chosen.operands.size())
      return false;
    SmallVector<int64_t> reads(chosen.operands.begin(), chosen.operands.end());
    op.setAttr(termAttribute, b.getI64IntegerAttr(chosen.term));
    op.setAttr(readsAttribute, b.getDenseI64ArrayAttr(reads));
  }
  return true;
}

void WriteBack::untag(func::FuncOp main) {
  for (Operation &op : main.getBody().front()) {
    op.removeAttr(termAttribute);
    op.removeAttr(readsAttribute);
  }
}

void WriteBack::readNotes(func::FuncOp main) {
  for (BlockArgument argument : main.getArguments())
    values[argument.getArgNumber()] = argument;
  for (Operation &op : main.getBody().front().without_terminator()) {
    auto term = op.getAttrOfType<IntegerAttr>(termAttribute);
    auto reads = op.getAttrOfType<DenseI64ArrayAttr>(readsAttribute);
    // Folded constants have no tag; terms of rules are not the original's.
    if (!term || !reads || uint64_t(term.getInt()) >= original.numTerms())
      continue;
    TermId first = term.getInt();
    notes[&op] = {first, reads.asArrayRef()};
    for (auto [i, result] : llvm::enumerate(op.getResults()))
      values[first + i] = result;
  }
  for (Operation &op : main.getBody().front().without_terminator())
    if (auto it = notes.find(&op); it != notes.end())
      for (auto [term, operand] :
           llvm::zip(original.operandsOf(it->second.term), op.getOperands()))
        equals.try_emplace(term, operand);
}

Value WriteBack::valueOf(TermId term) const {
  if (Value value = values.lookup(term))
    return value;
  return equals.lookup(term);
}

//===----------------------------------------------------------------------===//
// Covers
//===----------------------------------------------------------------------===//

/// Traces one node's outputs back to its inputs through the result.
class WriteBack::Tracing {
public:
  Tracing(const WriteBack &back, int node, Cover &cover)
      : back(back), original(back.original), cover(cover) {
    for (const std::string &name : back.reads[node])
      if (std::optional<TermId> term = original.termOf(name))
        inputs.insert(*term);
  }

  bool isInput(TermId term) const { return inputs.contains(term); }

  bool trace(TermId root) {
    SmallVector<TermId> stack{root};
    while (!stack.empty()) {
      TermId term = original.firstOf(stack.pop_back_val());
      if (!seen.insert(term).second)
        continue;
      Operation *op = back.values.lookup(term)
                          ? back.values.lookup(term).getDefiningOp()
                          : nullptr;
      auto note = op ? back.notes.find(op) : back.notes.end();
      if (note == back.notes.end())
        return false;
      for (auto [i, operand] : llvm::enumerate(original.operandsOf(term))) {
        TermId read = note->second.reads[i];
        if (isInput(operand)) {
          auto [it, isNew] =
              cover.bound.try_emplace(operand, op->getOperand(i));
          if (!isNew && it->second != op->getOperand(i))
            return false;
        } else if (original.isConstant(operand)) {
          // The importer made it from constant inputs; the operand is equal.
          continue;
        } else if (read != operand || original.isArgument(operand)) {
          return false;
        } else {
          stack.push_back(operand);
        }
      }
    }
    return true;
  }

private:
  const WriteBack &back;
  const OriginalModel &original;
  Cover &cover;
  llvm::DenseSet<TermId> inputs, seen;
};

/// Whether the result still has the operators of `node`.
bool WriteBack::cover(int node) {
  const onnx::NodeProto &proto = graph().node(node);
  Cover made;
  Tracing tracing(*this, node, made);
  for (const std::string &output : proto.output()) {
    std::optional<TermId> term = original.termOf(output);
    if (!term || original.isArgument(*term) || original.isConstant(*term) ||
        !values.lookup(*term) || tracing.isInput(*term))
      continue;
    if (!notes.contains(values.lookup(*term).getDefiningOp()) ||
        !tracing.trace(*term))
      return false;
    made.roots.push_back({output, values.lookup(*term)});
  }
  for (const std::string &name : reads[node]) {
    std::optional<TermId> term = original.termOf(name);
    if (!(term && made.bound.contains(*term)) && !sources.lookup(name).exists())
      return false;
  }
  covers[node] = std::move(made);
  return true;
}

/// The outer names that a subgraph reads.
static void collectOuter(const onnx::GraphProto &graph, llvm::StringSet<> inner,
                         std::vector<std::string> &outer) {
  for (const onnx::ValueInfoProto &input : graph.input())
    inner.insert(input.name());
  for (const onnx::TensorProto &tensor : graph.initializer())
    inner.insert(tensor.name());
  for (const onnx::NodeProto &node : graph.node()) {
    for (const std::string &input : node.input())
      if (!input.empty() && !inner.contains(input))
        outer.push_back(input);
    for (const onnx::AttributeProto &attribute : node.attribute())
      if (attribute.has_g())
        collectOuter(attribute.g(), inner, outer);
    for (const std::string &output : node.output())
      inner.insert(output);
  }
  for (const onnx::ValueInfoProto &output : graph.output())
    if (!inner.contains(output.name()))
      outer.push_back(output.name());
}

void WriteBack::noteOutputs(int node, bool areInputsKnown) {
  for (const std::string &output : graph().node(node).output()) {
    if (output.empty())
      continue;
    Source source;
    std::optional<TermId> term = original.termOf(output);
    bool isComputed = term && !original.isConstant(*term);
    if (isComputed && valueOf(*term))
      source = {Source::Kind::Value, valueOf(*term), -1};
    else if (!isComputed && areInputsKnown)
      // A constant, or numbers that follow from shapes.
      source = {Source::Kind::Node, Value(), node};
    else if (term && valueOf(*term))
      source = {Source::Kind::Value, valueOf(*term), -1};
    sources[output] = source;
  }
}

void WriteBack::findSources(func::FuncOp main) {
  for (auto [i, tensor] : llvm::enumerate(graph().initializer())) {
    sources[tensor.name()] = {Source::Kind::Initializer, Value(), int(i)};
    if (std::optional<TermId> term = original.termOf(tensor.name()))
      if (Value value = values.lookup(*term))
        initializers.try_emplace(value, i);
  }
  for (auto [i, argument] : llvm::enumerate(main.getArguments()))
    if (auto name = main.getArgAttrOfType<StringAttr>(i, "mlc.name"))
      sources[name.getValue()] = {Source::Kind::Value, argument, -1};
  covers.resize(graph().node_size());
  reads.resize(graph().node_size());
  // Nodes may be in any order; the importer has accepted this one.
  std::vector<int> order;
  (void)checkGraph(graph(), [](StringRef) { return false; }, order);
  for (int n : order) {
    const onnx::NodeProto &node = graph().node(n);
    for (const std::string &input : node.input())
      if (!input.empty())
        reads[n].push_back(input);
    for (const onnx::AttributeProto &attribute : node.attribute())
      if (attribute.has_g())
        collectOuter(attribute.g(), {}, reads[n]);
    bool areInputsKnown = llvm::all_of(reads[n], [&](const std::string &name) {
      return sources.lookup(name).exists();
    });
    if (keeps == Keeps::Nodes && cover(n))
      for (const auto &[name, value] : covers[n].roots)
        nodes.try_emplace(value, n);
    noteOutputs(n, areInputsKnown);
  }
}

WriteBack::WriteBack(const OriginalModel &original, func::FuncOp main,
                     Keeps keeps)
    : original(original), keeps(keeps) {
  readNotes(main);
  findSources(main);
  // If several nodes make a value, prefer the one that names an output.
  llvm::StringMap<Value> outputs;
  for (auto [i, value] :
       llvm::enumerate(main.getBody().front().getTerminator()->getOperands()))
    if (auto name = main.getResultAttrOfType<StringAttr>(i, "mlc.name"))
      outputs[name.getValue()] = value;
  for (auto [n, cover] : llvm::enumerate(covers))
    for (const auto &[output, root] : cover.roots)
      if (outputs.lookup(output) == root)
        nodes[root] = n;
}

int WriteBack::nodeOf(Operation *op) const {
  for (Value result : op->getResults())
    if (auto it = nodes.find(result); it != nodes.end())
      return it->second;
  return -1;
}

int WriteBack::initializerOf(Value constant) const {
  auto it = initializers.find(constant);
  return it == initializers.end() ? -1 : it->second;
}

WriteBack::Source WriteBack::sourceOf(int node, StringRef tensor) const {
  std::optional<TermId> term = original.termOf(tensor);
  Source source = sources.lookup(tensor);
  // Constants are unchanged everywhere.
  if (!term || (original.isConstant(*term) && source.exists()))
    return source;
  if (Value value = covers[node].bound.lookup(*term))
    return {Source::Kind::Value, value, -1};
  return source;
}
