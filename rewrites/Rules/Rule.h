//===- Rule.h - The rules that engines, prover and docs share ---*- C++ -*-===//
//
// A Rule is a rule.def read once: its two functions, its condition as the
// verifier states it, and the hash under which its proof is recorded. Greedy
// rewriting, the prover, the auditor and the documentation all read this.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_REWRITES_RULES_RULE_H
#define MLC_REWRITES_RULES_RULE_H

#include "dialects/Rule/Rule.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "verifier/Verifier.h"
#include "verifier/read/Parameters.h"
#include <string>
#include <vector>

namespace mlc {

/// The origin of a rule.
enum class RuleOrigin {
  Given,     // unknown: from a file that the user named
  Written,   // a person
  Generated, // `mlc-rules generate`
};
llvm::StringRef name(RuleOrigin origin); // "given", "written", "generated"

/// Two symbols whose product may be split in several ways that give different
/// results.
using Split = std::pair<std::string, std::string>;

/// The proof of a rule: wherever an element of `before` is defined, that of
/// `after` is defined and equal.
struct RuleProof {
  FloatClass floatClass = FloatClass::ValueChanging;
  /// The converse is proved too. Otherwise `after` may replace `before`, but
  /// never the reverse (docs/Decisions/0010-refinement.md).
  bool isTwoWay = false;
};

struct Rule {
  rule::DefOp def;
  Assumptions assumptions;
  /// BLAKE3 of the rule's text without locations and name, in hex.
  std::string hash;
  RuleOrigin origin = RuleOrigin::Given;
  /// The proof, made by the build for this hash or when a given file was read.
  /// Engines do not apply rules without it.
  std::optional<RuleProof> proved;
  /// The types of the real parameters.
  verifier::ParameterTypes realTypes;
  /// Products of two symbols in `before` that determine neither symbol, if
  /// `after` depends on how the product is split (32 groups as 8 times 4 or 4
  /// times 8).
  std::vector<Split> splits;

  llvm::StringRef getName() { return def.getSymName(); }
  llvm::StringRef getText() { return def.getText(); }
  /// Whether it suits only mlc's own code generator.
  bool isLowering() { return def.getLowering(); }
  mlir::func::FuncOp getBefore() { return def.getBefore(); }
  mlir::func::FuncOp getAfter() { return def.getAfter(); }

  /// Reads a definition. Fails, with an error, on words it does not know.
  /// `hash` is the rule's hash where it is known; otherwise it is computed.
  static mlir::FailureOr<Rule> read(rule::DefOp def, llvm::StringRef hash = "");

  /// Symbols that only `after` has: free choices (how far to enlarge a kernel)
  /// which an engine must make before it can apply the rule.
  std::vector<std::string> freeSymbols();

  /// Whether a real parameter may have this value: it must fit the parameter's
  /// type, be finite, and satisfy the assumptions.
  bool admits(llvm::StringRef parameter, double value) const;

  /// The condition in readable form; empty if there is none.
  std::string conditionText() const;
};

/// How floats may differ from the model as written.
enum class FpMode {
  Strict,      // bit-exact rules only
  Reassociate, // also rules that only reassociate
  Fast,        // all rules; promises finite inputs only
};

/// Rules of one or several files; owns their IR.
struct RuleSet {
  std::vector<mlir::OwningOpRef<mlir::ModuleOp>> modules;
  std::vector<Rule> rules;

  /// Adds the rules of a parsed file, in order. Names are unique. `hashes` are
  /// those of all its rules, or none.
  mlir::LogicalResult add(mlir::OwningOpRef<mlir::ModuleOp> module,
                          llvm::ArrayRef<const char *> hashes = {});

  /// Removes the rules that suit only mlc's own code generator.
  void dropLowering();
  /// Removes the rules that may not be applied under `fp`.
  void keepApplicable(FpMode fp);
};

/// The rule files that ship with mlc, embedded at build time.
struct EmbeddedRuleFile {
  const char *name; // "convolution.mlir"
  const char *text;
};
/// Files of rewrites/generated.
llvm::ArrayRef<EmbeddedRuleFile> generatedRuleFiles();
/// Files of rewrites: rules that the generator does not find
/// (rewrites/README.md).
llvm::ArrayRef<EmbeddedRuleFile> writtenRuleFiles();

/// Parses a rule file's text; errors go to the context's diagnostics.
mlir::LogicalResult addRuleFile(RuleSet &rules, mlir::MLIRContext *context,
                                llvm::StringRef text, llvm::StringRef name,
                                RuleOrigin origin = RuleOrigin::Given);

/// All shipped rules: the generated ones, then those written by hand.
mlir::LogicalResult addShippedRules(RuleSet &rules, mlir::MLIRContext *context);

/// The build's proof of a shipped rule.
struct ProvedRule {
  const char *hash;
  RuleProof proof;
};
/// The table that the build made by proving the shipped rules, sorted by hash.
llvm::ArrayRef<ProvedRule> provedRules();

/// What the build computed of a shipped file when it verified the file's text.
struct VerifiedRuleFile {
  const char *textHash;                    // hashOfBytes of the text
  llvm::ArrayRef<const char *> ruleHashes; // of its rules, in order
};
/// One entry per shipped file. A program that holds the text with this hash
/// need not verify or hash the rules again, which takes most of the time that
/// a small model compiles.
llvm::ArrayRef<VerifiedRuleFile> verifiedRuleFiles();

/// The BLAKE3 hash by which rules and their files are identified, in hex.
std::string hashOfBytes(llvm::StringRef bytes);

/// Whether the proof is about bits, including infinities and NaN; other proofs
/// are about real numbers.
bool isBitExact(const Rule &rule);

/// Whether engines may apply the rule: it is proved, and its effect on floats
/// is allowed.
bool isApplicable(const Rule &rule, FpMode fp);

} // namespace mlc

#endif // MLC_REWRITES_RULES_RULE_H
