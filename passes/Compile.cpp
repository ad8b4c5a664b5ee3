//===- Compile.cpp - From a model's module to an artifact -----------------===//

#include "passes/Compile.h"
#include "mlir/Pass/PassManager.h"
#include "passes/Phases.h"
#include "passes/Program.h"
#include "rewrites/ProofLog/Trail.h"
#include "runtime/Artifact.h"
#include "runtime/Text.h"
#include "runtime/Version.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include <chrono>

using namespace mlir;
using llvm::StringRef;

namespace mlc {

char CompileError::ID = 0;

namespace {

/// The node of a location, for messages.
std::string describe(Location loc) {
  if (auto name = dyn_cast<NameLoc>(loc))
    return (name.getName().getValue() + ": ").str();
  if (auto fused = dyn_cast<FusedLoc>(loc))
    for (Location inner : llvm::reverse(fused.getLocations()))
      if (std::string text = describe(inner); !text.empty())
        return text;
  return "";
}

/// Collects the errors that passes emit while it lives.
class ErrorCollector {
public:
  ErrorCollector(MLIRContext *context, const CompileOptions &options)
      : handler(context, [this, &options](Diagnostic &diagnostic) {
          if (diagnostic.getSeverity() != DiagnosticSeverity::Error)
            return success();
          if (!text.empty())
            text += '\n';
          // One line each, even if names have line breaks.
          text += runtime::printable(withRemedies(
              describe(diagnostic.getLocation()) + diagnostic.str(),
              remediesOf(diagnostic),
              options.describeRemedy ? DescribeRemedy(options.describeRemedy)
                                     : nullptr));
          return success();
        }) {}

  llvm::Error take(Exit exitCode) {
    if (text.empty())
      text = "failed without saying why; this is a bug in mlc";
    return llvm::make_error<CompileError>(exitCode, std::move(text));
  }

private:
  std::string text;
  ScopedDiagnosticHandler handler;
};

/// Times phases and reports them.
class Clock {
public:
  Clock(const CompileOptions &options,
        std::vector<std::pair<std::string, double>> *seconds)
      : options(options), seconds(seconds) {}

