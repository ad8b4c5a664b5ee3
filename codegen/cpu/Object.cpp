//===- Object.cpp - LLVM dialect to a shared object -----------------------===//

#include "codegen/cpu/Lowering.h"
#include "codegen/cpu/MaskedStores.h"
#include "lld/Common/Driver.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/CodeGen/MachineModuleInfo.h"
#include "llvm/CodeGen/Passes.h"
#include "llvm/CodeGen/TargetPassConfig.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Target/TargetOptions.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include <mutex>

LLD_HAS_DRIVER(elf)

using namespace llvm;

namespace mlc::cpu {

static Expected<std::unique_ptr<TargetMachine>>
createMachine(const Target &target) {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
  });
  std::string error;
  Triple triple(target.triple);
  const llvm::Target *found = TargetRegistry::lookupTarget(triple, error);
  if (!found)
    return createStringError(error);
  TargetOptions options;
  options.AllowFPOpFusion = FPOpFusion::Standard;
  std::unique_ptr<TargetMachine> machine(found->createTargetMachine(
      triple, target.cpu, target.features, options, Reloc::PIC_,
      CodeModel::Small, CodeGenOptLevel::Default));
  if (!machine)
    return createStringError("LLVM cannot generate code for " + target.triple);
  return machine;
}

/// Sets the target of every function; without the width, LLVM would use 256-bit
/// vectors on AVX-512 machines.
static void describeFunctions(Module &module, const Target &target) {
  std::string width = std::to_string(target.vectorBits);
  for (Function &function : module) {
    if (function.isDeclaration())
      continue;
    function.addFnAttr("target-cpu", target.cpu);
    function.addFnAttr("prefer-vector-width", width);
    function.addFnAttr("min-legal-vector-width", width);
    function.addFnAttr("no-builtins");
    function.addFnAttr(Attribute::NoUnwind);
  }
}

/// Bodies are vectorized and unrolled by their emitters; what LLVM adds is
/// scalar clean-up, hoisting and full unrolling of short loops.
static void optimize(Module &module, TargetMachine &machine) {
  PipelineTuningOptions tuning;
  tuning.LoopVectorization = false;
  tuning.SLPVectorization = false;
  tuning.LoopInterleaving = false;
  PassBuilder builder(&machine, tuning);
  LoopAnalysisManager loops;
  FunctionAnalysisManager functions;
  CGSCCAnalysisManager graph;
  ModuleAnalysisManager modules;
  // Hides all library functions, so that none is called.
  TargetLibraryInfoImpl library(machine.getTargetTriple());
  library.disableAllFunctions();
  functions.registerPass([&] { return TargetLibraryAnalysis(library); });
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(graph);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, graph, modules);
  builder.buildPerModuleDefaultPipeline(OptimizationLevel::O2)
      .run(module, modules);
}

static Expected<std::string>
emitMachineCode(Module &module, TargetMachine &machine, CodeGenFileType type) {
  SmallString<0> bytes;
  raw_svector_ostream stream(bytes);
  legacy::PassManager passes;
  TargetLibraryInfoImpl library(machine.getTargetTriple());
  library.disableAllFunctions();
  passes.add(new TargetLibraryInfoWrapperPass(library));
  // As TargetMachine::addPassesToEmitFile, without instruction scheduling
  // before register allocation. Emitters order unrolled code so that registers
  // suffice; moving loads up spills accumulators (measured: a fifth of the rate
  // of a convolution).
  TargetPassConfig *config = machine.createPassConfig(passes);
  config->disablePass(&MachineSchedulerID);
  auto *information = new MachineModuleInfoWrapperPass(&machine);
  passes.add(config);
  passes.add(information);
  if (config->addISelPasses())
    return createStringError("LLVM cannot select instructions");
  config->addMachinePasses();
  config->setInitialized();
  if (machine.addAsmPrinter(passes, stream, nullptr, type,
                            information->getMMI().getContext()))
    return createStringError("LLVM cannot write this kind of file");
  passes.add(createFreeMachineFunctionPass());
  passes.run(module);
  return std::string(bytes);
}

