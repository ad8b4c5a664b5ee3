//===- RunRanks.cpp - All ranks' programs by the evaluator ----------------===//

#include "passes/Distribute/RunRanks.h"
#include "mlir/IR/Location.h"
#include "passes/Distribute/Partition.h"
#include "passes/Distribute/RunCollective.h"

using namespace mlir;
using llvm::ArrayRef;
using llvm::Error;
using llvm::Expected;
using llvm::SmallVector;

namespace mlc {

namespace {

/// Limits ranks, because each has its own tensors.
constexpr int64_t maxRanks = 4096;

class RankRunner {
public:
  RankRunner(func::FuncOp function, ArrayRef<dist::AxisAttr> mesh,
             const EvalOptions &options)
      : function(function), mesh(mesh), options(options) {}

  /// Binds `rank.AXIS` for all ranks; the last axis's changes fastest.
  Error start() {
    if (!function.getBody().hasOneBlock())
      return evalError(EvalFailure::Unsupported,
                       "only functions of one block are evaluated");
    int64_t count = 1;
    for (dist::AxisAttr axis : mesh) {
      auto size = evaluateDims(axis.getSize(), options.symbols);
      if (!size)
        return size.takeError();
      if (size->front() < 1 || size->front() > maxRanks / count)
        return evalError(EvalFailure::Limit,
                         "a mesh has 1 to " + llvm::Twine(maxRanks) + " ranks");
      sizes.push_back(size->front());
      count *= sizes.back();
    }
    for (int64_t rank = 0; rank < count; ++rank) {
      symbols.push_back(options);
      for (unsigned a = 0; a < mesh.size(); ++a)
        symbols.back().symbols[mesh[a].getRank().getSymbol()] =
            rank / strideOf(a) % sizes[a];
    }
    values.resize(count);
    return Error::success();
  }

  Expected<SmallVector<int64_t>> wholeDims(unsigned argument) {
    auto sharding = argumentSharding(argument);
    if (!sharding)
      return sharding.takeError();
    Value value = function.getArgument(argument);
    auto whole = dimsOn(0, value);
    if (!whole)
      return whole;
    for (auto [d, axes] : llvm::enumerate(sharding->dims)) {
      auto end = sumParts(value, d, axes, 0, countParts(axes));
      if (!end)
        return end.takeError();
      if (!axes.empty())
        (*whole)[d] = *end;
    }
    return whole;
  }

  Expected<std::vector<EvalTensor>> run(ArrayRef<EvalTensor> wholes) {
    if (wholes.size() != function.getNumArguments())
      return evalError(EvalFailure::Input,
                       "expected " + llvm::Twine(function.getNumArguments()) +
                           " inputs, got " + llvm::Twine(wholes.size()));
    for (auto [i, whole] : llvm::enumerate(wholes))
      if (Error error = cut(i, whole))
        return error;
    for (Operation &op : function.front()) {
      if (op.hasTrait<OpTrait::IsTerminator>())
        return join(&op);
      bool isExchange = isa<dist::StackedOpInterface>(op);
      if (Error error = isExchange ? exchange(&op) : compute(&op))
        return withPlace(&op, std::move(error));
    }
    return evalError(EvalFailure::Unsupported, "function without a return");
  }

private:
  int64_t strideOf(unsigned axis) const {
    int64_t stride = 1;
    for (unsigned a = axis + 1; a < mesh.size(); ++a)
      stride *= sizes[a];
    return stride;
  }

  static Error withPlace(Operation *op, Error error) {
    return evalError(EvalFailure::Input, "at " + op->getName().getStringRef() +
                                             ": " +
                                             llvm::toString(std::move(error)));
  }

  Expected<SmallVector<int64_t>> dimsOn(int64_t rank, Value value) const {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    std::optional<SmallVector<IntExpr>> dims;
    if (type)
      dims = getDims(type);
    if (!dims)
      return evalError(EvalFailure::Input, "tensors must have named dims");
    return evaluateDims(*dims, symbols[rank].symbols);
  }

  /// Checks that the parts have the specified whole dims.
  Error checkWhole(Attribute attribute, ArrayRef<int64_t> dims,
                   const llvm::Twine &what) const {
    auto said = llvm::dyn_cast_or_null<DimsAttr>(attribute);
    if (!said)
      return Error::success();
    auto whole = evaluateDims(said.getDims(), symbols[0].symbols);
    if (!whole)
      return whole.takeError();
    auto text = [](ArrayRef<int64_t> dims) {
      std::string list;
      for (int64_t dim : dims)
        list += (list.empty() ? "" : ", ") + std::to_string(dim);
      return "[" + list + "]";
    };
    if (ArrayRef(*whole) != dims)
      return evalError(EvalFailure::Input,
                       what + " has parts that make " + text(dims) +
                           ", and its dist.whole says " + text(*whole));
    return Error::success();
  }

