//===- LinalgRun.cpp - Runs functions of linalg on numbers ----------------===//
//
// An interpreter that knows what structured operations do with elements, and
// leaves what happens to numbers to upstream's folders. It shares nothing with
// the verifier's reading of linalg.
//
//===----------------------------------------------------------------------===//

#include "Linalg.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>

using namespace mlir;

namespace mlc::test {

namespace {

using Point = SmallVector<int64_t>;

struct Array {
  Point dims;
  std::vector<Attribute> elements; // null: not written
};

int64_t countOf(ArrayRef<int64_t> dims) {
  int64_t count = 1;
  for (int64_t dim : dims)
    count *= dim;
  return count;
}

/// Calls `visit` with every point, in row-major order; false if it does.
bool forEach(ArrayRef<int64_t> dims,
             llvm::function_ref<bool(ArrayRef<int64_t>)> visit) {
  Point point(dims.size(), 0);
  for (int64_t i = countOf(dims); i > 0; --i) {
    if (!visit(point))
      return false;
    for (size_t d = dims.size(); d-- > 0;) {
      if (++point[d] < dims[d])
        break;
      point[d] = 0;
    }
  }
  return true;
}

/// The element's place; nothing where it is out of range.
std::optional<size_t> placeOf(ArrayRef<int64_t> dims, ArrayRef<int64_t> point) {
  int64_t place = 0;
  for (auto [dim, at] : llvm::zip(dims, point)) {
    if (at < 0 || at >= dim)
      return std::nullopt;
    place = place * dim + at;
  }
  return place;
}

class Interpreter {
public:
  /// The function's result; nothing where it is undefined, a float is no
  /// number, or the work is too much.
  std::optional<Array> run(func::FuncOp function, ArrayRef<Array> inputs) {
    Block &body = function.getBody().front();
    for (auto [argument, input] : llvm::zip(body.getArguments(), inputs))
      arrays[argument] = input;
    if (!runBlock(body))
      return std::nullopt;
    return arrays[body.getTerminator()->getOperand(0)];
  }

private:
  bool runBlock(Block &block) {
    return llvm::all_of(block.without_terminator(),
                        [&](Operation &op) { return runOp(&op); });
  }

  std::optional<int64_t> indexOf(OpFoldResult value) {
    auto attribute = dyn_cast<Attribute>(value);
    auto integer = dyn_cast_or_null<IntegerAttr>(
        attribute ? attribute : scalars.lookup(cast<Value>(value)));
    return integer ? std::optional(integer.getInt()) : std::nullopt;
  }
  std::optional<Point> indicesOf(ArrayRef<OpFoldResult> values) {
    Point result;
    for (OpFoldResult value : values) {
      std::optional<int64_t> one = indexOf(value);
      if (!one)
        return std::nullopt;
      result.push_back(*one);
    }
    return result;
  }

  /// An array of these dims; false where they are none, or too large.
  bool make(Value value, ArrayRef<int64_t> dims, Attribute element = {}) {
    if (llvm::any_of(dims, [](int64_t d) { return d < 0 || d > 100000; }) ||
        countOf(dims) > 100000)
      return false;
    arrays[value] = {Point(dims),
                     std::vector<Attribute>(countOf(dims), element)};
    return true;
  }

