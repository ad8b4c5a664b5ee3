//===- OptimizeCommand.cpp - mlc optimize ---------------------------------===//

#include "passes/Export/Export.h"
#include "tools/mlc/Build.h"
#include "tools/mlc/Command.h"
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
        model(sub, "<in.onnx>"),
        output("o", cl::value_desc("out.onnx"), cl::desc("The file to write"),
               cl::sub(sub)) {}

  llvm::Error run() override;

private:
  ModelOptions model;
  cl::opt<std::string> output;
};

} // namespace

llvm::Error OptimizeCommand::run() {
  if (output.empty())
    return fail(Exit::Usage, "no output; give -o FILE.onnx");
  auto compilation = Compilation::import(model);
  if (!compilation)
    return compilation.takeError();
  if (llvm::Error error = (*compilation)->runTo("optimize"))
    return error;
  auto bytes = mlc::exportOnnx((*compilation)->getModule());
  if (!bytes)
    return withFile(model.model, Exit::Unsupported, bytes.takeError());
  return writeOutput(output, [&](llvm::raw_ostream &os) {
    os << *bytes;
    return llvm::Error::success();
  });
}

std::unique_ptr<Command> mlc::cli::makeOptimizeCommand() {
  return std::make_unique<OptimizeCommand>();
}
