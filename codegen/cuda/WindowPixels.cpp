//===- WindowPixels.cpp - Windows of pixels with channels last ------------===//
//
// Windows in front of a last dim of channels, [n, h, w, c]: a thread computes a
// vector of channels for a small tile of pixels. It reads each pixel of its
// windows once, as a vector, and keeps weights in registers.
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

/// The address in an input whose indices are `places`, for the first channel.
Index PixelsPrinter::addressOf(unsigned input, ArrayRef<AffineExpr> indices) {
  Index address(0);
  for (auto [index, stride] :
       llvm::zip_equal(indices, printer.views[kernel.inputs[input]].strides))
    address = printer.add(address,
                          printer.mul(printer.evaluate(index, loops), stride));
  return address;
}

void PixelsPrinter::forChannels(function_ref<void()> inside) {
  code.line("#pragma unroll");
  code.block("for (int e = 0; e < " + width + "; ++e)", [&] {
    Index &channel = loops[w.loops.back()];
    Index first = channel;
    channel = plan.width == 1 ? first : Index("(" + first.text + " + e)");
    inside();
    channel = first;
  });
}

/// Loops over the kernel's places along dims [first, last).
void PixelsPrinter::forTaps(unsigned first, unsigned last,
                            function_ref<void()> inside) {
  if (first == last)
    return inside();
  const WindowDim &dim = w.dims[first];
  if (dim.kernel == 1) {
    taps[first] = Index(0);
    return forTaps(first + 1, last, inside);
  }
  std::string name = "k" + std::to_string(first);
  taps[first] = Index(name);
  loops[dim.reduction] = taps[first];
  code.line("#pragma unroll");
  code.block("for (int " + name + " = 0; " + name + " < " + text(dim.kernel) +
                 "; ++" + name + ")",
             [&] { forTaps(first + 1, last, inside); });
}

