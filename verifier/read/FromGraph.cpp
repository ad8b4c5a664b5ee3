//===- FromGraph.cpp - Functions of the mlc dialect as definitions --------===//

#include "dialects/Graph/ComputeOps.h"
#include "dialects/Graph/ReductionOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "verifier/read/AssumeText.h"
#include "verifier/read/LinalgReader.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using llvm::ArrayRef;
using llvm::SmallVector;

namespace mlc::verifier {

unsigned SharedInputs::lookup(const std::string &key, const TensorShape &shape,
                              ElementsAttr constant) {
  for (auto [i, entry] : llvm::enumerate(entries))
    if (entry.key == key)
      return i;
  entries.push_back({key, shape, constant});
  return entries.size() - 1;
}

//===----------------------------------------------------------------------===//
// Rewriting definitions
//===----------------------------------------------------------------------===//

static void substituteLoops(SmallVectorImpl<Loop> &loops,
                            const Substitution &map) {
  for (Loop &loop : loops)
    loop.extent = substitute(loop.extent, map);
}

static Expr substituteDims(const Expr &expr, const Substitution &map) {
  ExprNode node = *expr;
  if (node.integer)
    node.integer = substitute(node.integer, map);
  substituteLoops(node.loops, map);
  for (Expr &operand : node.operands)
    operand = substituteDims(operand, map);
  return Expr(std::make_shared<const ExprNode>(std::move(node)));
}

void substitute(Definition &definition, const Substitution &map) {
  if (map.empty())
    return;
  auto dims = [&](auto &list) {
    for (IntExpr &dim : list)
      dim = substitute(dim, map);
  };
  for (TensorShape &input : definition.inputs)
    dims(input.dims);
  for (Stage &stage : definition.stages) {
    dims(stage.dims);
    for (Piece &piece : stage.pieces) {
      dims(piece.offset);
      substituteLoops(piece.loops, map);
      piece.body = substituteDims(piece.body, map);
    }
  }
  for (Requirement &r : definition.requirements) {
    r.lhs = substitute(r.lhs, map);
    r.rhs = substitute(r.rhs, map);
  }
}

void walkNames(const Definition &definition,
               llvm::function_ref<void(IntExpr)> onInteger,
               llvm::function_ref<void(llvm::StringRef)> onParameter) {
  for (const TensorShape &input : definition.inputs)
    llvm::for_each(input.dims, onInteger);
  for (const Stage &stage : definition.stages) {
    llvm::for_each(stage.dims, onInteger);
    for (const Piece &piece : stage.pieces) {
      llvm::for_each(piece.offset, onInteger);
      for (const Loop &loop : piece.loops)
        onInteger(loop.extent);
      walk(piece.body, [&](const ExprNode &node) {
        if (node.integer)
          onInteger(node.integer);
        for (const Loop &loop : node.loops)
          onInteger(loop.extent);
        if (node.kind == Expr::Kind::Param)
          onParameter(node.parameter);
      });
    }
  }
  for (const Requirement &r : definition.requirements) {
    onInteger(r.lhs);
    onInteger(r.rhs);
  }
}

std::string ownNameFailure(llvm::StringRef name) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "a dim or parameter is called '";
  llvm::printEscapedString(name, os);
  os << "'; give it a name that does not begin with '%'";
  return text;
}

//===----------------------------------------------------------------------===//
// Building
//===----------------------------------------------------------------------===//

ProgramBuilder::ProgramBuilder(func::FuncOp function, SharedInputs &shared)
    : function(function), shared(shared), side(shared.numSides++),
      linalg(std::make_unique<LinalgReader>(*this)) {}

ProgramBuilder::~ProgramBuilder() = default;

MLIRContext *ProgramBuilder::getContext() const {
  return function->getContext();
}

bool ProgramBuilder::fail(const llvm::Twine &reason) {
  if (failure.empty())
    failure = reason.str();
  return false;
}

TensorShape ProgramBuilder::shapeOf(TensorId tensor) const {
  if (!tensor.isStage && tensor.index >= definition.inputs.size())
    return shared.entries[tensor.index - definition.inputs.size()].shape;
  return definition.shapeOf(tensor);
}

TensorId ProgramBuilder::addStage(Stage stage) {
  openStages.insert(definition.stages.size());
  definition.stages.push_back(std::move(stage));
  return {true, static_cast<unsigned>(definition.stages.size() - 1)};
}

