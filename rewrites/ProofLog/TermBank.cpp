//===- TermBank.cpp - Terms, and which of them are equal ------------------===//

#include "rewrites/ProofLog/TermBank.h"
#include "dialects/Definition/OpInterfaces.h"
#include "dialects/Evaluator/Evaluator.h"
#include "dialects/Module/CompileTime.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace mlc;
using llvm::ArrayRef;
using llvm::Error;
using llvm::Expected;
using llvm::SmallVector;

TermBank::TermBank(func::FuncOp function) : function(function) {
  llvm::DenseMap<Value, TermId> ids;
  Block &block = function.getBody().front();
  auto termsOf = [&](ValueRange values) {
    std::vector<TermId> list;
    for (Value value : values)
      list.push_back(ids.lookup(value));
    return list;
  };
  for (BlockArgument argument : block.getArguments()) {
    ids[argument] = terms.size();
    addTerm(argument);
  }
  for (Operation &op : block.without_terminator()) {
    for (auto [i, result] : llvm::enumerate(op.getResults()))
      ids[result] = terms.size() + i;
    addNode(&op, termsOf(op.getOperands()));
  }
  outputs = termsOf(block.getTerminator()->getOperands());
  drain();
}

ArrayRef<TermId> TermBank::getOperands(Operation *op) const {
  return nodes[nodeOf.at(op)].operands;
}

TermId TermBank::find(TermId term) const {
  while (terms[term].parent != term) {
    terms[term].parent = terms[terms[term].parent].parent;
    term = terms[term].parent;
  }
  return term;
}

void TermBank::addTerm(Value value) {
  terms.push_back({value, static_cast<TermId>(terms.size())});
  readers.emplace_back();
  refinements.emplace_back();
  witnesses.emplace_back();
  Operation *op = value.getDefiningOp();
  noNumbers.push_back(op && writesNoNumber(op));
}

void TermBank::addNode(Operation *op, std::vector<TermId> operands) {
  unsigned index = nodes.size();
  nodeOf[op] = index;
  nodes.push_back({op, std::move(operands), static_cast<TermId>(terms.size())});
  for (Value result : op->getResults())
    addTerm(result);
  for (TermId operand : nodes[index].operands)
    readers[find(operand)].push_back(index);
  enter(index);
  maybeConstant.push_back(index);
}

Expected<Operation *> TermBank::add(Operation *pattern,
                                    ArrayRef<TermId> operands,
                                    ArrayRef<NamedAttribute> attributes,
                                    ArrayRef<TermId> origins) {
  OpBuilder builder(function.getBody().front().getTerminator());
  SmallVector<Value> values;
  for (TermId operand : operands)
    values.push_back(getValue(operand));
  SmallVector<Location> places;
  for (TermId origin : origins)
    places.push_back(getValue(origin).getLoc());
  std::string reason;
  ScopedDiagnosticHandler collect(
      function.getContext(), [&](Diagnostic &diagnostic) {
        reason += (reason.empty() ? "" : "; ") + diagnostic.str();
        return success();
      });
  FailureOr<Operation *> op =
      createOp(builder, FusedLoc::get(function.getContext(), places),
               pattern->getName().getStringRef(), values, attributes,
               pattern->getNumResults());
  if (failed(op))
    return llvm::createStringError(reason);
  addNode(*op, operands.vec());
  drain();
  return *op;
}

//===----------------------------------------------------------------------===//
// Equality
//===----------------------------------------------------------------------===//

TermBank::Signature TermBank::signatureOf(const Node &node) const {
  auto bits = [](const void *p) { return reinterpret_cast<uintptr_t>(p); };
  Signature signature{bits(node.op->getName().getAsOpaquePointer()),
                      bits(node.op->getAttrDictionary().getAsOpaquePointer())};
  for (TermId operand : node.operands)
    signature.push_back(find(operand));
  return signature;
}

void TermBank::enter(unsigned index) {
  const Node &node = nodes[index];
  // An operator with regions or effects equals only itself.
  if (node.op->getNumRegions() != 0 || !isMemoryEffectFree(node.op))
    return;
  auto [it, inserted] = table.try_emplace(signatureOf(node), index);
  if (inserted || it->second == index)
    return;
  const Node &other = nodes[it->second];
  for (unsigned i = 0; i < node.op->getNumResults(); ++i)
    equalities.push_back({node.firstResult + i, other.firstResult + i});
}

