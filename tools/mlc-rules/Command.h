//===- Command.h - Shared parts of mlc-rules' subcommands -------*- C++ -*-===//
//
// One file for each subcommand. A subcommand's options live in its file; its
// `Command` is named in mlc-rules.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_TOOLS_MLC_RULES_COMMAND_H
#define MLC_TOOLS_MLC_RULES_COMMAND_H

#include "rewrites/Rules/Rule.h"
#include "runtime/Exit.h"
#include "tools/CommandLine.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/JSON.h"

namespace mlc::rules {

struct Command {
  llvm::cl::SubCommand &options;
  /// Runs the command; returns an exit code.
  Exit (*run)();
};

Command auditCommand();
Command checkCommand();
Command exportCommand();
Command generateCommand();
Command listCommand();
Command proofsCommand();
Command verifyCommand();

/// The category of all options of this tool.
llvm::cl::OptionCategory &category();

/// Prints `mlc: error: message`; returns `code`.
Exit fail(Exit code, const llvm::Twine &message);

/// Options of a subcommand that reads rule files.
struct RuleFileOptions {
  explicit RuleFileOptions(llvm::cl::SubCommand &command);

  /// The rules of the files, or those that ship with mlc. A file holds
  /// `rule.def`s, or pairs of functions @NAME_before and @NAME_after with
  /// `mlc.assume` as in verifier/read/AssumeText.h.
  Exit load(RuleSet &rules, mlir::MLIRContext &context) const;

  llvm::cl::list<std::string> files;
  llvm::cl::opt<bool> json;
};

/// The JSON object of a rule in every subcommand: name, text, hash, origin,
/// condition, before, after. `verify` and `audit` add verdict, seconds and, if
/// they apply, float_class, two_way, lemmas, counterexample or reason.
llvm::json::Object describe(Rule &rule);
void addVerdict(llvm::json::Object &object, const Verdict &verdict);
/// Adds float_class and two_way.
void addProof(llvm::json::Object &object, const RuleProof &proof);

/// Writes a file; returns an exit code.
Exit writeFile(llvm::StringRef path, llvm::StringRef text);

/// The exit code after one more verdict: refuted wins over unknown.
Exit worse(Exit code, const Verdict &verdict);

/// Prints one JSON document on stdout.
void printJson(llvm::json::Value value);

} // namespace mlc::rules

#endif // MLC_TOOLS_MLC_RULES_COMMAND_H