std::optional<TensorId> ProgramBuilder::get(Value value) {
  if (std::optional<TensorId> known = lookup(value))
    return known;
  std::optional<TensorId> made = linalg->materialize(value);
  if (made)
    set(value, *made);
  return made;
}

std::optional<TensorId> ProgramBuilder::lookup(Value value) const {
  auto it = tensors.find(value);
  return it == tensors.end() ? std::nullopt : std::optional(it->second);
}

SmallVector<TensorId> ProgramBuilder::append(const Definition &op,
                                             ArrayRef<TensorId> operands) {
  unsigned firstStage = definition.stages.size();
  unsigned firstLoop = definition.numLoops;
  auto moveTensor = [&](TensorId id) {
    return id.isStage ? TensorId{true, id.index + firstStage}
                      : operands[id.index];
  };
  auto moveLoops = [&](auto &loops) {
    for (Loop &loop : loops)
      loop.id += firstLoop;
  };
  std::function<Expr(const Expr &)> move = [&](const Expr &expr) {
    ExprNode node = *expr;
    if (node.kind == Expr::Kind::Loop)
      node.loop += firstLoop;
    if (node.kind == Expr::Kind::Read)
      node.tensor = moveTensor(node.tensor);
    moveLoops(node.loops);
    for (Expr &operand : node.operands)
      operand = move(operand);
    return Expr(std::make_shared<const ExprNode>(std::move(node)));
  };
  for (Stage stage : op.stages) {
    for (Piece &piece : stage.pieces) {
      moveLoops(piece.loops);
      piece.body = move(piece.body);
    }
    if (stage.reinterprets)
      stage.reinterprets = moveTensor(*stage.reinterprets);
    definition.stages.push_back(std::move(stage));
  }
  llvm::append_range(definition.requirements, op.requirements);
  definition.numLoops += op.numLoops;
  SmallVector<TensorId> results;
  for (unsigned result : op.results) {
    definition.stages[result + firstStage].endsOperator = true;
    results.push_back({true, result + firstStage});
  }
  return results;
}

/// A number in its own stage.
static Definition fill(MLIRContext *context, const TensorShape &shape,
                       Attribute value) {
  DefinitionBuilder builder(context, {});
  builder.result(
      builder.stage("c", shape.dims, shape.elementType, [&](ArrayRef<Expr>) {
        if (auto number = dyn_cast<FloatAttr>(value))
          return builder.constant(shape.elementType, number.getValueAsDouble());
        auto integer = cast<IntegerAttr>(value).getValue();
        bool isBool = shape.elementType.isInteger(1);
        return builder.constantInt(shape.elementType,
                                   isBool ? integer.getZExtValue()
                                          : integer.getSExtValue());
      }));
  return builder.take();
}

TensorId ProgramBuilder::appendConstant(ElementsAttr value) {
  auto type = cast<RankedTensorType>(value.getType());
  TensorShape shape{*getDims(type), type.getElementType()};
  if (value.isSplat())
    return append(fill(getContext(), shape, value.getSplatValue<Attribute>()),
                  {})
        .front();
  std::string key;
  llvm::raw_string_ostream(key) << "constant " << value.getAsOpaquePointer();
  unsigned input = shared.lookup(key, shape, value);
  return {false, function.getNumArguments() + input};
}

/// Checks that no outside name is one of the verifier's own names.
bool ProgramBuilder::checkNames(const Definition &outside) {
  auto check = [&](llvm::StringRef name) {
    if (isOwnName(name))
      fail(ownNameFailure(name));
  };
  walkNames(outside, [&](IntExpr expr) { expr.walkSymbols(check); }, check);
  return !hasFailed();
}

bool ProgramBuilder::checkNames(ArrayRef<IntExpr> dims) {
  Definition shape;
  shape.inputs.push_back({SmallVector<IntExpr>(dims), Type()});
  return checkNames(shape);
}

