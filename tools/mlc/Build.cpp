//===- Build.cpp - From a model file to an artifact -----------------------===//

#include "tools/mlc/Build.h"
#include "dialects/Symbolic/TypeText.h"
#include "passes/Import/ForExport.h"
#include "passes/Phases.h"
#include "runtime/ArtifactFormat.h"
#include "runtime/FileBytes.h"
#include "tools/mlc/Failure.h"
#include "tools/mlc/Progress.h"
#include "tools/mlc/Remedies.h"
#include "tools/mlc/TemporaryFolder.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace mlc;
using namespace mlc::cli;

ImportOptions mlc::cli::importOptions(llvm::ArrayRef<DimSetting> dims,
                                      llvm::ArrayRef<std::string> parameters) {
  ImportOptions options;
  options.parameters = parameters;
  for (const DimSetting &dim : dims)
    options.dims.push_back({dim.name, dim.value});
  return options;
}

llvm::Error mlc::cli::reportFailure(const ImportReport &report,
                                    llvm::StringRef file) {
  if (report.ok())
    return llvm::Error::success();
  return fail(report.status,
              report.unsupported.empty()
                  ? report.message
                  : report.message + "\n" +
                        listUnsupported(file, report, describeRemedy));
}

Compilation::Compilation(const ModelOptions &options) : file(options.model) {
  mlir::DialectRegistry registry;
  registerCompilerDialects(registry);
  context.appendDialectRegistry(registry);
  context.loadAllAvailableDialects();
}

llvm::Expected<std::unique_ptr<Compilation>>
Compilation::import(const ModelOptions &options) {
  return make(options, nullptr, nullptr);
}

llvm::Expected<std::unique_ptr<Compilation>>
Compilation::import(const ModelOptions &options, const SearchFlags &search) {
  return make(options, &search, nullptr);
}

llvm::Expected<std::unique_ptr<Compilation>>
Compilation::import(const ModelOptions &options, Choose choose) {
  return make(options, nullptr, choose);
}

llvm::Expected<std::unique_ptr<Compilation>>
Compilation::import(const ModelOptions &options, const SearchFlags &search,
                    Choose choose) {
  return make(options, &search, choose);
}

llvm::Expected<std::unique_ptr<Compilation>>
Compilation::make(const ModelOptions &options, const SearchFlags *search,
                  Choose choose) {
  if (options.model.empty())
    return fail(Exit::Usage, "no file; give a model (.onnx)");
  std::unique_ptr<Compilation> compilation(new Compilation(options));
  if (llvm::Error error = compilation->read(options, search, choose))
    return error;
  return compilation;
}

llvm::Expected<Target> mlc::cli::parseTargetOption(llvm::StringRef name) {
  auto target = parseTarget(name);
  if (!target)
    return fail(isTargetFile(name) ? Exit::BadFile : Exit::Usage,
                llvm::toString(target.takeError()));
  return target;
}

llvm::Expected<TimingCache> mlc::cli::readTimings(llvm::StringRef file,
                                                  const Target &target) {
  runtime::FileBytes bytes;
  runtime::Status status =
      runtime::FileBytes::read(file.str().c_str(), runtime::maxTextFile, bytes);
  if (!status.ok())
    return fail(static_cast<Exit>(status.code),
                file + ": " + status.message +
                    "; give a timing cache (mlc calibrate MODEL --timings=" +
                    file + " writes one)");
  auto cache = TimingCache::parse(bytes.text());
  if (!cache)
    return withFile(file, Exit::BadFile, cache.takeError());
  if (cache->target != target.name)
    return fail(Exit::BadFile,
                file + ": was measured on " + cache->target + ", not on " +
                    target.name +
                    "; give another file or --target=" + cache->target);
  return cache;
}

llvm::Error Compilation::readRules(const ModelOptions &options) {
  if (options.noRewrites && !options.rules.empty())
    return fail(Exit::Usage, "--rules and --no-rewrites exclude each other");
  for (const std::string &file : options.rules) {
    runtime::FileBytes bytes;
    runtime::Status status =
        runtime::FileBytes::read(file.c_str(), runtime::maxTextFile, bytes);
    if (!status.ok())
      return fail(static_cast<Exit>(status.code),
                  file + ": " + status.message +
                      "; give a file of rules (docs/AddARewrite.md)");
    Progress progress("proving the rules of " + file);
    auto given = GivenRules::prove(file, bytes.text(), getGivenRules());
    if (!given)
      return llvm::handleErrors(given.takeError(),
                                [](const GivenRulesError &error) {
                                  return fail(error.getCode(), error.message());
                                });
    compileOptions.rewriting.rules.push_back(std::move(*given));
    compileOptions.flags.push_back("--rules=" +
                                   llvm::sys::path::filename(file).str());
  }
  return llvm::Error::success();
}

