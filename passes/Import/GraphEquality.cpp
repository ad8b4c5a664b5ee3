//===- GraphEquality.cpp - Are two graphs the same? -----------------------===//

#include "passes/Import/GraphEquality.h"
#include "dialects/Graph/ContractionOps.h"
#include "dialects/Graph/ConvolutionOps.h"
#include "dialects/Graph/ModelOps.h"
#include "dialects/Graph/MovementOps.h"
#include "dialects/Graph/PointwiseOps.h"
#include "dialects/Module/CompileTime.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Import/TensorData.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/BLAKE3.h"
#include <map>

using namespace mlir;
using namespace mlc;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::StringRef;

namespace {

using TermNumber = unsigned;

/// Numbers values so that equal numbers mean equal values.
class Terms {
public:
  void addArgument(BlockArgument argument) {
    Key key{0, argument.getArgNumber(), bits(argument.getType())};
    numbers[argument] = intern(std::move(key), dimsOf(argument));
  }

  /// Whether all results existed already.
  bool addOperator(Operation *op) {
    size_t before = terms.size();
    if (auto constant = dyn_cast<ConstantOp>(op))
      numbers[constant] = constantTerm(constant);
    else if (auto reshape = dyn_cast<ReshapeOp>(op))
      numbers[reshape] = reshaped(numberOf(reshape.getX()), dimsOf(reshape));
    else if (auto broadcast = dyn_cast<BroadcastOp>(op))
      numbers[broadcast] =
          broadcasted(numberOf(broadcast.getX()), dimsOf(broadcast));
    else if (auto transpose = dyn_cast<TransposeOp>(op))
      numbers[transpose] = transposed(transpose);
    else if (auto cast = dyn_cast<CastOp>(op);
             cast && cast.getX().getType() == cast.getType())
      numbers[cast] = numberOf(cast.getX());
    else if (auto conv = dyn_cast<ConvOp>(op); conv && isPixelProduct(conv))
      numbers[conv] = pixelProduct(conv);
    else
      addOther(op);
    return terms.size() == before;
  }

  TermNumber numberOf(Value value) const { return numbers.lookup(value); }

private:
  using Key = std::vector<uint64_t>;
  enum Kind : uint64_t {
    Argument,
    Constant,
    Reshape,
    Broadcast,
    Transpose,
    Other
  };
  struct Term {
    Dims dims;
    TermNumber base;   // operand of a reshape; otherwise itself
    TermNumber narrow; // operand of a broadcast; otherwise itself
    TermNumber source; // operand of a transpose; otherwise itself
    SmallVector<int64_t> order;
  };

  static uint64_t bits(Type type) {
    return reinterpret_cast<uint64_t>(type.getAsOpaquePointer());
  }
  static uint64_t bits(Attribute attribute) {
    return reinterpret_cast<uint64_t>(attribute.getAsOpaquePointer());
  }

  TermNumber intern(Key key, Dims dims) {
    auto [it, isNew] = table.try_emplace(std::move(key), terms.size());
    if (isNew) {
      TermNumber self = terms.size();
      terms.push_back({std::move(dims), self, self, self, {}});
    }
    return it->second;
  }

  static void append(Key &key, ArrayRef<IntExpr> dims) {
    for (IntExpr dim : dims)
      key.push_back(bits(Attribute(dim)));
  }

  TermNumber reshaped(TermNumber x, Dims dims) {
    TermNumber base = terms[x].base;
    if (terms[base].dims == dims)
      return base;
    Key key{Reshape, base};
    append(key, dims);
    TermNumber made = intern(std::move(key), std::move(dims));
    terms[made].base = base;
    return made;
  }

  TermNumber broadcasted(TermNumber x, Dims dims) {
    TermNumber narrow = terms[x].narrow;
    if (terms[narrow].dims == dims)
      return narrow;
    Key key{Broadcast, narrow};
    append(key, dims);
    TermNumber made = intern(std::move(key), std::move(dims));
    terms[made].narrow = narrow;
    return made;
  }