  bool runOp(Operation *op) {
    return llvm::TypeSwitch<Operation *, bool>(op)
        .Case([&](tensor::DimOp o) {
          auto at = indexOf(OpFoldResult(o.getIndex()));
          scalars[o] = IntegerAttr::get(IndexType::get(op->getContext()),
                                        arrays[o.getSource()].dims[*at]);
          return true;
        })
        .Case([&](tensor::EmptyOp o) {
          auto dims = indicesOf(o.getMixedSizes());
          return dims && make(o, *dims);
        })
        .Case([&](linalg::FillOp o) {
          return make(o.getResult(0), arrays[o.getOutputs()[0]].dims,
                      scalars.lookup(o.getInputs()[0]));
        })
        .Case([&](linalg::TransposeOp o) {
          Array &x = arrays[o.getInput()], &out = arrays[o.getInit()];
          if (x.dims[0] != out.dims[1] || x.dims[1] != out.dims[0])
            return false;
          return make(o->getResult(0), {x.dims[1], x.dims[0]}) &&
                 forEach(arrays[o.getInput()].dims, [&](ArrayRef<int64_t> p) {
                   return move(o.getInput(), p, o->getResult(0), {p[1], p[0]});
                 });
        })
        .Case([&](linalg::GenericOp o) { return runGeneric(o); })
        .Case([&](tensor::ExtractSliceOp o) {
          auto sizes = indicesOf(o.getMixedSizes());
          return sizes && make(o, *sizes) &&
                 slice(o.getSource(), o, o.getMixedOffsets(), *sizes,
                       o.getMixedStrides(), /*isRead=*/true);
        })
        .Case([&](tensor::InsertSliceOp o) {
          auto sizes = indicesOf(o.getMixedSizes());
          if (!sizes || arrays[o.getSource()].dims != *sizes)
            return false;
          Array whole = arrays[o.getDest()];
          arrays[o] = std::move(whole);
          return slice(o.getSource(), o, o.getMixedOffsets(), *sizes,
                       o.getMixedStrides(), /*isRead=*/false);
        })
        .Case([&](tensor::PadOp o) { return runPad(o); })
        .Case([&](tensor::CollapseShapeOp o) {
          Array x = arrays[o.getSrc()];
          x.dims = {countOf(x.dims)};
          arrays[o] = x;
          return true;
        })
        .Case([&](tensor::ExpandShapeOp o) {
          Array x = arrays[o.getSrc()];
          auto dims = indicesOf(o.getMixedOutputShape());
          if (!dims || countOf(*dims) != countOf(x.dims))
            return false;
          x.dims = *dims;
          arrays[o] = x;
          return true;
        })
        .Case([&](scf::ForOp o) { return runLoop(o); })
        .Default([&](Operation *) { return fold(op); });
  }

  bool move(Value from, ArrayRef<int64_t> at, Value to,
            ArrayRef<int64_t> there) {
    Array &x = arrays[from], &y = arrays[to];
    auto source = placeOf(x.dims, at), target = placeOf(y.dims, there);
    if (!source || !target)
      return false;
    y.elements[*target] = x.elements[*source];
    return true;
  }

  bool slice(Value source, Value result, ArrayRef<OpFoldResult> offsets,
             ArrayRef<int64_t> sizes, ArrayRef<OpFoldResult> strides,
             bool isRead) {
    auto first = indicesOf(offsets), step = indicesOf(strides);
    if (!first || !step)
      return false;
    // Nothing may begin outside either.
    const Point &whole = arrays[isRead ? source : result].dims;
    for (auto [at, dim] : llvm::zip(*first, whole))
      if (at < 0 || at > dim)
        return false;
    return forEach(sizes, [&](ArrayRef<int64_t> p) {
      Point there;
      for (auto [at, by, i] : llvm::zip(*first, *step, p))
        there.push_back(at + by * i);
      return isRead ? move(source, there, result, p)
                    : move(source, p, result, there);
    });
  }

  bool runPad(tensor::PadOp op) {
    auto low = indicesOf(op.getMixedLowPad()),
         high = indicesOf(op.getMixedHighPad());
    if (!low || !high)
      return false;
    Point dims = arrays[op.getSource()].dims;
    for (auto [dim, a, b] : llvm::zip(dims, *low, *high))
      dim += a + b;
    if (!make(op, dims, scalars.lookup(op.getConstantPaddingValue())))
      return false;
    Point from = arrays[op.getSource()].dims;
    return forEach(from, [&](ArrayRef<int64_t> p) {
      Point there(p);
      for (auto [at, by] : llvm::zip(there, *low))
        at += by;
      return move(op.getSource(), p, op, there);
    });
  }