bool ProgramBuilder::addArguments() {
  for (auto [i, argument] : llvm::enumerate(function.getArguments())) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    if (!type)
      return fail("argument #" + llvm::Twine(i) + " is not a ranked tensor");
    SmallVector<IntExpr> dims;
    std::optional<SmallVector<IntExpr>> named = getDims(type);
    if (named && !checkNames(*named))
      return false;
    for (auto [d, size] : llvm::enumerate(type.getShape())) {
      if (named)
        dims.push_back((*named)[d]);
      else if (!ShapedType::isDynamic(size))
        dims.push_back(IntExpr::constant(getContext(), size));
      else // a dim without a name is the argument's own
        dims.push_back(
            IntExpr::symbol(getContext(), "%arg" + std::to_string(i) + "_d" +
                                              std::to_string(d)));
    }
    definition.inputs.push_back({dims, type.getElementType()});
    set(argument, {false, static_cast<unsigned>(i)});
  }
  return true;
}

/// Adds the after side's own requirements. The goal covers the before side
/// wherever its operators are defined.
bool ProgramBuilder::addRequirements() {
  if (side == 0)
    return true;
  llvm::Expected<std::vector<Condition>> all = readRequirements(function);
  if (!all)
    return fail(llvm::toString(all.takeError()));
  Definition own;
  for (const Condition &one : *all)
    own.requirements.push_back({one.getLhs(), one.getPredicate(), one.getRhs(),
                                "what the function requires"});
  if (!checkNames(own))
    return false;
  llvm::append_range(definition.requirements, own.requirements);
  return true;
}

/// An operator without definition: all that is known is that equal operators on
/// equal operands have equal results.
bool ProgramBuilder::addOpaque(Operation *op) {
  for (Value result : op->getResults()) {
    auto type = dyn_cast<RankedTensorType>(result.getType());
    std::optional<SmallVector<IntExpr>> dims;
    if (type)
      dims = getDims(type);
    if (!dims)
      return fail("the result dims of '" + op->getName().getStringRef() +
                  "' are not known");
    if (!checkNames(*dims))
      return false;
    std::string key = "value " + std::to_string(shared.numbers.lookup(result));
    size_t numKnown = shared.entries.size();
    unsigned input = shared.lookup(key, {*dims, type.getElementType()}, {});
    // It is known to have a value only if it occurs in the before side.
    if (side > 0 && input >= numKnown)
      need({{}, {}, "'" + op->getName().getStringRef().str() + "' is defined"});
    set(result, {false, function.getNumArguments() + input});
  }
  return true;
}

bool ProgramBuilder::addOperation(Operation *op) {
  if (auto defined = dyn_cast<DefinitionOpInterface>(op)) {
    FailureOr<Definition> own = getDefinition(defined);
    if (failed(own))
      return fail("'" + op->getName().getStringRef() + "' is not well formed");
    if (!checkNames(*own))
      return false;
    SmallVector<TensorId> operands;
    SmallVector<TensorShape> shapes;
    for (Value operand : op->getOperands()) {
      std::optional<TensorId> tensor = get(operand);
      if (!tensor)
        return fail("an operand of '" + op->getName().getStringRef() +
                    "' is no tensor of the function");
      operands.push_back(*tensor);
      shapes.push_back(shapeOf(*tensor));
    }
    needsOf(op, shapes, needs);
    unsigned firstStage = definition.stages.size();
    for (auto [value, tensor] :
         llvm::zip(op->getResults(), append(*own, operands)))
      set(value, tensor);
    // An inline definition may read anywhere.
    if (isa<ComputeOp>(op))
      for (unsigned i = firstStage; i < definition.stages.size(); ++i)
        openStages.insert(i);
    return true;
  }
  if (isa<OpaqueOpInterface>(op))
    return addOpaque(op);
  ElementsAttr constant;
  if (op->getNumResults() == 1 &&
      isa<RankedTensorType>(op->getResult(0).getType()) &&
      matchPattern(op, m_Constant(&constant))) {
    set(op->getResult(0), appendConstant(constant));
    return true;
  }
  if (!linalg->read(op))
    return false;
  // The element of a structured operation is an expression of its operands'
  // elements. It becomes a stage in two cases: a result that is read more than
  // once would be duplicated, and integer divisions and computed reads must be
  // defined even where nothing reads the result.
  bool isNeverUndefined = !LinalgReader::mayBeUndefined(op);
  for (Value result : op->getResults()) {
    auto isRead = [](OpOperand &use) {
      return !isa<tensor::DimOp>(use.getOwner());
    };
    bool isReadOften = isa<linalg::LinalgOp>(op) &&
                       llvm::count_if(result.getUses(), isRead) > 1;
    if (isReadOften || !isNeverUndefined)
      linalg->keep(result);
  }
  return !hasFailed();
}