  TermNumber transposed(TransposeOp op) {
    TermNumber x = numberOf(op.getX()), source = terms[x].source;
    SmallVector<int64_t> order;
    bool isIdentity = true;
    for (int64_t from : op.getPermutation())
      order.push_back(source == x ? from : terms[x].order[from]);
    for (auto [i, from] : llvm::enumerate(order))
      isIdentity &= int64_t(i) == from;
    if (isIdentity)
      return source;
    Key key{Transpose, source};
    key.insert(key.end(), order.begin(), order.end());
    TermNumber made = intern(std::move(key), dimsOf(op));
    terms[made].source = source;
    terms[made].order = order;
    return made;
  }

  /// The flat elements; dims are a reshape of them.
  TermNumber constantTerm(ConstantOp op) {
    auto value = cast<ElementsAttr>(op.getValue());
    auto type = cast<RankedTensorType>(value.getType());
    llvm::BLAKE3 hash;
    auto dense = dyn_cast<DenseElementsAttr>(value);
    std::optional<std::vector<char>> bytes;
    bool isSplat = dense && dense.isSplat();
    if (isSplat)
      bytes = getRawBytes(
          dense.resizeSplat(RankedTensorType::get({1}, type.getElementType())));
    else
      bytes = getRawBytes(value);
    unsigned size = getRawElementSize(type.getElementType());
    if (!bytes || size == 0)
      // Without bytes a constant equals only itself.
      return intern({Constant, 1, bits(Attribute(value))}, dimsOf(op));
    if (!isSplat && bytes->size() > size &&
        StringRef(bytes->data(), bytes->size() - size) ==
            StringRef(bytes->data() + size, bytes->size() - size)) {
      isSplat = true;
      bytes->resize(size);
    }
    hash.update(StringRef(bytes->data(), bytes->size()));
    auto digest = hash.final<16>();
    uint64_t words[2];
    std::memcpy(words, digest.data(), sizeof(words));
    IntExpr count = IntExpr::constant(op.getContext(), type.getNumElements());
    TermNumber flat =
        intern({Constant, 0, uint64_t(isSplat), bits(type.getElementType()),
                uint64_t(type.getNumElements()), words[0], words[1]},
               {count});
    return reshaped(flat, dimsOf(op));
  }

  /// ONNX's attributes are float32.
  static DictionaryAttr canonical(DictionaryAttr attributes) {
    SmallVector<NamedAttribute> entries;
    for (NamedAttribute entry : attributes) {
      auto real = dyn_cast<RealAttr>(entry.getValue());
      entries.push_back(
          real ? NamedAttribute(entry.getName(),
                                RealAttr::get(attributes.getContext(),
                                              float(real.getDouble())))
               : entry);
    }
    return DictionaryAttr::get(attributes.getContext(), entries);
  }

  /// A result of any other operator.
  TermNumber other(OperationName name, DictionaryAttr attributes,
                   unsigned result, ArrayRef<TermNumber> operands, Dims dims) {
    Key key{Other, bits(Attribute(name.getIdentifier())),
            bits(Attribute(canonical(attributes))), result, operands.size()};
    key.insert(key.end(), operands.begin(), operands.end());
    return intern(std::move(key), std::move(dims));
  }

  void addOther(Operation *op) {
    SmallVector<TermNumber> operands;
    for (Value operand : op->getOperands())
      operands.push_back(numberOf(operand));
    for (OpResult result : op->getResults())
      numbers[result] =
          other(op->getName(), op->getAttrDictionary(),
                result.getResultNumber(), operands, dimsOf(result));
  }

  static bool isPixelProduct(ConvOp op) {
    auto all = [](DimsAttr dims, int64_t value) {
      return llvm::all_of(dims.getDims(),
                          [&](IntExpr dim) { return dim.isConstant(value); });
    };
    Dims weights = dimsOf(op.getW());
    return all(op.getStrides(), 1) && all(op.getPads(), 0) &&
           op.getGroups().isConstant(1) &&
           llvm::all_of(ArrayRef<IntExpr>(weights).drop_front(2),
                        [](IntExpr dim) { return dim.isConstant(1); });
  }

