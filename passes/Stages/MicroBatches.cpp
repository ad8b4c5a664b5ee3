//===- MicroBatches.cpp - Parts of a batch that run by themselves ---------===//

#include "passes/Stages/MicroBatches.h"
#include "dialects/Definition/OpInterfaces.h"
#include "dialects/Dist/Dist.h"
#include "dialects/Graph/MovementOps.h"
#include "passes/Stages/Rows.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using llvm::SmallVector;
using llvm::StringRef;

namespace mlc {

namespace {

bool mentions(IntExpr expr, IntExpr symbol) {
  bool found = false;
  expr.walkSymbols(
      [&](StringRef name) { found |= name == symbol.getSymbol(); });
  return found;
}

/// Follows the samples of a batch from the arguments to the results.
class SampleWalk {
public:
  SampleWalk(func::FuncOp main, IntExpr samples)
      : main(main), samples(samples),
        // Some number of parts.
        axis(dist::AxisAttr::get(main.getContext(), "micro_batch",
                                 IntExpr::constant(main.getContext(), 2))) {}

  LogicalResult run(const DividedPorts &ports) {
    for (auto [argument, isDivided] :
         llvm::zip(main.getArguments(), ports.arguments))
      if (isDivided)
        places[argument] = placeAlong(0, one());
    for (Operation &op : main.getBody().front().without_terminator())
      if (failed(follow(&op)))
        return failure();
    Operation *end = main.getBody().front().getTerminator();
    for (auto [i, value] : llvm::enumerate(end->getOperands()))
      if (auto it = places.find(value);
          it == places.end() || it->second.dim != 0)
        return main.emitError()
               << "result '" << nameOfResult(i)
               << "' does not have the samples of a batch along its first dim, "
                  "so its micro-batches cannot be joined";
    return success();
  }

private:
  IntExpr one() { return IntExpr::constant(main.getContext(), 1); }
  dist::Place placeAlong(unsigned dim, IntExpr unit) const {
    return dist::Place::split(dim, samples, unit);
  }
  StringRef nameOfResult(unsigned i) {
    auto name = main.getResultAttrOfType<StringAttr>(i, "mlc.name");
    return name ? name.getValue() : StringRef();
  }
  static InFlightDiagnostic refuse(Operation *op) {
    return op->emitOpError() << "cannot be carried out in micro-batches: ";
  }

  /// Whether the value of an element may depend on how many samples there are,
  /// rather than the dims alone.
  bool countsSamples(const Definition &definition) const {
    bool found = false;
    for (const Stage &stage : definition.stages)
      for (const Piece &piece : stage.pieces) {
        walk(piece.body, [&](const ExprNode &node) {
          found |=
              node.kind == Expr::Kind::Int && mentions(node.integer, samples);
        });
        for (IntExpr offset : piece.offset)
          found |= mentions(offset, samples);
      }
    return found;
  }

  /// What repeats something for each sample has a part for each micro-batch.
  LogicalResult followRepeated(Operation *op) {
    for (Value result : op->getResults())
      for (auto [i, dim] : llvm::enumerate(dist::dimsOf(result))) {
        if (!mentions(dim, samples))
          continue;
        std::optional<IntExpr> unit = dim.exactDiv(samples);
        bool repeats = isa<FillOp>(op);
        if (auto broadcast = dyn_cast<BroadcastOp>(op))
          repeats = dist::dimsOf(broadcast.getX())[i].isConstant(1);
        if (!repeats || !unit || mentions(*unit, samples))
          return refuse(op)
                 << "it depends on the number of samples, " << samples.str();
        places[result] = placeAlong(i, *unit);
      }
    return success();
  }

