//===- Transpose.cpp - Elementwise kernels through tiles ------------------===//

#include "codegen/cuda/Transpose.h"
#include "codegen/cuda/DeviceHeader.h"
#include "codegen/cuda/Group.h"
#include "codegen/cuda/Reads.h"

using namespace mlir;

namespace mlc::cuda {

namespace {

/// The tiling of an elementwise kernel.
struct Plan {
  /// Inputs that are read in tiles, all along the same dims.
  SmallVector<Read> tiled;
  /// Output dims along which `tiled` is read (m) and the output is written (n),
  /// each a run of adjacent dims in the output and in all of `tiled`; the
  /// remaining dims.
  SmallVector<int> m, n, batch;
  int64_t edge = 32;
  /// Elements of a vector along m and along n, if tiles hold words
  /// (kernels/words.cuh), and words along m; 0: single elements.
  int64_t widthM = 0, widthN = 0, words = 0;
};

} // namespace

static Type elementOf(Value tensor) {
  return cast<RankedTensorType>(tensor.getType()).getElementType();
}

/// Extends `run` by the dims in front of it as long as these are adjacent in
/// the output (`live`) and in all of `reads`.
static void extend(SmallVector<int> &run, ArrayRef<int> live,
                   ArrayRef<Read> reads) {
  auto before = [](ArrayRef<int> dims, int dim) {
    const int *at = llvm::find(dims, dim);
    return at == dims.begin() ? -1 : at[-1];
  };
  for (;;) {
    int next = before(live, run.front());
    if (next < 0 || llvm::any_of(
                        reads,
                        [&](const Read &read) {
                          return before(read.moving(), run.front()) != next;
                        }))
      return;
    run.insert(run.begin(), next);
  }
}

static int64_t tileBytes(const Kernel &kernel, const Read &read,
                         const Plan &plan) {
  int64_t bytes = storageBytes(elementOf(kernel.inputs[read.input]));
  if (int64_t parts = plan.words / 32)
    return 4 * (parts * 33 * plan.edge + 2 * (parts - 1));
  return plan.edge * (plan.edge + std::max<int64_t>(4 / bytes, 1)) * bytes;
}

/// The tiles of an edge.
static std::optional<int64_t> countTiles(const Kernel &kernel, const Plan &plan,
                                         int64_t edge) {
  return (product(kernel, plan.batch) * product(kernel, plan.m).ceilDiv(edge) *
          product(kernel, plan.n).ceilDiv(edge))
      .asConstant();
}

/// Whether tiles can hold words: all have elements of the same 32 bits or
/// fewer, and the extents along m are whole words. Sets widths, words and the
/// edge.
static bool chooseWidths(const Kernel &kernel, const Target &target,
                         Plan &plan) {
  int64_t bytes =
      storageBytes(elementOf(kernel.inputs[plan.tiled.front().input]));
  std::optional<int64_t> m = product(kernel, plan.m).asConstant(),
                         n = product(kernel, plan.n).asConstant();
  if (!m || !n || bytes > 4 || llvm::any_of(plan.tiled, [&](const Read &read) {
        return storageBytes(elementOf(kernel.inputs[read.input])) != bytes;
      }))
    return false;
  int64_t ofWord = 4 / bytes, widest = 1;
  int64_t width = 16 / bytes;
  while (*m % width != 0)
    width /= 2;
  if (width < ofWord)
    return false;
  for (Value output : kernel.outputs)
    widest = std::max(widest, storageBytes(elementOf(output)));
  plan.widthM = width;
  plan.widthN = std::min<int64_t>(8, 16 / widest);
  while (*n % plan.widthN != 0)
    plan.widthN /= 2;
  // Larger tiles have more bytes on their way, if there are enough of them.
  bool isLarge = bytes == 4 && countTiles(kernel, plan, 64).value_or(0) >=
                                   2 * target.cost.units;
  plan.words = isLarge ? 64 : 32;
  plan.edge = plan.words * ofWord;
  return true;
}

/// Narrow elements in tiles of 64: a warp reads 64 bytes, or 32 twice, in a
/// row.
static int64_t chooseEdge(const Kernel &kernel, ArrayRef<Read> tiled) {
  for (const Read &read : tiled)
    if (storageBytes(elementOf(kernel.inputs[read.input])) > 2)
      return 32;
  return 64;
}

static std::optional<Plan> makePlan(const Kernel &kernel,
                                    const EmitOptions &options) {
  ArrayRef<IntExpr> shape = kernel.shapeOf(kernel.outputs.front());
  if (!acceptsElementwise(kernel, options) || !reductionsOf(kernel).empty() ||
      llvm::any_of(kernel.outputs, [&](Value output) {
        return kernel.shapeOf(output) != shape;
      }))
    return std::nullopt;
  SmallVector<int> live;
  for (auto [d, extent] : llvm::enumerate(shape))
    if (!extent.isConstant(1))
      live.push_back(int(d));
  if (live.size() < 2)
    return std::nullopt;
  Plan plan;
  plan.n = {live.back()};
  bool areAll;
  for (const Read &read : findReads(kernel, options, areAll)) {
    SmallVector<int> moving = read.moving();
    // Neighbours read the same element of an input that does not move along n.
    if (!llvm::is_contained(moving, live.back()) ||
        moving.back() == live.back() ||
        (!plan.m.empty() && moving.back() != plan.m.back()))
      continue;
    plan.m = {moving.back()};
    plan.tiled.push_back(read);
  }
  if (plan.tiled.empty())
    return std::nullopt;
  extend(plan.n, live, plan.tiled);
  extend(plan.m, live, plan.tiled);
  // With few rows or columns, caches do as well.
  constexpr int64_t few = 16;
  for (ArrayRef<int> dims : {ArrayRef<int>(plan.m), ArrayRef<int>(plan.n)})
    if (product(kernel, dims).asConstant().value_or(few) < few)
      return std::nullopt;
  for (int d : live)
    if (!llvm::is_contained(plan.m, d) && !llvm::is_contained(plan.n, d))
      plan.batch.push_back(d);
  if (!chooseWidths(kernel, options.target, plan))
    plan.edge = chooseEdge(kernel, plan.tiled);
  // Keep the tiles that fit into 48 KiB.
  int64_t bytes = 0;
  llvm::erase_if(plan.tiled, [&](const Read &read) {
    bytes += tileBytes(kernel, read, plan);
    return bytes > (48 << 10);
  });
  return plan;
}

bool acceptsTranspose(const Kernel &kernel, const EmitOptions &options) {
  return makePlan(kernel, options).has_value();
}

namespace {

/// Prints a kernel by its plan.
class TransposePrinter {
public:
  TransposePrinter(KernelPrinter &to, const Plan &plan)
      : to(to), kernel(to.kernel), printer(to.printer), code(to.code),
        plan(plan), shape(kernel.shapeOf(kernel.outputs.front())),
        places(shape.size(), Index(0)) {}

