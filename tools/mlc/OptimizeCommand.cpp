//===- OptimizeCommand.cpp - mlc optimize ---------------------------------===//

#include "mlir/Pass/PassManager.h"
#include "passes/Export/Export.h"
#include "passes/Optimize/Prepare.h"
#include "tools/mlc/Build.h"
#include "tools/mlc/Command.h"
#include "tools/mlc/Explain.h"
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
        explain("explain", cl::ValueOptional,
                cl::value_desc("file.svg|file.html"),
                cl::desc("Print each rewrite, with its place, condition and "
                         "predicted gain, and draw both graphs into the file"),
                cl::sub(sub)),
        asJson("json",
               cl::desc("Print what the search came to as one JSON "
                        "object"),
               cl::sub(sub)) {}

  llvm::Error run() override;

private:
  llvm::Error explainTo(mlir::ModuleOp before, mlir::ModuleOp after);

  ModelOptions model;
  SearchFlags search;
  cl::opt<std::string> output;
  cl::opt<std::string> explain;
  cl::opt<bool> asJson;
};

} // namespace

llvm::Error OptimizeCommand::explainTo(mlir::ModuleOp before,
                                       mlir::ModuleOp after) {
  // The trail is about the model as the search saw it.
  mlir::PassManager passes(before.getContext());
  mlc::addPreparePasses(passes);
  auto trails = mlc::getTrails(after);
  if (!trails)
    return withFile(model.model, Exit::Internal, trails.takeError());
  mlc::RuleSet rules;
  if (failed(passes.run(before)) ||
      failed(mlc::addShippedRules(rules, before.getContext())))
    return fail(Exit::Internal, model.model + ": cannot be explained");
  auto target = parseTargetOption(model.target);
  if (!target)
    return target.takeError();
  mlc::TimingCache timings;
  if (!model.timings.empty()) {
    auto found = readTimings(model.timings, *target);
    if (!found)
      return found.takeError();
    timings = std::move(*found);
  }
  mlc::CostModel cost(target->cost, &timings);
  // One function, main, is all that a model has.
  for (const mlc::Trail &trail : *trails) {
    auto function = before.lookupSymbol<mlir::func::FuncOp>(trail.function);
    auto explanation = Explanation::make(function, trail, rules, cost);
    if (!explanation)
      return withFile(model.model, Exit::Internal, explanation.takeError());
    explanation->print(output == "-" || asJson ? llvm::errs() : llvm::outs());
    if (explain.empty())
      continue;
    bool isPage = llvm::StringRef(explain).ends_with(".html");
    if (llvm::Error error = writeOutput(explain, [&](llvm::raw_ostream &os) {
          isPage ? explanation->writeHtml(os, model.model)
                 : explanation->drawSvg(os);
          return llvm::Error::success();
        }))
      return error;
  }
  return llvm::Error::success();
}

llvm::Error OptimizeCommand::run() {
  if (output.empty())
    return fail(Exit::Usage, "no output; give -o FILE.onnx");
  llvm::StringRef drawing = explain;
  if (!drawing.empty() && !drawing.ends_with(".svg") &&
      !drawing.ends_with(".html"))
    return fail(Exit::Usage, "--explain=" + drawing +
                                 ": draws SVG or HTML; give FILE.svg or "
                                 "FILE.html");
  if (output == "-" && asJson)
    return fail(Exit::Usage, "--json and -o - both write to standard output; "
                             "give -o FILE.onnx");
  auto compilation = Compilation::import(model, search);
  if (!compilation)
    return compilation.takeError();
  mlir::OwningOpRef<mlir::ModuleOp> before;
  if (explain.getNumOccurrences())
    before = (*compilation)->getModule().clone();
  if (llvm::Error error = (*compilation)->runTo("optimize"))
    return error;
  if (before)
    if (llvm::Error error = explainTo(*before, (*compilation)->getModule()))
      return error;
  auto bytes = mlc::exportOnnx((*compilation)->getModule());
  if (!bytes)
    return withFile(model.model, Exit::Unsupported, bytes.takeError());
  auto write = [&](llvm::raw_ostream &os) {
    os << *bytes;
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