static void writeText(const Twine &path, StringRef text) {
  std::error_code error;
  raw_fd_ostream stream(path.str(), error);
  if (!error)
    stream << text;
}

Expected<std::string> makeObject(mlir::ModuleOp module, const Target &target,
                                 StringRef dumpPrefix) {
  Expected<std::unique_ptr<TargetMachine>> machine = createMachine(target);
  if (!machine)
    return machine.takeError();
  LLVMContext context;
  std::unique_ptr<Module> llvmModule =
      mlir::translateModuleToLLVMIR(module, context, "kernels");
  if (!llvmModule)
    return createStringError("translation to LLVM IR failed");
  llvmModule->setTargetTriple((*machine)->getTargetTriple());
  llvmModule->setDataLayout((*machine)->createDataLayout());
  describeFunctions(*llvmModule, target);
  optimize(*llvmModule, **machine);
  writeOutMaskedStores(*llvmModule);
  if (!dumpPrefix.empty()) {
    std::string text;
    raw_string_ostream(text) << *llvmModule;
    writeText(dumpPrefix + ".ll", text);
    // Emission consumes the module's state, so the listing comes from a clone.
    std::unique_ptr<Module> clone = CloneModule(*llvmModule);
    Expected<std::string> assembly =
        emitMachineCode(*clone, **machine, CodeGenFileType::AssemblyFile);
    if (!assembly)
      return assembly.takeError();
    writeText(dumpPrefix + ".s", *assembly);
  }
  return emitMachineCode(*llvmModule, **machine, CodeGenFileType::ObjectFile);
}

namespace {
/// A temporary file, removed by the destructor.
class ScratchFile {
public:
  static Expected<ScratchFile> create(StringRef suffix) {
    ScratchFile file;
    if (std::error_code error =
            sys::fs::createTemporaryFile("mlc", suffix, file.path))
      return createStringError(error, "cannot create a temporary file: " +
                                          error.message());
    return file;
  }
  ScratchFile(ScratchFile &&other) : path(std::move(other.path)) {
    other.path.clear();
  }
  ~ScratchFile() {
    if (!path.empty())
      sys::fs::remove(path);
  }
  Error write(StringRef bytes) {
    std::error_code error;
    raw_fd_ostream stream(path, error);
    if (!error) {
      stream << bytes;
      stream.close();
      error = stream.error();
      stream.clear_error();
    }
    if (error)
      return createStringError(error, "cannot write a temporary file: " +
                                          error.message());
    return Error::success();
  }
  SmallString<128> path;

private:
  ScratchFile() = default;
};
} // namespace

Expected<std::string>
linkSharedObject(const std::vector<std::string> &objects) {
  std::vector<ScratchFile> files;
  for (const std::string &object : objects) {
    Expected<ScratchFile> file = ScratchFile::create("o");
    if (!file)
      return file.takeError();
    if (Error error = file->write(object))
      return error;
    files.push_back(std::move(*file));
  }
  Expected<ScratchFile> output = ScratchFile::create("so");
  if (!output)
    return output.takeError();
  std::vector<const char *> arguments = {"ld.lld",
                                         "-shared",
                                         "-o",
                                         output->path.c_str(),
                                         "--no-undefined",
                                         "--build-id=none",
                                         "--hash-style=gnu",
                                         "-z",
                                         "now",
                                         "-z",
                                         "noexecstack",
                                         "--strip-all",
                                         "--threads=1",
                                         "--no-allow-shlib-undefined"};
  for (ScratchFile &file : files)
    arguments.push_back(file.path.c_str());
  // lld keeps its state in globals.
  static std::mutex mutex;
  std::lock_guard<std::mutex> lock(mutex);
  std::string text;
  raw_string_ostream messages(text);
  lld::Result result = lld::lldMain(arguments, messages, messages,
                                    {{lld::Gnu, &lld::elf::link}});
  if (result.retCode != 0)
    return createStringError("linking failed: " + text);
  auto buffer = MemoryBuffer::getFile(output->path);
  if (!buffer)
    return createStringError(buffer.getError(), "cannot read what was linked");
  return (*buffer)->getBuffer().str();
}

} // namespace mlc::cpu
