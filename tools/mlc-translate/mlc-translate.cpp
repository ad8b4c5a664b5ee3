//===- mlc-translate.cpp - Between mlc's modules and files ----------------===//
//
// For tests and for looking at what the importer makes:
//   mlc-translate model.onnx              prints the module
//   mlc-translate model.onnx --check      lists what cannot be compiled
//   mlc-translate model.onnx -o out.onnx  writes the graph as ONNX again
//   mlc-translate kernels.mlir -o out.mlca
//     writes what `mlc-opt ... --mlc-fuse` made as an artifact for mlc-run
//
//===----------------------------------------------------------------------===//

#include "dialects/Module/ParseModule.h"
#include "mlir/IR/AsmState.h"
#include "passes/Compile.h"
#include "passes/Export/Export.h"
#include "passes/Import/Import.h"
#include "tools/CommandLine.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/raw_ostream.h"

namespace cl = llvm::cl;

static cl::OptionCategory options("mlc-translate's options");
static cl::opt<std::string> input(cl::Positional, cl::Required,
                                  cl::desc("MODEL.onnx|KERNELS.mlir"),
                                  cl::cat(options));
static cl::list<std::string> dims("dim", cl::desc("fix a dim or leave it open"),
                                  cl::value_desc("NAME=N|NAME=any"),
                                  cl::cat(options));
static cl::opt<std::string> output("o",
                                   cl::desc("write ONNX, or an artifact, here"),
                                   cl::value_desc("FILE"), cl::cat(options));
static cl::opt<std::string>
    target("target", cl::desc("what the kernels were made for (cpu:x86-64-v3)"),
           cl::value_desc("NAME"), cl::init("cpu:x86-64-v3"), cl::cat(options));
static cl::opt<bool> check("check", cl::desc("list what cannot be compiled"),
                           cl::cat(options));
static cl::opt<bool> quiet("quiet", cl::desc("print nothing on success"),
                           cl::cat(options));
static cl::opt<bool> elide("elide", cl::desc("leave large constants out"),
                           cl::cat(options));
static cl::opt<bool> locations("locations", cl::desc("print locations"),
                               cl::cat(options));

static int fail(const llvm::Twine &text, int code) {
  llvm::errs() << "mlc-translate: error: " << text << '\n';
  return code;
}

static int writeFile(const std::string &path, llvm::StringRef bytes) {
  std::error_code error;
  llvm::raw_fd_ostream os(path, error);
  if (!error) {
    os << bytes;
    os.close();
    error = os.error();
  }
  if (!error)
    return 0;
  os.clear_error();
  return fail(path + ": " + error.message(), 9);
}

static int writeOnnx(mlir::ModuleOp module) {
  llvm::Expected<std::string> bytes = mlc::exportOnnx(module);
  if (!bytes)
    return fail(input + ": " + llvm::toString(bytes.takeError()), 4);
  return writeFile(output, *bytes);
}

/// Writes an artifact from kernels and the program that runs them. Takes copies
/// of the options, since code generation resets LLVM's.
static int writeArtifact(std::string input, std::string output) {
  mlc::CompileOptions compiling;
  llvm::Expected<mlc::Target> parsed = mlc::parseTarget(target);
  if (!parsed)
    return fail(llvm::toString(parsed.takeError()), 2);
  compiling.target = *parsed;
  mlir::DialectRegistry registry;
  mlc::registerCompilerDialects(registry);
  mlir::MLIRContext context(registry);
  context.loadAllAvailableDialects();
  mlir::OwningOpRef<mlir::ModuleOp> module =
      mlc::parseModuleFile(input, &context);
  if (!module)
    return 3;
  auto model = mlc::compileKernels(std::move(module), compiling);
  if (!model)
    return fail(input + ": " + llvm::toString(model.takeError()), 4);
  llvm::SmallVector<char> bytes;
  if (llvm::Error error = (*model)->writeToMemory(bytes))
    return fail(input + ": " + llvm::toString(std::move(error)), 4);
  return writeFile(output, {bytes.data(), bytes.size()});
}

int main(int argc, char **argv) {
  mlc::startTool();
  llvm::InitLLVM init(argc, argv);
  cl::HideUnrelatedOptions(options);
  cl::ParseCommandLineOptions(
      argc, argv, "reads ONNX as mlc graphs, and writes ONNX or artifacts\n");
  if (llvm::StringRef(input).ends_with(".mlir")) {
    if (output.empty())
      return fail("kernels are written to a file; say -o FILE", 2);
    return writeArtifact(input, output);
  }
  mlc::ImportOptions importOptions;
  for (llvm::StringRef dim : dims) {
    // A name may contain '='.
    auto [name, value] = dim.rsplit('=');
    int64_t number = 0;
    bool open = value == "any";
    if (name.empty() || (!open && value.getAsInteger(10, number)))
      return fail("--dim takes NAME=N or NAME=any, not '" + dim + "'", 2);
    importOptions.dims.emplace_back(
        name.str(), open ? std::nullopt : std::optional<int64_t>(number));
  }
  mlir::MLIRContext context;
  mlc::ImportReport report;
  mlir::OwningOpRef<mlir::ModuleOp> module =
      mlc::importOnnx(input, importOptions, &context, report);
  if (!report.ok()) {
    std::string text =
        report.message + "\n" + listUnsupported("", report, nullptr);
    return fail(llvm::StringRef(text).rtrim().str(),
                static_cast<int>(report.status));
  }
  if (!output.empty())
    return writeOnnx(*module);
  if (check || quiet)
    return 0;
  mlir::OpPrintingFlags flags;
  if (elide)
    flags.elideLargeElementsAttrs(16).elideLargeResourceString(16);
  if (locations)
    flags.enableDebugInfo(true, true);
  module->print(llvm::outs(), flags);
  return 0;
}