/// The number of the kernel's place.
std::string PixelsPrinter::tapNumber() {
  std::string number = "0";
  for (auto [tap, dim] : llvm::zip_equal(taps, w.dims)) {
    if (dim.kernel == 1)
      continue;
    number = number == "0"
                 ? tap.text
                 : "(" + number + ") * " + text(dim.kernel) + " + " + tap.text;
  }
  return number;
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

void PixelsPrinter::startSums() {
  std::string count = text(plan.rows * plan.columns);
  code.line(computeType(elementOf(op->getResult(0))) + " sums[" + count + "][" +
            width + "];");
  forChannels([&] {
    std::string init = printer.initials(op, loops).front();
    code.line("#pragma unroll");
    code.line("for (int i = 0; i < " + count + "; ++i)");
    code.line("  sums[i][e] = " + init + ";");
  });
}

/// The input's index along dim `d` of windows.
Index PixelsPrinter::inputIndex(unsigned d) {
  return printer.add(at[d],
                     Index(w.dims[d].inputFirst - w.dims[d].operandFirst));
}

/// The condition under which a pixel lies in the input; "" if all do.
std::string PixelsPrinter::inside() {
  std::string condition;
  for (auto [d, dim] : llvm::enumerate(w.dims)) {
    int64_t tile = d == 0                                        ? plan.rows
                   : plan.hasColumns() && d + 1 == w.dims.size() ? plan.columns
                                                                 : 1;
    bool isWhole = dim.out.mod(tile).isConstant(0);
    if (!dim.isPadded && isWhole)
      continue;
    Index index = inputIndex(d);
    condition += (condition.empty() ? "" : " && ") + index.text + " >= 0 && " +
                 index.text + " < " + printer.size(dim.in).text;
  }
  return condition;
}

/// The operand's pad, if nothing else lies between it and its input: then a
/// vector has the pad's value outside.
static tensor::PadOp padOf(const Kernel &kernel, const Windows &w) {
  auto pad = w.op->getOperand(w.operand).getDefiningOp<tensor::PadOp>();
  bool isAlone = pad && kernel.isInput(pad.getSource()) && w.inputs.size() == 1;
  return isAlone ? pad : tensor::PadOp();
}

/// Loads the pixel at `at` of input `i` if `condition` holds.
std::string PixelsPrinter::loadOf(unsigned i, std::string condition) {
  unsigned number = w.inputs[i];
  Value input = kernel.inputs[number];
  Index address(0);
  const View &view = printer.views[input];
  for (auto [d, index] : llvm::enumerate(w.places)) {
    bool isWindow = d >= w.first && d < w.first + w.dims.size();
    Index place = isWindow && w.dims[d - w.first].operandDim >= 0
                      ? inputIndex(d - w.first)
                      : printer.evaluate(index, loops);
    address = printer.add(address, printer.mul(place, view.strides[d]));
  }
  std::string from = "in" + std::to_string(number) + " + " + address.text;
  if (std::string more = inside(); !more.empty())
    condition += (condition.empty() ? "" : " && ") + more;
  if (condition.empty())
    return "loadVector<" + width + ">(" + from + ")";
  Type type = elementOf(input);
  tensor::PadOp pad = padOf(kernel, w);
  std::string outside =
      pad ? toStorage(type, printer.element(pad.getConstantPaddingValue(), {}))
          : storageType(type) + "()";
  return "loadVectorOr<" + width + ">(" + condition + ", " + from + ", " +
         outside + ")";
}

/// Loads all pixels of the thread's windows.
void PixelsPrinter::loadPixels(const std::string &isIn) {
  std::string rows = text(plan.rowDim().span(plan.rows)),
              span = text(plan.columnSpan());
  code.line(vectorOf(elementOf(kernel.inputs[w.inputs.front()])) + " pixels[" +
            rows + "][" + span + "];");
  at.assign(w.dims.size(), Index(0));
  code.line("#pragma unroll");
  code.block("for (int r = 0; r < " + rows + "; ++r)", [&] {
    code.line("#pragma unroll");
    code.block("for (int q = 0; q < " + span + "; ++q)", [&] {
      at[0] = Index(code.define("Index", "row", "firstRow + r"));
      if (plan.hasColumns())
        at.back() = Index(code.define("Index", "column", "firstColumn + q"));
      std::string load = loadOf(0, isIn);
      code.line("pixels[r][q] = " + load + ";");
    });
  });
}

/// Reads the pixel at `at` into x[q].
void PixelsPrinter::readPixel() {
  OpOperand &operand = op->getOpOperand(w.operand);
  for (unsigned i = 0; i < w.inputs.size(); ++i) {
    std::string load = plan.loadsFirst ? "pixels[r][q]" : loadOf(i, "");
    code.line("const " + vectorOf(elementOf(kernel.inputs[w.inputs[i]])) +
              " pixel" + std::to_string(i) + " = " + load + ";");
  }
  tensor::PadOp pad = padOf(kernel, w);
  printer.onLoad = [&](const View &view, ArrayRef<Index>) -> std::string {
    for (auto [i, number] : llvm::enumerate(w.inputs))
      if (view.pointer == "in" + std::to_string(number))
        return "pixel" + std::to_string(i) + ".at[e]";
    return "";
  };
  if (pad)
    printer.views[pad.getResult()] = printer.views[pad.getSource()];
  forChannels([&] {
    AffineMap map = op.getMatchingIndexingMap(&operand);
    Indices indices(map.getNumResults());
    for (auto [d, dim] : llvm::enumerate(w.dims))
      if (dim.operandDim >= 0)
        indices[dim.operandDim] = at[d];
    for (auto [index, expr] : llvm::zip_equal(indices, map.getResults()))
      if (index.text.empty())
        index = printer.evaluate(expr, loops);
    code.line("x[q][e] = " + printer.element(operand.get(), indices) + ";");
  });
  if (pad)
    printer.views.erase(pad.getResult());
  printer.onLoad = nullptr;
}

/// Reads what windows have of row `r`: pixels next to each other.
void PixelsPrinter::readPixels() {
  std::string span = text(plan.columnSpan());
  Type type = elementOf(op->getOpOperand(w.operand).get());
  code.line(computeType(type) + " x[" + span + "][" + width + "];");
  code.line("#pragma unroll");
  code.block("for (int q = 0; q < " + span + "; ++q)", [&] {
    for (auto [d, dim] : llvm::enumerate(plan.middle()))
      at[d + 1] = printer.add(
          printer.add(printer.mul(places[w.first + d + 1], Index(dim.stride)),
                      Index(dim.operandFirst)),
          printer.mul(taps[d + 1], Index(dim.dilation)));
    if (plan.hasColumns())
      at.back() = Index(code.define("Index", "column", "firstColumn + q"));
    readPixel();
  });
}

/// Adds them to the sums of all pixels whose windows have row `r`.
void PixelsPrinter::addPixels() {
  const WindowDim &rows = plan.rowDim();
  code.line("#pragma unroll");
  code.block("for (int j = 0; j < " + text(plan.rows) + "; ++j)", [&] {
    std::string distance = "(r - j * " + text(rows.stride) + ")";
    code.line("const int k0 = " + distance + " / " + text(rows.dilation) + ";");
    std::string isTap = distance + " >= 0 && k0 < " + text(rows.kernel);
    if (rows.dilation > 1)
      isTap += " && " + distance + " % " + text(rows.dilation) + " == 0";
    taps[0] = Index("k0");
    auto add = [&] {
      std::string pixel = "j * " + text(plan.columns) + " + i", q = "0";
      if (plan.hasColumns())
        q = "i * " + text(plan.columnDim().stride) + " + " +
            (plan.columnDim().kernel == 1
                 ? "0"
                 : taps.back().text + " * " + text(plan.columnDim().dilation));
      code.line("#pragma unroll");
      code.block("for (int i = 0; i < " + text(plan.columns) + "; ++i)", [&] {
        forChannels([&] {
          SmallVector<std::string> operands(op->getNumOperands());
          for (unsigned n = 0; n < operands.size(); ++n)
            operands[n] = n == w.operand ? "x[" + q + "][e]"
                          : n >= op.getNumDpsInputs()
                              ? "sums[" + pixel + "][e]"
                              : "weights" + std::to_string(n) + "[" +
                                    tapNumber() + "][e]";
          code.line("sums[" + pixel +
                    "][e] = " + printer.apply(op, operands).front() + ";");
        });
      });
    };
    code.block("if (" + isTap + ")", [&] {
      if (plan.hasColumns())
        forTaps(w.dims.size() - 1, w.dims.size(), add);
      else
        add();
    });
  });
}

void PixelsPrinter::reduceWindows() {
  const WindowDim &rows = plan.rowDim();
  at.assign(w.dims.size(), Index(0));
  code.line("#pragma unroll");
  code.block("for (int r = 0; r < " + text(rows.span(plan.rows)) + "; ++r)",
             [&] {
               at[0] = Index(code.define("Index", "row", "firstRow + r"));
               forTaps(1, plan.hasColumns() ? w.dims.size() - 1 : 1, [&] {
                 readPixels();
                 addPixels();
               });
             });
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

/// Computes what follows from the sums of pixel (j, i), and stores it.
void PixelsPrinter::finishPixel() {
  Indices place(places);
  unsigned last = w.first + w.dims.size() - 1;
  place[w.first] = printer.add(place[w.first], Index(std::string("j")));
  if (plan.hasColumns())
    place[last] = printer.add(place[last], Index(std::string("i")));
  Indices channel(place);
  if (plan.width > 1)
    channel.back() = Index("(" + place.back().text + " + e)");
  auto addressIn = [&](ArrayRef<int> dims, ArrayRef<Index> strides) {
    Index address(0);
    for (auto [dim, stride] : llvm::zip_equal(dims, strides))
      if (dim >= 0)
        address = printer.add(address, printer.mul(place[dim], stride));
    return address.text;
  };
  SmallVector<Read> reads;
  if (plan.width > 1)
    for (const Read &read : w.reads)
      if (isVector(w, read))
        reads.push_back(read);
  for (auto [i, read] : llvm::enumerate(reads)) {
    Value input = kernel.inputs[read.input];
    code.line("const " + vectorOf(elementOf(input)) + " v" + std::to_string(i) +
              " = loadVector<" + width + ">(in" + std::to_string(read.input) +
              " + " + addressIn(read.dims, printer.views[input].strides) +
              ");");
  }
  for (auto [i, output] : llvm::enumerate(kernel.outputs))
    code.line(vectorOf(elementOf(output)) + " y" + std::to_string(i) + ";");
  printer.known[op->getResult(0)] =
      "sums[j * " + text(plan.columns) + " + i][e]";
  printer.onLoad = [&](const View &view, ArrayRef<Index> indices) {
    std::optional<Read> read = readAt(kernel, view, indices, channel);
    auto found = read ? llvm::find(reads, *read) : reads.end();
    return found == reads.end()
               ? std::string()
               : "v" + std::to_string(found - reads.begin()) + ".at[e]";
  };
  forChannels([&] {
    for (auto [i, output] : llvm::enumerate(kernel.outputs))
      code.line("y" + std::to_string(i) + ".at[e] = " +
                toStorage(elementOf(output), printer.element(output, channel)) +
                ";");
  });
  printer.onLoad = nullptr;
  printer.known.erase(op->getResult(0));
  SmallVector<int> all = llvm::to_vector(llvm::seq<int>(0, shape.size()));
  for (auto [i, output] : llvm::enumerate(kernel.outputs)) {
    std::string number = std::to_string(i);
    View view = printer.dense(output, "out" + number);
    code.line("storeVector<" + width + ">(out" + number + " + " +
              addressIn(all, view.strides) + ", y" + number + ");");
  }
}

void PixelsPrinter::finish() {
  printer.keepsRoundings = to.options.keepsRoundings;
  unsigned last = w.first + w.dims.size() - 1;
  code.line("#pragma unroll");
  code.block("for (int j = 0; j < " + text(plan.rows) + "; ++j)", [&] {
    code.line("#pragma unroll");
    code.block("for (int i = 0; i < " + text(plan.columns) + "; ++i)", [&] {
      std::string condition;
      auto demand = [&](unsigned dim, int64_t tile, const std::string &step) {
        if (shape[dim].mod(tile).isConstant(0))
          return;
        condition += (condition.empty() ? "" : " && ") + places[dim].text +
                     " + " + step + " < " + printer.size(shape[dim]).text;
      };
      demand(w.first, plan.rows, "j");
      if (plan.hasColumns())
        demand(last, plan.columns, "i");
      if (condition.empty())
        finishPixel();
      else
        code.block("if (" + condition + ")", [&] { finishPixel(); });
    });
  });
}

/// Finds the thread's tile, and returns under which condition there is one.
std::string PixelsPrinter::findTile() {
  SmallVector<IntExpr> extents = plan.extents(kernel);
  std::string part = "Index(task / " + text(plan.chunks(kernel)) + ")";
  std::string own = "int(threadIdx.x) / " + text(plan.vectors);
  if (plan.across == 0) {
    code.line("const Index tile = " + part + " * " + text(plan.tiles) + " + " +
              own + ";");
    return "tile < " +
           printer.size(elementCount(extents, kernel.context())).text;
  }
  code.line("const int own = " + own + ";");
  places = printer.unflatten(Index(code.define("Index", "part", part)),
                             plan.parts(kernel));
  std::string condition;
  auto place = [&](unsigned dim, StringRef name, int64_t count,
                   const std::string &step) {
    places[dim] =
        printer.add(printer.mul(places[dim], Index(count)), Index(step));
    places[dim] = Index(code.define("Index", name, places[dim].text));
    if (!extents[dim].mod(count).isConstant(0))
      condition += (condition.empty() ? "" : " && ") + places[dim].text +
                   " < " + printer.size(extents[dim]).text;
  };
  std::string across = text(plan.across);
  place(w.first, "tileRow", plan.down(), "own / " + across);
  place(extents.size() - 1, "tileColumn", plan.across, "own % " + across);
  return condition;
}

/// Finds where the thread's windows begin.
void PixelsPrinter::placeThread() {
  if (plan.across == 0)
    places =
        printer.unflatten(Index(std::string("tile")), plan.extents(kernel));
  places.push_back(Index(std::string("channel")));
  unsigned last = w.first + w.dims.size() - 1;
  auto scale = [&](Index &place, StringRef name, int64_t by) {
    if (by != 1)
      place = Index(code.define("Index", name, place.text + " * " + text(by)));
  };
  scale(places[w.first], "topRow", plan.rows);
  if (plan.hasColumns())
    scale(places[last], "leftColumn", plan.columns);

  for (auto [loop, place] : llvm::zip_equal(w.loops, places))
    if (loop >= 0)
      loops[loop] = place;
  auto start = [&](StringRef name, unsigned dim, const WindowDim &window) {
    code.line("const Index " + name + " = " +
              printer
                  .add(printer.mul(places[dim], Index(window.stride)),
                       Index(window.operandFirst))
                  .text +
              ";");
  };
  start("firstRow", w.first, plan.rowDim());
  if (plan.hasColumns())
    start("firstColumn", last, plan.columnDim());
}

void PixelsPrinter::computeThread() {
  loadWeights();
  startSums();
  reduceWindows();
  finish();
}

KernelText PixelsPrinter::print() {
  int64_t chunks = plan.chunks(kernel);
  KernelText result;
  result.block = plan.block();
  result.sharedBytes = plan.sharedBytes;
  result.scratchBytes = IntExpr::constant(kernel.context(), 0);
  result.tasks = elementCount(plan.parts(kernel), kernel.context()) * chunks;
  to.before = (skeletonText("vector.cuh") + skeletonText("windows.cuh")).str();
  code.line("const Index firstChannel = Index(task % " + text(chunks) + ") * " +
            text(plan.vectors * plan.width) + ";");
  code.line("const Index channel = firstChannel + int(threadIdx.x) % " +
            text(plan.vectors) + " * " + width + ";");
  std::string isIn = findTile();
  if (chunks * plan.vectors * plan.width != plan.channels(kernel))
    isIn += (isIn.empty() ? "" : " && ") +
            ("channel < " + text(plan.channels(kernel)));
  if (plan.loadsFirst) {
    isIn = isIn.empty() ? "" : code.define("bool", "isIn", isIn);
    placeThread();
  }
  bringRuns();
  if (plan.loadsFirst)
    loadPixels(isIn);
  waitForRuns();
  auto thread = [&] {
    if (!plan.loadsFirst)
      placeThread();
    computeThread();
  };
  if (isIn.empty())
    thread();
  else
    code.block("if (" + isIn + ")", thread);
  return result;
}

FailureOr<KernelText> emitPixels(KernelPrinter &to) {
  std::optional<PixelsPlan> plan = planPixels(to.kernel, to.options);
  if (!plan)
    return failure();
  return PixelsPrinter(to, *plan).print();
}

} // namespace mlc::cuda
