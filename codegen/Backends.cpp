//===- Backends.cpp - The back ends of this build -------------------------===//

#include "codegen/Backends.h"
#include "codegen/cpu/Backend.h"
#include "codegen/cuda/Backend.h"

namespace mlc {

llvm::ArrayRef<const Backend *> getBackends() {
  static const Backend *const backends[] = {&cpu::getBackend(),
                                            &cuda::getBackend()};
  return backends;
}

const Backend *findBackend(const Target &target) {
  for (const Backend *backend : getBackends())
    if (backend->supports(target))
      return backend;
  return nullptr;
}

llvm::Expected<CodeTarget> parseCodeTarget(llvm::StringRef name) {
  llvm::Expected<Target> target = parseTarget(name);
  if (!target)
    return target.takeError();
  const Backend *backend = findBackend(*target);
  if (!backend)
    return llvm::createStringError(
        "code for target " + target->name +
        " is unsupported; give a cpu or a cuda target");
  return CodeTarget{std::move(*target), backend};
}

void registerKernelDialects(mlir::DialectRegistry &registry) {
  for (const Backend *backend : getBackends())
    backend->registerDialects(registry);
}

} // namespace mlc
