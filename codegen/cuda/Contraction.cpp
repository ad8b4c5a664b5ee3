//===- Contraction.cpp - Contractions as CUDA C++ -------------------------===//

#include "codegen/cuda/Contraction.h"
#include "codegen/cuda/DeviceHeader.h"
#include "codegen/cuda/Parts.h"
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

IntExpr product(const Contraction &c, ArrayRef<unsigned> dims) {
  IntExpr all = IntExpr::constant(c.context, 1);
  for (unsigned d : dims)
    all = all * c.dims[d].extent;
  return all;
}

IntExpr runAlong(const Contraction &c, const Access &access,
                 ArrayRef<unsigned> dims) {
  IntExpr length = IntExpr::constant(c.context, 1);
  for (unsigned d : llvm::reverse(dims)) {
    if (access.strides[d] != length)
      break;
    length = length * c.dims[d].extent;
  }
  return length;
}

bool readsAlongDepth(const Contraction &c, const Access &access,
                     const Roles &roles, ArrayRef<unsigned> rows) {
  auto lengthOf = [&](ArrayRef<unsigned> dims) {
    // Open sizes are taken to be large.
    return runAlong(c, access, dims).asConstant().value_or(1 << 20);
  };
  constexpr int64_t enough = 8;
  int64_t depth = lengthOf(roles.depth), along = lengthOf(rows);
  return depth >= enough ? along < enough || depth >= along : false;
}

//===----------------------------------------------------------------------===//
// Acceptance
//===----------------------------------------------------------------------===//

FailureOr<Contraction> matchTiles(const Kernel &kernel) {
  std::string why;
  FailureOr<Contraction> c =
      matchContraction(kernel, why, /*readsBounds=*/true);
  if (failed(c) || c->splitOuter >= 0 || computeType(c->accumulator).empty())
    return failure();
  for (const ContractionOutput &output : c->outputs)
    if (!output.pads.empty())
      return failure();
  simplifyLoops(*c);
  Roles roles = findRoles(*c);
  auto isFew = [&](ArrayRef<unsigned> dims, int64_t few) {
    std::optional<int64_t> count = product(*c, dims).asConstant();
    return count && *count <= few;
  };
  if (isFew(roles.rows, 4) || isFew(roles.columns, 4) || isFew(roles.depth, 7))
    return failure();
  return c;
}

Extents::Extents(const Contraction &c, const Roles &roles) {
  auto guess = [&](ArrayRef<unsigned> dims) {
    return product(c, dims)
        .evaluate([](StringRef) { return std::optional<int64_t>(512); })
        .value_or(512);
  };
  rows = guess(roles.rows);
  columns = guess(roles.columns);
  batch = guess(roles.batch);
  depth = guess(roles.depth);
}

int64_t Extents::tiles(int64_t m, int64_t n) const {
  return int64_t(llvm::divideCeil(rows, m) * llvm::divideCeil(columns, n)) *
         batch;
}

bool acceptsTiles(const Kernel &kernel, const EmitOptions &) {
  return succeeded(matchTiles(kernel));
}

//===----------------------------------------------------------------------===//
// The problem
//===----------------------------------------------------------------------===//

namespace {

/// Prints `struct Problem` of one kernel.
class ProblemPrinter {
public:
  ProblemPrinter(KernelPrinter &to, const Contraction &c, const Roles &roles,
                 const Cut &cut)
      : to(to), kernel(to.kernel), c(c), roles(roles), cut(cut) {}

  std::string print();

private:
  using Fill = function_ref<std::string(ElementPrinter &, Code &)>;
  /// A function of the problem that returns what `fill` prints.
  void method(StringRef type, StringRef name, StringRef parameters, Fill fill);
  void size(StringRef name, IntExpr value);
  void side(StringRef name, StringRef row, const Access &access,
            ArrayRef<unsigned> rows, ArrayRef<Operation *> casts);
  void place(StringRef name, StringRef function, StringRef parameters,
             const Access &access,
             ArrayRef<std::pair<StringRef, ArrayRef<unsigned>>> parts,
             bool hasOffset);
  void inside(StringRef name, const Access &access);
  void load(StringRef name, const Access &access, ArrayRef<Operation *> casts);
  void finish();
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
  const Cut &cut;
  std::string text;
};

} // namespace

static Type elementOf(Value tensor) {
  return cast<RankedTensorType>(tensor.getType()).getElementType();
}

/// The element of `place`.
static std::string elementAt(const Access &access) {
  return access.divisor == 1 ? "place.at"
                             : "place.at / " + std::to_string(access.divisor);
}

