//===- ExplainFlag.cpp - --explain of commands that search ----------------===//

#include "tools/mlc/ExplainFlag.h"
#include "passes/Optimize/Prepare.h"
#include "tools/mlc/Build.h"
#include "tools/mlc/Failure.h"
#include "tools/mlc/OutputFile.h"

using namespace mlc::cli;
namespace cl = llvm::cl;

ExplainFlag::ExplainFlag(cl::SubCommand &sub)
    : file("explain", cl::ValueOptional, cl::value_desc("file.svg|file.html"),
           cl::desc("Print each rewrite, with its place, condition and "
                    "predicted gain, and draw both graphs into the file"),
           cl::sub(sub)) {}

llvm::Error ExplainFlag::check() const {
  llvm::StringRef drawing = file;
  if (drawing.empty() || drawing.ends_with(".svg") ||
      drawing.ends_with(".html"))
    return llvm::Error::success();
  return fail(Exit::Usage,
              "--explain=" + drawing +
                  ": draws SVG or HTML; give FILE.svg or FILE.html");
}

mlir::OwningOpRef<mlir::ModuleOp>
ExplainFlag::keep(mlir::ModuleOp imported) const {
  if (!isGiven())
    return nullptr;
  return imported.clone();
}

llvm::Error ExplainFlag::explain(const Compilation &compilation,
                                 const std::string &model,
                                 mlir::OwningOpRef<mlir::ModuleOp> before,
                                 mlir::ModuleOp after,
                                 llvm::raw_ostream &os) const {
  if (!before)
    return llvm::Error::success();
  auto trails = mlc::getTrails(after);
  if (!trails)
    return withFile(model, Exit::Internal, trails.takeError());
  // The trail refers to the model as the search saw it.
  mlc::RuleSet rules;
  if (failed(mlc::prepare(*before)) ||
      failed(mlc::addRules(rules, before->getContext(),
                           compilation.getGivenRules())))
    return fail(Exit::Internal, model + ": cannot be explained");
  rules.keepApplicable(compilation.getFpMode());
  mlc::CostModel cost = compilation.makeCostModel();
  // A model has a single function, main.
  for (const mlc::Trail &trail : *trails) {
    auto function = before->lookupSymbol<mlir::func::FuncOp>(trail.function);
    auto explanation = Explanation::make(function, trail, rules, cost);
    if (!explanation)
      return withFile(model, Exit::Internal, explanation.takeError());
    explanation->print(os);
    if (llvm::Error error = draw(model, *explanation))
      return error;
  }
  return llvm::Error::success();
}

llvm::Error ExplainFlag::draw(const std::string &model,
                              const Explanation &one) const {
  if (file.empty())
    return llvm::Error::success();
  bool isPage = llvm::StringRef(file).ends_with(".html");
  return writeOutput(file, [&](llvm::raw_ostream &drawing) {
    isPage ? one.writeHtml(drawing, model) : one.drawSvg(drawing);
    return llvm::Error::success();
  });
}
