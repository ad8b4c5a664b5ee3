//===- Buckets.cpp - Reductions of gradients, several at a time -----------===//

#include "passes/Distribute/Buckets.h"
#include "dialects/Definition/Analysis.h"
#include "dialects/Dist/Dist.h"
#include "dialects/Module/States.h"
#include "dialects/Symbolic/Attributes.h"
#include "mlir/IR/TypeUtilities.h"
#include "passes/Base/Form.h"
#include "passes/Base/Passes.h"
#include "llvm/ADT/MapVector.h"
#include <algorithm>
#include <deque>

using namespace mlir;
using llvm::ArrayRef;
using llvm::SmallVector;

namespace mlc {

using runtime::BucketOptions;
using runtime::BucketRule;

//===----------------------------------------------------------------------===//
// The rules
//===----------------------------------------------------------------------===//

using Bucket = SmallVector<size_t>;

static std::vector<Bucket> assignByDDP(ArrayRef<BucketItem> items,
                                       const BucketOptions &options) {
  struct Open {
    Bucket items;
    int64_t bytes = 0;
    bool isFirst = true;
  };
  std::vector<Bucket> full;
  llvm::MapVector<unsigned, Open> open;
  for (auto [i, item] : llvm::enumerate(items)) {
    Open &bucket = open[item.kind];
    bucket.items.push_back(i);
    bucket.bytes += item.bytes;
    if (bucket.bytes < (bucket.isFirst ? options.firstBytes : options.bytes))
      continue;
    full.push_back(std::move(bucket.items));
    bucket = {{}, 0, false};
  }
  std::vector<Bucket> rest;
  for (auto &[kind, bucket] : open)
    if (!bucket.items.empty())
      rest.push_back(std::move(bucket.items));
  llvm::sort(rest, [](const Bucket &a, const Bucket &b) {
    return a.back() < b.back();
  });
  llvm::move(rest, std::back_inserter(full));
  return full;
}

static std::vector<Bucket> assignByHorovod(ArrayRef<BucketItem> items,
                                           const BucketOptions &options) {
  std::vector<Bucket> buckets;
  std::deque<size_t> waiting;
  for (size_t i = 0; i < items.size(); ++i)
    waiting.push_back(i);
  while (!waiting.empty()) {
    Bucket bucket{waiting.front()};
    waiting.pop_front();
    const BucketItem &first = items[bucket.front()];
    int64_t bytes = first.bytes, passed = 0;
    SmallVector<size_t> skipped;
    while (!waiting.empty()) {
      size_t next = waiting.front();
      if (items[next].kind == first.kind &&
          bytes + items[next].bytes <= options.bytes) {
        bytes += items[next].bytes;
        bucket.push_back(next);
      } else if ((passed += items[next].bytes) + bytes <= options.bytes) {
        skipped.push_back(next);
      } else {
        break;
      }
      waiting.pop_front();
    }
    waiting.insert(waiting.begin(), skipped.begin(), skipped.end());
    buckets.push_back(std::move(bucket));
  }
  return buckets;
}

std::vector<Bucket> assignBuckets(ArrayRef<BucketItem> items,
                                  const BucketOptions &options) {
  return options.rule == BucketRule::DDP ? assignByDDP(items, options)
                                         : assignByHorovod(items, options);
}

//===----------------------------------------------------------------------===//
// The operators
//===----------------------------------------------------------------------===//

static bool isReduction(Operation *op) {
  return isa<dist::AllReduceOp, dist::ReduceScatterOp>(op);
}

static std::optional<int64_t> countElements(Value value) {
  std::optional<SmallVector<IntExpr>> dims =
      getDims(cast<RankedTensorType>(value.getType()));
  return dims ? getNumElements(value.getContext(), *dims).asConstant()
              : std::nullopt;
}

/// Whether it reduces more than a single number.
static bool isLargeReduction(Operation *op) {
  return isReduction(op) && llvm::any_of(op->getOperands(), [](Value operand) {
           return countElements(operand) != 1;
         });
}

/// Attributes that reductions must share to be merged: all but how each operand
/// is split.
static DictionaryAttr kindOf(Operation *op) {
  Builder b(op->getContext());
  NamedAttrList kind;
  for (NamedAttribute attribute : op->getAttrs())
    if (!llvm::is_contained({"dims", "extents", "units"},
                            attribute.getName().strref()))
      kind.append(attribute);
  kind.set("kind", b.getStringAttr(op->getName().getStringRef()));
  kind.set("element",
           TypeAttr::get(getElementTypeOrSelf(op->getOperand(0).getType())));
  return kind.getDictionary(op->getContext());
}

/// Merges `ops`, in order, into one operator at `builder`'s place.
static Operation *join(OpBuilder &builder, ArrayRef<Operation *> ops) {
  SmallVector<Value> operands;
  SmallVector<Type> types;
  SmallVector<Location> locations;
  SmallVector<int64_t> dims;
  SmallVector<IntExpr> extents, units;
  for (Operation *op : ops) {
    llvm::append_range(operands, op->getOperands());
    llvm::append_range(types, op->getResultTypes());
    locations.push_back(op->getLoc());
    if (auto scatter = dyn_cast<dist::ReduceScatterOp>(op)) {
      llvm::append_range(dims, scatter.getDims());
      llvm::append_range(extents, scatter.getExtents());
      llvm::append_range(units, scatter.getUnits());
    }
  }
  NamedAttrList attributes(ops.front()->getAttrs());
  if (isa<dist::ReduceScatterOp>(ops.front())) {
    MLIRContext *context = builder.getContext();
    attributes.set("dims", builder.getDenseI64ArrayAttr(dims));
    attributes.set("extents", DimsAttr::get(context, extents));
    attributes.set("units", DimsAttr::get(context, units));
  }
  OperationState state(builder.getFusedLoc(locations), ops.front()->getName(),
                       operands, types, attributes);
  return builder.create(state);
}

namespace {

class Buckets {
public:
  Buckets(func::FuncOp function, const BucketOptions &options)
      : body(function.getBody().front()), function(function), options(options) {
  }