  /// [n, o, ...] as the product of [n, o, c] and [n, c, pixels], by the rule
  /// conv_1x1_is_matmul.
  TermNumber pixelProduct(ConvOp op) {
    Dims x = dimsOf(op.getX()), y = dimsOf(op), w = dimsOf(op.getW());
    MLIRContext *context = op.getContext();
    IntExpr pixels =
        getNumElements(context, ArrayRef<IntExpr>(x).drop_front(2));
    TermNumber weights = reshaped(numberOf(op.getW()),
                                  {IntExpr::constant(context, 1), w[0], w[1]});
    TermNumber lhs = broadcasted(weights, {x[0], w[0], w[1]});
    TermNumber rhs = reshaped(numberOf(op.getX()), {x[0], x[1], pixels});
    OperationName matmul(MatMulOp::getOperationName(), context);
    TermNumber product = other(matmul, DictionaryAttr::get(context), 0,
                               {lhs, rhs}, {x[0], w[0], pixels});
    return reshaped(product, y);
  }

  std::map<Key, TermNumber> table;
  std::vector<Term> terms;
  llvm::DenseMap<Value, TermNumber> numbers;
};

class Comparison {
public:
  Comparison(ModuleOp a, ModuleOp b)
      : a(a), b(b), expected(a.lookupSymbol<func::FuncOp>("main")),
        found(b.lookupSymbol<func::FuncOp>("main")) {}

  std::optional<std::string> run() {
    if (!expected || !found || !expected.getBody().hasOneBlock() ||
        !found.getBody().hasOneBlock())
      return "there is no function main";
    for (auto step : {&Comparison::compareInputs, &Comparison::compareOutputs,
                      &Comparison::compareChecks, &Comparison::compareValues})
      if (std::optional<std::string> difference = (this->*step)())
        return difference;
    return std::nullopt;
  }

private:
  using Answer = std::optional<std::string>;

  static std::string nameOf(Attribute attribute) {
    auto name = dyn_cast_or_null<StringAttr>(attribute);
    return name ? name.str() : "";
  }
  static std::string text(Type type) {
    std::string text;
    llvm::raw_string_ostream(text) << type;
    return text;
  }
  static Answer comparePort(StringRef what, unsigned i, std::string expected,
                            std::string found, Type wanted, Type has) {
    if (expected != found)
      return (what + " " + llvm::Twine(i) + " is called '" + found +
              "' instead of '" + expected + "'")
          .str();
    if (wanted != has)
      return (what + " '" + found + "' is a " + text(has) + " instead of a " +
              text(wanted))
          .str();
    return std::nullopt;
  }

  /// The elements of argument `i` if it is a parameter.
  static std::optional<std::vector<char>> bytesOf(func::FuncOp function,
                                                  unsigned i) {
    auto value = function.getArgAttrOfType<ElementsAttr>(i, kParameterAttr);
    return value ? getRawBytes(value) : std::nullopt;
  }

  Answer compareInputs() {
    if (expected.getNumArguments() != found.getNumArguments())
      return std::to_string(found.getNumArguments()) + " inputs instead of " +
             std::to_string(expected.getNumArguments());
    for (unsigned i = 0; i < found.getNumArguments(); ++i)
      if (Answer difference = comparePort(
              "input", i, nameOf(expected.getArgAttr(i, "mlc.name")),
              nameOf(found.getArgAttr(i, "mlc.name")),
              expected.getArgument(i).getType(),
              found.getArgument(i).getType()))
        return difference;
      else if (bytesOf(expected, i) != bytesOf(found, i))
        return "the parameter '" + nameOf(found.getArgAttr(i, "mlc.name")) +
               "' has other elements";
    return std::nullopt;
  }

