//===- Cost.cpp - The cost of an operator on a target ---------------------===//

#include "rewrites/Cost/Cost.h"
#include "dialects/Definition/OpInterfaces.h"
#include "dialects/Module/CompileTime.h"
#include <cmath>

using namespace mlir;
using namespace mlc;

bool CostModel::Signature::operator==(const Signature &other) const {
  return name == other.name && attributes == other.attributes &&
         operands == other.operands;
}

size_t CostModel::SignatureHash::operator()(const Signature &signature) const {
  return llvm::hash_combine(signature.name, signature.attributes,
                            llvm::hash_combine_range(signature.operands));
}

OperandFacts CostModel::factsOf(Operation *op) {
  OperandFacts facts;
  facts.resultsAreCompileTime = llvm::all_of(
      op->getResults(), [](Value result) { return isCompileTime(result); });
  facts.isFed = llvm::any_of(op->getOperands(), [](Value operand) {
    return operand.getDefiningOp() && !isCompileTime(operand);
  });
  for (OpOperand &operand : op->getOpOperands())
    facts.hasConstantWeights &=
        operand.getOperandNumber() == 0 || isCompileTime(operand.get());
  if (op->getNumOperands() && !isCompileTime(op->getOperand(0)))
    facts.siblings = unsigned(
        llvm::count_if(op->getOperand(0).getUses(), [&](OpOperand &use) {
          return use.getOperandNumber() == 0 && areAlike(use.getOwner(), op);
        }));
  return facts;
}

bool CostModel::areAlike(Operation *a, Operation *b) {
  return a->getName() == b->getName() &&
         a->getAttrDictionary() == b->getAttrDictionary() &&
         llvm::equal(a->getOperandTypes(), b->getOperandTypes());
}

CostModel::Counted &CostModel::count(Operation *op) const {
  Signature signature{op->getName(),
                      op->getAttrDictionary(),
                      {op->operand_type_begin(), op->operand_type_end()}};
  auto [it, isNew] = counted.try_emplace(std::move(signature));
  if (isNew) {
    FailureOr<Definition> definition =
        getDefinition(cast<DefinitionOpInterface>(op));
    if (succeeded(definition))
      it->second.work = countWork(op->getContext(), *definition, symbols);
    if (timings)
      it->second.measured = timings->find(op);
    if (timings && timings->learned && !it->second.measured)
      it->second.learned = timings->learned->seconds(
          featuresOf(op, it->second.work, timings->learned->operators));
  }
  return it->second;
}

/// The time to read `bytes` from the first level that holds them.
double CostModel::bytesSeconds(double bytes) const {
  for (const MemoryLevel &level : parameters.memory)
    if (bytes <= level.bytes)
      return bytes / level.bytesPerSecond;
  return bytes / parameters.memory.back().bytesPerSecond;
}

CostFeatures
CostModel::featuresOf(Operation *op,
                      llvm::ArrayRef<std::string> operators) const {
  return featuresOf(op, count(op).work, operators);
}

CostFeatures
CostModel::featuresOf(Operation *op, const Work &work,
                      llvm::ArrayRef<std::string> operators) const {
  double arithmetic = 0;
  for (const ContractionWork &contraction : work.contractions)
    arithmetic += directSeconds(contraction);
  return CostFeatures::of(op, work, arithmetic, bytesSeconds(work.bytes()),
                          parameters, symbols, operators);
}

/// Up to this size a matrix counts as narrow: tiles of 16 rows would be half
/// empty.
static constexpr double mostVectors = 8;

/// The arithmetic of a contraction by direct computation, with the best tile.
double CostModel::directSeconds(const ContractionWork &work) const {
  // Nothing to tile: products of a matrix and a vector, depthwise windows. A
  // narrow matrix may also count as several vectors, each of which reads the
  // other matrix from the cache.
  double best = std::numeric_limits<double>::infinity();
  double narrow = std::min(work.rows, work.columns);
  double cacheRate = parameters.memory.front().bytesPerSecond;
  if (narrow <= mostVectors)
    best = work.flops() /
           (parameters.scalarFlopsPerSecond * parameters.depthwiseEfficiency);
  if (narrow == 1)
    return best;
  best = std::max(best, work.flops() / 2 * 4 / cacheRate);
  double unitFlops = parameters.contractionFlopsPerSecond / parameters.units *
                     parameters.contractionEfficiency;
  double unitBytes = cacheRate / parameters.units;
  auto consider = [&](double rows, double columns) {
    double tiles = work.batch * std::ceil(work.rows / rows) *
                   std::ceil(work.columns / columns);
    double waves = std::ceil(tiles / parameters.units);
    double arithmetic = 2 * rows * columns * work.depth / unitFlops;
    // With one unit the whole result is blocked for its caches.
    double operands = parameters.units == 1
                          ? 0
                          : (rows + columns) * work.depth * 4 / unitBytes;
    best = std::min(best, waves * std::max(arithmetic, operands));
  };
  for (const OutputTile &tile : parameters.tiles) {
    consider(tile.rows, tile.columns);
    if (parameters.tilesTurn)
      consider(tile.columns, tile.rows);
  }
  return best;
}

bool CostModel::readsPart(Operation *op) const {
  return isa<DefinitionOpInterface>(op) && count(op).work.isBox;
}

bool CostModel::isReinterpretation(Operation *op) const {
  return isa<DefinitionOpInterface>(op) && count(op).work.isReinterpretation;
}

bool CostModel::isCut(Operation *op) const {
  return llvm::any_of(op->getUsers(), [&](Operation *user) {
    return readsPart(user) || (isReinterpretation(user) && isCut(user));
  });
}