  KernelText print();

private:
  void place(Index flat, ArrayRef<int> dims);
  Index along(StringRef name, ArrayRef<int> dims, Index &tileOfTask);
  void bringTiles();
  void compute();
  void computeVectors();
  std::string tileOf(const View &view, ArrayRef<Index> indices,
                     StringRef element);
  /// The offset of the current batch index in a tensor in which output dim d
  /// has stride strides[d].
  Index batchOffset(ArrayRef<Index> strides);
  SmallVector<Index> stridesOf(const Read &read);

  KernelPrinter &to;
  const Kernel &kernel;
  ElementPrinter &printer;
  Code &code;
  const Plan &plan;
  ArrayRef<IntExpr> shape;
  /// The index of each output dim, where known.
  Indices places;
  Index firstM, firstN, countM, countN;
};

} // namespace

void TransposePrinter::place(Index flat, ArrayRef<int> dims) {
  SmallVector<IntExpr> extents;
  for (int d : dims)
    extents.push_back(shape[d]);
  for (auto [d, index] :
       llvm::zip_equal(dims, printer.unflatten(flat, extents)))
    places[d] = index;
}

/// The first index of the task's tile along `dims`; divides `tileOfTask` by the
/// number of these tiles.
Index TransposePrinter::along(StringRef name, ArrayRef<int> dims,
                              Index &tileOfTask) {
  Index tiles = printer.size(product(kernel, dims).ceilDiv(plan.edge));
  Index first(code.define("Index", name,
                          printer.mod(tileOfTask, tiles).text + " * " +
                              std::to_string(plan.edge)));
  tileOfTask = printer.div(tileOfTask, tiles);
  return first;
}

SmallVector<Index> TransposePrinter::stridesOf(const Read &read) {
  SmallVector<Index> strides(shape.size(), Index(0));
  const View &view = printer.views[kernel.inputs[read.input]];
  for (auto [dim, stride] : llvm::zip_equal(read.dims, view.strides))
    if (dim >= 0)
      strides[dim] = stride;
  return strides;
}

Index TransposePrinter::batchOffset(ArrayRef<Index> strides) {
  Index at(0);
  for (int d : plan.batch)
    at = printer.add(at, printer.mul(places[d], strides[d]));
  return at;
}

void TransposePrinter::bringTiles() {
  int64_t begin = 0;
  for (auto [i, read] : llvm::enumerate(plan.tiled)) {
    std::string type = storageType(elementOf(kernel.inputs[read.input]));
    std::string tile = "tile" + std::to_string(i), element = type;
    std::string kind = "Tile<" + type + ", " + std::to_string(plan.edge) + ">";
    std::string width;
    if (plan.widthM) {
      kind = "WordTile<" + type + ", " + std::to_string(plan.words) + ">";
      element = "Vector<" + type + ", " +
                std::to_string(plan.edge / plan.words) + ">";
      width = ", " + std::to_string(plan.widthM);
    }
    printer.head.line("const " + kind + " " + tile + " = {reinterpret_cast<" +
                      element + " *>(sharedMemory() + " +
                      std::to_string(begin) + ")};");
    begin += tileBytes(kernel, read, plan);
    SmallVector<Index> strides = stridesOf(read);
    Index strideN = strides[plan.n.back()];
    Index from = printer.add(printer.add(batchOffset(strides), firstM),
                             printer.mul(firstN, strideN));
    code.line(tile + ".bring<" + std::to_string(threads) + width + ">(in" +
              std::to_string(read.input) + " + " + from.text + ", " +
              strideN.text + ", " + countM.text + ", " + countN.text + ");");
  }
}

/// The stored element of a tile that a read gets: `element` of its name; "" for
/// other reads.
std::string TransposePrinter::tileOf(const View &view, ArrayRef<Index> indices,
                                     StringRef element) {
  auto read = readAt(kernel, view, indices, places);
  auto found = read ? llvm::find(plan.tiled, *read) : plan.tiled.end();
  if (found == plan.tiled.end())
    return "";
  return (StringRef(plan.widthM ? "words" : "tile") +
          Twine(found - plan.tiled.begin()) + element)
      .str();
}

/// The same from words: a thread has a vector along n for each element of one.
void TransposePrinter::computeVectors() {
  std::string block = std::to_string(threads), w = std::to_string(plan.widthN);
  std::string ofWord = std::to_string(plan.edge / plan.words);
  std::string shape = std::to_string(plan.words) + ", " + w;
  int64_t turns = plan.words * plan.edge / plan.widthN / threads;
  auto vector = [&] {
    code.line("const int m = word * " + ofWord + " + g;");
    for (auto [i, output] : llvm::enumerate(kernel.outputs))
      code.line("Vector<" + storageType(elementOf(output)) + ", " + w + "> r" +
                std::to_string(i) + ";");
    Index m = printer.add(firstM, Index(std::string("m")));
    code.line("#pragma unroll");
    code.block("for (int e = 0; e < " + w + "; ++e)", [&] {
      place(m, plan.m);
      place(printer.add(firstN, Index(std::string("(n + e)"))), plan.n);
      for (auto [i, output] : llvm::enumerate(kernel.outputs))
        code.line(
            "r" + std::to_string(i) + ".at[e] = " +
            toStorage(elementOf(output), printer.element(output, places)) +
            ";");
    });
    Index n = printer.add(firstN, Index(std::string("n")));
    for (auto [i, output] : llvm::enumerate(kernel.outputs)) {
      std::string number = std::to_string(i);
      View view = printer.dense(output, "out" + number);
      Index at = printer.add(batchOffset(view.strides),
                             printer.mul(m, view.strides[plan.m.back()]));
      code.line("storeVector<" + w + ">(out" + number + " + " +
                printer.add(at, n).text + ", r" + number + ");");
    }
  };
  auto words = [&] {
    for (auto [i, read] : llvm::enumerate(plan.tiled)) {
      std::string number = std::to_string(i);
      code.line("Vector<" + storageType(elementOf(kernel.inputs[read.input])) +
                ", " + ofWord + "> words" + number + "[" + w + "];");
      code.line("#pragma unroll");
      code.line("for (int e = 0; e < " + w + "; ++e)");
      code.line("  words" + number + "[e] = tile" + number +
                ".get(word, n, e);");
    }
    code.line("#pragma unroll");
    code.block("for (int g = 0; g < " + ofWord + "; ++g)", vector);
  };
  printer.onLoad = [&](const View &view, ArrayRef<Index> indices) {
    return tileOf(view, indices, "[e].at[g]");
  };
  code.line("#pragma unroll");
  code.block("for (int i = 0; i < " + std::to_string(turns) + "; ++i)", [&] {
    code.line("const int turn = threadIdx.x + i * " + block + ";");
    code.line("const int word = wordOf<" + shape + ">(turn), n = firstOf<" +
              shape + ">(turn);");
    code.block("if (word * " + ofWord + " < " + countM.text + " && n < " +
                   countN.text + ")",
               words);
  });
  printer.onLoad = nullptr;
}

/// Computes every element of the tile; neighbouring threads are neighbours
/// along n.
void TransposePrinter::compute() {
  std::string edge = std::to_string(plan.edge);
  std::string block = std::to_string(threads);
  code.line("#pragma unroll 4");
  code.block(
      "for (int i = 0; i < " + edge + " * " + edge + " / " + block + "; ++i)",
      [&] {
        code.line("const int e = threadIdx.x + i * " + block + ";");
        code.line("const int m = e / " + edge + ", n = e % " + edge + ";");
        code.block(
            "if (m < " + countM.text + " && n < " + countN.text + ")", [&] {
              Index m = printer.add(firstM, Index(std::string("m")));
              Index n = printer.add(firstN, Index(std::string("n")));
              place(m, plan.m);
              place(n, plan.n);
              printer.onLoad = [&](const View &view, ArrayRef<Index> indices) {
                return tileOf(view, indices, ".get(m, n)");
              };
              for (auto [i, output] : llvm::enumerate(kernel.outputs)) {
                View view = printer.dense(output, "out" + std::to_string(i));
                view.offset = batchOffset(view.strides);
                view.strides = {view.strides[plan.m.back()], Index(1)};
                printer.store(view, {m, n}, printer.element(output, places));
              }
              printer.onLoad = nullptr;
            });
      });
}

KernelText TransposePrinter::print() {
  KernelText text;
  text.block = threads;
  text.scratchBytes = IntExpr::constant(kernel.context(), 0);
  text.sharedBytes = 0;
  for (const Read &read : plan.tiled)
    text.sharedBytes += tileBytes(kernel, read, plan);
  IntExpr m = product(kernel, plan.m), n = product(kernel, plan.n);
  text.tasks =
      product(kernel, plan.batch) * m.ceilDiv(plan.edge) * n.ceilDiv(plan.edge);
  to.before =
      plan.widthM
          ? (skeletonText("vector.cuh") + skeletonText("words.cuh")).str()
          : skeletonText("transpose.cuh").str();
  Index rest(code.define("Index", "rest", "Index(task)"));
  firstN = along("firstN", plan.n, rest);
  firstM = along("firstM", plan.m, rest);
  place(rest, plan.batch);
  countM = printer.sub(printer.size(m), firstM);
  countN = printer.sub(printer.size(n), firstN);
  bringTiles();
  code.line("syncBlock();");
  if (plan.widthM)
    computeVectors();
  else
    compute();
  // All threads must have read the tiles before the next task fills them.
  code.line("syncBlock();");
  return text;
}

FailureOr<KernelText> emitTranspose(KernelPrinter &to) {
  std::optional<Plan> plan = makePlan(to.kernel, to.options);
  if (!plan)
    return failure();
  return TransposePrinter(to, *plan).print();
}

} // namespace mlc::cuda