  LogicalResult follow(Operation *op) {
    auto defined = dyn_cast<DefinitionOpInterface>(op);
    FailureOr<Definition> definition =
        defined ? getDefinition(defined) : FailureOr<Definition>(failure());
    SmallVector<std::optional<dist::Place>> operands;
    for (Value operand : op->getOperands()) {
      auto it = places.find(operand);
      operands.push_back(it == places.end() ? std::optional<dist::Place>()
                                            : it->second);
    }
    const bool hasSamples = llvm::any_of(
        operands, [](const auto &place) { return place.has_value(); });
    if (succeeded(definition) && countsSamples(*definition) &&
        !isa<BroadcastOp>(op))
      return refuse(op) << "it depends on the number of samples, "
                        << samples.str();
    if (!hasSamples)
      return followRepeated(op);
    auto rows = succeeded(definition) ? findRows(*definition, operands, axis)
                                      : std::optional<Rows>();
    if (!rows || llvm::is_contained(rows->kinds, Rows::Whole))
      return refuse(op) << "it mixes samples, or nothing shows that it does "
                           "not";
    for (auto [result, stage] :
         llvm::zip_equal(op->getResults(), definition->results)) {
      dist::Place place = rows->factor.placeOf({true, stage});
      if (!place.isSplit() || place.hasHalo())
        return refuse(op) << "it mixes samples";
      places[result] = place;
    }
    return success();
  }

  func::FuncOp main;
  const IntExpr samples;
  dist::AxisAttr axis;
  llvm::DenseMap<Value, dist::Place> places;
};

/// The number of samples: the first dim of the first argument with an open one,
/// or else of the first one with dims; null without dims.
IntExpr findSamples(func::FuncOp main) {
  IntExpr fixed;
  for (Value argument : main.getArguments()) {
    SmallVector<IntExpr> dims = dist::dimsOf(argument);
    if (dims.empty())
      continue;
    if (!dims[0].isConstant())
      return dims[0];
    fixed = fixed ? fixed : dims[0];
  }
  return fixed;
}

} // namespace

/// Whether a port has samples: along its first dim, and nowhere else.
static FailureOr<bool> isDivided(func::FuncOp main, Type type, IntExpr samples,
                                 const char *kind, StringAttr name) {
  auto dims = getDims(cast<RankedTensorType>(type));
  const bool isFirst = !dims->empty() && dims->front() == samples;
  for (auto [i, dim] : llvm::enumerate(*dims))
    if (!samples.isConstant() && !(i == 0 && isFirst) && mentions(dim, samples))
      return main.emitError()
             << kind << " '" << (name ? name.getValue() : StringRef())
             << "' has samples along dim " << i << ", " << dim.str()
             << ", and in micro-batches they are along the first dim alone";
  return isFirst;
}

FailureOr<DividedPorts> findDividedPorts(func::FuncOp main) {
  const IntExpr samples = findSamples(main);
  if (!samples)
    return main.emitError() << "has no input with dims, so there is no batch "
                               "to divide into micro-batches";
  if (!samples.isConstant() && samples.getKind() != IntExpr::Kind::Symbol)
    return main.emitError() << "has " << samples.str()
                            << " samples in a batch; in micro-batches their "
                               "number is a dim of its own";
  DividedPorts ports;
  for (BlockArgument argument : main.getArguments()) {
    auto divided = isDivided(
        main, argument.getType(), samples, "input",
        main.getArgAttrOfType<StringAttr>(argument.getArgNumber(), "mlc.name"));
    if (failed(divided))
      return failure();
    ports.arguments.push_back(*divided);
  }
  if (!samples.isConstant()) {
    if (failed(SampleWalk(main, samples).run(ports)))
      return failure();
    ports.results.assign(main.getNumResults(), true);
    return ports;
  }
  for (auto [i, type] : llvm::enumerate(main.getResultTypes())) {
    auto name = main.getResultAttrOfType<StringAttr>(i, "mlc.name");
    auto divided = isDivided(main, type, samples, "result", name);
    if (failed(divided))
      return failure();
    if (!*divided)
      return main.emitError()
             << "result '" << (name ? name.getValue() : StringRef())
             << "' does not have the " << samples.str()
             << " samples of a batch along its first dim, so its micro-batches "
                "cannot be joined";
    ports.results.push_back(true);
  }
  return ports;
}

} // namespace mlc
