//===- Plugin.cpp - mlc's passes and dialects for a stock mlir-opt --------===//
//
//   mlir-opt --load-pass-plugin=libMLCPlugin.so
//            --load-dialect-plugin=libMLCPlugin.so
//
// Linked to the shared libraries of MLIR and LLVM, but to no prover: it applies
// the rules that the build proved.
//
//===----------------------------------------------------------------------===//

#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "mlir/Tools/Plugins/PassPlugin.h"
#include "passes/Base/Passes.h"
#include "passes/Pipeline.h"
#include "runtime/Version.h"

extern "C" LLVM_ATTRIBUTE_WEAK mlir::PassPluginLibraryInfo
mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "mlc", MLC_VERSION,
          [] { mlc::registerPasses(); }};
}

extern "C" LLVM_ATTRIBUTE_WEAK mlir::DialectPluginLibraryInfo
mlirGetDialectPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "mlc", MLC_VERSION,
          [](mlir::DialectRegistry *registry) {
            registry->insert<mlc::rule::RuleDialect>();
            mlc::registerCompilerDialects(*registry);
          }};
}
