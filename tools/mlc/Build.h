//===- Build.h - From a model file to an artifact ---------------*- C++ -*-===//

#ifndef MLC_TOOLS_MLC_BUILD_H
#define MLC_TOOLS_MLC_BUILD_H

#include "passes/Compile.h"
#include "passes/Import/Import.h"
#include "tools/mlc/Model.h"
#include "tools/mlc/ModelOptions.h"
#include "tools/mlc/SearchFlags.h"

namespace mlc {
class ModelFile;
struct Phase;
} // namespace mlc
namespace onnx {
class ModelProto;
}

namespace mlc::cli {

/// A model read from its file, with everything that the compiler needs.
class Compilation {
public:
  /// Imports the model. Fails with codes 2 to 4 and lists every unsupported
  /// node.
  static llvm::Expected<std::unique_ptr<Compilation>>
  import(const ModelOptions &options);
  /// The same, with the options of the search.
  static llvm::Expected<std::unique_ptr<Compilation>>
  import(const ModelOptions &options, const SearchFlags &search);

  /// Choices made after the model is read.
  struct Choice {
    std::vector<std::string> parameters;
    /// Parameters that are running statistics (ImportOptions).
    std::vector<std::string> statistics;
    /// ImportOptions::inTraining.
    bool inTraining = false;
    /// If set, the module also has the unchanged model, with the same
    /// parameters, as a function of this name.
    std::string ownForm;
    /// Sizes besides those of the options, which take precedence.
    std::vector<DimSetting> dims;
  };
  using Choose =
      llvm::function_ref<llvm::Expected<Choice>(const onnx::ModelProto &)>;
  /// The same, with the parameters that `choose` names.
  static llvm::Expected<std::unique_ptr<Compilation>>
  import(const ModelOptions &options, Choose choose);
  static llvm::Expected<std::unique_ptr<Compilation>>
  import(const ModelOptions &options, const SearchFlags &search, Choose choose);

  /// Makes the result fit for other runtimes: omits rewrites that only suit
  /// mlc's code generator.
  void keepForOthers() { compileOptions.rewriting.forOthers = true; }

  /// Records in the artifact how it was made, besides the options.
  void addFlags(llvm::ArrayRef<std::string> flags);

  /// Records in the artifact how it is trained.
  void describeTraining(runtime::Training training) {
    compileOptions.trained = std::move(training);
  }

  /// Records in the artifact whose stages its entries are.
  void describePipeline(runtime::Pipeline pipeline) {
    compileOptions.pipeline = std::move(pipeline);
  }

  /// Makes code for the entries that this says alone.
  void limitEntries(std::function<bool(llvm::StringRef)> isHere) {
    compileOptions.isEntryHere = std::move(isHere);
  }

  /// Limits the compiled program to `bytes` of memory, unless 0.
  void limitMemory(uint64_t bytes);
  /// The result of the limit for the first program, once compiled; nothing
  /// without a limit.
  const std::optional<MemoryReport> &getMemoryReport() const {
    return memoryReport;
  }

  /// Sets the options of the phases differentiate and distribute.
  void train(const DifferentiateOptions &options) {
    compileOptions.training = options;
  }
  void split(const runtime::Plan &plan) { compileOptions.plan = plan; }
  /// Compiles it; call it once.
  llvm::Expected<std::unique_ptr<CompiledModel>> compile();
  /// Compiles it to an artifact in memory; call it once.
  llvm::Expected<Model> build();
  /// Runs the remaining phases up to `phase`; the module is then its result.
  llvm::Error runTo(llvm::StringRef phase);

  /// The files read: the model, its data and those of options. No output may be
  /// one of them.
  const std::vector<std::string> &getInputFiles() const { return inputFiles; }

  mlir::ModuleOp getModule() { return *module; }
  /// The model file that the module was made from.
  ModelFile &getModelFile() { return *modelFile; }
  /// The same, kept alive beyond compilation.
  std::shared_ptr<ModelFile> shareModelFile() const { return modelFile; }
  /// The rules of the user's files.
  llvm::ArrayRef<GivenRules> getGivenRules() const {
    return compileOptions.rewriting.rules;
  }
  /// Which rules may be applied.
  FpMode getFpMode() const { return compileOptions.rewriting.search.fp; }
  /// The target of code generation, and its backend.
  CodeTarget getCodeTarget() const { return compileOptions.getCodeTarget(); }
  /// The cost model of the search; refers to this compilation.
  CostModel makeCostModel() const { return makeCostModel(getCodeTarget()); }
  /// The same for another target.
  CostModel makeCostModel(const CodeTarget &target) const {
    return mlc::makeCostModel(target, compileOptions.rewriting);
  }
  /// The result of the search, once the optimize phase is over; nothing without
  /// a search.
  const std::optional<SearchReport> &getSearchReport() const { return report; }

private:
  explicit Compilation(const ModelOptions &options);
  static llvm::Expected<std::unique_ptr<Compilation>>
  make(const ModelOptions &options, const SearchFlags *search, Choose choose);
  llvm::Error read(const ModelOptions &options, const SearchFlags *search,
                   Choose choose);
  llvm::Expected<ImportReport> importFrom(const ModelOptions &options,
                                          llvm::ArrayRef<DimSetting> dims,
                                          Choose choose);
  llvm::Error readRules(const ModelOptions &options);
  llvm::Error readSearch(const SearchFlags &search);
  llvm::Error checkAssumed(const ImportReport &found) const;
  llvm::Error addPhase(llvm::Error error) const;

  std::string file;
  std::vector<std::string> inputFiles;
  mlir::MLIRContext context;
  CompileOptions compileOptions;
  std::unique_ptr<Deadline> searchLimit;
  std::optional<SearchReport> report;
  std::optional<MemoryReport> memoryReport;
  std::shared_ptr<ModelFile> modelFile;
  /// The last completed phase; null: none.
  const Phase *done = nullptr;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

struct BuiltModel {
  Model model;
  bool compiled; ///< false: it was an artifact already
};

/// Opens an artifact, or compiles a model in memory; the file's first bytes
/// tell which it is.
llvm::Expected<BuiltModel> openOrBuild(const ModelOptions &options);

/// The target of `--target`. Fails with code 2 for an unknown name, 3 for a
/// file.
llvm::Expected<Target> parseTargetOption(llvm::StringRef name);

/// The timing cache in a file. Fails with code 3, also if it was measured on
/// another target.
llvm::Expected<TimingCache> readTimings(llvm::StringRef file,
                                        const Target &target);

ImportOptions importOptions(llvm::ArrayRef<DimSetting> dims,
                            llvm::ArrayRef<std::string> parameters = {});

/// The report of an import as an error; success if it is ok.
llvm::Error reportFailure(const ImportReport &report, llvm::StringRef file);

} // namespace mlc::cli

#endif // MLC_TOOLS_MLC_BUILD_H
