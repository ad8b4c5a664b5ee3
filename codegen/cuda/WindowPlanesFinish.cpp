//===- WindowPlanesFinish.cpp - What follows from windows in planes -------===//
//
// A thread finishes the sums that it has computed, and writes its neighbours
// of each row. Of short rows that would be parts of sectors: sums go through
// shared memory, and threads finish vectors of neighbours across rows.
//
//===----------------------------------------------------------------------===//

#include "codegen/cuda/WindowPrinters.h"

using namespace mlir;

namespace mlc::cuda {

static Type elementOf(Value tensor) {
  return cast<RankedTensorType>(tensor.getType()).getElementType();
}

static std::string text(int64_t value) { return Index(value).text; }

/// Computes element e of the vectors of results from its sum.
void PlanesPrinter::finishElement(const std::string &sum,
                                  ArrayRef<Index> places) {
  printer.known[op->getResult(0)] = sum;
  printer.onLoad = [&](const View &view, ArrayRef<Index> indices) {
    std::optional<Read> read = readAt(kernel, view, indices, places);
    auto found = read ? llvm::find(w.reads, *read) : w.reads.end();
    return found == w.reads.end()
               ? std::string()
               : "v" + std::to_string(found - w.reads.begin()) + ".at[e]";
  };
  for (auto [i, output] : llvm::enumerate(kernel.outputs))
    code.line("y" + std::to_string(i) + ".at[e] = " +
              toStorage(elementOf(output), printer.element(output, places)) +
              ";");
  printer.onLoad = nullptr;
  printer.known.erase(op->getResult(0));
}

/// Computes what follows from the sums of an item, and stores it.
void PlanesPrinter::finishItem() {
  printer.keepsRoundings = to.options.keepsRoundings;
  std::string v = text(plan.columns);
  code.line("const Index base = (group * " + text(w.results) + " + plane) * " +
            text(plan.outPlane()) + " + " +
            (plan.columns == 1 ? "column" : "column * " + v) + ";");
  code.line("#pragma unroll");
  code.block("for (int j = 0; j < " + text(plan.perThread) + "; ++j)", [&] {
    if (plan.band || plan.outRows % plan.perThread != 0) {
      code.line("if (local + j >= " +
                (plan.band ? "count" : text(plan.outRows)) + ")");
      code.line("  continue;");
    }
    Index row(code.define("int", "below",
                          plan.band ? "first + local + j" : "local + j"));
    std::string at = code.define(
        "Index", "at", "base + " + row.text + " * " + text(plan.outRow));
    for (auto [i, read] : llvm::enumerate(w.reads))
      code.line("const auto v" + std::to_string(i) + " = loadVector<" + v +
                ">(in" + std::to_string(read.input) + " + " + at + ");");
    for (auto [i, output] : llvm::enumerate(kernel.outputs))
      code.line("Vector<" + storageType(elementOf(output)) + ", " + v + "> y" +
                std::to_string(i) + ";");
    code.line("#pragma unroll");
    code.block("for (int e = 0; e < " + v + "; ++e)", [&] {
      Indices own(places);
      own[w.first] = row;
      for (unsigned d = 1; d < w.dims.size(); ++d)
        own[w.first + d] = inner[d];
      if (plan.columns > 1)
        own.back() = printer.add(own.back(), Index(std::string("e")));
      finishElement(sumOf("e"), own);
    });
    for (size_t i = 0; i < kernel.outputs.size(); ++i)
      code.line("storeVector<" + v + ">(out" + std::to_string(i) + " + " + at +
                ", y" + std::to_string(i) + ");");
  });
  printer.keepsRoundings = true;
}

/// Computes what follows from the vector of sums at `at`.
void PlanesPrinter::finishVector(const std::string &base, const Index &plane) {
  std::string v = std::to_string(plan.width);
  for (auto [i, read] : llvm::enumerate(w.reads)) {
    std::string type = storageType(elementOf(kernel.inputs[read.input]));
    code.line("const Vector<" + type + ", " + v + "> v" + std::to_string(i) +
              " = loadVector<" + v + ">(in" + std::to_string(read.input) +
              " + " + base + " + at);");
  }
  std::string from = "sums + at";
  if (plan.band && w.results > 1)
    from = "sums + result * " + text(plan.band * plan.outRow) + " + at";
  code.line("const Vector<" + computeType(plan.sum) + ", " + v +
            "> s = loadVector<" + v + ">(" + from + ");");
  for (auto [i, output] : llvm::enumerate(kernel.outputs))
    code.line("Vector<" + storageType(elementOf(output)) + ", " + v + "> y" +
              std::to_string(i) + ";");
  Indices places(shape.size(), Index(0));
  bool isOnePlane = plan.band || plan.outPlane() % plan.width == 0;
  Index own = plane;
  if (!plan.band && isOnePlane)
    own = Index(code.define("int", "own", "at / " + text(plan.outPlane())));
  if (isOnePlane)
    placeGroups(own, places);
  code.line("#pragma unroll");
  code.block("for (int e = 0; e < " + v + "; ++e)", [&] {
    if (!isOnePlane) {
      own = Index(
          code.define("int", "own", "(at + e) / " + text(plan.outPlane())));
      placeGroups(own, places);
    }
    std::string rest = plan.band ? "first * " + text(plan.outRow) + " + at + e"
                                 : "(at + e) % " + text(plan.outPlane());
    SmallVector<IntExpr> extents;
    for (const WindowDim &dim : w.dims)
      extents.push_back(dim.out);
    Index flat(code.define("int", "flat", rest));
    for (auto [d, index] : llvm::enumerate(printer.unflatten(flat, extents)))
      places[w.first + d] = index;
    finishElement("s.at[e]", places);
  });
  for (size_t i = 0; i < kernel.outputs.size(); ++i)
    code.line("storeVector<" + v + ">(out" + std::to_string(i) + " + " + base +
              " + at, y" + std::to_string(i) + ");");
}

void PlanesPrinter::finishRun(const std::string &base, const std::string &total,
                              const Index &plane) {
  std::string v = std::to_string(plan.width);
  code.block("for (int at = threadIdx.x * " + v + "; at < " + total +
                 "; at += " + text(plan.block * plan.width) + ")",
             [&] { finishVector(base, plane); });
}

/// Computes what follows from the sums, by vectors of the results' neighbours.
void PlanesPrinter::finish() {
  if (plan.isDirect)
    return;
  printer.keepsRoundings = to.options.keepsRoundings;
  if (!plan.band) {
    int64_t ofGroup = w.results * plan.outPlane();
    code.line("const Index base = group * " + text(ofGroup) + ";");
    finishRun("base", "count * " + text(ofGroup), Index(0));
    return;
  }
  auto run = [&](const std::string &result) {
    code.line("const Index base = (group * " + text(w.results) + " + " +
              result + ") * " + text(plan.outPlane()) + " + first * " +
              text(plan.outRow) + ";");
    finishRun("base", "count * " + text(plan.outRow), Index(result));
  };
  if (w.results == 1)
    return run("0");
  code.block("for (int result = 0; result < " + text(w.results) + "; ++result)",
             [&] { run("result"); });
}

} // namespace mlc::cuda
