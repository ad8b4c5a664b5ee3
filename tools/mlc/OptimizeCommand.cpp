//===- OptimizeCommand.cpp - mlc optimize ---------------------------------===//

#include "passes/Export/Rewritten.h"
#include "tools/mlc/Build.h"
#include "tools/mlc/Command.h"
#include "tools/mlc/ExplainFlag.h"
#include "tools/mlc/Failure.h"
#include "tools/mlc/OutputFile.h"

using namespace mlc::cli;
namespace cl = llvm::cl;

namespace {

class OptimizeCommand : public Command {
public:
  OptimizeCommand()
      : Command("optimize", "Write the rewritten graph as ONNX again, for any "
                            "other runtime"),
        model(sub, "<in.onnx>"), search(sub),
        output("o", cl::value_desc("out.onnx"), cl::desc("The file to write"),
               cl::sub(sub)),
        explain(sub),
        asJson("json",
               cl::desc("Print what the search came to as one JSON "
                        "object"),
               cl::sub(sub)) {}

  llvm::Error run() override;

private:
  ModelOptions model;
  SearchFlags search;
  cl::opt<std::string> output;
  ExplainFlag explain;
  cl::opt<bool> asJson;
};

} // namespace

llvm::Error OptimizeCommand::run() {
  if (output.empty())
    return fail(Exit::Usage, "no output; give -o FILE.onnx");
  if (llvm::Error error = explain.check())
    return error;
  if (llvm::Error error =
          refuseSame({{output, "the model (-o)"},
                      {explain.getFile(), "the explanation (--explain)"}}))
    return error;
  if (output == "-" && asJson)
    return fail(Exit::Usage, "--json and -o - both write to standard output; "
                             "give -o FILE.onnx");
  model.keepsDefaults = true;
  auto compilation = Compilation::import(model, search);
  if (!compilation)
    return compilation.takeError();
  if (llvm::Error error = refuseInputs({output, explain.getFile()},
                                       (*compilation)->getInputFiles()))
    return error;
  (*compilation)->keepForOthers();
  auto before = explain.keep((*compilation)->getModule());
  if (llvm::Error error = (*compilation)->runTo("optimize"))
    return error;
  if (llvm::Error error = explain.explain(
          **compilation, model.model, std::move(before),
          (*compilation)->getModule(),
          output == "-" || asJson ? llvm::errs() : llvm::outs()))
    return error;
  auto dims = parseDims(model.dims);
  if (!dims)
    return dims.takeError();
  auto written = mlc::exportRewritten((*compilation)->getModule(),
                                      (*compilation)->getModelFile(),
                                      importOptions(*dims, model.parameters));
  if (!written)
    return withFile(model.model, Exit::Unsupported, written.takeError());
  if (!written->whyUnchanged.empty())
    warn(model.model, "is written as it came, because what rules made of it "
                      "cannot be: " +
                          written->whyUnchanged);
  auto write = [&](llvm::raw_ostream &os) {
    os << written->bytes;
    return llvm::Error::success();
  };
  if (llvm::Error error = writeOutput(output, write))
    return error;
  if (output != "-")
    show((*compilation)->getSearchReport(), asJson);
  return llvm::Error::success();
}

std::unique_ptr<Command> mlc::cli::makeOptimizeCommand() {
  return std::make_unique<OptimizeCommand>();
}
