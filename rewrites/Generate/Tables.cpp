//===- Tables.cpp - Definitions at fixed sizes, as index tables -----------===//

#include "rewrites/Generate/Tables.h"
#include "dialects/Interfaces/Compare.h"
#include "llvm/ADT/DenseMap.h"
#include <algorithm>

using llvm::ArrayRef;
using llvm::SmallVector;

namespace mlc::generate {

std::optional<int64_t> Assignment::evaluate(IntExpr expr) const {
  return expr.evaluate([&](llvm::StringRef name) -> std::optional<int64_t> {
    auto it = integers.find(name);
    return it == integers.end() ? std::nullopt : std::optional(it->second);
  });
}

namespace {

using Kind = TableInstruction::Kind;
using Indices = std::vector<int64_t>;

/// The points at which an expression is wanted: the value of each loop at each.
struct Points {
  size_t count = 1;
  llvm::DenseMap<unsigned, Indices> loops;
};

int64_t floorOf(int64_t a, int64_t b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

} // namespace

class TableCompiler {
public:
  TableCompiler(TableProgram &program, const Definition &definition,
                ArrayRef<Place> inputs, const Assignment &assignment)
      : program(program), definition(definition), inputs(inputs),
        assignment(assignment) {}

  std::optional<Place> run();

private:
  struct Tensor {
    Place place;
    SmallVector<int64_t, 4> dims;
  };

  // Each gives a place or index list; `failed` is set where there is none.
  Place number(const Expr &e, const Points &points);
  Indices index(const Expr &e, const Points &points);
  Place read(const ExprNode &node, const Points &points);
  Place reduce(const ExprNode &node, const Points &points);
  std::optional<Place> dot(const ExprNode &node, const Points &inner,
                           size_t count, size_t length);
  bool stage(const Stage &stage);

  /// Offsets into a tensor, -1 where out of range.
  std::vector<int32_t> offsets(const ExprNode &node, const Points &points,
                               const Tensor &tensor, bool &leaves);
  Points extend(const Points &points, ArrayRef<Loop> loops, size_t &length);

  SmallVector<int64_t, 4> sizes(ArrayRef<IntExpr> dims) {
    SmallVector<int64_t, 4> result;
    for (IntExpr dim : dims) {
      std::optional<int64_t> size = assignment.evaluate(dim);
      if (!size || *size <= 0)
        failed = true;
      result.push_back(size.value_or(1));
    }
    return result;
  }
  Place constants(std::vector<Guided> values) {
    Place place{Place::Constants, uint32_t(program.constants.size())};
    llvm::append_range(program.constants, values);
    return place;
  }
  Place fill(Guided value, size_t count) {
    return constants(std::vector<Guided>(count, value));
  }
  Place emit(TableInstruction i, size_t count) {
    i.destination = program.scratchSize;
    i.count = count;
    program.scratchSize += count;
    program.code.push_back(i);
    return {Place::Scratch, i.destination};
  }
  uint32_t table(ArrayRef<int32_t> entries) {
    uint32_t at = program.tables.size();
    llvm::append_range(program.tables, entries);
    return at;
  }
  Place fail() {
    failed = true;
    return {};
  }

