//===- Graph.cpp - The mlc dialect ----------------------------------------===//

#include "dialects/Graph/Graph.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;
using namespace mlc;

#include "dialects/Symbolic/MlcDialect.cpp.inc"

#define GET_OP_CLASSES
#include "dialects/Graph/Ops.cpp.inc"

void MlcDialect::initialize() {
  registerAttributes();
  addOperations<
#define GET_OP_LIST
#include "dialects/Graph/Ops.cpp.inc"
      >();
}

Operation *MlcDialect::materializeConstant(OpBuilder &builder, Attribute value,
                                           Type type, Location loc) {
  auto elements = dyn_cast<ElementsAttr>(value);
  if (!elements || elements.getShapedType() != type)
    return nullptr;
  return ConstantOp::create(builder, loc, type, elements);
}
