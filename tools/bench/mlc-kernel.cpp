//===- mlc-kernel.cpp - Compile a file of kernels -------------------------===//
//
// mlc-kernel FILE.mlir -o FILE.so [--target=...] [--dump=DIR]
//
// Writes the shared object, and to standard output one JSON object per kernel
// (name, symbol, tasks, scratch bytes as expressions of the kernel's symbols),
// from which a test can load and run it.
//
//===----------------------------------------------------------------------===//

#include "codegen/Backends.h"
#include "codegen/target/Target.h"
#include "dialects/Symbolic/Attributes.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlc;

static llvm::cl::opt<std::string> input(llvm::cl::Positional,
                                        llvm::cl::desc("FILE.mlir"),
                                        llvm::cl::Required);
static llvm::cl::opt<std::string> output("o", llvm::cl::desc("shared object"),
                                         llvm::cl::Required);
static llvm::cl::opt<std::string> targetName("target", llvm::cl::desc("target"),
                                             llvm::cl::init("cpu"));
static llvm::cl::opt<std::string>
    dump("dump", llvm::cl::desc("folder for LLVM IR and assembly"));
static llvm::cl::opt<unsigned> threads("compile-threads",
                                       llvm::cl::desc("compiling threads"),
                                       llvm::cl::init(2));

static void printKernel(const CompiledKernel &kernel) {
  llvm::json::Array inPlace;
  for (auto [from, to] : kernel.inPlace)
    inPlace.push_back(llvm::json::Array{from, to});
  llvm::json::Value line =
      llvm::json::Object{{"name", kernel.name},
                         {"symbol", kernel.symbol},
                         {"tasks", kernel.tasks.str()},
                         {"scratch", kernel.scratchBytes.str()},
                         {"in_place", std::move(inPlace)}};
  llvm::outs() << line << "\n";
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  llvm::cl::ParseCommandLineOptions(argc, argv, "compile kernels\n");
  llvm::Expected<CodeTarget> target = parseCodeTarget(targetName);
  if (!target) {
    llvm::errs() << "mlc: error: " << llvm::toString(target.takeError())
                 << "\n";
    return 2;
  }
  DialectRegistry registry;
  registry.insert<MlcDialect>();
  registerKernelDialects(registry);
  MLIRContext context(registry);
  context.loadAllAvailableDialects();
  OwningOpRef<ModuleOp> module =
      parseSourceFile<ModuleOp>(input, ParserConfig(&context));
  if (!module)
    return 3;
  CodegenOptions options;
  options.dumpDirectory = dump;
  options.threads = threads;
  // Linking resets all command-line options of the process.
  std::string path = output;
  auto compiled = target->backend->compile(*module, target->target, options);
  if (failed(compiled))
    return 7;
  std::error_code error;
  llvm::raw_fd_ostream file(path, error);
  if (error) {
    llvm::errs() << "mlc: error: " << path << ": " << error.message() << "\n";
    return 9;
  }
  file << compiled->images.front().bytes;
  for (const CompiledKernel &kernel : compiled->kernels)
    printKernel(kernel);
  return 0;
}
