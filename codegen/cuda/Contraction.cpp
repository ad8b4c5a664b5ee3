//===- Contraction.cpp - Contractions as CUDA C++ -------------------------===//

#include "codegen/cuda/Contraction.h"
#include "codegen/cuda/DeviceHeader.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace mlc::cuda {

//===----------------------------------------------------------------------===//
// Roles
//===----------------------------------------------------------------------===//

static bool moves(const Access &access, unsigned dim) {
  return !access.strides[dim].isConstant(0);
}

Roles findRoles(const Contraction &c) {
  Roles roles;
  const Access &out = c.outputs.front().access;
  int fastest = -1;
  for (auto [d, dim] : llvm::enumerate(c.dims)) {
    bool inX = moves(c.x, d), inW = moves(c.w, d);
    if (!dim.parallel)
      roles.depth.push_back(d);
    else if (inX == inW)
      roles.batch.push_back(d);
    else
      (inX ? roles.rows : roles.columns).push_back(d);
    if (dim.parallel && out.strides[d].isConstant(1) && inX != inW)
      fastest = d;
  }
  if (fastest >= 0 && llvm::is_contained(roles.rows, unsigned(fastest))) {
    std::swap(roles.rows, roles.columns);
    roles.isSwapped = true;
  }
  auto last = llvm::find(roles.columns, unsigned(fastest));
  if (last != roles.columns.end())
    std::rotate(last, last + 1, roles.columns.end());
  return roles;
}

static IntExpr product(const Contraction &c, ArrayRef<unsigned> dims) {
  IntExpr all = IntExpr::constant(c.context, 1);
  for (unsigned d : dims)
    all = all * c.dims[d].extent;
  return all;
}

/// Whether neighbours along the fastest of `dims` are neighbours in memory.
static bool runsAlong(const Access &access, ArrayRef<unsigned> dims) {
  return !dims.empty() && access.strides[dims.back()].isConstant(1);
}

//===----------------------------------------------------------------------===//
// Acceptance
//===----------------------------------------------------------------------===//

static FailureOr<Contraction> match(const Kernel &kernel) {
  std::string why;
  FailureOr<Contraction> c = matchContraction(kernel, why);
  if (failed(c) || c->splitOuter >= 0)
    return failure();
  for (const ContractionOutput &output : c->outputs)
    if (!output.pads.empty())
      return failure();
  simplifyLoops(*c);
  return c;
}

bool acceptsTiles(const Kernel &kernel, const Target &) {
  if (!kernel.anchor)
    return false;
  FailureOr<Contraction> c = match(kernel);
  if (failed(c) || computeType(c->accumulator).empty())
    return false;
  // A few rows or columns leave most of a tile unused: threads compute
  // elements, or blocks rows, without sharing factors.
  Roles roles = findRoles(*c);
  constexpr int64_t few = 4;
  auto isFew = [&](ArrayRef<unsigned> dims) {
    std::optional<int64_t> count = product(*c, dims).asConstant();
    return count && *count <= few;
  };
  return !isFew(roles.rows) && !isFew(roles.columns);
}

//===----------------------------------------------------------------------===//
// The problem
//===----------------------------------------------------------------------===//

namespace {

/// Prints `struct Problem` of one kernel.
class ProblemPrinter {
public:
  ProblemPrinter(KernelPrinter &to, const Contraction &c, const Roles &roles)
      : to(to), kernel(to.kernel), c(c), roles(roles) {}

  std::string print(int64_t tileM, int64_t tileN);
  /// The arguments of the kernel, to make a Problem of.
  std::string initializer() const;

private:
  using Fill = function_ref<std::string(ElementPrinter &, Code &)>;
  /// A function of the problem that returns what `fill` prints.
  void method(StringRef type, StringRef name, StringRef parameters, Fill fill);
  void size(StringRef name, IntExpr value);
  void offsets(StringRef name, StringRef parameter, const Access &access,
               ArrayRef<unsigned> dims);
  void load(StringRef name, const Access &access,
            ArrayRef<Operation *> casts);
  void finish();
  Index offsetOf(ElementPrinter &printer, const Access &access,
                 ArrayRef<unsigned> dims, ArrayRef<Index> places);
  Indices placesOf(ElementPrinter &printer, StringRef flat,
                   ArrayRef<unsigned> dims);
  std::string pointerOf(Value input) const {
    auto found = llvm::find(kernel.inputs, input);
    return "in" + std::to_string(found - kernel.inputs.begin());
  }

  KernelPrinter &to;
  const Kernel &kernel;
  const Contraction &c;
  const Roles &roles;
  std::string text;
};

} // namespace

static Type elementOf(Value tensor) {
  return cast<RankedTensorType>(tensor.getType()).getElementType();
}

