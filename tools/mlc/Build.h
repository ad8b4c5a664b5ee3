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

/// A model read from its file, with all that goes on to the compiler.
class Compilation {
public:
  /// Imports the model. Errors: codes 2 to 4 with every unsupported node.
  static llvm::Expected<std::unique_ptr<Compilation>>
  import(const ModelOptions &options);
  /// The same, with how rewrites are searched.
  static llvm::Expected<std::unique_ptr<Compilation>>
  import(const ModelOptions &options, const SearchFlags &search);

  /// What is decided when the model has been read.
  struct Choice {
    std::vector<std::string> parameters;
    /// Parameters that are running statistics (ImportOptions).
    std::vector<std::string> statistics;
    /// ImportOptions::inTraining.
    bool inTraining = false;
    /// The module also has the model in its own form, with the same parameters,
    /// as the function of this name.
    std::string ownForm;
    /// Sizes beside those of the options, which go before.
    std::vector<DimSetting> dims;
  };
  using Choose =
      llvm::function_ref<llvm::Expected<Choice>(const onnx::ModelProto &)>;
  /// The same, with the parameters that `choose` names.
  static llvm::Expected<std::unique_ptr<Compilation>>
  import(const ModelOptions &options, Choose choose);
  static llvm::Expected<std::unique_ptr<Compilation>>
  import(const ModelOptions &options, const SearchFlags &search, Choose choose);

  /// The result is for other runtimes: what only suits mlc's own code
  /// generator is left out.
  void keepForOthers() { compileOptions.rewriting.forOthers = true; }

  /// Says in the artifact how it was made, beside the options.
  void addFlags(llvm::ArrayRef<std::string> flags);

  /// Says in the artifact how it is trained.
  void describeTraining(runtime::Training training) {
    compileOptions.trained = std::move(training);
  }

  /// Holds what is compiled to `bytes` of memory, if they are any.
  void limitMemory(uint64_t bytes);
  /// What came of it for the first program, once it is compiled; nothing when
  /// there was no limit.
  const std::optional<MemoryReport> &getMemoryReport() const {
    return memoryReport;
  }

  /// What the phases differentiate and distribute make of it.
  void train(const DifferentiateOptions &options) {
    compileOptions.training = options;
  }
  void split(const runtime::Plan &plan) { compileOptions.plan = plan; }
  /// Compiles it; called once.
  llvm::Expected<std::unique_ptr<CompiledModel>> compile();
  /// Compiles it to an artifact in memory; called once.
  llvm::Expected<Model> build();
  /// Runs the phases up to `phase`, but those that are over; the module is then
  /// what that one made.
  llvm::Error runTo(llvm::StringRef phase);

  /// The files that were read: the model, its data and those of options. No
  /// output may be one of them.
  const std::vector<std::string> &getInputFiles() const { return inputFiles; }

  mlir::ModuleOp getModule() { return *module; }
  /// What the module was made of.
  ModelFile &getModelFile() { return *modelFile; }
  /// The same for longer than until it is compiled.
  std::shared_ptr<ModelFile> shareModelFile() const { return modelFile; }
  /// The rules of the user's files.
  llvm::ArrayRef<GivenRules> getGivenRules() const {
    return compileOptions.rewriting.rules;
  }
  /// Which rules are taken.
  FpMode getFpMode() const { return compileOptions.rewriting.search.fp; }
  /// What code is made for, and who makes it.
  CodeTarget getCodeTarget() const { return compileOptions.getCodeTarget(); }
  /// What leads the search; refers to this compilation.
  CostModel makeCostModel() const {
    return mlc::makeCostModel(compileOptions.getCodeTarget(),
                              compileOptions.rewriting);
  }
  /// What the search came to, once the optimize phase is over; nothing when
  /// there was none.
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
  /// The last phase that is over; null: none.
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

/// The target of `--target`. Errors: code 2 for an unknown name, 3 for a file.
llvm::Expected<Target> parseTargetOption(llvm::StringRef name);

/// The timing cache in a file. Errors: code 3, also when it was measured on
/// another target.
llvm::Expected<TimingCache> readTimings(llvm::StringRef file,
                                        const Target &target);

ImportOptions importOptions(llvm::ArrayRef<DimSetting> dims,
                            llvm::ArrayRef<std::string> parameters = {});

/// The report of an import as an error; success if it is ok.
llvm::Error reportFailure(const ImportReport &report, llvm::StringRef file);

} // namespace mlc::cli

#endif // MLC_TOOLS_MLC_BUILD_H
