//===- CheckCommand.cpp - mlc check ---------------------------------------===//

#include "passes/Import/Import.h"
#include "runtime/Text.h"
#include "tools/mlc/Build.h"
#include "tools/mlc/Command.h"
#include "tools/mlc/Failure.h"
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
      : Command("check", "List every node of a model that cannot be compiled"),
        model(cl::Positional, cl::desc("<model.onnx>"), cl::sub(sub)),
        dims("dim", cl::value_desc("name=N|name=any"),
             cl::desc("Fix a symbolic dim, or say that it stays open"),
             cl::sub(sub)),
        asJson("json", cl::desc("Print one JSON object"), cl::sub(sub)) {}

  llvm::Error run() override;

private:
  cl::opt<std::string> model;
  cl::list<std::string> dims;
  cl::opt<bool> asJson;
};

json::Object toJson(const mlc::ImportReport &report, llvm::StringRef file) {
  json::Array nodes;
  for (const mlc::UnsupportedNode &node : report.unsupported)
    nodes.push_back(json::Object{{"name", node.name},
                                 {"operator", node.op},
                                 {"domain", node.domain},
                                 {"opset", node.opset},
                                 {"types", json::Array(node.inputTypes)},
                                 {"reason", node.reason}});
  json::Object object{{"file", json::fixUTF8(file)},
                      {"compiles", report.ok()},
                      {"unsupported", std::move(nodes)},
                      {"open_dims", json::Array(report.symbols)}};
  if (!report.message.empty())
    object["error"] = report.message;
  return object;
}

} // namespace

llvm::Error CheckCommand::run() {
  if (model.empty())
    return fail(Exit::Usage, "no file; give a model (.onnx)");
  auto settings = parseDims(dims);
  if (!settings)
    return settings.takeError();
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  mlc::ImportReport report =
      mlc::checkModel(model, importOptions(*settings), &context);
  llvm::erase_if(report.symbols, [&](const std::string &symbol) {
    return llvm::any_of(*settings, [&](const DimSetting &dim) {
      return dim.name == symbol && dim.value;
    });
  });
  if (asJson) {
    llvm::outs() << llvm::formatv("{0:2}", json::Value(toJson(report, model)))
                 << '\n';
  } else if (report.ok()) {
    std::string text = model + ": every node can be compiled";
    if (!report.symbols.empty())
      text += "; open dims: " + llvm::join(report.symbols, ", ");
    llvm::outs() << mlc::runtime::printable(text) << '\n';
  } else {
    llvm::outs() << listUnsupported(report, "");
  }
  // The list stands there already.
  if (report.status == Exit::Unsupported)
    return fail(Exit::Unsupported, report.message);
  return reportFailure(report, model);
}

std::unique_ptr<Command> mlc::cli::makeCheckCommand() {
  return std::make_unique<CheckCommand>();
}
