//===- EntryBuilder.cpp - The function of a stage's entry -----------------===//

#include "passes/Stages/EntryBuilder.h"
#include "dialects/Module/StageFacts.h"
#include "dialects/Module/States.h"
#include "dialects/Symbolic/Attributes.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using llvm::SmallVector;
using llvm::StringRef;

namespace mlc {

void EntryBuilder::add(const StageEntry &entry, Operation *op) {
  bodies[entry].operators.insert(op);
}

void EntryBuilder::addAgain(const StageEntry &entry, Operation *op) {
  add(entry, op);
  bodies[entry].again.insert(op);
}

bool EntryBuilder::contains(const StageEntry &entry, Operation *op) const {
  auto it = bodies.find(entry);
  return it != bodies.end() && it->second.operators.contains(op);
}

void EntryBuilder::addResult(const StageEntry &entry, Value value,
                             DictionaryAttr attributes) {
  bodies[entry].results.push_back({value, attributes});
}

void EntryBuilder::keepNames() {
  for (unsigned i = 0; i < source.getNumResults(); ++i)
    if (auto name = source.getResultAttrOfType<StringAttr>(i, "mlc.name"))
      ++taken[name.str()];
}

/// The name of a value that another entry reads: that of its entry and of its
/// node, "0F/conv1".
std::string EntryBuilder::nameOf(Value value) {
  std::string &name = names[value];
  if (!name.empty())
    return name;
  std::string own;
  if (Operation *op = value.getDefiningOp()) {
    auto node = op->getLoc()->findInstanceOf<NameLoc>();
    own = node ? node.getName().str() : op->getName().stripDialect().str();
  } else {
    own = source
              .getArgAttrOfType<StringAttr>(
                  cast<BlockArgument>(value).getArgNumber(), kStateAttr)
              .str();
  }
  name = sources.lookup(value).name() + "/" + own;
  if (unsigned count = taken[name]++)
    name += "#" + std::to_string(count + 1);
  return name;
}

bool EntryBuilder::isCarried(const StageEntry &entry, Value value) const {
  if (Operation *op = value.getDefiningOp())
    return !contains(entry, op);
  auto it = sources.find(value);
  return it != sources.end() && it->second != entry;
}

/// Finds what entries read of others, and returns it there.
void EntryBuilder::findCarried() {
  for (auto &[entry, body] : bodies) {
    auto read = [&, &entry = entry, &body = body](Value value) {
      if (isCarried(entry, value))
        body.carried.insert(value);
    };
    for (Operation *op : body.operators)
      llvm::for_each(op->getOperands(), read);
    for (const Result &result : body.results)
      read(result.value);
  }
  Builder b(source.getContext());
  llvm::SetVector<Value> all;
  for (auto &[entry, body] : bodies)
    all.insert(body.carried.begin(), body.carried.end());
  for (Value value : all)
    bodies[sources.lookup(value)].results.push_back(
        {value, b.getDictionaryAttr(b.getNamedAttr(
                    "mlc.name", b.getStringAttr(nameOf(value))))});
}

/// Calls `callback` for each dim of a tensor.
static void walkDims(Value value, llvm::function_ref<void(IntExpr)> callback) {
  if (auto type = dyn_cast<RankedTensorType>(value.getType()))
    if (auto dims = getDims(type))
      llvm::for_each(*dims, callback);
}

/// A session knows open dims from inputs that have them as they are.
void EntryBuilder::findUnread(Body &body) {
  llvm::SmallSetVector<StringRef, 4> needed;
  llvm::SmallDenseSet<StringRef, 4> bound;
  auto bind = [&](Value value) {
    walkDims(value, [&](IntExpr dim) {
      if (dim.getKind() == IntExpr::Kind::Symbol)
        bound.insert(dim.getSymbol());
    });
  };
  auto need = [&](Value value) {
    walkDims(value, [&](IntExpr dim) {
      dim.walkSymbols([&](StringRef name) { needed.insert(name); });
    });
    if (isa<BlockArgument>(value) || body.carried.contains(value))
      bind(value);
  };
  for (Operation *op : body.operators) {
    llvm::for_each(op->getOperands(), need);
    llvm::for_each(op->getResults(), need);
  }
  for (const Result &result : body.results)
    need(result.value);
  for (Value argument : source.getArguments()) {
    bool binds = false;
    walkDims(argument, [&](IntExpr dim) {
      binds |= dim.getKind() == IntExpr::Kind::Symbol &&
               needed.contains(dim.getSymbol()) &&
               !bound.contains(dim.getSymbol());
    });
    if (!binds)
      continue;
    body.unread.insert(argument);
    bind(argument);
  }
}

/// Whether an operator's results are results of the function, and nothing else.
static bool isLast(Operation *op) {
  return op->getNumResults() > 0 && !op->use_empty() &&
         llvm::all_of(op->getUsers(), [](Operation *user) {
           return user->hasTrait<OpTrait::IsTerminator>();
         });
}

/// The operators in the source's order, but for those of addAgain(), and for
/// what only the function returns, such as sums of gradients: it stands right
/// behind what it reads, so that this need not wait for the end.
SmallVector<Operation *> EntryBuilder::orderOf(const Body &body) {
  SmallVector<Operation *> order, waiting;
  llvm::DenseSet<Operation *> done;
  auto isReady = [&](Operation *op) {
    return llvm::all_of(op->getOperands(), [&](Value operand) {
      Operation *source = operand.getDefiningOp();
      return !source || !body.operators.contains(source) ||
             done.contains(source);
    });
  };
  // Operators may depend on each other in long chains.
  auto visit = [&](Operation *last) {
    waiting.push_back(last);
    while (!waiting.empty()) {
      Operation *op = waiting.back();
      const size_t before = waiting.size();
      for (Value operand : op->getOperands())
        if (Operation *source = operand.getDefiningOp();
            source && body.again.contains(source) && !done.contains(source))
          waiting.push_back(source);
      if (waiting.size() > before)
        continue;
      waiting.pop_back();
      if (!done.insert(op).second)
        continue;
      order.push_back(op);
      for (Operation *user : op->getUsers())
        if (body.operators.contains(user) && !body.again.contains(user) &&
            isLast(user) && isReady(user) && done.insert(user).second)
          order.push_back(user);
    }
  };
  for (Operation &op : source.getBody().front().without_terminator())
    if (body.operators.contains(&op) && !body.again.contains(&op))
      visit(&op);
  for (const Result &result : body.results)
    if (Operation *op = result.value.getDefiningOp();
        op && body.again.contains(op) && !done.contains(op))
      visit(op);
  return order;
}

void EntryBuilder::build(const StageEntry &entry, Body &body) {
  OpBuilder builder(source);
  auto function = func::FuncOp::create(builder, source.getLoc(), entry.name(),
                                       builder.getFunctionType({}, {}));
  Block *block = function.addEntryBlock();
  IRMapping mapping;
  llvm::SetVector<Value> read;
  for (Operation *op : body.operators)
    read.insert(op->operand_begin(), op->operand_end());
  for (const Result &result : body.results)
    read.insert(result.value);
  read.insert(body.unread.begin(), body.unread.end());
  auto addArgument = [&](Value value, DictionaryAttr attributes) {
    unsigned last = function.getNumArguments();
    (void)function.insertArgument(last, value.getType(), attributes,
                                  value.getLoc());
    mapping.map(value, function.getArgument(last));
  };
  auto addOwn = [&](bool states) {
    for (BlockArgument argument : source.getArguments())
      if (unsigned i = argument.getArgNumber();
          read.contains(argument) && !body.carried.contains(argument) &&
          (source.getArgAttr(i, kStateAttr) != nullptr) == states)
        addArgument(argument, source.getArgAttrDict(i));
  };
  // Inputs, what comes from other entries, states.
  addOwn(/*states=*/false);
  for (Value value : body.carried)
    addArgument(value,
                builder.getDictionaryAttr(
                    {builder.getNamedAttr("mlc.name",
                                          builder.getStringAttr(nameOf(value))),
                     builder.getNamedAttr(kInputRoleAttr,
                                          builder.getStringAttr(runtime::name(
                                              runtime::InputRole::Carried)))}));
  addOwn(/*states=*/true);
  builder.setInsertionPointToEnd(block);
  for (Operation *op : orderOf(body)) {
    Operation *copy = builder.clone(*op, mapping);
    copy->removeAttr(kStageAttr);
    copy->removeAttr(kBackwardAttr);
  }
  SmallVector<Value> results;
  for (const Result &result : body.results)
    results.push_back(mapping.lookup(result.value));
  func::ReturnOp::create(builder, source.getLoc(), results);
  function.setType(builder.getFunctionType(block->getArgumentTypes(),
                                           ValueRange(results).getTypes()));
  for (auto [i, result] : llvm::enumerate(body.results))
    function.setResultAttrs(i, result.attributes);
}

void EntryBuilder::build(bool bindsDims) {
  findCarried();
  for (auto &[entry, body] : bodies) {
    if (bindsDims)
      findUnread(body);
    build(entry, body);
  }
  source.erase();
}

} // namespace mlc
