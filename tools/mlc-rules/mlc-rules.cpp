//===- mlc-rules.cpp - Lists and proves rules -----------------------------===//

#include "tools/CommandLine.h"
#include "tools/mlc-rules/Command.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using mlc::Exit;
using namespace mlc::rules;
namespace cl = llvm::cl;

static Exit runTool(int argc, char **argv) {
  const Command commands[] = {
      auditCommand(), checkCommand(),  exportCommand(), generateCommand(),
      listCommand(),  proofsCommand(), verifyCommand()};
  cl::HideUnrelatedOptions({&category()});
  std::string names;
  llvm::ListSeparator separator(" or ");
  for (const Command &command : commands) {
    cl::HideUnrelatedOptions({&category()}, command.options);
    names += (llvm::StringRef(separator) + command.options.getName()).str();
  }
  std::string problem = mlc::parseCommandLine(
      argc, argv, "mlc-rules: the rewrites that mlc knows\n");
  if (!problem.empty())
    return fail(Exit::Usage, problem);
  for (const Command &command : commands)
    if (command.options)
      return command.run();
  return fail(Exit::Usage, "expected " + names + "; see mlc-rules --help");
}

int main(int argc, char **argv) {
  mlc::startTool();
  return mlc::finishTool(static_cast<int>(runTool(argc, argv)));
}