  bool runLoop(scf::ForOp op) {
    auto first = indexOf(OpFoldResult(op.getLowerBound())),
         end = indexOf(OpFoldResult(op.getUpperBound())),
         step = indexOf(OpFoldResult(op.getStep()));
    if (!first || !end || !step || *step <= 0)
      return false;
    Array carried = arrays[op.getInitArgs()[0]];
    for (int64_t i = *first; i < *end; i += *step) {
      scalars[op.getInductionVar()] =
          IntegerAttr::get(IndexType::get(op.getContext()), i);
      arrays[op.getRegionIterArgs()[0]] = carried;
      if (!runBlock(*op.getBody()))
        return false;
      carried = arrays[op.getBody()->getTerminator()->getOperand(0)];
    }
    arrays[op.getResult(0)] = carried;
    return true;
  }

  /// Each loop's range, from operands that it indexes alone, which must agree.
  std::optional<Point> rangesOf(linalg::GenericOp op) {
    Point ranges(op.getNumLoops(), -1);
    for (OpOperand &operand : op->getOpOperands()) {
      AffineMap map = op.getMatchingIndexingMap(&operand);
      for (auto [expr, dim] :
           llvm::zip(map.getResults(), arrays[operand.get()].dims)) {
        int64_t &range = ranges[cast<AffineDimExpr>(expr).getPosition()];
        if (range >= 0 && range != dim)
          return std::nullopt;
        range = dim;
      }
    }
    return ranges;
  }

  bool runGeneric(linalg::GenericOp op) {
    std::optional<Point> ranges = rangesOf(op);
    if (!ranges || (work += countOf(*ranges)) > 60000)
      return false;
    Block &body = *op.getBody();
    Value init = op.getOutputs()[0];
    Array out = arrays[init];
    AffineMap map = op.getMatchingIndexingMap(&op.getDpsInitsMutable()[0]);
    return forEach(*ranges,
                   [&](ArrayRef<int64_t> point) {
                     loops.assign(point.begin(), point.end());
                     size_t place = 0;
                     for (OpOperand &operand : op->getOpOperands()) {
                       unsigned i = operand.getOperandNumber();
                       bool isOut = operand.get() == init &&
                                    i + 1 == op->getNumOperands();
                       Array &x = isOut ? out : arrays[operand.get()];
                       place = *placeOf(
                           x.dims,
                           at(isOut ? map : op.getMatchingIndexingMap(&operand),
                              point));
                       scalars[body.getArgument(i)] = x.elements[place];
                     }
                     if (!runBlock(body))
                       return false;
                     out.elements[place] =
                         scalars.lookup(body.getTerminator()->getOperand(0));
                     return out.elements[place] != nullptr;
                   }) &&
           (arrays[op.getResult(0)] = out, true);
  }
  static Point at(AffineMap map, ArrayRef<int64_t> point) {
    Point result;
    for (AffineExpr expr : map.getResults())
      result.push_back(point[cast<AffineDimExpr>(expr).getPosition()]);
    return result;
  }

  bool fold(Operation *op) {
    if (auto index = dyn_cast<linalg::IndexOp>(op)) {
      scalars[index] = IntegerAttr::get(IndexType::get(op->getContext()),
                                        loops[index.getDim()]);
      return true;
    }
    SmallVector<Attribute> operands;
    for (Value operand : op->getOperands())
      operands.push_back(scalars.lookup(operand));
    SmallVector<OpFoldResult> results;
    if (failed(op->fold(operands, results)))
      return false;
    Attribute value = results.empty() ? Attribute()
                      : isa<Attribute>(results[0])
                          ? cast<Attribute>(results[0])
                          : scalars.lookup(cast<Value>(results[0]));
    if (!value)
      return false;
    // Only where a reduction begins is infinity no accident.
    auto number = dyn_cast<FloatAttr>(value);
    if (number && !number.getValue().isFinite() && !isa<arith::ConstantOp>(op))
      return false;
    scalars[op->getResult(0)] = value;
    return true;
  }

