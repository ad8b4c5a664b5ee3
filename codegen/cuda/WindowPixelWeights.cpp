//===- WindowPixelWeights.cpp - Weights of windows of pixels --------------===//
//
// A thread keeps the weights of its channels in registers. Where those of a
// channel are neighbours, its block brings them to shared memory before.
//
//===----------------------------------------------------------------------===//

#include "codegen/cuda/WindowPrinters.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace mlc::cuda {

static Type elementOf(Value tensor) {
  return cast<RankedTensorType>(tensor.getType()).getElementType();
}

static std::string text(int64_t value) { return Index(value).text; }

/// Starts to bring the weights of the block's channels to shared memory.
void PixelsPrinter::bringRuns() {
  if (plan.runs.empty())
    return;
  code.line("if (task != blockIdx.x)");
  code.line("  syncBlock();");
  int64_t channels = plan.vectors * plan.width;
  for (auto [i, run] : llvm::enumerate(plan.runs)) {
    auto [weights, at] = run;
    std::string number = std::to_string(i), taps = text(weights.perGroup);
    std::string type = storageType(elementOf(kernel.inputs[weights.input]));
    printer.head.line(type + " *shared" + number + " = reinterpret_cast<" +
                      type + " *>(sharedMemory() + " + std::to_string(at) +
                      ");");
    printer.helpers.need("minimum");
    code.line("bringRun<" + text(plan.block()) + ">(shared" + number + ", in" +
              std::to_string(weights.input) + ", firstChannel * " + taps +
              ", minimum<Index>(firstChannel + " + text(channels) + ", " +
              text(plan.channels(kernel)) + ") * " + taps + ");");
    int64_t wide = 16 / storageBytes(elementOf(kernel.inputs[weights.input]));
    code.line("const " + type + " *run" + number + " = shared" + number +
              " + (channel - firstChannel) * " + taps + " + firstChannel * " +
              taps + " % " + text(wide) + ";");
  }
  code.line("commitCopies();");
}

void PixelsPrinter::waitForRuns() {
  if (plan.runs.empty())
    return;
  code.line("waitForCopies<0>();");
  code.line("syncBlock();");
}

/// Loads an operand for all places of the kernel: as vectors of channels, or
/// from shared memory where a channel's weights are neighbours.
void PixelsPrinter::loadOperand(unsigned number) {
  OpOperand &operand = op->getOpOperand(number);
  std::string name = std::to_string(number);
  Type element = elementOf(operand.get());
  code.line(computeType(element) + " weights" + name + "[" + text(w.taps()) +
            "][" + width + "];");
  // Which element of what was loaded a read gets.
  llvm::StringMap<std::string> loaded;
  std::string taps = text(w.taps()), place = "(e * " + taps + " + tap)";
  for (auto [i, run] : llvm::enumerate(plan.runs)) {
    unsigned input = run.first.input;
    if (llvm::none_of(w.others, [&](const WindowOther &other) {
          return other.operand == number && other.input == input;
        }))
      continue;
    std::string all = code.fresh("all");
    code.line(vectorOf(elementOf(kernel.inputs[input])) + " " + all + "[" +
              taps + "];");
    code.line("#pragma unroll");
    code.line("for (int v = 0; v < " + taps + "; ++v)");
    code.line("  " + all + "[v] = loadVector<" + width + ">(run" +
              std::to_string(i) + " + v * " + width + ");");
    loaded["in" + std::to_string(input)] = all + "[" + place + " / " + width +
                                           "].at[" + place + " % " + width +
                                           "]";
  }
  forTaps(0, w.dims.size(), [&] {
    code.line("const int tap = " + tapNumber() + ";");
    for (const WindowOther &other : w.others) {
      if (other.operand != number || plan.width == 1 ||
          !isVector(kernel, w, other))
        continue;
      std::string input = "in" + std::to_string(other.input);
      loaded[input] =
          code.define(vectorOf(elementOf(kernel.inputs[other.input])), "v",
                      "loadVector<" + width + ">(" + input + " + " +
                          addressOf(other.input, other.places).text + ")") +
          ".at[e]";
    }
    printer.onLoad = [&](const View &view, ArrayRef<Index>) {
      return loaded.lookup(view.pointer);
    };
    forChannels([&] {
      Indices indices =
          printer.evaluate(op.getMatchingIndexingMap(&operand), loops);
      code.line("weights" + name +
                "[tap][e] = " + printer.element(operand.get(), indices) + ";");
    });
    printer.onLoad = nullptr;
  });
}

void PixelsPrinter::loadWeights() {
  for (OpOperand *operand : op.getDpsInputOperands())
    if (operand->getOperandNumber() != w.operand &&
        !op.getMatchingBlockArgument(operand).use_empty())
      loadOperand(operand->getOperandNumber());
}

} // namespace mlc::cuda