double CostModel::shareOf(const ConvolutionShape &shape) const {
  auto [it, isNew] = shares.try_emplace(shape);
  if (isNew)
    it->second = algorithms.convolutionShare(shape);
  return it->second;
}

/// The products of a contraction; none that are far beyond any model, or narrow
/// ones, which run on other kernels.
std::optional<ProductShape>
CostModel::shapeOf(const ContractionWork &work) const {
  // Doubles are exact up to there.
  constexpr double most = int64_t(1) << 40;
  if (std::max({work.batch, work.rows, work.columns, work.depth}) > most)
    return std::nullopt;
  ProductShape shape;
  shape.batch = work.batch;
  shape.rows = work.rows;
  shape.columns = work.columns;
  shape.k = work.depth;
  shape.elementBytes = std::max(1.0, work.elementBytes);
  // Positions of a convolution are neighbours in memory.
  if (work.convolution) {
    std::swap(shape.rows, shape.columns);
    shape.hasWindows =
        work.convolution->kernelHeight > 1 || work.convolution->kernelWidth > 1;
  }
  if (std::min(shape.rows, shape.columns) <= mostVectors)
    return std::nullopt;
  return shape;
}

/// What the back end says of its kernel for a contraction; none where it says
/// nothing.
std::optional<double>
CostModel::productSeconds(const ContractionWork &work) const {
  std::optional<ProductShape> shape = shapeOf(work);
  if (!algorithms.productSeconds || !shape)
    return std::nullopt;
  return algorithms.productSeconds(*shape);
}

double CostModel::contractionSeconds(const ContractionWork &work,
                                     const OperandFacts &facts) const {
  if (std::optional<double> known = productSeconds(work))
    return *known;
  double direct = directSeconds(work);
  if (!algorithms.convolutionShare || !work.convolution)
    return direct;
  ConvolutionShape shape = *work.convolution;
  shape.hasConstantFilter = facts.hasConstantWeights;
  return direct * shareOf(shape);
}

/// The operator's share of a launch with its siblings; none if it has its own.
std::optional<double>
CostModel::joinedSeconds(const Work &work, const OperandFacts &facts) const {
  if (facts.siblings < 2 || work.contractions.size() != 1 ||
      !algorithms.joinedSeconds)
    return std::nullopt;
  std::optional<ProductShape> shape = shapeOf(work.contractions.front());
  if (!shape)
    return std::nullopt;
  std::optional<double> all = algorithms.joinedSeconds(*shape, facts.siblings);
  if (!all)
    return std::nullopt;
  double each = std::max(*all / facts.siblings, bytesSeconds(work.bytes()));
  return each + parameters.secondsPerKernel / facts.siblings;
}

double CostModel::seconds(Operation *op) const {
  OperandFacts facts = factsOf(op);
  facts.isCut = isCut(op);
  return seconds(op, facts);
}

/// What the target's rates say of an operator with its own kernel.
double CostModel::estimate(const Work &work, const OperandFacts &facts) const {
  double scalar = work.operations / parameters.scalarFlopsPerSecond;
  double arithmetic = scalar;
  for (const ContractionWork &contraction : work.contractions)
    arithmetic += contractionSeconds(contraction, facts);
  double taken = std::max(arithmetic, bytesSeconds(work.bytes())) +
                 parameters.secondsPerKernel;
  if (std::optional<double> joined = joinedSeconds(work, facts))
    taken = std::min(taken, scalar + *joined);
  // The parts' readers take a kernel of their own.
  if (facts.isCut && !work.contractions.empty() &&
      algorithms.cutsKernelsAtParts)
    taken += parameters.secondsPerKernel + bytesSeconds(work.bytesWritten);
  return taken;
}

double CostModel::seconds(Operation *op, const OperandFacts &facts) const {
  if (facts.resultsAreCompileTime)
    return 0;
  if (auto opaque = dyn_cast<OpaqueOpInterface>(op))
    return valueOf(opaque.countOperations(), symbols) /
               parameters.scalarFlopsPerSecond +
           parameters.secondsPerKernel;
  if (!isa<DefinitionOpInterface>(op))
    return 0;
  const Counted &counted = count(op);
  const Work &work = counted.work;
  if (work.isReinterpretation)
    return 0;
  double scalar = work.operations / parameters.scalarFlopsPerSecond;
  if (work.isBox && parameters.readsInPlace)
    return 0;
  // Pointwise work joins the kernel of the operator that feeds it.
  if (facts.isFed && work.isPointwise)
    return scalar;
  if (counted.measured)
    return *counted.measured;
  double taken = counted.learned ? *counted.learned : estimate(work, facts);
  bool isCharged = chargesNewKernels && !counted.isOfGraph;
  return isCharged ? taken * (1 + parameters.predictionError) : taken;
}

CostModel CostModel::chargingNewKernels(Region &graph) const {
  CostModel charging = *this;
  charging.chargesNewKernels = true;
  for (Block &block : graph)
    for (Operation &op : block)
      if (isa<DefinitionOpInterface>(op))
        charging.count(&op).isOfGraph = true;
  return charging;
}

double CostModel::effort(Operation *op, const OperandFacts &facts) const {
  double most = 2 * seconds(op, facts);
  if (most == 0 || !isa<DefinitionOpInterface>(op))
    return 0;
  const Work &work = count(op).work;
  double taken = work.operations / parameters.scalarFlopsPerSecond +
                 work.bytes() / parameters.memory.front().bytesPerSecond;
  for (const ContractionWork &contraction : work.contractions)
    taken += contraction.flops() / parameters.contractionFlopsPerSecond;
  return std::min(taken, most);
}

double CostModel::seconds(Region &region) const {
  double total = 0;
  for (Block &block : region)
    for (Operation &op : block)
      total += seconds(&op);
  return total;
}
