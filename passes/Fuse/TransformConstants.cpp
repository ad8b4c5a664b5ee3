//===- TransformConstants.cpp - Algorithms with transformed constants -----===//

#include "passes/Fuse/TransformConstants.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "passes/Base/Form.h"
#include "llvm/ADT/SetVector.h"
#include <map>

using namespace mlir;
using llvm::ArrayRef;
using llvm::SmallVector;

namespace mlc {

#define GEN_PASS_DEF_TRANSFORMCONSTANTSPASS
#include "passes/Base/Passes.h.inc"

namespace {

class ConstantTransformer {
public:
  ConstantTransformer(ModuleOp module, const CodeTarget &target,
                      Precision precision)
      : module(module), target(target), precision(precision) {}

  void run() {
    module.walk([&](exec::LaunchOp launch) {
      launches[launch.getKernelAttr().getAttr()].push_back(launch);
    });
    for (auto kernel : module.getOps<func::FuncOp>())
      if (kernel->hasAttr("mlc.kernel"))
        visit(kernel);
    for (Operation *constant : unused)
      constant->erase();
  }

private:
  void visit(func::FuncOp kernel);
  Value transformed(exec::ConstantOp constant, const ConstantTransform &found);

  ModuleOp module;
  const CodeTarget &target;
  Precision precision;
  llvm::DenseMap<StringAttr, SmallVector<exec::LaunchOp>> launches;
  /// Transforms already made, by constant, name and type.
  std::map<std::tuple<Operation *, std::string, const void *>, Value> made;
  llvm::SetVector<Operation *> unused;
};

/// The elements of a float32 constant, splats expanded; empty if they are not
/// available.
std::vector<float> elementsOf(ElementsAttr value) {
  int64_t count = value.getNumElements();
  if (!value.getElementType().isF32())
    return {};
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(value)) {
    AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    if (!blob || blob->getData().size() < size_t(count) * sizeof(float))
      return {};
    auto *data = reinterpret_cast<const float *>(blob->getData().data());
    return std::vector<float>(data, data + count);
  }
  auto dense = dyn_cast<DenseElementsAttr>(value);
  if (!dense)
    return {};
  return std::vector<float>(dense.value_begin<float>(),
                            dense.value_end<float>());
}

} // namespace

/// A constant with the transformed form of `constant`; null if it has none.
Value ConstantTransformer::transformed(exec::ConstantOp constant,
                                       const ConstantTransform &found) {
  auto type = RankedTensorType::get(found.dims,
                                    Float32Type::get(constant.getContext()));
  Value &known =
      made[{constant.getOperation(), found.name, type.getAsOpaquePointer()}];
  if (known)
    return known;
  std::vector<float> from = elementsOf(constant.getValue());
  if (from.empty())
    return {};
  AsmResourceBlob blob = HeapAsmResourceBlob::allocate(
      size_t(type.getNumElements()) * sizeof(float), 64,
      /*dataIsMutable=*/true);
  auto *data = reinterpret_cast<float *>(blob.getMutableData().data());
  if (!found.apply(from, llvm::MutableArrayRef(data, type.getNumElements())))
    return {};
  auto value =
      DenseResourceElementsAttr::get(type, "transformed", std::move(blob));
  SmallVector<IntExpr> sizes;
  for (int64_t d : found.dims)
    sizes.push_back(IntExpr::constant(constant.getContext(), d));
  OpBuilder builder(constant);
  known = exec::ConstantOp::create(
      builder, constant.getLoc(), constant.getType(), value,
      DimsAttr::get(constant.getContext(), sizes), constant.getElementAttr(),
      constant.getNameAttr());
  return known;
}

/// Changes the argument of the kernel to the form; the body reads the original
/// from it.
static void takeForm(func::FuncOp function, const ConstantTransform &found) {
  BlockArgument argument = function.getArgument(found.argument);
  auto original = cast<RankedTensorType>(argument.getType());
  argument.setType(
      RankedTensorType::get(found.dims, original.getElementType()));
  OpBuilder b = OpBuilder::atBlockBegin(&function.getBody().front());
  auto inverse = exec::InverseTransformOp::create(
      b, argument.getLoc(), original, argument, found.name);
  argument.replaceAllUsesExcept(inverse, inverse);
  function.setType(b.getFunctionType(function.getBody().getArgumentTypes(),
                                     function.getResultTypes()));
}

void ConstantTransformer::visit(func::FuncOp function) {
  ArrayRef<exec::LaunchOp> uses = launches[function.getNameAttr()];
  FailureOr<Kernel> kernel = Kernel::read(function);
  if (failed(kernel) || uses.empty())
    return;
  std::optional<ConstantTransform> found =
      target.backend->findTransform(*kernel, target.target, precision);
  if (!found)
    return;
  SmallVector<exec::ConstantOp> constants;
  SmallVector<Value> transforms;
  for (exec::LaunchOp launch : uses) {
    auto constant =
        launch.getInputs()[found->argument].getDefiningOp<exec::ConstantOp>();
    Value transform = constant ? transformed(constant, *found) : Value();
    if (!transform)
      return;
    constants.push_back(constant);
    transforms.push_back(transform);
  }
  takeForm(function, *found);
  for (auto [launch, transform] : llvm::zip_equal(uses, transforms))
    const_cast<exec::LaunchOp &>(launch)
        .getInputsMutable()[found->argument]
        .set(transform);
  for (exec::ConstantOp constant : constants)
    if (constant && constant->use_empty())
      unused.insert(constant);
}

void transformConstants(ModuleOp module, const CodeTarget &target,
                        Precision precision) {
  ConstantTransformer(module, target, precision).run();
}

namespace {
struct TransformConstantsPass
    : impl::TransformConstantsPassBase<TransformConstantsPass> {
  using TransformConstantsPassBase::TransformConstantsPassBase;
  TransformConstantsPass(const CodeTarget &target, Precision precision)
      : given(target), precision(precision) {}

  void runOnOperation() override {
    if (failed(requireForm(*this, getOperation(), Form::Kernels)))
      return signalPassFailure();
    FailureOr<CodeTarget> target =
        findCodeTarget(getOperation(), given, targetName);
    if (failed(target))
      return signalPassFailure();
    transformConstants(getOperation(), *target, precision);
  }

  std::optional<CodeTarget> given;
  Precision precision = Precision::TF32;
};
} // namespace

std::unique_ptr<Pass> createTransformConstantsPass(const CodeTarget &target,
                                                   Precision precision) {
  return std::make_unique<TransformConstantsPass>(target, precision);
}

} // namespace mlc
