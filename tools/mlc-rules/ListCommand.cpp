//===- ListCommand.cpp - mlc-rules list -----------------------------------===//

#include "rewrites/Rules/StatementText.h"
#include "tools/mlc-rules/Command.h"
#include "llvm/Support/raw_ostream.h"

namespace mlc::rules {

static llvm::cl::SubCommand command("list",
                                    "print every rule and its condition");
static RuleFileOptions options(command);
static llvm::cl::opt<std::string>
    pairs("pairs", llvm::cl::value_desc("file"),
          llvm::cl::desc("also write the rules there, as pairs of functions "
                         "for mlc-verify"),
          llvm::cl::sub(command), llvm::cl::cat(category()));

static void print(Rule &rule) {
  llvm::outs() << rule.getName() << ": " << rule.getText() << '\n';
  if (std::string condition = rule.conditionText(); !condition.empty())
    llvm::outs() << "  where " << condition << '\n';
  llvm::outs() << "  " << name(rule.origin) << "; "
               << (rule.proved
                       ? "proved, " + name(rule.proved->floatClass).str()
                       : "no proof is recorded, and mlc-rules verify "
                         "looks for one")
               << (rule.proved && !rule.proved->isTwoWay
                       ? ", only from before to after"
                       : "")
               << (rule.isLowering() ? "; for mlc's own code only" : "")
               << '\n';
}

static Exit run() {
  mlir::MLIRContext context;
  RuleSet rules;
  if (Exit code = options.load(rules, context); code != Exit::Done)
    return code;
  llvm::json::Array array;
  std::string text;
  for (Rule &rule : rules.rules) {
    text += statementText(rule.getName(), rule.getBefore(), rule.getAfter(),
                          rule.assumptions);
    if (!options.json) {
      print(rule);
      continue;
    }
    llvm::json::Object object = describe(rule);
    // The keys of `verify`; without proving anything, so seconds are 0.
    object["proved"] = rule.proved.has_value();
    object["verdict"] = rule.proved ? "proved" : "unknown";
    object["seconds"] = 0.0;
    if (rule.proved)
      addProof(object, *rule.proved);
    else
      object["reason"] = "no proof is recorded; see mlc-rules verify";
    array.push_back(std::move(object));
  }
  if (options.json)
    printJson(std::move(array));
  return pairs.empty() ? Exit::Done : writeFile(pairs, text);
}

Command listCommand() { return {command, run}; }

} // namespace mlc::rules