  /// The number of parts that axes split a dim into, and the part of `rank`:
  /// the last axis's coordinate changes fastest.
  int64_t countParts(ArrayRef<unsigned> axes) const {
    int64_t count = 1;
    for (unsigned axis : axes)
      count *= sizes[axis];
    return count;
  }
  int64_t partOf(int64_t rank, ArrayRef<unsigned> axes) const {
    int64_t part = 0;
    for (unsigned axis : axes)
      part = part * sizes[axis] + rank / strideOf(axis) % sizes[axis];
    return part;
  }

  /// The number of elements along `dim` in the first `count` parts, on ranks
  /// that share the other coordinates of `rank`.
  Expected<int64_t> sumParts(Value value, unsigned dim, ArrayRef<unsigned> axes,
                             int64_t rank, int64_t count) const {
    int64_t sum = 0;
    for (int64_t part = 0; part < count; ++part) {
      int64_t owner = rank, rest = part;
      for (unsigned axis : llvm::reverse(axes)) {
        int64_t stride = strideOf(axis), own = rank / stride % sizes[axis];
        owner += (rest % sizes[axis] - own) * stride;
        rest /= sizes[axis];
      }
      auto dims = dimsOn(owner, value);
      if (!dims)
        return dims.takeError();
      sum += (*dims)[dim];
    }
    return sum;
  }

  Expected<RankSharding> sharding(Attribute attribute, Value value,
                                  const llvm::Twine &what) const {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    std::string problem = "must be a ranked tensor";
    FailureOr<RankSharding> read = failure();
    if (type) {
      problem.clear();
      read = readSharding(attribute, type.getRank(), mesh, problem);
    }
    if (failed(read))
      return evalError(EvalFailure::Input, what + " " + problem);
    return std::move(*read);
  }

  Expected<RankSharding> argumentSharding(unsigned i) {
    std::string what = "argument #" + std::to_string(i);
    auto read = sharding(function.getArgAttr(i, dist::kShardingAttr),
                         function.getArgument(i), what);
    if (read && !read->partial.empty())
      return evalError(EvalFailure::Input,
                       what + " is partial, so that ranks may have anything "
                              "that adds up; give it whole or split");
    return read;
  }

  Error cut(unsigned i, const EvalTensor &whole) {
    auto expected = wholeDims(i);
    if (!expected)
      return expected.takeError();
    if (Error error = checkWhole(function.getArgAttr(i, dist::kWholeAttr),
                                 *expected, "argument #" + llvm::Twine(i)))
      return error;
    if (ArrayRef(*expected) != whole.getDims())
      return evalError(EvalFailure::Input,
                       "input " + llvm::Twine(i) +
                           " has other dims than what ranks have of it");
    auto sharding = argumentSharding(i);
    if (!sharding)
      return sharding.takeError();
    Value value = function.getArgument(i);
    for (int64_t rank = 0; rank < int64_t(values.size()); ++rank) {
      auto dims = dimsOn(rank, value);
      if (!dims)
        return dims.takeError();
      SmallVector<int64_t> from(dims->size(), 0);
      for (auto [d, axes] : llvm::enumerate(sharding->dims)) {
        auto first = sumParts(value, d, axes, rank, partOf(rank, axes));
        if (!first)
          return first.takeError();
        from[d] = *first;
      }
      auto part = takePart(function.getContext(), whole, from, *dims, options);
      if (!part)
        return part.takeError();
      values[rank][value] = std::move(*part);
    }
    return Error::success();
  }

  Error compute(Operation *op) {
    for (int64_t rank = 0; rank < int64_t(values.size()); ++rank) {
      std::vector<EvalTensor> operands;
      for (Value operand : op->getOperands())
        operands.push_back(values[rank][operand]);
      auto results = evaluateOp(op, operands, symbols[rank]);
      if (!results)
        return results.takeError();
      for (auto [value, tensor] : llvm::zip(op->getResults(), *results))
        values[rank][value] = std::move(tensor);
    }
    return Error::success();
  }