static void warnOfDefaults(llvm::StringRef file, const ImportReport &report) {
  constexpr size_t most = 3;
  llvm::ArrayRef<std::string> inputs = report.defaults;
  if (inputs.empty())
    return;
  bool isOne = inputs.size() == 1;
  warn(file, (isOne ? "input '" : "inputs '") +
                 llvm::join(inputs.take_front(most), "', '") + "'" +
                 (inputs.size() > most ? " and others" : "") +
                 (isOne ? " has a value" : " have values") +
                 (report.overridable
                      ? " in the file that a run may replace, so that nothing "
                        "is computed from it before; for a constant remove it "
                        "from the graph's inputs"
                      : " in the file, taken as constant; for an input of the "
                        "artifact remove the initializer"));
}

llvm::Expected<ImportReport>
Compilation::importFrom(const ModelOptions &options,
                        llvm::ArrayRef<DimSetting> dims, Choose choose) {
  Progress progress("reading " + file);
  ImportReport report;
  if (!choose) {
    ImportOptions importing = importOptions(dims, options.parameters);
    importing.checked = options.checked;
    importing.overridable = !options.keepsDefaults;
    module = importOnnx(file, importing, &context, report, modelFile);
    return report;
  }
  auto opened = ModelFile::open(file);
  if (!opened)
    return withFile(file, Exit::BadFile, opened.takeError());
  modelFile = std::make_shared<ModelFile>(std::move(*opened));
  if (options.byShape)
    modelFile->planByShape();
  auto choice = choose(modelFile->proto());
  if (!choice)
    return choice.takeError();
  // The last setting of a dim wins.
  std::vector<DimSetting> all = std::move(choice->dims);
  llvm::append_range(all, dims);
  ImportOptions importing = importOptions(all, choice->parameters);
  importing.statistics = std::move(choice->statistics);
  importing.inTraining = choice->inTraining;
  importing.checked = options.checked;
  module = importFile(*modelFile, file, importing, &context, report);
  if (module && !choice->ownForm.empty()) {
    llvm::append_range(importing.parameters, importing.statistics);
    importing.statistics.clear();
    importing.inTraining = false;
    ImportReport again;
    mlir::OwningOpRef<mlir::ModuleOp> other =
        importFile(*modelFile, file, importing, &context, again);
    if (!other)
      return again;
    auto main = other->lookupSymbol<mlir::func::FuncOp>("main");
    main->remove();
    main.setName(choice->ownForm);
    module->push_back(main);
  }
  return report;
}

llvm::Error Compilation::read(const ModelOptions &options,
                              const SearchFlags *search, Choose choose) {
  auto dims = parseDims(options.dims);
  if (!dims)
    return dims.takeError();
  auto target = parseTargetOption(options.target);
  if (!target)
    return target.takeError();
  compileOptions.target = *target;
  compileOptions.rewrites = !options.noRewrites;
  for (const DimSetting &dim : *dims)
    compileOptions.flags.push_back(
        "--dim=" + dim.name + "=" +
        (dim.value ? std::to_string(*dim.value) : "any"));
  for (const std::string &parameter : options.parameters)
    compileOptions.flags.push_back("--parameter=" + parameter);
  compileOptions.flags.push_back(
      "--target=" + (target->file.empty()
                         ? target->name
                         : llvm::sys::path::filename(target->file).str()));
  compileOptions.precision = options.precision;
  if (target->isCuda() && options.precision == Precision::IEEE)
    compileOptions.flags.push_back("--precision=ieee");
  if (options.noRewrites)
    compileOptions.flags.push_back("--no-rewrites");
  if (options.checked)
    compileOptions.flags.push_back("--checked");
  if (llvm::Error error = readRules(options))
    return error;
  if (!options.timings.empty()) {
    auto timings = readTimings(options.timings, *target);
    if (!timings)
      return timings.takeError();
    compileOptions.rewriting.timings =
        std::make_shared<const TimingCache>(std::move(*timings));
    compileOptions.flags.push_back(
        "--timings=" + llvm::sys::path::filename(options.timings).str());
  }
  if (search)
    if (llvm::Error error = readSearch(*search))
      return error;
  compileOptions.rewriting.onSearch = [this](const SearchReport &r) {
    searchLimit.reset();
    report = r;
  };
  compileOptions.describeRemedy = describeRemedy;
  // Without folders, so that artifacts do not depend on the place of the build.
  compileOptions.rebuild =
      "mlc compile " + llvm::sys::path::filename(file).str();
  addFlags(std::exchange(compileOptions.flags, {}));

  auto report = importFrom(options, *dims, choose);
  if (!report)
    return report.takeError();
  compileOptions.modelHash = report->hash;
  inputFiles = {file};
  llvm::append_range(inputFiles, report->externalFiles);
  for (const std::string &other : {target->file, options.timings.getValue()})
    if (!other.empty())
      inputFiles.push_back(other);
  llvm::append_range(inputFiles, options.rules);
  if (!report->ok())
    return reportFailure(*report, file);
  warnOfDefaults(file, *report);
  return checkAssumed(*report);
}

