//===- CompileCommand.cpp - mlc compile -----------------------------------===//

#include "onnx-ml.pb.h"
#include "passes/Import/ModelFile.h"
#include "tools/mlc/Command.h"
#include "tools/mlc/CompileToFlag.h"
#include "tools/mlc/ExplainFlag.h"
#include "tools/mlc/Failure.h"
#include "tools/mlc/MeshFlags.h"
#include "tools/mlc/OutputFile.h"
#include "tools/mlc/StagedModel.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace mlc::cli;
namespace cl = llvm::cl;

namespace {

class CompileCommand : public Command {
public:
  CompileCommand()
      : Command("compile", "Compile a model to an artifact"),
        model(sub, "<model.onnx>"), search(sub), mesh(sub),
        output("o", cl::value_desc("file"),
               cl::desc("The artifact to write; with --compile-to, the text "
                        "(standard output)"),
               cl::sub(sub)),
        compileTo(sub),
        emit("emit", cl::value_desc("language"),
             cl::desc("Write the program as source into the folder -o: cuda, "
                      "CUDA C++ with its weights and how to build it"),
             cl::sub(sub)),
        checked(sub), explain(sub),
        asJson("json",
               cl::desc("Print what the search for rewrites came to "
                        "as one JSON object"),
               cl::sub(sub)) {}

  llvm::Error run() override;

private:
  llvm::Expected<std::unique_ptr<Compilation>> import();
  llvm::Error split(Compilation &compilation);
  llvm::Error writeArtifact(const mlc::CompiledModel &compiled);
  llvm::Error writeText(Compilation &compilation);
  llvm::Error writeSources(const mlc::CompiledModel &compiled,
                           const mlc::CodeTarget &target,
                           llvm::ArrayRef<std::string> inputFiles);

  ModelOptions model;
  SearchFlags search;
  MeshFlags mesh;
  cl::opt<std::string> output;
  CompileToFlag compileTo;
  cl::opt<std::string> emit;
  CheckedFlag checked;
  ExplainFlag explain;
  cl::opt<bool> asJson;
};

} // namespace

llvm::Error CompileCommand::writeText(Compilation &compilation) {
  auto before = explain.keep(compilation.getModule());
  if (compileTo.is("differentiate"))
    warn(model.model, "nothing is differentiated: there is no loss; mlc "
                      "gradients and mlc train have one");
  if (compileTo.is("distribute") && !mesh.isGiven())
    warn(model.model, "nothing is distributed: there is one rank; give "
                      "--mesh=AXIS=N,... or --stages=N");
  if (llvm::Error error = compilation.runTo(compileTo.phase()))
    return error;
  if (llvm::Error error =
          explain.explain(compilation, model.model, std::move(before),
                          compilation.getModule(), llvm::errs()))
    return error;
  return compileTo.write(compilation, output);
}

llvm::Error CompileCommand::writeArtifact(const mlc::CompiledModel &compiled) {
  return writeOutput(output,
                     [&](llvm::raw_ostream &os) { return compiled.write(os); });
}

/// The folder may exist; files in it are overwritten.
llvm::Error
CompileCommand::writeSources(const mlc::CompiledModel &compiled,
                             const mlc::CodeTarget &target,
                             llvm::ArrayRef<std::string> inputFiles) {
  auto tree = target.backend->printProgram(
      compiled.programs.entries.front(), compiled.images,
      compiled.weights.weightsSize(), target.target);
  if (!tree)
    return fail(Exit::Unsupported,
                model.model + ": " + llvm::toString(tree.takeError()));
  std::vector<Output> outputs;
  std::vector<std::string> paths;
  auto add = [&](llvm::StringRef name, auto write) {
    paths.push_back((output + "/" + name).str());
    outputs.push_back({paths.back(), write});
  };
  for (const auto &[name, text] : *tree)
    add(name, [&text = text](llvm::raw_ostream &os) -> llvm::Error {
      os << text;
      return llvm::Error::success();
    });
  add("weights.bin", [&](llvm::raw_ostream &os) -> llvm::Error {
    compiled.weights.writeWeights(os);
    return llvm::Error::success();
  });
  if (llvm::Error error = refuseInputs(paths, inputFiles))
    return error;
  for (const std::string &path : paths) {
    llvm::StringRef folder = llvm::sys::path::parent_path(path);
    if (std::error_code error = llvm::sys::fs::create_directories(folder))
      return fail(
          error == std::errc::no_space_on_device ? Exit::Resources
                                                 : Exit::Usage,
          (folder + ": cannot make the folder: " + error.message()).str());
  }
  return writeOutputs(outputs);
}