  Error exchange(Operation *op) {
    auto collective = cast<dist::StackedOpInterface>(op);
    std::optional<unsigned> axis = findAxis(mesh, collective.getExchangeAxis());
    if (!axis)
      return evalError(EvalFailure::Input,
                       "the module's dist.mesh has no such axis");
    int64_t stride = strideOf(*axis), count = sizes[*axis];
    for (int64_t first = 0; first < int64_t(values.size()); ++first)
      if (first / stride % count == 0)
        for (unsigned k = 0; k < op->getNumOperands(); ++k)
          if (Error error = exchangeIn(op, k, first, stride, count))
            return error;
    return Error::success();
  }

  /// Exchanges one operand within the group whose first rank is `first`.
  Error exchangeIn(Operation *op, unsigned k, int64_t first, int64_t stride,
                   int64_t count) {
    std::vector<EvalTensor> tensors;
    std::vector<SmallVector<int64_t>> dims;
    for (int64_t c = 0; c < count; ++c) {
      tensors.push_back(values[first + c * stride][op->getOperand(k)]);
      auto own = dimsOn(first + c * stride, op->getResult(k));
      if (!own)
        return own.takeError();
      dims.push_back(std::move(*own));
    }
    for (int64_t c = 0; c < count; ++c) {
      auto got = runCollective(op, k, {tensors, dims}, c, options);
      if (!got)
        return got.takeError();
      values[first + c * stride][op->getResult(k)] = std::move(*got);
    }
    return Error::success();
  }

  //===--- Results -------------------------------------------------------===//

  Expected<std::vector<EvalTensor>> join(Operation *end) {
    std::vector<EvalTensor> results;
    for (auto [i, operand] : llvm::enumerate(end->getOperands())) {
      std::string what = "result #" + std::to_string(i);
      auto read = sharding(function.getResultAttr(i, dist::kShardingAttr),
                           operand, what);
      if (!read)
        return read.takeError();
      std::vector<EvalTensor> all;
      for (auto &own : values)
        all.push_back(own[operand]);
      for (unsigned a = mesh.size(); a-- > 0;) {
        std::vector<EvalTensor> joined;
        for (size_t first = 0; first < all.size(); first += sizes[a]) {
          auto one =
              joinAxis(*read, a, ArrayRef(all).slice(first, sizes[a]), what);
          if (!one)
            return one.takeError();
          joined.push_back(std::move(*one));
        }
        all = std::move(joined);
      }
      if (Error error = checkWhole(function.getResultAttr(i, dist::kWholeAttr),
                                   all.front().getDims(), what))
        return error;
      results.push_back(std::move(all.front()));
    }
    return results;
  }

  Expected<EvalTensor> joinAxis(const RankSharding &sharding, unsigned axis,
                                ArrayRef<EvalTensor> all,
                                const std::string &what) {
    for (auto [d, axes] : llvm::enumerate(sharding.dims))
      if (llvm::is_contained(axes, axis))
        return joinParts(function.getContext(), all, d, options);
    for (auto [partial, kind] : sharding.partial)
      if (partial == axis)
        return reduceRanks(function.getContext(), all, kind, options);
    const EvalTensor &one = all.front();
    for (auto [rank, other] : llvm::enumerate(all)) {
      bool isSame = one.getDims() == other.getDims();
      for (int64_t i = 0; isSame && i < one.getNumElements(); ++i)
        isSame = one.sameElement(other, i);
      if (!isSame)
        return evalError(EvalFailure::Undefined,
                         what + " is said to be the same on all ranks of '" +
                             mesh[axis].getName() + "', but 0 and " +
                             llvm::Twine(rank) + " have different ones");
    }
    return one;
  }

  func::FuncOp function;
  ArrayRef<dist::AxisAttr> mesh;
  const EvalOptions &options;
  SmallVector<int64_t> sizes;
  /// For each rank.
  std::vector<EvalOptions> symbols;
  std::vector<llvm::DenseMap<Value, EvalTensor>> values;
};

} // namespace

Expected<std::vector<SmallVector<int64_t>>>
wholeArgumentDims(func::FuncOp function, ArrayRef<dist::AxisAttr> mesh,
                  const EvalOptions &options) {
  RankRunner runner(function, mesh, options);
  if (Error error = runner.start())
    return error;
  std::vector<SmallVector<int64_t>> all;
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    auto dims = runner.wholeDims(i);
    if (!dims)
      return dims.takeError();
    all.push_back(std::move(*dims));
  }
  return all;
}

Expected<std::vector<EvalTensor>> runRanks(func::FuncOp function,
                                           ArrayRef<dist::AxisAttr> mesh,
                                           ArrayRef<EvalTensor> wholes,
                                           const EvalOptions &options) {
  RankRunner runner(function, mesh, options);
  if (Error error = runner.start())
    return error;
  return runner.run(wholes);
}

} // namespace mlc