  llvm::DenseMap<Value, Array> arrays;
  llvm::DenseMap<Value, Attribute> scalars;
  Point loops;
  int64_t work = 0; // points of regions
};

Attribute drawElement(Type type, Random &random) {
  if (isa<FloatType>(type)) {
    static constexpr double numbers[] = {0.0, 1.0, -1.0, 0.5, 2.0, -1.25, 3.0};
    return FloatAttr::get(type, oneOf(numbers, random));
  }
  unsigned width = type.getIntOrFloatBitWidth();
  if (random() % 5 == 0)
    return IntegerAttr::get(type, APInt(width, random(), false, true));
  return IntegerAttr::get(type,
                          APInt(width, int64_t(random() % 9) - 4, true, true));
}

/// The difference of two numbers, or none.
bool isSame(Attribute a, Attribute b) {
  if (!a || !b)
    return true; // an element that nobody has written may be any
  if (auto x = dyn_cast<IntegerAttr>(a))
    return x.getValue() == cast<IntegerAttr>(b).getValue();
  double x = cast<FloatAttr>(a).getValueAsDouble(),
         y = cast<FloatAttr>(b).getValueAsDouble();
  return std::abs(x - y) <= 1e-6 * (1.0 + std::abs(x)) || std::abs(x) > 1e9;
}

bool isNumber(Attribute a) {
  auto number = dyn_cast_or_null<FloatAttr>(a);
  return !number || number.getValue().isFinite();
}

/// The dims of an argument; nothing where one is negative.
std::optional<Point> dimsOf(const Tree &argument, int64_t n, int64_t m) {
  Point dims;
  for (IntExpr dim : argument.dims) {
    std::optional<int64_t> value =
        dim.evaluate([&](StringRef name) -> std::optional<int64_t> {
          return name == "n" ? n : m;
        });
    if (!value || *value < 0)
      return std::nullopt;
    dims.push_back(*value);
  }
  return dims;
}

} // namespace

Label labelLinalg(const LinalgPair &pair, func::FuncOp before,
                  func::FuncOp after, uint64_t seed) {
  Random random(seed);
  Label label;
  for (unsigned trial = 0; trial < 14; ++trial) {
    int64_t n = random() % 7, m = random() % 6;
    if (trial % 7 == 6) // one of them large
      (random() % 2 ? n : m) = random() % 201;
    std::vector<Array> inputs;
    for (const TreeRef &argument : pair.arguments) {
      std::optional<Point> dims = dimsOf(*argument, n, m);
      if (!dims || countOf(*dims) > 3000)
        break;
      Array array{*dims, {}};
      Type type =
          cast<RankedTensorType>(before.getArgumentTypes()[inputs.size()])
              .getElementType();
      for (int64_t i = countOf(*dims); i > 0; --i)
        array.elements.push_back(drawElement(type, random));
      inputs.push_back(std::move(array));
    }
    if (inputs.size() != pair.arguments.size())
      continue;
    std::optional<Array> x = Interpreter().run(before, inputs);
    if (!x || !llvm::all_of(x->elements, isNumber))
      continue;
    std::string where =
        "n = " + std::to_string(n) + ", m = " + std::to_string(m);
    std::optional<Array> y = Interpreter().run(after, inputs);
    if (!y) // perhaps of nothing, or no number
      continue;
    bool isDifferent = x->dims != y->dims;
    for (size_t i = 0; i < x->elements.size() && !isDifferent; ++i)
      if (!isSame(x->elements[i], y->elements[i])) {
        isDifferent = true;
        llvm::raw_string_ostream(where)
            << ": element " << i << ": " << x->elements[i] << ", "
            << y->elements[i];
      }
    if (isDifferent) {
      label.kind = Label::Kind::Different;
      label.where = where;
      return label;
    }
    label.instances += !x->elements.empty();
  }
  if (label.instances >= 6)
    label.kind = Label::Kind::Equal;
  return label;
}

} // namespace mlc::test
