//===- ElementTypes.cpp - Element types below the graph -------------------===//

#include "passes/Lower/ElementTypes.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/DialectResourceBlobManager.h"

using namespace mlir;

namespace mlc {

Type lowerElementType(Type type) {
  if (auto integer = dyn_cast<IntegerType>(type))
    return IntegerType::get(type.getContext(), integer.getWidth());
  return type;
}

RankedTensorType getLoweredType(llvm::ArrayRef<IntExpr> dims,
                                Type elementType) {
  llvm::SmallVector<int64_t> shape;
  for (IntExpr dim : dims)
    shape.push_back(dim.asConstant().value_or(ShapedType::kDynamic));
  return RankedTensorType::get(shape, lowerElementType(elementType));
}

ElementsAttr lowerElements(ElementsAttr attr) {
  auto type = cast<RankedTensorType>(attr.getShapedType());
  Type element = lowerElementType(type.getElementType());
  auto lowered = RankedTensorType::get(type.getShape(), element);
  if (lowered == type)
    return attr;
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(attr))
    return DenseResourceElementsAttr::get(lowered, resource.getRawHandle());
  return cast<DenseElementsAttr>(attr).bitcast(element);
}

} // namespace mlc
