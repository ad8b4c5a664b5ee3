//===- Emit.cpp - A pattern as a rule.def ---------------------------------===//

#include "rewrites/Generate/Emit.h"
#include "dialects/Module/ParseModule.h"
#include "dialects/Symbolic/Attributes.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::StringRef;

namespace mlc::generate {

Emitter::Emitter(MLIRContext *context) : context(context), builder(context) {
  context->loadDialect<MlcDialect, func::FuncDialect, rule::RuleDialect>();
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

/// Names of leaves' dims; attributes of variants use other names.
static std::string dimName(unsigned leaf, unsigned dim) {
  return std::string(1, static_cast<char>('A' + leaf)) + std::to_string(dim);
}

std::vector<Shape> otherShapes(const Pattern &pattern) {
  bool isPointwise = true, isSpatial = false;
  for (const TermNode &node : pattern.getNodes()) {
    if (node.isLeaf())
      continue;
    isPointwise &= pattern.variantOf(node).isPointwise;
    isSpatial |= !pattern.variantOf(node).lifted.empty();
  }
  std::vector<Shape> shapes;
  if (isPointwise)
    for (unsigned rank : {1, 3, 4})
      shapes.push_back({Shape::Kind::Rank, rank});
  else if (isSpatial)
    shapes.push_back({Shape::Kind::TwoDims, 0});
  return shapes;
}

Emitter::Dims Emitter::leafDims(const Pattern &pattern, const TermNode &node,
                                Typing typing, unsigned leaf) {
  // The catalog's expressions belong to another context.
  Dims found;
  for (IntExpr dim : pattern.getCatalog().type(node.type).dims)
    found.push_back(parseDims(context, dim.str()).front());
  // The last dim stands for the others.
  if (shape.kind == Shape::Kind::TwoDims)
    found.push_back(found.back());
  if (shape.kind == Shape::Kind::Rank)
    found.resize(shape.rank, found.back());
  if (typing == Typing::LeafSet && shape.kind == Shape::Kind::AsFound)
    return found;
  Dims fresh;
  for (auto [d, dim] : llvm::enumerate(found))
    fresh.push_back(
        dim.isConstant() ? dim : IntExpr::symbol(context, dimName(leaf, d)));
  return fresh;
}

static bool isDimName(StringRef name) {
  return name.size() == 2 && name[0] >= 'A' && name[0] <= 'J' &&
         name[1] >= '0' && name[1] <= '9';
}

/// Solves `zero` = 0 for a leaf's dim; nullopt if no dim can be solved for or
/// the solution may be negative.
static std::optional<std::pair<std::string, IntExpr>> solve(IntExpr zero) {
  std::vector<std::string> names;
  zero.walkSymbols([&](StringRef name) {
    if (isDimName(name))
      names.push_back(name.str());
  });
  std::optional<std::pair<std::string, IntExpr>> best;
  for (const std::string &name : names) {
    IntExpr none = IntExpr::constant(zero.getContext(), 0);
    auto at = [&](IntExpr value) {
      return zero.substitute(
          [&](StringRef n) { return n == name ? value : IntExpr(); });
    };
    IntExpr rest = at(none), one = at(none + 1), two = at(none + 2);
    // Linear with coefficient 1 or -1.
    IntExpr slope = one - rest;
    if (two - one != slope || !(slope.isConstant(1) || slope.isConstant(-1)))
      continue;
    IntExpr value = slope.isConstant(1) ? -rest : rest;
    bool isItself = false;
    value.walkSymbols([&](StringRef n) { isItself |= n == name; });
    if (isItself || !value.isKnownNonNegative())
      continue;
    // Replace a later leaf's dim by earlier ones.
    if (!best || name > best->first)
      best = {name, value};
  }
  return best;
}

bool Emitter::unify(Sides sides, llvm::SmallVectorImpl<Dims> &dims) {
  std::vector<IntExpr> zeros;
  for (func::FuncOp side : {sides.before, sides.after})
    for (Operation &op : side.getBody().front())
      if (auto defined = dyn_cast<DefinitionOpInterface>(op))
        if (FailureOr<Definition> definition = getDefinition(defined);
            succeeded(definition))
          for (const Requirement &r : definition->requirements)
            if (r.predicate == ComparePredicate::EQ)
              zeros.push_back(r.lhs - r.rhs);
  for (auto [a, b] :
       llvm::zip(sides.before.getResultTypes(), sides.after.getResultTypes()))
    for (auto [x, y] : llvm::zip(*getDims(cast<RankedTensorType>(a)),
                                 *getDims(cast<RankedTensorType>(b))))
      zeros.push_back(x - y);
  bool changed = false;
  for (size_t i = 0; i < zeros.size(); ++i) {
    auto solved = zeros[i].isConstant() ? std::nullopt : solve(zeros[i]);
    if (!solved)
      continue;
    auto replace = [&](IntExpr expr) {
      return expr.substitute([&](StringRef name) {
        return name == solved->first ? solved->second : IntExpr();
      });
    };
    for (Dims &leaf : dims)
      for (IntExpr &dim : leaf)
        dim = replace(dim);
    for (IntExpr &zero : zeros)
      zero = replace(zero);
    changed = true;
  }
  return changed;
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

FailureOr<Value> Emitter::buildTerm(const Pattern &pattern, uint8_t n,
                                    OpBuilder &at,
                                    llvm::DenseMap<uint8_t, Value> &values,
                                    VariantBuilder::Constants constants) {
  if (auto it = values.find(n); it != values.end())
    return it->second;
  const TermNode &node = pattern.getNodes()[n];
  SmallVector<Value> operands;
  for (uint8_t operand : node.operands) {
    FailureOr<Value> value = buildTerm(pattern, operand, at, values, constants);
    if (failed(value))
      return failure();
    operands.push_back(*value);
  }
  const Variant &variant = pattern.variantOf(node);
  bool isLifted = shape.kind == Shape::Kind::TwoDims && !variant.lifted.empty();
  FailureOr<Value> value = builder.build(
      at, isLifted ? variant.lifted : variant.steps, operands, constants);
  if (failed(value))
    return failure();
  return values[n] = *value;
}

/// Fills both functions, which are empty; leaves are the first arguments, then
/// constants.
LogicalResult Emitter::buildSides(const Pattern &pattern, ArrayRef<Dims> dims,
                                  Sides sides) {
  Type f32 = Float32Type::get(context);
  Location loc = UnknownLoc::get(context);
  func::FuncOp functions[] = {sides.before, sides.after};
  for (func::FuncOp function : functions) {
    function.getBody().dropAllReferences();
    function.getBody().getBlocks().clear();
    Block &block = function.getBody().emplaceBlock();
    for (const Dims &leaf : dims)
      block.addArgument(getTensorType(leaf, f32), loc);
  }
  std::map<uint8_t, std::string> names = pattern.leafNames();
  // Constants are arguments of both sides.
  std::map<std::pair<std::string, const void *>, unsigned> constants;
  SmallVector<Value> results;
  for (auto [side, function] : llvm::enumerate(functions)) {
    Block &block = function.getBody().front();
    llvm::DenseMap<uint8_t, Value> values;
    unsigned leaf = 0;
    for (auto [n, node] : llvm::enumerate(pattern.getNodes()))
      if (node.isLeaf()) {
        BlockArgument argument = block.getArgument(leaf++);
        setArgumentName(argument, names.at(n));
        values[n] = argument;
      }
    auto constant = [&](StringRef name,
                        ArrayRef<IntExpr> constantDims) -> Value {
      Type type = getTensorType(constantDims, f32);
      auto [it, isNew] =
          constants.try_emplace({name.str(), type.getAsOpaquePointer()},
                                dims.size() + constants.size());
      if (isNew)
        for (func::FuncOp each : functions)
          setArgumentName(each.getBody().front().addArgument(type, loc), name);
      return block.getArgument(it->second);
    };
    OpBuilder at = OpBuilder::atBlockEnd(&block);
    FailureOr<Value> result =
        buildTerm(pattern, side == 0 ? pattern.getBefore() : pattern.getAfter(),
                  at, values, constant);
    if (failed(result))
      return failure();
    results.push_back(*result);
    func::ReturnOp::create(at, loc, *result);
  }
  for (auto [function, result] : llvm::zip(functions, results))
    function.setType(FunctionType::get(
        context, function.getBody().front().getArgumentTypes(),
        result.getType()));
  return success(cast<RankedTensorType>(results[0].getType()).getRank() ==
                 cast<RankedTensorType>(results[1].getType()).getRank());
}

/// Requires sizes of leaves, and sizes that only attributes name (of repeats
/// and slices), to be at least `minimum`.
static void requireMinimum(rule::DefOp def,
                           ArrayRef<SmallVector<IntExpr, 4>> dims,
                           unsigned minimum) {
  std::set<std::string> symbols;
  auto collect = [&](IntExpr dim) {
    dim.walkSymbols([&](StringRef symbol) { symbols.insert(symbol.str()); });
  };
  for (const SmallVector<IntExpr, 4> &leaf : dims)
    llvm::for_each(leaf, collect);
  def.walk([&](Operation *op) {
    for (Type type : op->getResultTypes()) {
      SmallVector<IntExpr> own = *getDims(cast<RankedTensorType>(type));
      for (IntExpr dim : own)
        if (dim.getKind() == IntExpr::Kind::Symbol)
          collect(dim);
    }
  });
  MLIRContext *context = def.getContext();
  Assumptions condition;
  for (const std::string &symbol : symbols)
    condition.integers.push_back(Condition::compare(
        IntExpr::symbol(context, symbol), ComparePredicate::GE,
        IntExpr::constant(context, minimum)));
  addCondition(def, condition);
}

FailureOr<OwningOpRef<ModuleOp>> Emitter::emit(const Pattern &pattern,
                                               Typing typing, StringRef name,
                                               unsigned minimum,
                                               Shape newShape) {
  shape = newShape;
  Location loc = UnknownLoc::get(context);
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  OpBuilder at = OpBuilder::atBlockEnd(module->getBody());
  auto def = rule::DefOp::create(at, loc, name, pattern.text(Detail::Variant));
  def.getBody().emplaceBlock();
  at.setInsertionPointToEnd(&def.getBody().front());
  auto makeFunction = [&](StringRef side) {
    return func::FuncOp::create(at, loc, side,
                                FunctionType::get(context, {}, {}));
  };
  Sides sides{makeFunction("before"), makeFunction("after")};
  SmallVector<Dims> dims;
  unsigned leaves = 0;
  for (const TermNode &node : pattern.getNodes())
    if (node.isLeaf())
      dims.push_back(leafDims(pattern, node, typing, leaves++));
  if (failed(buildSides(pattern, dims, sides)))
    return failure();
  // Each round fixes a dim; there are few.
  for (unsigned round = 0;
       typing == Typing::General && round < 16 && unify(sides, dims); ++round)
    if (failed(buildSides(pattern, dims, sides)))
      return failure();
  if (minimum > 0)
    requireMinimum(def, dims, minimum);
  return module;
}

//===----------------------------------------------------------------------===//
// Conditions
//===----------------------------------------------------------------------===//

bool addCondition(rule::DefOp def, const Assumptions &condition) {
  MLIRContext *context = def.getContext();
  Location loc = def.getLoc();
  OpBuilder at = OpBuilder::atBlockBegin(&def.getBody().front());
  auto dims = [&](ArrayRef<IntExpr> list) {
    return DimsAttr::get(context, list);
  };
  for (const Condition &one : condition.integers) {
    SmallVector<Condition> literals{one};
    if (one.getKind() == Condition::Kind::AnyOf)
      literals.assign(one.getParts().begin(), one.getParts().end());
    SmallVector<IntExpr> lhs, rhs;
    SmallVector<StringRef> words;
    for (const Condition &literal : literals) {
      bool isDivides = literal.getKind() == Condition::Kind::Divides;
      if (!isDivides && literal.getKind() != Condition::Kind::Compare)
        return false;
      lhs.push_back(literal.getLhs());
      rhs.push_back(literal.getRhs());
      words.push_back(isDivides
                          ? StringRef("divides")
                          : stringifyComparePredicate(literal.getPredicate()));
    }
    rule::RequireOp::create(at, loc, dims(lhs), at.getStrArrayAttr(words),
                            dims(rhs));
  }
  for (const TensorAssumption &tensor : condition.tensors)
    def.assume(tensor.argument, tensor.predicate);
  for (const RealAssumption &real : condition.reals)
    rule::AssumeRealOp::create(at, loc, real.parameter, real.predicate,
                               llvm::APFloat(real.bound));
  return true;
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

static std::string termName(const Pattern &pattern, uint8_t n) {
  const TermNode &node = pattern.getNodes()[n];
  if (node.isLeaf())
    return "";
  std::string text = pattern.variantOf(node).name, operands;
  for (uint8_t operand : node.operands) {
    std::string one = termName(pattern, operand);
    if (!one.empty())
      operands += (operands.empty() ? "" : "_and_") + one;
  }
  return operands.empty() ? text : text + "_of_" + operands;
}

std::string ruleName(const Pattern &pattern) {
  std::string after = termName(pattern, pattern.getAfter());
  return shortRuleName(pattern) +
         (after.empty() ? "_is_identity" : "_is_" + after);
}

std::string shortRuleName(const Pattern &pattern) {
  return termName(pattern, pattern.getBefore());
}

std::string ruleText(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream os(text);
  for (Operation &op : *module.getBody()) {
    op.print(os, OpPrintingFlags().printNameLocAsPrefix());
    os << '\n';
  }
  return text;
}

OwningOpRef<ModuleOp> parseRule(StringRef text, MLIRContext &context) {
  context.loadDialect<MlcDialect, func::FuncDialect, rule::RuleDialect>();
  return parseModuleText(text, "rule", &context);
}

} // namespace mlc::generate