  Answer compareOutputs() {
    if (expected.getNumResults() != found.getNumResults())
      return std::to_string(found.getNumResults()) + " outputs instead of " +
             std::to_string(expected.getNumResults());
    for (unsigned i = 0; i < found.getNumResults(); ++i)
      if (Answer difference = comparePort(
              "output", i, nameOf(expected.getResultAttr(i, "mlc.name")),
              nameOf(found.getResultAttr(i, "mlc.name")),
              expected.getResultTypes()[i], found.getResultTypes()[i]))
        return difference;
    return std::nullopt;
  }

  /// The pairs that a module assumes to be equal.
  static SmallVector<std::pair<IntExpr, IntExpr>> checksOf(ModuleOp module) {
    SmallVector<std::pair<IntExpr, IntExpr>> checks;
    for (auto check : module.getOps<CheckOp>())
      if (check.getPredicate() == ComparePredicate::EQ)
        checks.push_back({check.getLhs(), check.getRhs()});
    return checks;
  }

  /// Whether x = y follows from a check in `known`: it is the same, or both
  /// require a non-negative number and that of `known` is not larger.
  static bool isImplied(IntExpr x, IntExpr y,
                        ArrayRef<std::pair<IntExpr, IntExpr>> known) {
    auto isAtLeast0 = [](IntExpr a, IntExpr b) {
      return a == IntExpr::max(b, IntExpr::constant(b.getContext(), 0));
    };
    return llvm::any_of(known, [&, x = x, y = y](const auto &pair) {
      auto [a, b] = pair;
      return (a == x && b == y) || (a == y && b == x) ||
             (isAtLeast0(x, y) && isAtLeast0(a, b) &&
              (y - b).isKnownNonNegative());
    });
  }

  /// Compares the inputs that both refuse at run time.
  Answer compareChecks() {
    auto wanted = checksOf(a), has = checksOf(b);
    auto text = [](const std::pair<Attribute, Attribute> &check) {
      return cast<IntExpr>(check.first).str() + " is " +
             cast<IntExpr>(check.second).str();
    };
    auto missing = [](const auto &checks, const auto &known) {
      return llvm::find_if(checks, [&](const auto &check) {
        return !isImplied(cast<IntExpr>(check.first),
                          cast<IntExpr>(check.second), known);
      });
    };
    if (auto it = missing(has, wanted); it != has.end())
      return "it takes for granted that " + text(*it) +
             ", which the model does not";
    if (auto it = missing(wanted, has); it != wanted.end())
      return "it does not need that " + text(*it) + ", which the model needs";
    return std::nullopt;
  }

  Answer compareValues() {
    Terms terms;
    for (BlockArgument argument : expected.getArguments())
      terms.addArgument(argument);
    for (BlockArgument argument : found.getArguments())
      terms.addArgument(argument);
    for (Operation &op : expected.getBody().front().without_terminator())
      (void)terms.addOperator(&op);
    Operation *firstNew = nullptr;
    for (Operation &op : found.getBody().front().without_terminator())
      if (!terms.addOperator(&op) && !firstNew && !isa<ConstantOp>(op))
        firstNew = &op;
    Operation *x = expected.getBody().front().getTerminator();
    Operation *y = found.getBody().front().getTerminator();
    for (unsigned i = 0; i < x->getNumOperands(); ++i) {
      if (terms.numberOf(x->getOperand(i)) == terms.numberOf(y->getOperand(i)))
        continue;
      std::string where = "output '" +
                          nameOf(found.getResultAttr(i, "mlc.name")) +
                          "' is computed in another way";
      if (firstNew)
        if (auto name = firstNew->getLoc()->findInstanceOf<NameLoc>())
          where += "; the first node that differs is '" + name.getName().str() +
                   "' (" + firstNew->getName().getStringRef().str() + ")";
      return where;
    }
    return std::nullopt;
  }

  ModuleOp a, b;
  func::FuncOp expected, found;
};

} // namespace

std::optional<std::string> mlc::graphDifference(ModuleOp expected,
                                                ModuleOp found) {
  return Comparison(expected, found).run();
}
