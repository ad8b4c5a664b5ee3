//===- Transpose.cpp - Elementwise kernels through tiles ------------------===//

#include "codegen/cuda/Transpose.h"
#include "codegen/cuda/DeviceHeader.h"
#include "codegen/cuda/Group.h"

using namespace mlir;

namespace mlc::cuda {

namespace {

/// How elements of an input are read: for each of its dims the output's dim
/// that indexes it, or -1 if the dim has size 1.
struct Read {
  unsigned input;
  SmallVector<int> dims;

  bool operator==(const Read &other) const {
    return input == other.input && dims == other.dims;
  }
  /// Only the output's dims, the fastest last.
  SmallVector<int> moving() const {
    return llvm::filter_to_vector(dims, [](int d) { return d >= 0; });
  }
};

/// The tiling of an elementwise kernel.
struct Plan {
  /// Inputs that are read in tiles, all along the same dims.
  SmallVector<Read> tiled;
  /// Output dims along which `tiled` is read (m) and the output is written (n),
  /// each a run of adjacent dims in the output and in all of `tiled`; the
  /// remaining dims.
  SmallVector<int> m, n, batch;
  int64_t edge = 32;
};

} // namespace

static Type elementOf(Value tensor) {
  return cast<RankedTensorType>(tensor.getType()).getElementType();
}

/// The number of the input at `view`; the number of inputs if there is none.
static unsigned inputAt(const Kernel &kernel, const View &view) {
  unsigned i = 0;
  while (i < kernel.inputs.size() && view.pointer != "in" + std::to_string(i))
    ++i;
  return i;
}

/// The read at `indices`, if each of these is one of the output's `places` and
/// covers a whole dim.
static std::optional<Read> readAt(const Kernel &kernel, const View &view,
                                  ArrayRef<Index> indices,
                                  ArrayRef<Index> places) {
  Read read{inputAt(kernel, view), {}};
  if (read.input == kernel.inputs.size())
    return std::nullopt;
  ArrayRef<IntExpr> shape = kernel.shapeOf(kernel.outputs.front());
  ArrayRef<IntExpr> extents = kernel.shapeOf(kernel.inputs[read.input]);
  for (auto [index, extent] : llvm::zip_equal(indices, extents)) {
    if (extent.isConstant(1)) {
      read.dims.push_back(-1);
      continue;
    }
    auto found = llvm::find_if(places, [&, index = index](const Index &place) {
      return !place.value && place.text == index.text;
    });
    int dim = int(found - places.begin());
    if (found == places.end() || shape[dim] != extent ||
        llvm::is_contained(read.dims, dim))
      return std::nullopt;
    read.dims.push_back(dim);
  }
  return read;
}

/// All such reads of the kernel, in order.
static SmallVector<Read> findReads(const Kernel &kernel,
                                   const EmitOptions &options) {
  KernelPrinter trial(kernel, options, "");
  trial.printer.isTrial = true;
  ArrayRef<IntExpr> shape = kernel.shapeOf(kernel.outputs.front());
  Indices places;
  for (auto [d, extent] : llvm::enumerate(shape))
    places.push_back(extent.isConstant(1) ? Index(0)
                                          : Index("d" + std::to_string(d)));
  SmallVector<Read> reads;
  trial.printer.onLoad = [&](const View &view, ArrayRef<Index> indices) {
    std::optional<Read> read = readAt(kernel, view, indices, places);
    if (read && !llvm::is_contained(reads, *read))
      reads.push_back(*read);
    return std::string();
  };
  for (Value output : kernel.outputs)
    trial.printer.element(output, places);
  return trial.printer.failed ? SmallVector<Read>() : reads;
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

static IntExpr product(const Kernel &kernel, ArrayRef<int> dims) {
  ArrayRef<IntExpr> shape = kernel.shapeOf(kernel.outputs.front());
  IntExpr all = IntExpr::constant(kernel.context(), 1);
  for (int d : dims)
    all = all * shape[d];
  return all;
}

static int64_t tileBytes(const Kernel &kernel, const Read &read, int64_t edge) {
  int64_t bytes = storageBytes(elementOf(kernel.inputs[read.input]));
  return edge * (edge + std::max<int64_t>(4 / bytes, 1)) * bytes;
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
  for (const Read &read : findReads(kernel, options)) {
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
  plan.edge = chooseEdge(kernel, plan.tiled);
  // Keep the tiles that fit into 48 KiB.
  int64_t bytes = 0;
  llvm::erase_if(plan.tiled, [&](const Read &read) {
    bytes += tileBytes(kernel, read, plan.edge);
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
    std::string tile = "tile" + std::to_string(i);
    printer.head.line("const Tile<" + type + ", " + std::to_string(plan.edge) +
                      "> " + tile + " = {reinterpret_cast<" + type +
                      " *>(sharedMemory() + " + std::to_string(begin) + ")};");
    begin += tileBytes(kernel, read, plan.edge);
    SmallVector<Index> strides = stridesOf(read);
    Index strideN = strides[plan.n.back()];
    Index from = printer.add(printer.add(batchOffset(strides), firstM),
                             printer.mul(firstN, strideN));
    code.line(tile + ".bring<" + std::to_string(threads) + ">(in" +
              std::to_string(read.input) + " + " + from.text + ", " +
              strideN.text + ", " + countM.text + ", " + countN.text + ");");
  }
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
                auto read = readAt(kernel, view, indices, places);
                auto found =
                    read ? llvm::find(plan.tiled, *read) : plan.tiled.end();
                return found == plan.tiled.end()
                           ? std::string()
                           : "tile" +
                                 std::to_string(found - plan.tiled.begin()) +
                                 ".get(m, n)";
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
    text.sharedBytes += tileBytes(kernel, read, plan.edge);
  IntExpr m = product(kernel, plan.m), n = product(kernel, plan.n);
  text.tasks =
      product(kernel, plan.batch) * m.ceilDiv(plan.edge) * n.ceilDiv(plan.edge);
  to.before = skeletonText("transpose.cuh").str();
  Index rest(code.define("Index", "rest", "Index(task)"));
  firstN = along("firstN", plan.n, rest);
  firstM = along("firstM", plan.m, rest);
  place(rest, plan.batch);
  countM = printer.sub(printer.size(m), firstM);
  countN = printer.sub(printer.size(n), firstN);
  bringTiles();
  code.line("syncBlock();");
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