void ProblemPrinter::method(StringRef type, StringRef name,
                            StringRef parameters, Fill fill) {
  Code code(2);
  ElementPrinter printer(kernel, code);
  printer.head = Code(2);
  std::string result = fill(printer, code);
  text += ("  MLC_DEVICE " + type + " " + name + "(" + parameters +
           ") const {\n")
              .str();
  text += printer.head.text() + code.text();
  if (!result.empty())
    text += "    return " + result + ";\n";
  text += "  }\n";
  to.printer.helpers.add(printer.helpers);
  to.printer.constants += printer.constants;
  to.printer.failed |= printer.failed;
}

void ProblemPrinter::size(StringRef name, IntExpr value) {
  method("Index", name, "", [&](ElementPrinter &printer, Code &) {
    return printer.size(value).text;
  });
}

Indices ProblemPrinter::placesOf(ElementPrinter &printer, StringRef flat,
                                 ArrayRef<unsigned> dims) {
  SmallVector<IntExpr> extents;
  for (unsigned d : dims)
    extents.push_back(c.dims[d].extent);
  return printer.unflatten(Index(flat.str()), extents);
}

Index ProblemPrinter::offsetOf(ElementPrinter &printer, const Access &access,
                               ArrayRef<unsigned> dims,
                               ArrayRef<Index> places) {
  Index at(0);
  for (auto [d, place] : llvm::zip_equal(dims, places))
    at = printer.add(at, printer.mul(place, printer.size(access.strides[d])));
  return at;
}

void ProblemPrinter::offsets(StringRef name, StringRef parameter,
                             const Access &access, ArrayRef<unsigned> dims) {
  method("Index", name, ("Index " + parameter).str(),
         [&](ElementPrinter &printer, Code &) {
           return offsetOf(printer, access, dims,
                           placesOf(printer, parameter, dims))
               .text;
         });
}

void ProblemPrinter::load(StringRef name, const Access &access,
                          ArrayRef<Operation *> casts) {
  method(computeType(c.accumulator), name, "Index offset",
         [&](ElementPrinter &printer, Code &) {
           View view;
           view.pointer = pointerOf(access.tensor);
           view.offset = printer.size(access.offset);
           view.strides = {Index(1)};
           view.element = access.element;
           std::string value = printer.load(view, {Index("offset")});
           for (Operation *cast : casts)
             value = printer.compute(cast, {value});
           return value;
         });
}

void ProblemPrinter::finish() {
  std::string parameters = "Index batch, Index m, Index n, " +
                           computeType(c.accumulator) + " sum";
  method("void", "finish", parameters, [&](ElementPrinter &printer, Code &) {
    Indices places(c.dims.size(), Index(0));
    auto set = [&](StringRef flat, ArrayRef<unsigned> dims) {
      for (auto [d, place] :
           llvm::zip_equal(dims, placesOf(printer, flat, dims)))
        places[d] = place;
    };
    set("batch", roles.batch);
    set("m", roles.rows);
    set("n", roles.columns);
    auto view = [&](const Access &access, std::string pointer) {
      View result;
      result.pointer = std::move(pointer);
      result.offset = printer.size(access.offset);
      for (IntExpr stride : access.strides)
        result.strides.push_back(printer.size(stride));
      result.element = access.element;
      return result;
    };
    SmallVector<std::string> values(c.nodes.size());
    auto evaluate = [&](auto &self, unsigned number) -> std::string {
      if (!values[number].empty())
        return values[number];
      const EpilogueNode &node = c.nodes[number];
      std::string &value = values[number];
      switch (node.kind) {
      case EpilogueNode::Kind::Accumulator:
        return value = "total";
      case EpilogueNode::Kind::Load: {
        const Access &from = c.loads[node.load];
        return value =
                   printer.load(view(from, pointerOf(from.tensor)), places);
      }
      case EpilogueNode::Kind::Scalar:
        return value = literal(node.scalar);
      case EpilogueNode::Kind::Op:
        break;
      }
      SmallVector<std::string> operands;
      for (unsigned operand : node.operands)
        operands.push_back(operand == ~0u ? "" : self(self, operand));
      return value = printer.apply(node.op, operands)[node.result];
    };
    // What the sum began with.
    std::string type = computeType(c.accumulator);
    printer.code.line("const " + type + " total = " +
                      evaluate(evaluate, c.init) + " + sum;");
    for (auto [i, output] : llvm::enumerate(c.outputs)) {
      std::string value = evaluate(evaluate, output.node);
      printer.store(view(output.access, "out" + std::to_string(i)), places,
                    value);
    }
    return std::string();
  });
}

