//===- Passes.cpp - The target of a pass ----------------------------------===//

#include "passes/Base/Passes.h"

using namespace mlir;

namespace mlc {

FailureOr<CodeTarget> findCodeTarget(ModuleOp module,
                                     const std::optional<CodeTarget> &given,
                                     llvm::StringRef name) {
  if (given)
    return *given;
  llvm::Expected<CodeTarget> parsed = parseCodeTarget(name);
  if (parsed)
    return std::move(*parsed);
  return module.emitError(llvm::toString(parsed.takeError()));
}

} // namespace mlc
