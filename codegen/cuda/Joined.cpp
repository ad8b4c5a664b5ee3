//===- Joined.cpp - Kernels that share a launch ---------------------------===//

#include "codegen/cuda/Joined.h"
#include "codegen/kernel/Siblings.h"

using namespace mlir;

namespace mlc::cuda {

bool acceptsJoined(const Kernel &kernel, const EmitOptions &) {
  return !kernel.siblings.empty();
}

namespace {

/// Prints one sibling after another, and what they have in common.
class JoinedPrinter {
public:
  explicit JoinedPrinter(KernelPrinter &to) : to(to) {
    text.usesHopper = text.findsTasks = true;
    text.scratchBytes = IntExpr::constant(to.kernel.context(), 0);
    text.tasks = text.scratchBytes;
    to.before = skeletonOfGroups();
    to.code = Code(1);
    to.code.line("long long block = blockIdx.x;");
  }

  LogicalResult add(const Siblings::Sibling &sibling, unsigned number);

  KernelText text;

private:
  void call(const Siblings::Sibling &sibling, StringRef space,
            const KernelText &own);

  KernelPrinter &to;
};

} // namespace

/// "KIND NAME0, KIND NAME1, ..., "
static std::string numbered(StringRef kind, StringRef name, size_t count) {
  std::string all;
  for (size_t i = 0; i < count; ++i)
    all += (kind + name + Twine(i) + ", ").str();
  return all;
}

LogicalResult JoinedPrinter::add(const Siblings::Sibling &sibling,
                                 unsigned number) {
  FailureOr<Kernel> kernel = Kernel::read(sibling.function);
  if (failed(kernel))
    return failure();
  KernelPrinter own(*kernel, to.options, to.name);
  FailureOr<KernelText> printed =
      printGroups(own, /*sharesTiles=*/false, "block", "blocks");
  if (failed(printed) || own.printer.failed)
    return failure();
  std::string space = "sibling" + std::to_string(number);
  to.printer.helpers.add(own.printer.helpers);
  std::string maps = numbered("const TensorMap &", "map", printed->maps.size());
  to.before += "\nnamespace " + space + " {\n" + own.printer.constants +
               own.before + "MLC_DEVICE void run(" + maps +
               own.bufferParameters() +
               "uint8_t *scratch, long long block, long long blocks) {\n" +
               own.printer.head.text() + own.code.text() +
               "}\n} // namespace " + space + "\n";
  call(sibling, space, *printed);
  for (KernelMap map : printed->maps) {
    map.operand = sibling.inputs[map.operand];
    text.maps.push_back(std::move(map));
  }
  text.block = printed->block;
  text.resident = printed->resident;
  text.sharedBytes = std::max(text.sharedBytes, printed->sharedBytes);
  text.tasks = text.tasks + printed->tasks;
  return success();
}

/// Calls a sibling for its blocks; those of the others go on.
void JoinedPrinter::call(const Siblings::Sibling &sibling, StringRef space,
                         const KernelText &own) {
  std::string arguments;
  for (size_t i = 0; i < own.maps.size(); ++i)
    arguments += "map" + std::to_string(text.maps.size() + i) + ", ";
  for (unsigned input : sibling.inputs)
    arguments += "in" + std::to_string(input) + ", ";
  for (unsigned output : sibling.outputs)
    arguments += "out" + std::to_string(output) + ", ";
  arguments += numbered("", "s", to.kernel.symbols.size());
  std::string blocks =
      to.code.define("long long", "blocks", to.printer.size(own.tasks).text);
  to.code.block("if (block >= 0 && block < " + blocks + ")", [&] {
    to.code.line(space + "::run(" + arguments + "scratch, block, " + blocks +
                 ");");
  });
  to.code.line("block -= " + blocks + ";");
}

FailureOr<KernelText> emitJoined(KernelPrinter &to) {
  Siblings siblings(to.kernel);
  JoinedPrinter printer(to);
  for (auto [i, sibling] : llvm::enumerate(siblings.all))
    if (failed(printer.add(sibling, unsigned(i))))
      return failure();
  return printer.text;
}

} // namespace mlc::cuda