void ProblemPrinter::method(StringRef type, StringRef name,
                            StringRef parameters, Fill fill) {
  Code code(2);
  ElementPrinter printer(kernel, code);
  printer.head = Code(2);
  std::string result = fill(printer, code);
  text +=
      ("  MLC_DEVICE " + type + " " + name + "(" + parameters + ") const {\n")
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

/// Joins neighbours of `dims` that step through `access`, and along its bounds,
/// like one: for each run its innermost dim, by whose strides it steps, and in
/// `extents` how long it is.
static SmallVector<unsigned> joinRuns(const Contraction &c,
                                      const Access &access,
                                      ArrayRef<unsigned> dims,
                                      SmallVectorImpl<IntExpr> &extents) {
  SmallVector<unsigned> runs;
  auto isOne = [&](ArrayRef<IntExpr> strides, unsigned outer, unsigned inner,
                   IntExpr length) {
    return strides[outer] == strides[inner] * length;
  };
  for (unsigned d : llvm::reverse(dims)) {
    if (!runs.empty() &&
        isOne(access.strides, d, runs.back(), extents.back()) &&
        llvm::all_of(access.bounds, [&](const Bound &bound) {
          return isOne(bound.strides, d, runs.back(), extents.back());
        })) {
      extents.back() = extents.back() * c.dims[d].extent;
      continue;
    }
    runs.push_back(d);
    extents.push_back(c.dims[d].extent);
  }
  std::reverse(runs.begin(), runs.end());
  std::reverse(extents.begin(), extents.end());
  return runs;
}

/// A struct of an element's offset and its index along each bounded dim, and
/// the functions that make and use one.
void ProblemPrinter::side(StringRef name, StringRef row, const Access &access,
                          ArrayRef<unsigned> rows,
                          ArrayRef<Operation *> casts) {
  std::string type = ("Place" + name).str(), fields = "at",
              sums = "x.at + y.at";
  for (size_t i = 0; i < access.bounds.size(); ++i) {
    std::string field = "along" + std::to_string(i);
    fields += ", " + field;
    sums += ", x." + field + " + y." + field;
  }
  text += "  struct " + type + " {\n    Index " + fields +
          ";\n    MLC_DEVICE friend " + type + " operator+(" + type + " x, " +
          type + " y) {\n      return {" + sums + "};\n    }\n  };\n";
  place(name, ("place" + name).str(), ("Index batch, Index " + row).str(),
        access, {{"batch", roles.batch}, {row, rows}}, /*hasOffset=*/true);
  place(name, ("step" + name).str(), "Index k", access, {{"k", roles.depth}},
        /*hasOffset=*/false);
  inside(name, access);
  load(name, access, casts);
  method("const void *", ("address" + name).str(), type + " place",
         [&](ElementPrinter &, Code &) {
           return pointerOf(access.tensor) + " + " + elementAt(access);
         });
}

void ProblemPrinter::place(
    StringRef name, StringRef function, StringRef parameters,
    const Access &access,
    ArrayRef<std::pair<StringRef, ArrayRef<unsigned>>> parts, bool hasOffset) {
  method(("Place" + name).str(), function, parameters,
         [&](ElementPrinter &printer, Code &) {
           SmallVector<std::pair<unsigned, Index>> indices;
           for (auto [flat, dims] : parts) {
             SmallVector<IntExpr> extents;
             SmallVector<unsigned> runs = joinRuns(c, access, dims, extents);
             for (auto [d, index] : llvm::zip_equal(
                      runs, printer.unflatten(Index(flat.str()), extents)))
               indices.push_back({d, index});
           }
           auto sum = [&](IntExpr offset, ArrayRef<IntExpr> strides) {
             Index at = hasOffset ? printer.size(offset) : Index(0);
             for (auto &[d, index] : indices)
               at = printer.add(at,
                                printer.mul(index, printer.size(strides[d])));
             return at.text;
           };
           std::string all = sum(access.offset, access.strides);
           for (const Bound &bound : access.bounds)
             all += ", " + sum(bound.offset, bound.strides);
           return "{" + all + "}";
         });
}

void ProblemPrinter::inside(StringRef name, const Access &access) {
  method("bool", ("inside" + name).str(), ("Place" + name + " place").str(),
         [&](ElementPrinter &printer, Code &) {
           std::string all;
           for (auto [i, bound] : llvm::enumerate(access.bounds)) {
             std::string at = "place.along" + std::to_string(i);
             all += (i ? " && " : "") + at + " >= 0 && " + at + " < " +
                    printer.size(bound.extent).text;
             if (bound.divisor != 1)
               all += " && " + at + " % " + std::to_string(bound.divisor) +
                      " == 0";
           }
           return all.empty() ? "true" : all;
         });
}

void ProblemPrinter::load(StringRef name, const Access &access,
                          ArrayRef<Operation *> casts) {
  method(computeType(c.accumulator), ("load" + name).str(),
         ("Place" + name + " place").str(),
         [&](ElementPrinter &printer, Code &code) {
           View view;
           view.pointer = pointerOf(access.tensor);
           view.offset = Index(0);
           view.strides = {Index(1)};
           view.element = access.element;
           std::string value;
           Index at(elementAt(access));
           if (access.bounds.empty()) {
             value = printer.load(view, {at});
           } else {
             value = code.fresh("x");
             code.line(computeType(access.element) + " " + value + " = " +
                       literal(access.padValue) + ";");
             code.block(("if (inside" + name + "(place))").str(), [&] {
               code.line(value + " = " + printer.load(view, {at}) + ";");
             });
           }
           for (Operation *cast : casts)
             value = printer.compute(cast, {value});
           return value;
         });
}

void ProblemPrinter::finish() {
  std::string parameters =
      "Index batch, Index m, Index n, " + computeType(c.accumulator) + " sum";
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
        return value = printer.load(view(from, pointerOf(from.tensor)), places);
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
    printer.code.line("const " + type +
                      " total = " + evaluate(evaluate, c.init) + " + sum;");
    for (auto [i, output] : llvm::enumerate(c.outputs)) {
      std::string value = evaluate(evaluate, output.node);
      printer.store(view(output.access, "out" + std::to_string(i)), places,
                    value);
    }
    return std::string();
  });
}

