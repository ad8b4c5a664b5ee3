//===- CheckCommand.cpp - mlc check ---------------------------------------===//

#include "passes/Import/Import.h"
#include "runtime/Text.h"
#include "tools/mlc/Build.h"
#include "tools/mlc/Command.h"
#include "tools/mlc/Failure.h"
#include "tools/mlc/Remedies.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlc::cli;
namespace cl = llvm::cl;
namespace json = llvm::json;

namespace {

class CheckCommand : public Command {
public:
  CheckCommand()
      : Command("check", "List every node of models that cannot be compiled"),
        models(cl::Positional, cl::desc("<model.onnx>..."), cl::sub(sub)),
        dims("dim", cl::value_desc("name=N|name=any"),
             cl::desc("Fix a symbolic dim, or say that it stays open"),
             cl::sub(sub)),
        asJson("json", cl::desc("Print one JSON object"), cl::sub(sub)) {}

  llvm::Error run() override;

private:
  void print(const mlc::ImportReport &report, llvm::StringRef file) const;

  cl::list<std::string> models;
  cl::list<std::string> dims;
  cl::opt<bool> asJson;
};

json::Object toJson(const mlc::ImportReport &report, llvm::StringRef file) {
  json::Array nodes;
  for (const mlc::UnsupportedNode &node : report.unsupported) {
    nodes.push_back(json::Object{
        {"name", node.name},
        {"operator", node.op},
        {"domain", node.domain},
        {"opset", node.opset},
        {"types", json::Array(node.inputTypes)},
        {"reason", node.reason},
        {"remedies", json::Array(mlc::remediesOf(node, describeRemedy))}});
  }
  json::Object object{{"file", json::fixUTF8(file)},
                      {"compiles", report.ok()},
                      {"unsupported", std::move(nodes)},
                      {"open_dims", json::Array(report.symbols)}};
  if (!report.message.empty())
    object["error"] = report.message;
  return object;
}

} // namespace

void CheckCommand::print(const mlc::ImportReport &report,
                         llvm::StringRef file) const {
  if (!report.ok()) {
    llvm::outs() << listUnsupported(models.size() > 1 ? file : "", report,
                                    describeRemedy);
    return;
  }
  std::string text = (file + ": every node can be compiled").str();
  if (!report.symbols.empty())
    text += "; open dims: " + llvm::join(report.symbols, ", ");
  llvm::outs() << mlc::runtime::printable(text) << '\n';
}

llvm::Error CheckCommand::run() {
  if (models.empty())
    return fail(Exit::Usage, "no file; give a model (.onnx)");
  auto settings = parseDims(dims);
  if (!settings)
    return settings.takeError();
  std::vector<mlc::ImportReport> reports;
  json::Array objects;
  for (const std::string &file : models) {
    mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
    mlc::ImportReport report =
        mlc::checkModel(file, importOptions(*settings), &context);
    llvm::erase_if(report.symbols, [&](const std::string &symbol) {
      return llvm::any_of(*settings, [&](const DimSetting &dim) {
        return dim.name == symbol && dim.value;
      });
    });
    if (asJson)
      objects.push_back(toJson(report, file));
    else
      print(report, file);
    reports.push_back(std::move(report));
  }
  if (asJson)
    llvm::outs() << llvm::formatv("{0:2}",
                                  objects.size() == 1
                                      ? std::move(objects.front())
                                      : json::Value(std::move(objects)))
                 << '\n';
  llvm::Error errors = llvm::Error::success();
  for (auto [report, file] : llvm::zip(reports, models))
    // The list of nodes is already printed.
    errors = llvm::joinErrors(std::move(errors),
                              report.status == Exit::Unsupported
                                  ? fail(Exit::Unsupported, report.message)
                                  : reportFailure(report, file));
  return errors;
}

std::unique_ptr<Command> mlc::cli::makeCheckCommand() {
  return std::make_unique<CheckCommand>();
}