std::string ProblemPrinter::initializer() const {
  std::string names;
  auto add = [&](const std::string &name) {
    names += (names.empty() ? "" : ", ") + name;
  };
  for (size_t i = 0; i < kernel.inputs.size(); ++i)
    add("in" + std::to_string(i));
  for (size_t i = 0; i < kernel.outputs.size(); ++i)
    add("out" + std::to_string(i));
  for (size_t i = 0; i < kernel.symbols.size(); ++i)
    add("s" + std::to_string(i));
  return "{" + names + "}";
}

std::string ProblemPrinter::print(int64_t tileM, int64_t tileN) {
  text = "\n/// The contraction of this kernel, as the skeleton asks for it.\n"
         "struct Problem {\n";
  for (auto [i, input] : llvm::enumerate(kernel.inputs))
    text += "  const " + storageType(elementOf(input)) + " *__restrict__ in" +
            std::to_string(i) + ";\n";
  for (auto [i, output] : llvm::enumerate(kernel.outputs))
    text += "  " + storageType(elementOf(output)) + " *__restrict__ out" +
            std::to_string(i) + ";\n";
  for (size_t i = 0; i < kernel.symbols.size(); ++i)
    text += "  long long s" + std::to_string(i) + ";\n";
  IntExpr rows = product(c, roles.rows), columns = product(c, roles.columns);
  size("rows", rows);
  size("columns", columns);
  size("depth", product(c, roles.depth));
  size("tileRows", rows.ceilDiv(tileM));
  size("tileColumns", columns.ceilDiv(tileN));
  offsets("a", "batch", roles.a(c), roles.batch);
  offsets("aRow", "m", roles.a(c), roles.rows);
  offsets("aDepth", "k", roles.a(c), roles.depth);
  load("loadA", roles.a(c), roles.aCasts(c));
  offsets("b", "batch", roles.b(c), roles.batch);
  offsets("bColumn", "n", roles.b(c), roles.columns);
  offsets("bDepth", "k", roles.b(c), roles.depth);
  load("loadB", roles.b(c), roles.bCasts(c));
  finish();
  return text + "};\n";
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

namespace {
struct Tile {
  int64_t m, n, k, threadM, threadN;
  int64_t threads() const { return m / threadM * (n / threadN); }
};
} // namespace

/// The largest that gives every multiprocessor work; open sizes are taken to
/// be large.
static Tile chooseTile(const Contraction &c, const Roles &roles,
                       const Target &target, bool isWide) {
  static const Tile tiles[] = {
      {128, 128, 8, 8, 8}, {64, 64, 16, 4, 4}, {32, 32, 32, 2, 2}};
  auto guess = [](IntExpr size) {
    return size
        .evaluate([](StringRef) { return std::optional<int64_t>(512); })
        .value_or(512);
  };
  int64_t rows = guess(product(c, roles.rows));
  int64_t columns = guess(product(c, roles.columns));
  int64_t batch = guess(product(c, roles.batch));
  for (const Tile &tile : ArrayRef(tiles).drop_front(isWide).drop_back())
    if (rows * 2 > tile.m && columns * 2 > tile.n &&
        int64_t(llvm::divideCeil(rows, tile.m) *
                llvm::divideCeil(columns, tile.n)) *
                batch >=
            target.cost.units)
      return tile;
  return tiles[2];
}

FailureOr<KernelText> emitTiles(KernelPrinter &to) {
  FailureOr<Contraction> c = match(to.kernel);
  if (failed(c))
    return failure();
  Roles roles = findRoles(*c);
  int64_t bytes = storageBytes(c->accumulator);
  Tile tile = chooseTile(*c, roles, to.target, bytes > 4);
  ProblemPrinter problem(to, *c, roles);
  to.before = skeletonText("contraction.cuh").str() +
              problem.print(tile.m, tile.n);
  KernelText text;
  text.block = tile.threads();
  text.sharedBytes = bytes * tile.k * (tile.m + 1 + tile.n + 1);
  text.scratchBytes = IntExpr::constant(to.kernel.context(), 0);
  text.tasks = product(*c, roles.batch) *
               product(*c, roles.rows).ceilDiv(tile.m) *
               product(*c, roles.columns).ceilDiv(tile.n);
  auto truth = [](bool value) { return value ? "true" : "false"; };
  std::string arguments = computeType(c->accumulator);
  for (int64_t number : {tile.m, tile.n, tile.k, tile.threadM, tile.threadN})
    arguments += ", " + std::to_string(number);
  arguments += std::string(", ") +
               truth(runsAlong(roles.a(*c), roles.depth) ||
                     !runsAlong(roles.a(*c), roles.rows)) +
               ", " +
               truth(runsAlong(roles.b(*c), roles.depth) &&
                     !runsAlong(roles.b(*c), roles.columns));
  to.code.line("const Problem problem = " + problem.initializer() + ";");
  to.code.line("multiplyTile<" + arguments + ">(problem, task);");
  return text;
}

} // namespace mlc::cuda