bool ProgramBuilder::addReturn(func::ReturnOp result) {
  for (Value value : result.getOperands()) {
    std::optional<TensorId> tensor = get(value);
    if (!tensor)
      return fail("a result of '" + function.getName() + "' is no tensor");
    // A result is a stage: arguments are copied.
    if (!tensor->isStage) {
      DefinitionBuilder copy(getContext(), {shapeOf(*tensor)});
      copy.result(
          copy.stage("copy", copy.dims(0), copy.elementType(0),
                     [&](ArrayRef<Expr> i) { return copy.read(0, i); }));
      tensor = append(copy.take(), {*tensor}).front();
    }
    definition.results.push_back(tensor->index);
  }
  return true;
}

/// Whether the verifier supports all types, and the function is short enough to
/// read quickly.
bool ProgramBuilder::isWithinBounds() {
  constexpr size_t maxOperations = 100000, maxOtherOperations = 8000;
  size_t numOperations = 0, numOthers = 0;
  auto isWide = [](Type type) {
    auto integer = dyn_cast<IntegerType>(getElementTypeOrSelf(type));
    return integer && integer.getWidth() > 64;
  };
  bool hasWide = llvm::any_of(function.getArgumentTypes(), isWide);
  function.walk([&](Operation *op) {
    ++numOperations;
    numOthers += !isa<DefinitionOpInterface, OpaqueOpInterface>(op);
    hasWide |= llvm::any_of(op->getResultTypes(), isWide);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        hasWide |= llvm::any_of(block.getArgumentTypes(), isWide);
  });
  if (hasWide)
    return fail("integers of more than 64 bits are beyond the verifier");
  for (auto [number, most] : {std::pair(numOperations, maxOperations),
                              std::pair(numOthers, maxOtherOperations)})
    if (number > most)
      return fail("'" + function.getName() + "' has more than " +
                  llvm::Twine(most) +
                  (number == numOperations ? " operations"
                                           : " operations that are not mlc's"));
  return true;
}

/// The value carried by a loop must not remain an unknown, because the other
/// function would have the same unknown.
bool ProgramBuilder::checkMarkers() {
  auto isMarker = [](llvm::StringRef name) {
    return name.starts_with("%handed") || name.starts_with("%I");
  };
  bool found = false;
  auto visit = [&](llvm::StringRef name) { found |= isMarker(name); };
  walkNames(definition, [&](IntExpr expr) { expr.walkSymbols(visit); }, visit);
  return !found || fail("a loop reads what another iteration has written");
}

/// Whether the reader's form of an operation is exact bit by bit: a fused
/// multiply-add rounds once, maxnumf drops NaN, a reduction into a tensor
/// starts with its elements, and fast math may do anything.
static bool isReadLiterally(Operation *op) {
  if (isa<math::FmaOp, math::RsqrtOp, arith::MaxNumFOp, arith::MinNumFOp,
          scf::ForOp>(op))
    return false;
  // A reverse scan adds from the end, but its definition from the start.
  if (auto scan = dyn_cast<CumSumOp>(op))
    return !scan.getReverse();
  if (auto structured = dyn_cast<linalg::LinalgOp>(op))
    if (structured.getNumReductionLoops() > 0)
      return false;
  auto fast = dyn_cast<arith::ArithFastMathInterface>(op);
  return !fast || !fast.getFastMathFlagsAttr() || // casts may have none
         fast.getFastMathFlagsAttr().getValue() == arith::FastMathFlags::none;
}

Program ProgramBuilder::build() {
  if (!function.getBody().hasOneBlock()) {
    fail("'" + function.getName() + "' must have one block");
  } else if (isWithinBounds() && addArguments() && addRequirements()) {
    shared.numbers.add(function);
    for (Operation &op : function.getBody().front()) {
      auto result = dyn_cast<func::ReturnOp>(op);
      if (!(result ? addReturn(result) : addOperation(&op)))
        break;
    }
    if (!hasFailed())
      checkMarkers();
  }
  Program program;
  program.definition = std::move(definition);
  program.needs = std::move(needs);
  program.openStages = std::move(openStages);
  function.walk(
      [&](Operation *op) { program.isLiteral &= isReadLiterally(op); });
  program.numArguments = function.getNumArguments();
  program.failure = failure;
  return program;
}

} // namespace mlc::verifier