llvm::Error Compilation::readSearch(const SearchFlags &search) {
  auto options = search.options();
  if (!options)
    return options.takeError();
  compileOptions.rewriting.search = *options;
  auto sizes = search.assumedSizes();
  if (!sizes)
    return sizes.takeError();
  for (const DimSetting &size : *sizes)
    compileOptions.rewriting.assumedSizes[size.name] = *size.value;
  llvm::append_range(compileOptions.flags, search.texts());
  compileOptions.rewriting.onSearchStart = [this, &search] {
    searchLimit = search.startLimit();
  };
  return llvm::Error::success();
}

llvm::Error Compilation::checkAssumed(const ImportReport &found) const {
  for (const auto &[name, size] : compileOptions.rewriting.assumedSizes)
    if (!llvm::is_contained(found.symbols, name))
      return fail(Exit::Usage, "--assume " + name + "=" + llvm::Twine(size) +
                                   ": the model has no open dim of this name" +
                                   (found.symbols.empty() ? "" : "; it has ") +
                                   llvm::join(found.symbols, ", "));
  return llvm::Error::success();
}

/// Whether a diagnostic, which has no code, means a lack of memory or disk.
static bool tellsOfResources(llvm::StringRef message) {
  return llvm::any_of(
      std::initializer_list<int>{ENOSPC, EFBIG, EDQUOT, ENOMEM, EMFILE, ENFILE},
      [&](int code) {
        return message.contains(std::generic_category().message(code));
      });
}

/// Prefixes a phase's error with the file's name.
llvm::Error Compilation::addPhase(llvm::Error error) const {
  return llvm::handleErrors(
      std::move(error), [&](const CompileError &failure) -> llvm::Error {
        llvm::SmallVector<llvm::StringRef> lines;
        const std::string message = withPlainTypes(failure.message);
        llvm::StringRef(message).split(lines, '\n');
        std::string text;
        for (llvm::StringRef line : lines)
          text += (file + ": " + line + "\n").str();
        return fail(tellsOfResources(text) ? Exit::Resources : failure.exitCode,
                    text);
      });
}

llvm::Expected<std::unique_ptr<CompiledModel>> Compilation::compile() {
  // Linking needs a temporary folder; check that early.
  if (auto folder = TemporaryFolder::create(); !folder)
    return folder.takeError();
  Progress progress("compiling " + file);
  compileOptions.onPhase = [&](llvm::StringRef phase) {
    progress.next("compiling " + file + ": " + phase.str());
  };
  modelFile.reset();
  auto compiled = compileModel(std::move(module), compileOptions,
                               done ? done->name : llvm::StringRef());
  if (!compiled)
    return addPhase(compiled.takeError());
  if (!(*compiled)->memory.empty())
    memoryReport = (*compiled)->memory.front();
  return compiled;
}

void Compilation::addFlags(llvm::ArrayRef<std::string> flags) {
  for (const std::string &flag : flags) {
    compileOptions.flags.push_back(flag);
    compileOptions.rebuild += " " + flag;
  }
}

void Compilation::limitMemory(uint64_t bytes) {
  if (bytes == 0)
    return;
  compileOptions.memory = {bytes};
  addFlags({"--memory-budget=" + std::to_string(bytes)});
}

llvm::Expected<Model> Compilation::build() {
  auto compiled = compile();
  if (!compiled)
    return compiled.takeError();
  llvm::SmallVector<char, 0> bytes;
  if (llvm::Error error = (*compiled)->writeToMemory(bytes))
    return error;
  return Model::fromMemory(std::move(bytes), file);
}

llvm::Error Compilation::runTo(llvm::StringRef phase) {
  const Phase *last = findPhase(phase);
  if (done && last <= done)
    return llvm::Error::success();
  if (llvm::Error error = runPhases(*module, phase, compileOptions,
                                    done ? done->name : llvm::StringRef()))
    return addPhase(std::move(error));
  done = last;
  return llvm::Error::success();
}

static bool isArtifact(llvm::StringRef file) {
  // Reading from a pipe would consume its bytes.
  if (!llvm::sys::fs::is_regular_file(file))
    return false;
  auto start =
      llvm::MemoryBuffer::getFileSlice(file, sizeof(runtime::artifactMagic), 0);
  return start && (*start)->getBuffer() ==
                      llvm::StringRef(runtime::artifactMagic,
                                      sizeof(runtime::artifactMagic));
}

llvm::Expected<BuiltModel> mlc::cli::openOrBuild(const ModelOptions &options) {
  if (options.model.empty())
    return fail(Exit::Usage, "no file; give a model (.onnx) or an artifact "
                             "(.mlca)");
  if (isArtifact(options.model)) {
    auto model = Model::open(options.model);
    if (!model)
      return model.takeError();
    return BuiltModel{std::move(*model), false};
  }
  auto compilation = Compilation::import(options);
  if (!compilation)
    return compilation.takeError();
  auto model = (*compilation)->build();
  if (!model)
    return model.takeError();
  return BuiltModel{std::move(*model), true};
}