std::string ProblemPrinter::print() {
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
  size("rows", product(c, roles.rows));
  size("columns", product(c, roles.columns));
  size("depth", product(c, roles.depth));
  size("parts", cut.parts);
  side("A", "m", roles.a(c), roles.rows, roles.aCasts(c));
  side("B", "n", roles.b(c), roles.columns, roles.bCasts(c));
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

/// The largest that gives every multiprocessor work.
static Tile chooseTile(const Contraction &c, const Roles &roles,
                       const Target &target, bool isWide) {
  static const Tile tiles[] = {
      {128, 128, 8, 8, 8}, {64, 64, 16, 4, 4}, {32, 32, 32, 2, 2}};
  Extents extents(c, roles);
  for (const Tile &tile : ArrayRef(tiles).drop_front(isWide).drop_back())
    if (extents.rows * 2 > tile.m && extents.columns * 2 > tile.n &&
        extents.tiles(tile.m, tile.n) >= target.cost.units)
      return tile;
  return tiles[2];
}

Cut::Cut(const Contraction &c, const Roles &roles, const Target &target,
         int64_t m, int64_t n, int64_t step)
    : m(m), n(n) {
  tiles = product(c, roles.batch) * product(c, roles.rows).ceilDiv(m) *
          product(c, roles.columns).ceilDiv(n);
  // Below so many places along the depth a part is hardly worth its sums; and
  // the last block reads all parts, one after another.
  constexpr int64_t least = 128, most = 32;
  parts = chooseParts(tiles, product(c, roles.depth), std::max(least, 4 * step),
                      most, target);
}

std::string printProblem(KernelPrinter &to, const Contraction &c,
                         const Roles &roles, const Cut &cut) {
  return ProblemPrinter(to, c, roles, cut).print();
}

void callSkeleton(KernelPrinter &to, KernelText &text, const Contraction &c,
                  StringRef skeleton, const Cut &cut) {
  text.scratchBytes = IntExpr::constant(to.kernel.context(), 0);
  text.tasks = cut.tiles * cut.parts;
  if (!cut.parts.isConstant(1))
    text.jointBytes = jointBytes(cut.tiles, cut.parts,
                                 cut.m * cut.n * storageBytes(c.accumulator));
  std::string members;
  auto add = [&](StringRef prefix, size_t count) {
    for (size_t i = 0; i < count; ++i)
      members +=
          (members.empty() ? "" : ", ") + prefix.str() + std::to_string(i);
  };
  add("in", to.kernel.inputs.size());
  add("out", to.kernel.outputs.size());
  add("s", to.kernel.symbols.size());
  to.code.line("const Problem problem = {" + members + "};");
  to.code.line(skeleton + "(problem, task, scratch);");
}

FailureOr<KernelText> emitTiles(KernelPrinter &to) {
  FailureOr<Contraction> c = matchTiles(to.kernel);
  if (failed(c))
    return failure();
  Roles roles = findRoles(*c);
  int64_t bytes = storageBytes(c->accumulator);
  // Long indices take registers as wide elements do.
  bool isWide = bytes > 4 || llvm::any_of(c->dims, [](const LoopDim &dim) {
                  return !dim.extent.isConstant();
                });
  Tile tile = chooseTile(*c, roles, to.options.target, isWide);
  Cut cut(*c, roles, to.options.target, tile.m, tile.n, tile.k);
  to.before = (skeletonText("problem.cuh") + skeletonText("parts.cuh") +
               skeletonText("contraction.cuh"))
                  .str() +
              printProblem(to, *c, roles, cut);
  KernelText text;
  text.block = tile.threads();
  text.sharedBytes = bytes * tile.k * (tile.m + 1 + tile.n + 1);
  auto truth = [](bool value) { return value ? ", true" : ", false"; };
  std::string arguments = computeType(c->accumulator);
  for (int64_t number : {tile.m, tile.n, tile.k, tile.threadM, tile.threadN})
    arguments += ", " + std::to_string(number);
  arguments += truth(readsAlongDepth(*c, roles.a(*c), roles, roles.rows));
  arguments += truth(readsAlongDepth(*c, roles.b(*c), roles, roles.columns));
  callSkeleton(to, text, *c, "multiplyTile<" + arguments + ">", cut);
  return text;
}

} // namespace mlc::cuda