  unsigned build() {
    findReductions();
    if (reductions.empty())
      return 0;
    for (Operation *op : reductions)
      hoist(op->getOperand(0));
    sortByReadiness();
    joinBuckets();
    delayReaders();
    return joined.size();
  }

private:
  void findReductions();
  llvm::DenseSet<Operation *> findChanging();
  void hoist(Value value);
  void sortByReadiness();
  void joinBuckets();
  void delayReaders();

  Block &body;
  func::FuncOp function;
  const BucketOptions &options;
  /// In the order in which they become ready.
  SmallVector<Operation *> reductions;
  /// One per bucket.
  SmallVector<Operation *> joined;
};

} // namespace

/// The ops that the new values of states depend on; not a loss, which nobody
/// waits for. Without states, all results except direct reductions.
llvm::DenseSet<Operation *> Buckets::findChanging() {
  llvm::DenseSet<Operation *> changing;
  Operation *end = body.getTerminator();
  auto isState = [&](unsigned i) {
    return function.getResultAttr(i, kStateAttr) != nullptr;
  };
  bool hasStates =
      llvm::any_of(llvm::seq<unsigned>(0, end->getNumOperands()), isState);
  for (auto [i, value] : llvm::enumerate(end->getOperands()))
    if (Operation *def = value.getDefiningOp();
        def && (hasStates ? isState(i) : !isReduction(def)))
      changing.insert(def);
  for (Operation &op : llvm::reverse(body))
    if (changing.contains(&op))
      op.walk([&](Operation *inner) {
        for (Value operand : inner->getOperands())
          if (Operation *def = operand.getDefiningOp())
            changing.insert(def);
      });
  return changing;
}

void Buckets::findReductions() {
  // Ops that a large reduction depends on, from the last one up.
  llvm::DenseSet<Operation *> feeding, depending;
  for (Operation &op : llvm::reverse(body))
    for (Operation *user : op.getUsers()) {
      Operation *reader = body.findAncestorOpInBlock(*user);
      if (isLargeReduction(reader) || feeding.contains(reader))
        feeding.insert(&op);
    }
  llvm::DenseSet<Operation *> changing = findChanging();
  for (Operation &op : body.without_terminator()) {
    bool depends = false;
    op.walk([&](Operation *inner) {
      depends |= llvm::any_of(inner->getOperands(), [&](Value operand) {
        return depending.contains(operand.getDefiningOp());
      });
    });
    bool isCandidate = isReduction(&op) && op.getNumOperands() == 1 &&
                       countElements(op.getOperand(0)) && !depends &&
                       !feeding.contains(&op) && changing.contains(&op);
    if (isCandidate)
      reductions.push_back(&op);
    if (depends || isCandidate)
      depending.insert(&op);
  }
}

/// Whether it reads only arguments and constants.
static bool isOfArguments(Operation *op) {
  return isPure(op) && llvm::all_of(op->getOperands(), [](Value operand) {
           Operation *def = operand.getDefiningOp();
           return !def || def->hasTrait<OpTrait::ConstantLike>();
         });
}

/// The tensor that `op` merely converts (a cast, a factor, a transpose), if
/// nobody else reads it; null otherwise.
static Value findSource(Operation *op) {
  Value source;
  if (!op || !isPure(op) || op->getNumResults() != 1)
    return source;
  for (Value operand : op->getOperands()) {
    Operation *def = operand.getDefiningOp();
    if (!def || isOfArguments(def))
      continue;
    if (source)
      return {};
    source = operand;
  }
  bool isForm = source && source.hasOneUse() &&
                countElements(source) == countElements(op->getResult(0));
  return isForm ? source : Value();
}

/// Moves `op` directly after `last`, along with operands defined later.
static void pull(Operation *op, Operation *last) {
  op->moveAfter(last);
  for (Value operand : op->getOperands())
    if (Operation *def = operand.getDefiningOp();
        def && last->isBeforeInBlock(def))
      pull(def, last);
}

/// Moves conversions of a gradient directly after the gradient.
void Buckets::hoist(Value value) {
  SmallVector<Operation *> chain;
  while (Value source = findSource(value.getDefiningOp())) {
    chain.push_back(value.getDefiningOp());
    value = source;
  }
  for (Operation *op : llvm::reverse(chain)) {
    pull(op, value.getDefiningOp());
    value = op->getResult(0);
  }
}

/// Reductions that are ready at the same time stay in order.
void Buckets::sortByReadiness() {
  llvm::DenseMap<Operation *, unsigned> place;
  for (auto [i, op] : llvm::enumerate(body))
    place[&op] = i + 1;
  auto readyAt = [&](Operation *op) {
    Operation *def = op->getOperand(0).getDefiningOp();
    return def ? place.at(def) : 0;
  };
  llvm::stable_sort(reductions, [&](Operation *a, Operation *b) {
    return readyAt(a) < readyAt(b);
  });
}

void Buckets::joinBuckets() {
  llvm::MapVector<Attribute, unsigned> kinds;
  SmallVector<BucketItem> items;
  for (Operation *op : reductions) {
    unsigned kind =
        kinds.insert({kindOf(op), unsigned(kinds.size())}).first->second;
    Value operand = op->getOperand(0);
    items.push_back(
        {*countElements(operand) *
             getElementBytes(getElementTypeOrSelf(operand.getType())),
         kind});
  }
  for (const Bucket &bucket : assignBuckets(items, options)) {
    SmallVector<Operation *> ops;
    Operation *last = joined.empty() ? nullptr : joined.back();
    for (size_t i : bucket) {
      ops.push_back(reductions[i]);
      Operation *def = ops.back()->getOperand(0).getDefiningOp();
      if (def && (!last || last->isBeforeInBlock(def)))
        last = def;
    }
    OpBuilder builder = last
                            ? OpBuilder(last->getBlock(), ++last->getIterator())
                            : OpBuilder::atBlockBegin(&body);
    joined.push_back(join(builder, ops));
    unsigned result = 0;
    for (Operation *op : ops)
      for (Value value : op->getResults())
        value.replaceAllUsesWith(joined.back()->getResult(result++));
  }
  for (Operation *op : reductions)
    op->erase();
}

/// Moves readers of buckets after everything else, in the order of the last
/// bucket that they depend on: waiting for a bucket delays nothing else.
void Buckets::delayReaders() {
  llvm::DenseMap<Operation *, unsigned> after; // the bucket's number, from 1
  for (auto [i, op] : llvm::enumerate(joined))
    after[op] = i + 1;
  SmallVector<std::pair<unsigned, Operation *>> delayed;
  // Operators may now stand before their operands, so any order is possible.
  std::function<unsigned(Operation *)> find = [&](Operation *op) {
    auto [it, isNew] = after.insert({op, 0});
    if (!isNew)
      return it->second;
    unsigned bucket = 0;
    op->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (Operation *def = operand.getDefiningOp();
            def && def->getBlock() == &body)
          bucket = std::max(bucket, find(def));
    });
    return after[op] = bucket;
  };
  llvm::DenseSet<Operation *> buckets(joined.begin(), joined.end());
  for (Operation &op : body.without_terminator())
    if (unsigned bucket = find(&op); bucket && !buckets.contains(&op))
      delayed.push_back({bucket, &op});
  llvm::stable_sort(delayed, llvm::less_first());
  for (auto [bucket, op] : delayed)
    op->moveBefore(body.getTerminator());
}

