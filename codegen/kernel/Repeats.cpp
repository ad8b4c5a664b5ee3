//===- Repeats.cpp - Kernels that run several times in a launch -----------===//

#include "codegen/kernel/Kernel.h"

using namespace mlir;

namespace mlc {

LogicalResult Kernel::readRepeats() {
  Attribute attr = function->getAttr("mlc.repeat");
  if (!attr)
    return success();
  auto values = dyn_cast<DenseI64ArrayAttr>(attr);
  if (!values || values.size() != 2 || values[0] < 1 || values[1] < 0 ||
      values[1] >= int64_t(inputs.size()) || outputs.size() != 1 ||
      inputs[values[1]].getType() != outputs[0].getType() ||
      shapeOf(inputs[values[1]]) != shapeOf(outputs[0]))
    return function.emitError("mlc.repeat must be a count and the number of an "
                              "input with the type of the only result");
  repeats = values[0];
  repeated = values[1];
  return success();
}

} // namespace mlc