/// Makes what a rank of --mesh runs, or the entries of stages.
llvm::Error CompileCommand::split(Compilation &compilation) {
  mlc::runtime::Plan plan = mesh.plan();
  if (plan.forward)
    resolveEnds(compilation.getModelFile().proto().graph(),
                compilation.getModule(), plan.forward->stages.ends);
  compilation.split(plan);
  if (llvm::Error error = compilation.runTo(compileTo.upTo("distribute")))
    return error;
  compilation.addFlags(mesh.texts());
  if (!plan.forward || compileTo.isGiven())
    return llvm::Error::success();
  auto pipeline = takePipeline(compilation.getModule(), *plan.forward);
  if (!pipeline)
    return pipeline.takeError();
  compilation.describePipeline(std::move(*pipeline));
  return llvm::Error::success();
}

/// Imports the model; with --mesh, for one of its ranks.
llvm::Expected<std::unique_ptr<Compilation>> CompileCommand::import() {
  if (!mesh.isGiven())
    return Compilation::import(model, search);
  auto choose = [&](const onnx::ModelProto &proto)
      -> llvm::Expected<Compilation::Choice> {
    Compilation::Choice choice;
    choice.parameters = model.parameters;
    auto split = mesh.weightsOf(proto.graph(), model.model, choice.parameters);
    if (!split)
      return split.takeError();
    llvm::append_range(choice.parameters, *split);
    return choice;
  };
  auto compilation = Compilation::import(model, search, choose);
  if (!compilation)
    return compilation.takeError();
  if (llvm::Error error = split(**compilation))
    return error;
  return compilation;
}

llvm::Error CompileCommand::run() {
  if (llvm::Error error = mesh.check())
    return error;
  if (mesh.prints()) {
    llvm::outs() << mesh.plan().text();
    return llvm::Error::success();
  }
  if (!emit.empty() && emit != "cuda")
    return fail(Exit::Usage,
                "--emit=" + emit + ": no such language; there is cuda");
  if (!emit.empty() && output == "-")
    return fail(Exit::Usage, "--emit writes several files; give a folder, "
                             "-o FOLDER");
  if (!emit.empty() && output.empty())
    return fail(Exit::Usage, "no output; --emit=cuda writes a program of "
                             "several files: give its folder with -o DIR");
  if (!emit.empty() && compileTo.isGiven())
    return fail(Exit::Usage, "--emit and --compile-to exclude each other");
  if (!emit.empty() && mesh.isGiven())
    return fail(Exit::Usage,
                "--emit and --mesh exclude each other, as do --emit and "
                "--stages; the program of --emit runs on one rank");
  if (llvm::Error error = compileTo.check(mesh.getBudget()))
    return error;
  if (output.empty() && !compileTo.isGiven())
    return fail(Exit::Usage, "no output; give -o FILE.mlca");
  if (llvm::Error error = explain.check())
    return error;
  if (llvm::Error error =
          refuseSame({{output, "the artifact (-o)"},
                      {explain.getFile(), "the explanation (--explain)"}}))
    return error;
  model.checked = checked.checked;
  auto compilation = import();
  if (!compilation)
    return compilation.takeError();
  if (auto status = mesh.plan().origin.checkModel(
          model.model, (*compilation)->getModelFile().getHash());
      !status.ok())
    return statusFailure(status);
  (*compilation)->limitMemory(mesh.plan().memory);
  if (llvm::Error error = refuseInputs({output, explain.getFile()},
                                       (*compilation)->getInputFiles()))
    return error;
  if (compileTo.isGiven())
    return writeText(**compilation);
  auto before = explain.keep((*compilation)->getModule());
  auto compiled = (*compilation)->compile();
  if (!compiled)
    return compiled.takeError();
  if (llvm::Error error = explain.explain(
          **compilation, model.model, std::move(before), *(*compiled)->module,
          asJson ? llvm::errs() : llvm::outs()))
    return error;
  if (llvm::Error error =
          emit.empty()
              ? writeArtifact(**compiled)
              : writeSources(**compiled, (*compilation)->getCodeTarget(),
                             (*compilation)->getInputFiles()))
    return error;
  if (asJson || explain.isGiven())
    show((*compilation)->getSearchReport(), asJson);
  if (const auto &memory = (*compilation)->getMemoryReport();
      memory && explain.isGiven())
    (asJson ? llvm::errs() : llvm::outs())
        << describe(*memory, mesh.plan().memory) << '\n';
  return llvm::Error::success();
}

std::unique_ptr<Command> mlc::cli::makeCompileCommand() {
  return std::make_unique<CompileCommand>();
}