unsigned bucketReductions(func::FuncOp function, const BucketOptions &options) {
  return Buckets(function, options).build();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

#define GEN_PASS_DEF_BUCKETPASS
#include "passes/Base/Passes.h.inc"

namespace {

struct BucketPass : impl::BucketPassBase<BucketPass> {
  using BucketPassBase::BucketPassBase;

  void runOnOperation() override {
    if (failed(requireForm(*this, getOperation(), Form::Graph)))
      return signalPassFailure();
    bool isHorovod = fusion == "horovod";
    if (!isHorovod && fusion != "ddp") {
      getOperation().emitError()
          << "there is no fusion '" << fusion << "'; give ddp or horovod";
      return signalPassFailure();
    }
    auto options =
        BucketOptions::of(isHorovod ? BucketRule::Horovod : BucketRule::DDP);
    if (bucketBytes)
      options.bytes = bucketBytes;
    if (firstBucketBytes || bucketBytes)
      options.firstBytes = firstBucketBytes ? firstBucketBytes : bucketBytes;
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (function.isPublic() && llvm::hasSingleElement(function.getBody()))
        bucketReductions(function, options);
  }
};

} // namespace

std::unique_ptr<Pass> createBucketPass(const BucketOptions &buckets) {
  BucketPassOptions options;
  options.fusion = buckets.rule == BucketRule::Horovod ? "horovod" : "ddp";
  options.bucketBytes = buckets.bytes;
  options.firstBucketBytes = buckets.firstBytes;
  return createBucketPass(std::move(options));
}

} // namespace mlc