void TermBank::noteConstant(unsigned index) {
  const Node &node = nodes[index];
  bool isLiteral = node.op->hasTrait<OpTrait::ConstantLike>();
  if (!isLiteral &&
      (node.op->getNumRegions() != 0 || !isMemoryEffectFree(node.op) ||
       !llvm::all_of(node.operands,
                     [&](TermId operand) { return isConstant(operand); })))
    return;
  for (unsigned i = 0; i < node.op->getNumResults(); ++i) {
    TermId result = node.firstResult + i;
    // A range or fill of open size is not known yet.
    if (node.operands.empty() &&
        !cast<ShapedType>(getValue(result).getType()).hasStaticShape())
      continue;
    TermId root = find(result);
    if (witnesses[root])
      continue;
    witnesses[root] = Witness{numWitnesses++, result};
    llvm::append_range(maybeConstant, readers[root]);
  }
}

Error TermBank::checkTypes(TermId a, TermId b) const {
  if (getValue(a).getType() == getValue(b).getType())
    return Error::success();
  std::string text;
  llvm::raw_string_ostream(text)
      << "terms " << a << " and " << b << " have different types, "
      << getValue(a).getType() << " and " << getValue(b).getType();
  return llvm::createStringError(text);
}

Error TermBank::unite(TermId a, TermId b) {
  if (Error error = checkTypes(a, b))
    return error;
  equalities.push_back({a, b});
  drain();
  return Error::success();
}

Error TermBank::refine(TermId from, TermId to) {
  if (Error error = checkTypes(from, to))
    return error;
  refinements[find(from)].push_back(to);
  return Error::success();
}

bool TermBank::refines(TermId to, TermId from) const {
  to = find(to);
  SmallVector<TermId> pending{find(from)};
  llvm::DenseSet<TermId> seen{pending.back()};
  while (!pending.empty()) {
    TermId term = pending.pop_back_val();
    if (term == to)
      return true;
    for (TermId next : refinements[term])
      if (seen.insert(find(next)).second)
        pending.push_back(find(next));
  }
  return false;
}

void TermBank::drain() {
  while (!equalities.empty() || !maybeConstant.empty()) {
    if (equalities.empty()) {
      unsigned node = maybeConstant.back();
      maybeConstant.pop_back();
      noteConstant(node);
      continue;
    }
    auto [a, b] = equalities.back();
    equalities.pop_back();
    TermId kept = find(a), gone = find(b);
    if (kept == gone)
      continue;
    if (readers[kept].size() < readers[gone].size())
      std::swap(kept, gone);
    terms[gone].parent = kept;
    std::vector<unsigned> moved = std::move(readers[gone]);
    std::optional<Witness> &mine = witnesses[kept], &other = witnesses[gone];
    if (mine.has_value() != other.has_value()) {
      llvm::append_range(maybeConstant, moved);
      llvm::append_range(maybeConstant, readers[kept]);
    }
    if (other && (!mine || other->age < mine->age))
      mine = other;
    noNumbers[kept] = noNumbers[kept] || noNumbers[gone];
    llvm::append_range(refinements[kept], std::move(refinements[gone]));
    for (unsigned node : moved)
      enter(node);
    llvm::append_range(readers[kept], moved);
  }
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

Expected<EvalTensor> TermBank::evaluate(TermId term) {
  // A rule's constants are weights; larger ones are not needed to check signs.
  EvalOptions options;
  options.maxBytes = int64_t(4) << 30;
  options.maxSteps = int64_t(1) << 34;
  // Depth first, without recursion: chains may be long.
  std::vector<TermId> pending{witnessOf(term)};
  while (!pending.empty()) {
    TermId current = pending.back();
    if (values.count(current)) {
      pending.pop_back();
      continue;
    }
    const Node &node = nodes[nodeOf.at(getValue(current).getDefiningOp())];
    std::vector<EvalTensor> inputs;
    size_t before = pending.size();
    for (TermId operand : node.operands) {
      TermId witness = witnessOf(operand);
      if (auto it = values.find(witness); it != values.end())
        inputs.push_back(it->second);
      else
        pending.push_back(witness);
    }
    if (pending.size() != before)
      continue;
    Expected<std::vector<EvalTensor>> results =
        evaluateOp(node.op, inputs, options);
    if (!results)
      return results.takeError();
    for (auto [i, result] : llvm::enumerate(*results))
      values.insert({node.firstResult + static_cast<TermId>(i), result});
  }
  return values.find(witnessOf(term))->second;
}
