//===- Command.cpp - Shared parts of mlc-rules' subcommands ---------------===//

#include "tools/mlc-rules/Command.h"
#include "dialects/Module/ParseModule.h"
#include "dialects/Symbolic/Attributes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "runtime/FileBytes.h"
#include "tools/CommandLine.h"
#include "verifier/read/AssumeText.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

namespace cl = llvm::cl;

namespace mlc::rules {

cl::OptionCategory &category() {
  static cl::OptionCategory options("mlc-rules options");
  return options;
}

Exit fail(Exit code, const llvm::Twine &message) {
  llvm::errs() << "mlc: error: " << message << '\n';
  return code;
}

RuleFileOptions::RuleFileOptions(cl::SubCommand &command)
    : files(cl::Positional, cl::desc("[rule file...]"), cl::sub(command),
            cl::cat(category())),
      json("json", cl::desc("print one JSON document"), cl::sub(command),
           cl::cat(category())) {}

/// Makes a rule from each top-level pair @NAME_before, @NAME_after, so that
/// files for mlc-verify can be audited too.
static void wrapPairs(mlir::ModuleOp module) {
  mlir::OpBuilder builder(module.getContext());
  // The functions move while the pairs are made.
  for (mlir::func::FuncOp before :
       llvm::to_vector(module.getOps<mlir::func::FuncOp>())) {
    llvm::StringRef name = before.getSymName();
    if (!name.consume_back("_before"))
      continue;
    auto after =
        module.lookupSymbol<mlir::func::FuncOp>((name + "_after").str());
    if (!after)
      continue;
    builder.setInsertionPoint(before);
    auto def = rule::DefOp::create(builder, before.getLoc(), name, "");
    mlir::Block &body = def.getBody().emplaceBlock();
    before->moveBefore(&body, body.end());
    after->moveBefore(&body, body.end());
    before.setSymName("before");
    after.setSymName("after");
  }
}

/// Reads one file into the set and prints problems; returns an exit code.
static Exit loadFile(RuleSet &rules, mlir::MLIRContext &context,
                     const std::string &file) {
  runtime::FileBytes bytes;
  runtime::Status status =
      runtime::FileBytes::read(file.c_str(), runtime::maxTextFile, bytes);
  if (!status.ok())
    return fail(static_cast<Exit>(status.code),
                file + ": " + status.message +
                    "; give the path of a rule file");
  const std::string remedy =
      "; see docs/Audit.md and docs/AddARewrite.md for the form";
  std::string problem;
  mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &d) {
    if (!problem.empty() || d.getSeverity() != mlir::DiagnosticSeverity::Error)
      return;
    llvm::raw_string_ostream os(problem);
    if (auto at = d.getLocation()->findInstanceOf<mlir::FileLineColLoc>())
      os << at.getLine() << ':' << at.getColumn() << ": ";
    os << d;
  });
  context.loadDialect<rule::RuleDialect, MlcDialect, mlir::func::FuncDialect>();
  auto module = parseModuleText(bytes.text(), file, &context);
  if (module)
    wrapPairs(*module);
  size_t first = rules.rules.size();
  if (!module || failed(mlir::verify(*module)) ||
      failed(rules.add(std::move(module))))
    return fail(Exit::BadFile,
                file + ": not a file of rules: " + problem + remedy);
  if (rules.rules.size() == first)
    return fail(Exit::BadFile, file + ": holds no rules" + remedy);
  for (Rule &rule : llvm::drop_begin(rules.rules, first)) {
    llvm::Expected<Assumptions> written = readAssumptions(rule.getBefore());
    if (!written)
      return fail(Exit::BadFile, file + ": " + rule.getName() + ": " +
                                     llvm::toString(written.takeError()) +
                                     remedy);
    llvm::append_range(rule.assumptions.integers, written->integers);
    llvm::append_range(rule.assumptions.tensors, written->tensors);
    llvm::append_range(rule.assumptions.reals, written->reals);
  }
  return Exit::Done;
}

Exit RuleFileOptions::load(RuleSet &rules, mlir::MLIRContext &context) const {
  if (files.empty())
    return failed(addShippedRules(rules, &context)) ? Exit::BadFile
                                                    : Exit::Done;
  for (const std::string &file : files)
    if (Exit code = loadFile(rules, context, file); code != Exit::Done)
      return code;
  return Exit::Done;
}

static std::string textOf(mlir::func::FuncOp function) {
  std::string text;
  llvm::raw_string_ostream os(text);
  function.print(os, mlir::OpPrintingFlags().printNameLocAsPrefix());
  return text;
}

llvm::json::Object describe(Rule &rule) {
  llvm::json::Object object{{"name", rule.getName()},
                            {"text", rule.getText()},
                            {"hash", rule.hash},
                            {"origin", name(rule.origin)},
                            {"condition", rule.conditionText()},
                            {"lowering", rule.isLowering()},
                            {"before", textOf(rule.getBefore())},
                            {"after", textOf(rule.getAfter())}};
  for (const char *note : {"source", "expect", "holds"})
    if (auto text = rule.def->getAttrOfType<mlir::StringAttr>(
            ("rule." + llvm::Twine(note)).str()))
      object[note] = text.getValue();
  return object;
}

Exit writeFile(llvm::StringRef path, llvm::StringRef text) {
  runtime::Status status = writeText(path, text);
  return status.ok() ? Exit::Done
                     : fail(static_cast<Exit>(status.code), status.message);
}

void addProof(llvm::json::Object &object, const RuleProof &proof) {
  object["float_class"] = name(proof.floatClass);
  object["two_way"] = proof.isTwoWay;
}

void addVerdict(llvm::json::Object &object, const Verdict &verdict) {
  object["verdict"] = name(verdict.kind);
  object["seconds"] = verdict.totalMs / 1000;
  object["solver_seconds"] = verdict.solverMs / 1000;
  if (verdict.isProved()) {
    addProof(object, {verdict.floatClass, verdict.isTwoWay});
    object["lemmas"] = verdict.certificate.numLemmas;
  }
  if (verdict.isRefuted())
    object["counterexample"] = verdict.counterexample.text;
  if (verdict.isUnknown())
    object["reason"] = verdict.reason;
}

Exit worse(Exit code, const Verdict &verdict) {
  if (verdict.isRefuted())
    return Exit::Differs;
  return verdict.isUnknown() && code == Exit::Done ? Exit::Unknown : code;
}

void printJson(llvm::json::Value value) {
  llvm::outs() << llvm::formatv("{0:2}\n", value);
}

} // namespace mlc::rules
