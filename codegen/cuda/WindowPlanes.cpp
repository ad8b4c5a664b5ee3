//===- WindowPlanes.cpp - Windows in planes -------------------------------===//
//
// Windows along the last dims, [n, c, h, w]: a block brings whole planes, or a
// band of the rows of one, to shared memory. These are runs of neighbours,
// whatever the extents are. A thread computes several elements below each other
// and next to each other, and reads each row once for all of them.
//
//===----------------------------------------------------------------------===//

#include "codegen/cuda/DeviceHeader.h"
#include "codegen/cuda/WindowPrinters.h"

using namespace mlir;

namespace mlc::cuda {

static Type elementOf(Value tensor) {
  return cast<RankedTensorType>(tensor.getType()).getElementType();
}

static std::string text(int64_t value) { return Index(value).text; }

/// `x` times, or divided by, a number; no name of it is one.
static std::string times(const std::string &x, int64_t by) {
  return by == 1 ? x : x + " * " + text(by);
}
static std::string over(const std::string &x, int64_t by) {
  return by == 1 ? x : x + " / " + text(by);
}

/// Which groups and rows the task has.
void PlanesPrinter::printTask() {
  printer.helpers.need("minimum");
  printer.helpers.need("maximum");
  if (!plan.band) {
    std::string groups = std::to_string(plan.groups);
    code.line("const Index group = " + times("Index(task)", plan.groups) + ";");
    code.line("const int count = " +
              (w.groups.mod(plan.groups).isConstant(0)
                   ? groups
                   : "int(minimum<Index>(" + groups + ", " +
                         printer.size(w.groups).text + " - group))") +
              ";");
  } else {
    const WindowDim &rows = plan.rows();
    std::string bands = std::to_string(plan.bands());
    code.line("const Index group = Index(task) / " + bands + ";");
    code.line("const int first = int(Index(task) % " + bands + ") * " +
              text(plan.band) + ";");
    code.line("const int count = minimum(" + text(plan.band) + ", " +
              text(plan.outRows) + " - first);");
    // The rows of the input that the band reads.
    code.line("const int begin = maximum(0, first * " + text(rows.stride) +
              " + " + text(rows.inputFirst) + ");");
    code.line("const int end = maximum(begin, minimum(" + text(plan.inRows) +
              ", (first + count - 1) * " + text(rows.stride) + " + " +
              text(rows.inputFirst + (rows.kernel - 1) * rows.dilation + 1) +
              "));");
  }
  IntExpr innermost =
      w.first ? shape[w.first - 1] : IntExpr::constant(kernel.context(), 1);
  if (innermost.isConstant())
    code.line("const int lead = int(" + times("group", w.results) + " % " +
              printer.size(innermost).text + ");");
  for (auto [i, weights] : llvm::enumerate(w.weights))
    code.line("const int group" + std::to_string(i) + " = int(group % " +
              text(weights.groups) + ");");
}

/// Brings the inputs and weights to shared memory.
void PlanesPrinter::bring() {
  for (auto [i, input] : llvm::enumerate(w.inputs)) {
    std::string tile = "tile" + std::to_string(i),
                in = "in" + std::to_string(input);
    int64_t each = storageBytes(elementOf(kernel.inputs[input]));
    if (!plan.band) {
      std::string ofGroup = text(w.channels * plan.inPlane());
      code.line("bringRun<" + block + ">(" + tile + ", " + in + ", group * " +
                ofGroup + ", (group + count) * " + ofGroup + ");");
      continue;
    }
    code.block("for (int c = 0; c < " + text(w.channels) + "; ++c)", [&] {
      code.line("const Index from = (group * " + text(w.channels) + " + c) * " +
                text(plan.inPlane()) + ";");
      code.line("bringRun<" + block + ">(" + tile + " + c * " +
                text(plan.segment(each)) + ", " + in + ", from + begin * " +
                text(plan.inRow) + ", from + end * " + text(plan.inRow) + ");");
    });
  }
  for (auto [i, weights] : llvm::enumerate(w.weights)) {
    std::string number = std::to_string(i), ofGroup = text(weights.perGroup);
    code.line("bringCycle<" + block + ">(weights" + number + ", in" +
              std::to_string(weights.input) + ", group" + number + " * " +
              ofGroup + ", " + (plan.band ? ofGroup : "count * " + ofGroup) +
              ", " + text(weights.groups * weights.perGroup) + ");");
  }
  code.line("commitCopies();");
  code.line("waitForCopies<0>();");
  code.line("syncBlock();");
}

/// Sets the places of the dims in front of windows for `plane`, of the task's
/// planes of results.
void PlanesPrinter::placeGroups(const Index &plane,
                                MutableArrayRef<Index> places) {
  for (unsigned d = 0; d < w.first; ++d)
    places[d] = Index(0);
  if (w.first == 0)
    return;
  unsigned last = w.first - 1;
  IntExpr extent = shape[last];
  bool isAlone = llvm::all_of(shape.take_front(last), [](IntExpr other) {
    return other.isConstant(1);
  });
  Index flat(code.define("Index", "plane",
                         times("group", w.results) + " + " + plane.text));
  if (isAlone || !extent.isConstant()) {
    for (auto [d, index] :
         llvm::enumerate(printer.unflatten(flat, shape.take_front(w.first))))
      places[d] = index;
    return;
  }
  // A division of small numbers.
  if (!extent.isConstant(1))
    places[last] = Index(code.define("int", "place",
                                     "(lead + " + plane.text + ") % " +
                                         printer.size(extent).text));
  for (auto [d, index] : llvm::enumerate(printer.unflatten(
           printer.div(flat, printer.size(extent)), shape.take_front(last))))
    places[d] = index;
}

View PlanesPrinter::viewOfTile(unsigned i) {
  View view;
  Value input = kernel.inputs[w.inputs[i]];
  view.pointer = "tile" + std::to_string(i);
  view.element = elementOf(input);
  view.offset = Index("at" + std::to_string(i));
  view.strides.assign(w.first, Index(0));
  int64_t stride = 1;
  SmallVector<Index> strides;
  for (const WindowDim &dim : llvm::reverse(w.dims)) {
    strides.push_back(Index(stride));
    stride *= dim.in.getConstant();
  }
  view.strides.append(strides.rbegin(), strides.rend());
  return view;
}

void PlanesPrinter::forInner(bool reads, function_ref<void()> inside) {
  auto level = [&](auto &self, unsigned d) -> void {
    if (d == w.dims.size())
      return inside();
    if (w.dims[d].kernel == 1)
      return self(self, d + 1);
    std::string name = "k" + std::to_string(d);
    bool isLast = d + 1 == w.dims.size();
    code.line("#pragma unroll");
    code.block(
        "for (int " + name + " = 0; " + name + " < " +
            text(reads && isLast ? plan.columnReads() : w.dims[d].kernel) +
            "; ++" + name + ")",
        [&] { self(self, d + 1); });
  };
  level(level, 1);
}

/// The number of what was read in a row; `column`: for the thread's element of
/// that number.
std::string PlanesPrinter::windowIndex(const std::string &column) const {
  std::string at;
  for (auto [d, dim] : llvm::enumerate(w.dims)) {
    if (d == 0 || dim.kernel == 1)
      continue;
    std::string name = "k" + std::to_string(d);
    bool isLast = d + 1 == w.dims.size();
    if (isLast && plan.columns > 1 && !column.empty())
      name = times(column, dim.stride) + " + " + name;
    at = at.empty() ? name
                    : "(" + at + ") * " +
                          text(isLast ? plan.columnReads() : dim.kernel) +
                          " + " + name;
  }
  return at.empty() ? "0" : at;
}

std::string PlanesPrinter::sumOf(const std::string &column) const {
  return plan.columns == 1
             ? "sum[j]"
             : "sum[j * " + text(plan.columns) + " + " + column + "]";
}

void PlanesPrinter::forColumns(Indices loops,
                               function_ref<void(const Indices &)> inside) {
  if (plan.columns == 1)
    return inside(loops);
  code.line("#pragma unroll");
  code.block("for (int i = 0; i < " + text(plan.columns) + "; ++i)", [&] {
    if (int loop = w.dims.back().loop; loop >= 0)
      loops[loop] = Index("(" + inner.back().text + " + i)");
    inside(loops);
  });
}

/// Reads what windows have of row `r`.
void PlanesPrinter::readRow(const Indices &loops) {
  int64_t count = w.dims.size() == 1 ? 1 : plan.columnReads();
  for (const WindowDim &dim :
       ArrayRef(w.dims).drop_front().drop_back(w.dims.size() == 1 ? 0 : 1))
    count *= dim.kernel;
  OpOperand &operand = op->getOpOperand(w.operand);
  std::string type = computeType(elementOf(operand.get()));
  code.line(type + " x[" + text(count) + "];");
  forInner(/*reads=*/true, [&] {
    AffineMap map = op.getMatchingIndexingMap(&operand);
    Indices at(map.getNumResults());
    for (auto [d, dim] : llvm::enumerate(w.dims)) {
      if (dim.operandDim < 0)
        continue;
      if (d == 0) {
        at[dim.operandDim] = Index("row");
        continue;
      }
      Index step = dim.kernel == 1 ? Index(0) : Index("k" + std::to_string(d));
      at[dim.operandDim] =
          printer.add(printer.add(printer.mul(inner[d], Index(dim.stride)),
                                  Index(dim.operandFirst)),
                      printer.mul(step, Index(dim.dilation)));
    }
    for (auto [index, expr] : llvm::zip_equal(at, map.getResults()))
      if (index.text.empty())
        index = printer.evaluate(expr, loops);
    code.line("x[" + windowIndex() +
              "] = " + printer.element(operand.get(), at) + ";");
  });
}

/// Adds row `r` to the sums of all windows that have it.
void PlanesPrinter::addRow(const Indices &loops) {
  const WindowDim &rows = plan.rows();
  code.line("#pragma unroll");
  code.block("for (int j = 0; j < " + text(plan.perThread) + "; ++j)", [&] {
    std::string below = times("j", rows.stride);
    code.line("const int k0 = " + over("(r - " + below + ")", rows.dilation) +
              ";");
    std::string isTap = "r >= " + below + " && k0 < " + text(rows.kernel);
    if (rows.dilation > 1)
      isTap += " && (r - " + below + ") % " + text(rows.dilation) + " == 0";
    code.block("if (" + isTap + ")", [&] {
      auto add = [&](const Indices &loops) {
        SmallVector<std::string> operands(op->getNumOperands());
        for (OpOperand &operand : op->getOpOperands()) {
          unsigned number = operand.getOperandNumber();
          if (op.getMatchingBlockArgument(&operand).use_empty())
            continue;
          operands[number] =
              number == w.operand ? "x[" + windowIndex("i") + "]"
              : number >= op.getNumDpsInputs()
                  ? sumOf("i")
                  : printer.element(
                        operand.get(),
                        printer.evaluate(op.getMatchingIndexingMap(&operand),
                                         loops));
        }
        code.line(sumOf("i") + " = " + printer.apply(op, operands).front() +
                  ";");
      };
      forInner(/*reads=*/false, [&] { forColumns(loops, add); });
    });
  });
}

/// Reduces the windows of the thread's elements, channel by channel.
void PlanesPrinter::reduceWindows(Indices loops) {
  for (auto [d, dim] : llvm::enumerate(w.dims))
    if (dim.reduction >= 0)
      loops[dim.reduction] = Index("k" + std::to_string(d));
  std::string channel;
  auto rows = [&] {
    for (auto [i, input] : llvm::enumerate(w.inputs)) {
      std::string number = std::to_string(i);
      int64_t each = storageBytes(elementOf(kernel.inputs[input]));
      std::string wide = text(16 / each);
      std::string c = channel.empty() ? "0" : channel;
      // The place of the input's first element of this plane.
      if (plan.band)
        code.line("const int at" + number + " = " + c + " * " +
                  text(plan.segment(each)) + " + int(((group * " +
                  text(w.channels) + " + " + c + ") * " + text(plan.inPlane()) +
                  " + begin * " + text(plan.inRow) + ") % " + wide +
                  ") - begin * " + text(plan.inRow) + ";");
      else
        code.line("const int at" + number + " = (" + times("own", w.channels) +
                  " + " + c + ") * " + text(plan.inPlane()) +
                  " + int(group * " + text(w.channels * plan.inPlane()) +
                  " % " + wide + ");");
    }
    const WindowDim &dim = plan.rows();
    code.line("#pragma unroll");
    code.block(
        "for (int r = 0; r < " + text(dim.span(plan.perThread)) + "; ++r)",
        [&] {
          // Rows below the last window are for no element.
          std::string row = "from + r";
          if (plan.outRows % plan.perThread != 0)
            row = "minimum(" + row + ", " +
                  text(dim.operandFirst + dim.span(plan.outRows) - 1) + ")";
          code.line("const int row = " + row + ";");
          readRow(loops);
          addRow(loops);
        });
  };
  auto channels = [&](auto &self, unsigned i) -> void {
    if (i == w.channelLoops.size())
      return rows();
    unsigned loop = w.channelLoops[i];
    int64_t extent = loopSizes(kernel, w.op)[loop].getConstant();
    std::string name = "c" + std::to_string(i);
    loops[loop] = Index(name);
    channel = channel.empty()
                  ? name
                  : "(" + channel + " * " + text(extent) + " + " + name + ")";
    code.block("for (int " + name + " = 0; " + name + " < " + text(extent) +
                   "; ++" + name + ")",
               [&] { self(self, i + 1); });
  };
  channels(channels, 0);
}

/// Computes the sums of an item, and stores them in shared memory unless the
/// thread itself finishes them.
void PlanesPrinter::printSums(const Indices &loops) {
  std::string type = computeType(plan.sum), count = text(plan.perThread);
  code.line(type + " sum[" + text(plan.perThread * plan.columns) + "];");
  forColumns(loops, [&](const Indices &loops) {
    std::string init = printer.initials(op, loops).front();
    code.line("#pragma unroll");
    code.line("for (int j = 0; j < " + count + "; ++j)");
    code.line("  " + sumOf("i") + " = " + init + ";");
  });
  reduceWindows(loops);
  if (plan.isDirect)
    return;
  code.line("#pragma unroll");
  code.line("for (int j = 0; j < " + count + "; ++j)");
  std::string rows = plan.band ? "count" : text(plan.outRows);
  if (plan.band || plan.outRows % plan.perThread != 0)
    code.line("  if (local + j < " + rows + ")");
  std::string at = "(plane * " + text(plan.band ? plan.band : plan.outRows) +
                   " + local + j) * " + text(plan.outRow) + " + " +
                   times("column", plan.columns);
  if (plan.columns == 1) {
    code.line("    sums[" + at + "] = sum[j];");
    return;
  }
  code.line("    for (int i = 0; i < " + text(plan.columns) + "; ++i)");
  code.line("      sums[" + at + " + i] = " + sumOf("i") + ";");
}

/// One item: elements below each other.
void PlanesPrinter::printItem() {
  int64_t rowsOfPlane =
      llvm::divideCeil(plan.band ? plan.band : plan.outRows, plan.perThread);
  SmallVector<IntExpr> extents;
  for (const WindowDim &dim : ArrayRef(w.dims).drop_front())
    extents.push_back(dim.out);
  if (plan.columns > 1)
    extents.back() = extents.back().floorDiv(plan.columns);
  int64_t itemsOfRow = plan.outRow / plan.columns;
  code.line("const int column = item % " + text(itemsOfRow) + ";");
  code.line("const int local = item / " + text(itemsOfRow) + " % " +
            times(text(rowsOfPlane), plan.perThread) + ";");
  // The last band may be shorter.
  if (plan.band && plan.outRows % plan.band != 0) {
    code.line("if (local >= count)");
    code.line("  continue;");
  }
  code.line("const int plane = item / " + text(itemsOfRow * rowsOfPlane) + ";");
  code.line("const int own = " + over("plane", w.results) + ";");
  Index row(std::string(plan.band ? "(first + local)" : "local"));
  code.line("const int from = " +
            printer
                .add(printer.mul(row, Index(plan.rows().stride)),
                     Index(plan.rows().operandFirst))
                .text +
            ";");

  inner.assign(1, Index(0));
  for (const Index &index :
       printer.unflatten(Index(std::string("column")), extents))
    inner.push_back(index);
  if (plan.columns > 1)
    inner.back() = printer.mul(inner.back(), Index(plan.columns));

  places.assign(shape.size(), Index(0));
  placeGroups(Index(std::string("plane")), places);
  Indices loops(op.getNumLoops(), Index(0));
  for (unsigned d = 0; d < w.first; ++d)
    if (w.loops[d] >= 0)
      loops[w.loops[d]] = places[d];
  for (auto [d, dim] : llvm::enumerate(w.dims))
    if (d > 0 && dim.loop >= 0)
      loops[dim.loop] = inner[d];
  for (auto [i, weights] : llvm::enumerate(w.weights)) {
    std::string number = std::to_string(i);
    Value input = kernel.inputs[weights.input];
    View view = printer.dense(input, "weights" + number);
    view.offset = Index(code.define("int", "shift",
                                    "(own - (group" + number + " + own) % " +
                                        text(weights.groups) + ") * " +
                                        text(weights.perGroup)));
    printer.views[input] = view;
  }
  printSums(loops);
}

void PlanesPrinter::compute() {
  auto saved = printer.views;
  for (unsigned i = 0; i < w.inputs.size(); ++i)
    printer.views[kernel.inputs[w.inputs[i]]] = viewOfTile(i);
  std::string items =
      text(plan.band ? plan.items() : plan.items() / plan.groups);
  if (!plan.band)
    items = "count * " + items;
  code.block("for (int item = threadIdx.x; item < " + items +
                 "; item += " + block + ")",
             [&] {
               printItem();
               printer.views = saved;
               if (plan.isDirect)
                 finishItem();
             });
  code.line("syncBlock();");
}

/// Declares what lies in shared memory.
static void declareTiles(KernelPrinter &to, const PlanesPlan &plan) {
  auto declare = [&](const std::string &type, const Twine &name, int64_t at) {
    to.printer.head.line(type + " *" + name + " = reinterpret_cast<" + type +
                         " *>(sharedMemory() + " + std::to_string(at) + ");");
  };
  for (auto [i, input] : llvm::enumerate(plan.w.inputs))
    declare(storageType(elementOf(to.kernel.inputs[input])), "tile" + Twine(i),
            plan.tiles[i]);
  for (auto [i, weights] : llvm::enumerate(plan.w.weights))
    declare(storageType(elementOf(to.kernel.inputs[weights.input])),
            "weights" + Twine(i), plan.weights[i]);
  if (!plan.isDirect)
    declare(computeType(plan.sum), "sums", plan.sums);
}

KernelText PlanesPrinter::print() {
  KernelText text;
  text.block = plan.block;
  text.sharedBytes = plan.bytes;
  text.scratchBytes = IntExpr::constant(kernel.context(), 0);
  text.tasks =
      plan.band ? w.groups * plan.bands() : w.groups.ceilDiv(plan.groups);
  to.before = (skeletonText("vector.cuh") + skeletonText("windows.cuh")).str();
  declareTiles(to, plan);
  printTask();
  bring();
  compute();
  finish();
  return text;
}

FailureOr<KernelText> emitPlanes(KernelPrinter &to) {
  std::optional<PlanesPlan> plan = planPlanes(to.kernel, to.options);
  if (!plan)
    return failure();
  return PlanesPrinter(to, *plan).print();
}

} // namespace mlc::cuda
