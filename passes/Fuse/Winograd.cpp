//===- Winograd.cpp - Convolutions that Winograd speeds up ----------------===//

#include "passes/Fuse/Winograd.h"
#include "codegen/cpu/Winograd.h"
#include "dialects/Exec/Exec.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "passes/Form.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/Error.h"
#include <cmath>

using namespace mlir;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::StringRef;

namespace mlc {
namespace {

class WinogradMarker {
public:
  WinogradMarker(ModuleOp module, const Target &target)
      : module(module), target(target) {}

  void run() {
    module.walk([&](exec::LaunchOp launch) {
      launches[launch.getKernelAttr().getAttr()].push_back(launch);
    });
    for (auto kernel : module.getOps<func::FuncOp>())
      if (kernel->hasAttr("mlc.kernel"))
        mark(kernel);
    for (Operation *filter : unused)
      filter->erase();
  }

private:
  void mark(func::FuncOp kernel);
  Value transformed(exec::ConstantOp filter,
                    const cpu::WinogradCandidate &found);

  ModuleOp module;
  const Target &target;
  llvm::DenseMap<StringAttr, SmallVector<exec::LaunchOp>> launches;
  /// Transforms already made, by filter and m.
  llvm::DenseMap<std::pair<Operation *, int64_t>, Value> made;
  llvm::SetVector<Operation *> unused;
};

/// The elements of a float32 filter; empty where they are not at hand. A splat
/// is spread out.
std::vector<float> elementsOf(ElementsAttr value) {
  int64_t count = value.getNumElements();
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

/// A constant with the transform of `filter`; null where that has no data.
Value WinogradMarker::transformed(exec::ConstantOp filter,
                                  const cpu::WinogradCandidate &found) {
  Value &known = made[{filter, found.m}];
  if (known)
    return known;
  std::vector<float> w = elementsOf(filter.getValue());
  int64_t points = (found.m + 2) * (found.m + 2), b = found.block;
  if (int64_t(w.size()) != found.outputBlocks * found.inputBlocks * b * b * 9)
    return {};
  // The transform would spread infinity and NaN over all points of a tile.
  if (!llvm::all_of(w, [](float x) { return std::isfinite(x); }))
    return {};
  int64_t dims[] = {found.outputBlocks, points, found.inputBlocks, b, b};
  auto type =
      RankedTensorType::get(dims, Float32Type::get(filter.getContext()));
  AsmResourceBlob blob = HeapAsmResourceBlob::allocate(
      size_t(type.getNumElements()) * sizeof(float), 64,
      /*dataIsMutable=*/true);
  auto *data = reinterpret_cast<float *>(blob.getMutableData().data());
  cpu::transformFilter(w, found.outputBlocks, found.inputBlocks, b, found.m,
                       llvm::MutableArrayRef(data, type.getNumElements()),
                       /*threads=*/2);
  auto value =
      DenseResourceElementsAttr::get(type, "winograd", std::move(blob));
  SmallVector<IntExpr> sizes;
  for (int64_t d : dims)
    sizes.push_back(IntExpr::constant(filter.getContext(), d));
  OpBuilder builder(filter);
  known =
      exec::ConstantOp::create(builder, filter.getLoc(), filter.getType(),
                               value, DimsAttr::get(filter.getContext(), sizes),
                               filter.getElementAttr(), filter.getNameAttr());
  return known;
}

void WinogradMarker::mark(func::FuncOp function) {
  ArrayRef<exec::LaunchOp> uses = launches[function.getNameAttr()];
  FailureOr<cpu::Kernel> kernel = cpu::Kernel::read(function);
  if (failed(kernel) || uses.empty())
    return;
  std::optional<cpu::WinogradCandidate> found =
      cpu::findWinograd(*kernel, target);
  if (!found)
    return;
  SmallVector<exec::ConstantOp> filters;
  SmallVector<Value> transforms;
  for (exec::LaunchOp launch : uses) {
    auto filter =
        launch.getInputs()[found->filter].getDefiningOp<exec::ConstantOp>();
    Value transform = filter ? transformed(filter, *found) : Value();
    if (!transform)
      return;
    filters.push_back(filter);
    transforms.push_back(transform);
  }
  function.setArgAttr(found->filter, cpu::kWinogradAttr,
                      Builder(module.getContext()).getI64IntegerAttr(found->m));
  for (auto [launch, transform] : llvm::zip_equal(uses, transforms))
    const_cast<exec::LaunchOp &>(launch).getInputsMutable()[found->filter].set(
        transform);
  for (exec::ConstantOp filter : filters)
    if (filter && filter->use_empty())
      unused.insert(filter);
}

LogicalResult applyWinograd(ModuleOp module, const Target &target) {
  WinogradMarker(module, target).run();
  return success();
}

namespace {
struct WinogradPass : PassWrapper<WinogradPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(WinogradPass)

  WinogradPass() : target(llvm::cantFail(parseTarget("cpu:x86-64-v3"))) {}
  explicit WinogradPass(const Target &target) : target(target) {}

  StringRef getArgument() const override { return "mlc-winograd"; }
  StringRef getDescription() const override {
    return "3x3 convolutions by Winograd's algorithm where it is faster";
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<exec::ExecDialect>();
  }
  void runOnOperation() override {
    if (failed(requireForm(*this, getOperation(), Form::Kernels)) ||
        failed(applyWinograd(getOperation(), target)))
      signalPassFailure();
  }

  Target target;
};
} // namespace

std::unique_ptr<Pass> createWinogradPass(const Target &target) {
  return std::make_unique<WinogradPass>(target);
}

void registerWinogradPass() { PassRegistration<WinogradPass>(); }

} // namespace mlc