  template <typename Fn> auto run(StringRef phase, Fn body) {
    if (options.onPhase)
      options.onPhase(phase);
    auto begin = std::chrono::steady_clock::now();
    auto result = body();
    std::chrono::duration<double> taken =
        std::chrono::steady_clock::now() - begin;
    if (seconds)
      seconds->push_back({phase.str(), taken.count()});
    return result;
  }

private:
  const CompileOptions &options;
  std::vector<std::pair<std::string, double>> *seconds;
};

LogicalResult runPhase(ModuleOp module, const Phase &phase,
                       const CompileOptions &options) {
  if (phase.addPasses) {
    PassManager pm(module.getContext(), ModuleOp::getOperationName());
    phase.addPasses(pm, options);
    if (failed(pm.run(module)))
      return failure();
  }
  return checkPhase(module, phase);
}

/// The phases up to `last`, or all, after `done`, or from the first.
llvm::ArrayRef<Phase> phasesTo(StringRef last, StringRef done = "") {
  llvm::ArrayRef<Phase> all = getPhases();
  const Phase *end = findPhase(last), *begin = findPhase(done);
  return llvm::ArrayRef(
      begin ? begin + 1 : all.begin(),
      std::max(begin ? begin + 1 : all.begin(), end ? end + 1 : all.end()));
}

/// Checks before anything runs that a phase that needs a back end has one.
llvm::Error checkBackend(StringRef last, const CompileOptions &options) {
  for (const Phase &phase : phasesTo(last))
    if (phase.needsBackend && !options.getCodeTarget().backend)
      return llvm::make_error<CompileError>(
          Exit::Unsupported,
          "code for target " + options.target.name +
              " is unsupported; give a cpu or a cuda target, or see "
              "with mlc optimize what is chosen for it");
  return llvm::Error::success();
}

llvm::Error runPhases(ModuleOp module, StringRef last,
                      const CompileOptions &options, StringRef done,
                      Clock &clock) {
  if (llvm::Error error = checkBackend(last, options))
    return error;
  ErrorCollector errors(module.getContext(), options);
  for (const Phase &phase : phasesTo(last, done)) {
    LogicalResult result =
        clock.run(phase.name, [&] { return runPhase(module, phase, options); });
    if (failed(result))
      return errors.take(phase.failure);
  }
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// Manifest
//===----------------------------------------------------------------------===//

llvm::json::Value toJson(Attribute attr) {
  if (auto string = dyn_cast<StringAttr>(attr))
    return string.getValue();
  if (auto array = dyn_cast<ArrayAttr>(attr)) {
    llvm::json::Array result;
    for (Attribute element : array)
      result.push_back(toJson(element));
    return result;
  }
  if (auto dictionary = dyn_cast<DictionaryAttr>(attr)) {
    llvm::json::Object result;
    for (NamedAttribute entry : dictionary)
      result[entry.getName().getValue()] = toJson(entry.getValue());
    return result;
  }
  if (auto integer = dyn_cast<IntegerAttr>(attr);
      integer && !integer.getType().isInteger(1))
    return integer.getInt();
  if (auto boolean = dyn_cast<BoolAttr>(attr))
    return boolean.getValue();
  std::string text;
  llvm::raw_string_ostream(text) << attr;
  return text;
}

llvm::json::Array describePorts(const runtime::Program &program,
                                const std::vector<runtime::Port> &ports) {
  llvm::json::Array result;
  for (const runtime::Port &port : ports) {
    const runtime::Buffer &buffer = program.buffers[port.buffer];
    llvm::json::Array dims;
    for (runtime::ExprId dim : buffer.dims)
      dims.push_back(runtime::toString(program, program.exprs[dim]));
    result.push_back(llvm::json::Object{
        {"name", port.name},
        {"type", runtime::name(buffer.type)},
        {"dims", std::move(dims)},
    });
  }
  return result;
}

llvm::json::Array
describePorts(const std::vector<runtime::PipelinePort> &ports) {
  llvm::json::Array result;
  for (const runtime::PipelinePort &port : ports)
    result.push_back(llvm::json::Object{
        {"name", port.name},
        {"type", runtime::name(static_cast<runtime::DType>(port.type))},
        {"dims", llvm::json::Array(port.texts)},
    });
  return result;
}

std::string makeManifest(ModuleOp module, const CompileOptions &options,
                         llvm::ArrayRef<KernelReport> reports,
                         const CompiledModel &model) {
  const runtime::Program &program = model.programs.entries.front();
  llvm::json::Array flags; // names of files may have any bytes
  for (const std::string &flag : options.flags)
    flags.push_back(llvm::json::fixUTF8(flag));
  llvm::json::Object manifest{
      {"version", MLC_VERSION},
      {"git", MLC_GIT_ID},
      {"target", options.target.name},
      {"flags", std::move(flags)},
      {"model_blake3", options.modelHash},
      {"inputs", describePorts(program, program.inputs)},
      {"outputs", describePorts(program, program.outputs)},
      {"rewrites", options.rewrites},
  };
  if (options.pipeline) {
    manifest["inputs"] = describePorts(options.pipeline->inputs);
    manifest["outputs"] = describePorts(options.pipeline->outputs);
    manifest["stages"] = options.pipeline->stages;
    manifest["micro_batches"] = options.pipeline->microBatches;
  }
  if (!model.memory.empty()) {
    const MemoryReport &memory = model.memory.front();
    manifest["memory_budget"] = options.memory.arenaBytes;
    manifest["memory_planned"] = memory.arenaBytes;
    manifest["memory_without_budget"] = memory.arenaBefore;
    manifest["repeated_steps"] = memory.repeatedSteps;
    manifest["predicted_extra_time"] =
        memory.seconds > 0 ? memory.extraSeconds / memory.seconds : 0.0;
  }
  if (options.target.isCuda())
    manifest["precision"] =
        options.precision == Precision::TF32 ? "tf32" : "ieee";
  llvm::json::Array kernels;
  for (const KernelReport &report : reports)
    kernels.push_back(llvm::json::Object{{"symbol", report.symbol},
                                         {"skeleton", report.skeleton},
                                         {"block", report.block},
                                         {"registers", report.registers},
                                         {"shared", report.sharedBytes},
                                         {"stack", report.stack},
                                         {"spill_stores", report.spillStores},
                                         {"spill_loads", report.spillLoads}});
  if (!kernels.empty())
    manifest["kernels"] = std::move(kernels);
  if (llvm::Expected<std::vector<Trail>> trails = getTrails(module))
    manifest["trail"] = toJson(*trails);
  else
    llvm::consumeError(trails.takeError()); // an attribute of another tool
  if (Attribute metadata = module->getAttr("mlc.metadata"))
    manifest["metadata"] = toJson(metadata);
  if (Attribute indices = module->getAttr("mlc.indices"))
    manifest["indices"] = toJson(indices);
  return llvm::formatv("{0:2}", llvm::json::Value(std::move(manifest))).str();
}

void addMetadata(ModuleOp module, runtime::Program &program) {
  auto metadata = module->getAttrOfType<DictionaryAttr>("mlc.metadata");
  if (!metadata)
    return;
  for (NamedAttribute entry : metadata)
    if (auto value = dyn_cast<StringAttr>(entry.getValue()))
      program.metadata.push_back({entry.getName().str(), value.str()});
}

} // namespace

/// A program given as text may have large splat constants, which are small
/// there but are written out in an artifact. Lower makes no large ones.
static llvm::Error checkRepeated(ModuleOp module) {
  constexpr int64_t mostBytes = int64_t(256) << 20;
  std::string text;
  module.walk([&](exec::ConstantOp constant) {
    auto value = dyn_cast<DenseElementsAttr>(constant.getValue());
    if (!value || !value.isSplat())
      return WalkResult::advance();
    int64_t width =
        llvm::divideCeil(value.getElementType().getIntOrFloatBitWidth(), 8u);
    if (value.getNumElements() <= mostBytes / width)
      return WalkResult::advance();
    llvm::raw_string_ostream(text)
        << describe(constant.getLoc()) << "a constant of "
        << value.getNumElements() << " equal elements would be written out, "
        << "and at most " << mostBytes
        << " bytes of such a constant are; give it as an input";
    return WalkResult::interrupt();
  });
  return text.empty() ? llvm::Error::success()
                      : llvm::make_error<CompileError>(
                            Exit::Resources, runtime::printable(text));
}

llvm::Error runPhases(ModuleOp module, StringRef last,
                      const CompileOptions &options, StringRef done) {
  Clock clock(options, nullptr);
  return runPhases(module, last, options, done, clock);
}

/// Erases the kernels that only other ranks' programs launch; these have no
/// code then.
static std::vector<CompiledKernel>
takeOthersKernels(ModuleOp module, const CompileOptions &options) {
  llvm::StringMap<bool> isHere;
  for (auto program : module.getOps<exec::ProgramOp>())
    program.walk([&](exec::LaunchOp launch) {
      isHere[launch.getKernel()] |= options.isEntryHere(program.getSymName());
    });
  std::vector<CompiledKernel> others;
  for (auto function :
       llvm::make_early_inc_range(module.getOps<FunctionOpInterface>())) {
    auto found = isHere.find(function.getName());
    if (found == isHere.end() || found->second)
      continue;
    CompiledKernel kernel;
    kernel.name = function.getName().str();
    kernel.tasks = IntExpr::constant(module.getContext(), 0);
    kernel.blockThreads = options.target.isCuda();
    others.push_back(std::move(kernel));
    function.erase();
  }
  return others;
}

/// Fits each program into its memory limit; the same kernels are launched, some
/// more often.
static LogicalResult limitMemory(ModuleOp module,
                                 const CompiledKernels &kernels,
                                 const CompileOptions &options,
                                 CompiledModel &model) {
  llvm::StringMap<llvm::ArrayRef<std::pair<unsigned, unsigned>>> inPlace;
  for (const CompiledKernel &kernel : kernels.kernels)
    inPlace[kernel.name] = kernel.inPlace;
  // Every program that does not fit reports what it needs.
  bool fits = true;
  for (auto program : module.getOps<exec::ProgramOp>()) {
    FailureOr<MemoryReport> report = rematerialize(
        program, options.target, options.memory, [&](exec::LaunchOp launch) {
          return inPlace.lookup(launch.getKernel());
        });
    fits &= succeeded(report);
    if (fits)
      model.memory.push_back(*report);
  }
  return success(fits);
}

/// Checks that the runtime will plan the same memory.
static llvm::Error checkMemory(const CompiledModel &model) {
  for (auto [report, program] :
       llvm::zip(model.memory, model.programs.entries)) {
    runtime::Setup setup = runtime::findSetup(program);
    runtime::ArenaOptions arena;
    arena.select = [&](runtime::BufferId b) { return !setup.isBuffer[b]; };
    runtime::ArenaPlan plan;
    runtime::Status status =
        runtime::planArena(program, runtime::liveRanges(program),
                           /*symbols=*/nullptr, arena, plan);
    if (!status.ok() || plan.memory.peak != report.arenaBytes)
      return llvm::make_error<CompileError>(
          Exit::Internal, "the program's memory is not what was planned; this "
                          "is a bug in mlc");
  }
  return llvm::Error::success();
}

/// Turns a module of kernels into code and a program.
static llvm::Error encode(OwningOpRef<ModuleOp> module,
                          const CompileOptions &options, Clock &clock,
                          CompiledModel &model) {
  if (llvm::Error error = checkRepeated(*module))
    return error;

  ErrorCollector errors(module->getContext(), options);
  CodegenOptions codegen;
  codegen.threads = options.threads;
  codegen.precision = options.precision;
  codegen.keepsRoundings = options.rewriting.search.fp == FpMode::Strict;
  codegen.dumpDirectory = options.dumpDirectory;
  std::vector<CompiledKernel> others;
  if (options.isEntryHere)
    others = takeOthersKernels(*module, options);
  FailureOr<CompiledKernels> kernels = clock.run("codegen", [&] {
    return options.getCodeTarget().backend->compile(*module, options.target,
                                                    codegen);
  });
  if (failed(kernels))
    return errors.take(Exit::Codegen);
  llvm::append_range(kernels->kernels, others);

  if (options.memory.arenaBytes > 0 && failed(clock.run("memory", [&] {
        return limitMemory(*module, *kernels, options, model);
      })))
    return errors.take(Exit::Resources);

  LogicalResult translated = clock.run("artifact", [&] {
    auto programs = module->getOps<exec::ProgramOp>();
    if (programs.empty())
      return LogicalResult(module->emitError("must have an exec.program"));
    for (exec::ProgramOp program : programs)
      if (failed(translateProgram(program, *kernels, model)))
        return LogicalResult(failure());
    addMetadata(*module, model.programs.entries.front());
    return success();
  });
  if (failed(translated))
    return errors.take(Exit::Internal);
  model.programs.training = options.trained;
  model.programs.pipeline = options.pipeline;
  runtime::Status status =
      runtime::validate(model.programs, model.weights.weightsSize());
  if (!status.ok())
    return llvm::make_error<CompileError>(
        status.code == MLC_UNSUPPORTED ? Exit::Unsupported : Exit::Internal,
        status.message);
  if (llvm::Error error = checkMemory(model))
    return error;
  model.images = std::move(kernels->images);
  model.manifest = makeManifest(*module, options, kernels->reports, model);
  model.rebuild = options.rebuild;
  model.module = std::move(module);
  return llvm::Error::success();
}

llvm::Expected<std::unique_ptr<CompiledModel>>
compileModel(OwningOpRef<ModuleOp> module, const CompileOptions &options,
             StringRef done) {
  auto model = std::make_unique<CompiledModel>();
  Clock clock(options, &model->seconds);
  if (llvm::Error error = runPhases(*module, "", options, done, clock))
    return error;
  if (llvm::Error error = encode(std::move(module), options, clock, *model))
    return error;
  return model;
}

llvm::Expected<std::unique_ptr<CompiledModel>>
compileKernels(OwningOpRef<ModuleOp> module, const CompileOptions &options) {
  const Phase &last = getPhases().back();
  if (llvm::Error error = checkBackend(last.name, options))
    return error;
  ErrorCollector errors(module->getContext(), options);
  if (failed(checkPhase(*module, last)))
    return errors.take(Exit::Unsupported);
  auto model = std::make_unique<CompiledModel>();
  Clock clock(options, &model->seconds);
  if (llvm::Error error = encode(std::move(module), options, clock, *model))
    return error;
  return model;
}

} // namespace mlc