  TableProgram &program;
  const Definition &definition;
  ArrayRef<Place> inputs;
  const Assignment &assignment;
  std::vector<Tensor> inputTensors, stages;
  bool failed = false;
};

//===----------------------------------------------------------------------===//
// Index expressions: known now
//===----------------------------------------------------------------------===//

Indices TableCompiler::index(const Expr &e, const Points &points) {
  Indices result(points.count, 0);
  auto with = [&](auto f) {
    Indices a = index(e->operands[0], points),
            b = index(e->operands[1], points);
    for (size_t i = 0; i < points.count; ++i)
      result[i] = f(a[i], b[i]);
  };
  switch (e->kind) {
  case Expr::Kind::Loop:
    return points.loops.find(e->loop)->second;
  case Expr::Kind::Int: {
    std::optional<int64_t> value = assignment.evaluate(e->integer);
    failed |= !value;
    std::fill(result.begin(), result.end(), value.value_or(0));
    return result;
  }
  case Expr::Kind::Constant:
    std::fill(result.begin(), result.end(), e->integerNumber);
    return result;
  case Expr::Kind::Compare:
    with([&](int64_t a, int64_t b) {
      return compareNumbers(a, e->predicate, b);
    });
    return result;
  case Expr::Kind::Select: {
    Indices c = index(e->operands[0], points),
            a = index(e->operands[1], points),
            b = index(e->operands[2], points);
    for (size_t i = 0; i < points.count; ++i)
      result[i] = c[i] ? a[i] : b[i];
    return result;
  }
  case Expr::Kind::Binary:
    with([&](int64_t a, int64_t b) -> int64_t {
      switch (e->binary) {
      case BinaryFn::Add:
        return a + b;
      case BinaryFn::Sub:
        return a - b;
      case BinaryFn::Mul:
        return a * b;
      case BinaryFn::Min:
        return std::min(a, b);
      case BinaryFn::Max:
        return std::max(a, b);
      case BinaryFn::And:
        return a && b;
      case BinaryFn::Or:
        return a || b;
      case BinaryFn::FloorDiv:
      case BinaryFn::Mod:
        if (b == 0)
          break;
        return e->binary == BinaryFn::Mod ? a - floorOf(a, b) * b
                                          : floorOf(a, b);
      default:
        break;
      }
      failed = true;
      return 0;
    });
    return result;
  default:
    failed = true;
    return result;
  }
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

std::vector<int32_t> TableCompiler::offsets(const ExprNode &node,
                                            const Points &points,
                                            const Tensor &tensor,
                                            bool &leaves) {
  std::vector<int32_t> result(points.count, 0);
  for (auto [d, operand] : llvm::enumerate(node.indices())) {
    Indices at = index(operand, points);
    for (size_t i = 0; i < points.count; ++i) {
      bool inside = at[i] >= 0 && at[i] < tensor.dims[d];
      leaves |= !inside;
      if (result[i] >= 0)
        result[i] = inside ? result[i] * tensor.dims[d] + at[i] : -1;
    }
  }
  return result;
}

Place TableCompiler::read(const ExprNode &node, const Points &points) {
  const Tensor &tensor = node.tensor.isStage ? stages[node.tensor.index]
                                             : inputTensors[node.tensor.index];
  bool leaves = false;
  std::vector<int32_t> entries = offsets(node, points, tensor, leaves);
  if (leaves && !node.guarded)
    return fail();
  bool contiguous = !leaves && !entries.empty();
  for (size_t i = 0; contiguous && i < entries.size(); ++i)
    contiguous = entries[i] == entries[0] + int32_t(i);
  if (contiguous)
    return {tensor.place.space, tensor.place.offset + entries[0]};
  TableInstruction gather(Kind::Gather);
  gather.a = tensor.place;
  if (leaves)
    gather.b = number(node.operands.back(), points);
  gather.table = table(entries);
  return emit(gather, points.count);
}

Points TableCompiler::extend(const Points &points, ArrayRef<Loop> loops,
                             size_t &length) {
  Points result;
  SmallVector<int64_t, 4> extents;
  length = 1;
  for (const Loop &loop : loops) {
    std::optional<int64_t> extent = assignment.evaluate(loop.extent);
    failed |= !extent || *extent < 0;
    extents.push_back(extent.value_or(0));
    length *= std::max<int64_t>(extents.back(), 0);
  }
  result.count = points.count * length;
  for (const auto &[id, values] : points.loops) {
    Indices &out = result.loops[id];
    for (int64_t value : values)
      out.insert(out.end(), length, value);
  }
  size_t inner = length;
  for (auto [loop, extent] : llvm::zip(loops, extents)) {
    inner = extent ? inner / extent : 0;
    Indices &out = result.loops[loop.id];
    out.resize(result.count);
    for (size_t i = 0; i < result.count; ++i)
      out[i] = i % length / inner % extent;
  }
  return result;
}

/// A sum of products of two reads, which is most of the work there is.
std::optional<Place> TableCompiler::dot(const ExprNode &node,
                                        const Points &inner, size_t count,
                                        size_t length) {
  const Expr &body = node.operands[0];
  if (node.reduce != ReduceKind::Sum || body->kind != Expr::Kind::Binary ||
      body->binary != BinaryFn::Mul)
    return std::nullopt;
  TableInstruction i(Kind::Dot);
  std::vector<int32_t> both;
  for (unsigned k = 0; k < 2; ++k) {
    const ExprNode &side = *body->operands[k];
    if (side.kind != Expr::Kind::Read)
      return std::nullopt;
    const Tensor &tensor = side.tensor.isStage
                               ? stages[side.tensor.index]
                               : inputTensors[side.tensor.index];
    bool leaves = false;
    std::vector<int32_t> entries = offsets(side, inner, tensor, leaves);
    bool zeroOutside = side.guarded &&
                       side.operands.back()->kind == Expr::Kind::Constant &&
                       side.operands.back()->number == 0.0;
    if (leaves && !zeroOutside)
      return std::nullopt;
    llvm::append_range(both, entries);
    (k ? i.b : i.a) = tensor.place;
  }
  i.points = length;
  i.table = table(both);
  return emit(i, count);
}

Place TableCompiler::reduce(const ExprNode &node, const Points &points) {
  size_t length = 0;
  Points inner = extend(points, node.loops, length);
  if (failed)
    return {};
  if (std::optional<Place> place = dot(node, inner, points.count, length))
    return *place;
  if (length == 0)
    return fill(identityOf(node.reduce), points.count);
  TableInstruction i(Kind::Reduce);
  i.function = static_cast<uint8_t>(node.reduce);
  i.a = number(node.operands[0], inner);
  i.points = length;
  return emit(i, points.count);
}

Place TableCompiler::number(const Expr &e, const Points &points) {
  if (failed)
    return {};
  TableInstruction i(Kind::Unary);
  switch (e->kind) {
  case Expr::Kind::Constant:
    return fill(guided(mlir::isa<mlir::FloatType>(e->type)
                           ? e->number
                           : static_cast<double>(e->integerNumber)),
                points.count);
  case Expr::Kind::Param: {
    auto it = assignment.reals.find(e->parameter);
    return it == assignment.reals.end()
               ? fail()
               : fill(guided(it->second), points.count);
  }
  case Expr::Kind::Cast: {
    if (mlir::isa<mlir::FloatType>(e->operands[0]->type))
      return e->type == e->operands[0]->type ? number(e->operands[0], points)
                                             : fail();
    std::vector<Guided> values;
    for (int64_t value : index(e->operands[0], points))
      values.push_back(guided(static_cast<double>(value)));
    return constants(std::move(values));
  }
  case Expr::Kind::Read:
    return read(*e, points);
  case Expr::Kind::Reduce:
    return reduce(*e, points);
  case Expr::Kind::Unary:
    i.function = static_cast<uint8_t>(e->unary);
    break;
  case Expr::Kind::Binary:
    i.kind = Kind::Binary;
    i.function = static_cast<uint8_t>(e->binary);
    break;
  case Expr::Kind::Compare:
    i.kind = Kind::Compare;
    i.function = static_cast<uint8_t>(e->predicate);
    break;
  case Expr::Kind::Select:
    i.kind = Kind::Select;
    break;
  default:
    return fail();
  }
  // What compares indices is known now.
  if (e->kind == Expr::Kind::Compare && e->operands[0]->type.isIndex()) {
    std::vector<Guided> values;
    for (int64_t value : index(e, points))
      values.push_back(guided(static_cast<double>(value)));
    return constants(std::move(values));
  }
  Place *places[] = {&i.a, &i.b, &i.c};
  for (auto [k, operand] : llvm::enumerate(e->operands))
    *places[k] = number(operand, points);
  return emit(i, points.count);
}

//===----------------------------------------------------------------------===//
// Stages
//===----------------------------------------------------------------------===//

bool TableCompiler::stage(const Stage &stage) {
  Tensor tensor;
  tensor.dims = sizes(stage.dims);
  if (failed)
    return false;
  size_t total = 1;
  for (int64_t dim : tensor.dims)
    total *= dim;
  bool whole = stage.pieces.size() == 1;
  if (!whole) {
    tensor.place = {Place::Scratch, program.scratchSize};
    program.scratchSize += total;
  }
  for (const Piece &piece : stage.pieces) {
    size_t length = 0;
    Points points = extend(Points(), piece.loops, length);
    if (length == 0)
      continue;
    Place place = number(piece.body, points);
    if (failed)
      return false;
    if (whole) {
      tensor.place = place;
      break;
    }
    std::vector<int32_t> entries(length, 0);
    for (auto [d, loop] : llvm::enumerate(piece.loops)) {
      int64_t offset = assignment.evaluate(piece.offset[d]).value_or(0);
      for (size_t i = 0; i < length; ++i)
        entries[i] =
            entries[i] * tensor.dims[d] + points.loops[loop.id][i] + offset;
    }
    TableInstruction copy(Kind::Copy);
    copy.a = place;
    copy.destination = tensor.place.offset;
    copy.count = length;
    copy.table = table(entries);
    program.code.push_back(copy);
  }
  stages.push_back(std::move(tensor));
  return true;
}

std::optional<Place> TableCompiler::run() {
  for (const Requirement &r : definition.requirements) {
    std::optional<int64_t> a = assignment.evaluate(r.lhs),
                           b = assignment.evaluate(r.rhs);
    if (!a || !b || !compareNumbers(*a, r.predicate, *b))
      return std::nullopt;
  }
  for (auto [shape, place] : llvm::zip(definition.inputs, inputs))
    inputTensors.push_back({place, sizes(shape.dims)});
  for (const Stage &one : definition.stages)
    if (failed || !stage(one))
      return std::nullopt;
  return stages[definition.results[0]].place;
}

std::optional<Place> TableProgram::add(const Definition &definition,
                                       ArrayRef<Place> inputs,
                                       const Assignment &assignment) {
  return TableCompiler(*this, definition, inputs, assignment).run();
}

} // namespace mlc::generate
