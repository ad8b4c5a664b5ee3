//===- mlc-check.cpp - Checks proofs of rules -----------------------------===//
//
//   mlc-check pair.mlir proof              its two functions
//   mlc-check before.mlir after.mlir proof  the first function of each
//   mlc-check pairs.mlir folder            its functions @NAME_before and
//                                          @NAME_after, by folder/NAME.proof
//   mlc-check folder                       the two functions of each NAME.mlir,
//                                          by NAME.proof
//
// Assumptions are attributes of the before function, as for mlc-verify. A proof
// is checked against the statement beside it; a table of hashes tells whether
// that is the statement of one of mlc's rules.
//
//===----------------------------------------------------------------------===//

#include "dialects/Module/ParseModule.h"
#include "mlir/IR/BuiltinOps.h"
#include "runtime/Exit.h"
#include "runtime/FileBytes.h"
#include "runtime/Text.h"
#include "tools/CommandLine.h"
#include "verifier/read/AssumeText.h"
#include "verifier/read/Certificate.h"
#include "verifier/read/CheckProof.h"
#include "verifier/read/ShippedStatements.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <set>

using namespace mlc;
using llvm::StringRef;
using runtime::printable;
namespace cl = llvm::cl;
namespace fs = llvm::sys::fs;

static cl::OptionCategory category("mlc-check options");
static cl::list<std::string>
    files(cl::Positional, cl::OneOrMore,
          cl::desc("file.mlir [after.mlir] proof, file.mlir folder, or folder"),
          cl::cat(category));
static cl::opt<bool> json("json", cl::desc("Print the verdicts as JSON"),
                          cl::cat(category));
static cl::opt<std::string>
    smtlib("smtlib", cl::value_desc("folder"),
           cl::desc("Write there as SMT-LIB, of each proof that is accepted, "
                    "what Z3 was asked and confirmed"),
           cl::cat(category));

static cl::opt<bool>
    shipped("shipped",
            cl::desc("Refuse what no rule of mlc says; of a folder, also the "
                     "rules that it does not prove"),
            cl::cat(category));

static Exit error(Exit code, const llvm::Twine &text) {
  llvm::errs() << "mlc: error: " << text << '\n';
  return code;
}

static std::string join(StringRef folder, StringRef name, StringRef suffix) {
  llvm::SmallString<128> path(folder);
  llvm::sys::path::append(path, name + suffix);
  return path.str().str();
}

namespace {

using Functions = std::vector<mlir::func::FuncOp>;

/// Checks proofs one after the other and prints the results.
class Checks {
public:
  Exit run();

private:
  Exit readFunctions(const std::string &file, Functions &functions);
  Exit checkPairs(const std::string &file, const std::string &folder);
  Exit checkFolder(const std::string &folder);
  Exit checkFile(StringRef name, const std::string &file,
                 const std::string &proof);
  Exit check(StringRef name, const std::string &file, mlir::func::FuncOp before,
             mlir::func::FuncOp after, const std::string &proof);
  void tell(StringRef name, const verifier::CheckVerdict &verdict,
            const verifier::ShippedStatement *rule = nullptr);
  void refuse(StringRef name, std::string reason);
  Exit end();

  mlir::MLIRContext context{verifier::readDialects(),
                            mlir::MLIRContext::Threading::DISABLED};
  std::vector<mlir::OwningOpRef<mlir::ModuleOp>> modules;
  llvm::json::Array answers;
  unsigned numAccepted = 0, numRefused = 0;
  std::set<StringRef> proved; // rules of mlc
};

/// The rule of mlc with this hash or name; null for none.
const verifier::ShippedStatement *ruleThatSays(StringRef hash) {
  for (const verifier::ShippedStatement &rule : verifier::shippedStatements())
    if (hash == rule.statement)
      return &rule;
  return nullptr;
}

const verifier::ShippedStatement *ruleNamed(StringRef name) {
  for (const verifier::ShippedStatement &rule : verifier::shippedStatements())
    if (name == rule.name)
      return &rule;
  return nullptr;
}

} // namespace

Exit Checks::readFunctions(const std::string &file, Functions &functions) {
  modules.push_back(parseModuleFile(file, &context));
  if (!modules.back())
    return error(Exit::BadFile, file + ": cannot be read");
  llvm::append_range(functions, modules.back()->getOps<mlir::func::FuncOp>());
  return Exit::Done;
}

void Checks::tell(StringRef name, const verifier::CheckVerdict &verdict,
                  const verifier::ShippedStatement *rule) {
  (verdict.isAccepted ? numAccepted : numRefused) += 1;
  if (verdict.isAccepted && rule)
    proved.insert(rule->name);
  StringRef answer = verdict.isAccepted ? "accepted" : "refused";
  StringRef floats = mlc::name(verdict.floatClass);
  if (json) {
    llvm::json::Object object{{"name", llvm::json::fixUTF8(name)},
                              {"verdict", answer},
                              {"seconds", verdict.ms / 1000},
                              {"obligations", verdict.numObligations}};
    if (verdict.isAccepted) {
      object["float_class"] = floats;
      object["rule"] = rule ? llvm::json::Value(llvm::json::Object{
                                  {"name", rule->name}, {"hash", rule->rule}})
                            : llvm::json::Value(nullptr);
    } else {
      object["reason"] = llvm::json::fixUTF8(verdict.reason);
    }
    answers.push_back(std::move(object));
    return;
  }
  std::string says = floats.str();
  if (!verdict.isAccepted)
    says = verdict.reason;
  else if (!rule)
    says += ", what no rule of mlc says";
  else
    says += std::string(", rule ") + rule->name + " " + rule->rule;
  llvm::outs() << llvm::formatv("{0,-36} {1,-8} {2,8:f1} ms  ",
                                printable(name.str()), answer, verdict.ms)
               << says << '\n';
}

void Checks::refuse(StringRef name, std::string reason) {
  tell(name, {.reason = std::move(reason)});
}

Exit Checks::check(StringRef name, const std::string &file,
                   mlir::func::FuncOp before, mlir::func::FuncOp after,
                   const std::string &proof) {
  llvm::Expected<Assumptions> assumptions = readAssumptions(before);
  if (!assumptions)
    return error(Exit::BadFile,
                 file + ": " + llvm::toString(assumptions.takeError()));
  runtime::FileBytes bytes;
  if (runtime::Status read =
          runtime::FileBytes::read(proof.c_str(), runtime::maxTextFile, bytes);
      !read.ok()) {
    refuse(name, "there is no proof: " + read.message);
    return Exit::Done;
  }
  const verifier::ShippedStatement *rule =
      ruleThatSays(verifier::hashOfStatement(before, after));
  if (!rule && ruleNamed(name)) {
    refuse(name, "this is not what the rule of mlc says that has this name; "
                 "give it another name");
    return Exit::Done;
  }
  if (!rule && shipped) {
    refuse(name, "no rule of mlc says this");
    return Exit::Done;
  }
  Certificate obligations;
  verifier::CheckOptions options;
  if (!smtlib.empty())
    options.onObligation = [&](const std::string &script) {
      obligations.add("obligation", script);
    };
  verifier::CheckVerdict verdict =
      verifier::checkProof(before, after, *assumptions, bytes.text(), options);
  tell(name, verdict, rule);
  if (smtlib.empty() || !verdict.isAccepted)
    return Exit::Done;
  std::string path = join(smtlib, name, ".smt2");
  runtime::Status status = writeText(path, obligations.smtlib, {file, proof});
  return status.ok() ? Exit::Done
                     : error(static_cast<Exit>(status.code), status.message);
}

Exit Checks::checkFile(StringRef name, const std::string &file,
                       const std::string &proof) {
  Functions functions;
  if (Exit code = readFunctions(file, functions); code != Exit::Done)
    return code;
  if (functions.size() != 2)
    return error(Exit::BadFile, file + ": holds " +
                                    llvm::Twine(functions.size()) +
                                    " functions; give a file with two");
  Exit code = check(name, file, functions[0], functions[1], proof);
  modules.clear();
  return code;
}

/// Whether a name is safe as a file name.
static bool isPlainName(StringRef name) {
  return !name.empty() && name.front() != '.' && llvm::all_of(name, [](char c) {
    return llvm::isAlnum(c) || StringRef("_-.$").contains(c);
  });
}

Exit Checks::checkPairs(const std::string &file, const std::string &folder) {
  Functions functions;
  if (Exit code = readFunctions(file, functions); code != Exit::Done)
    return code;
  bool isEmpty = true;
  for (mlir::func::FuncOp before : functions) {
    StringRef name = before.getSymName();
    if (!name.consume_back("_before"))
      continue;
    auto after = modules.back()->lookupSymbol<mlir::func::FuncOp>(
        (name + "_after").str());
    if (!after || !isPlainName(name))
      return error(Exit::BadFile,
                   file + ": @" + printable(before.getSymName().str()) +
                       (after ? " is no name for a file"
                              : " has no @..._after to go with"));
    isEmpty = false;
    if (Exit code =
            check(name, file, before, after, join(folder, name, ".proof"));
        code != Exit::Done)
      return code;
  }
  if (isEmpty)
    return error(Exit::BadFile,
                 file + ": holds no functions @NAME_before and @NAME_after");
  return Exit::Done;
}

Exit Checks::checkFolder(const std::string &folder) {
  // A statement without a proof and a proof without a statement count as
  // refused.
  std::set<std::string> names;
  std::error_code failure;
  for (fs::directory_iterator it(folder, failure), end; it != end && !failure;
       it.increment(failure)) {
    StringRef suffix = llvm::sys::path::extension(it->path());
    if (suffix == ".mlir" || suffix == ".proof")
      names.insert(llvm::sys::path::stem(it->path()).str());
  }
  if (failure)
    return error(Exit::BadFile,
                 folder + ": cannot be read: " + failure.message());
  if (names.empty())
    return error(Exit::BadFile,
                 folder + ": holds no NAME.mlir with its NAME.proof");
  for (const std::string &name : names) {
    std::string file = join(folder, name, ".mlir");
    if (!fs::exists(file)) {
      refuse(name, "there is no " + name + ".mlir that it proves");
      continue;
    }
    if (Exit code = checkFile(name, file, join(folder, name, ".proof"));
        code != Exit::Done)
      return code;
  }
  for (const verifier::ShippedStatement &rule : verifier::shippedStatements())
    if (shipped && !proved.count(rule.name) && !names.count(rule.name))
      refuse(rule.name, "there is no proof of this rule of mlc");
  return Exit::Done;
}

Exit Checks::end() {
  if (json)
    llvm::outs() << llvm::formatv("{0:2}\n",
                                  llvm::json::Value(std::move(answers)));
  else if (numAccepted + numRefused > 1)
    llvm::outs() << numAccepted << " of " << numAccepted + numRefused
                 << " proofs are accepted; " << proved.size() << " of "
                 << verifier::shippedStatements().size()
                 << " rules of mlc are proved\n";
  return numRefused == 0 ? Exit::Done : Exit::Unknown;
}

Exit Checks::run() {
  if (!smtlib.empty())
    if (std::error_code failure = fs::create_directories(smtlib))
      return error(Exit::Resources, smtlib + ": " + failure.message());
  const std::string &last = files[files.size() - 1];
  bool isFolder = fs::is_directory(last);
  Exit code = Exit::Done;
  if (files.size() == 1 && isFolder) {
    code = checkFolder(last);
  } else if (files.size() == 2 && isFolder) {
    code = checkPairs(files[0], last);
  } else if (files.size() == 2) {
    code = checkFile(llvm::sys::path::stem(last), files[0], last);
  } else if (files.size() == 3 && !isFolder) {
    Functions before, after;
    code = readFunctions(files[0], before);
    if (code == Exit::Done)
      code = readFunctions(files[1], after);
    if (code == Exit::Done && (before.empty() || after.empty()))
      code = error(Exit::BadFile,
                   files[before.empty() ? 0 : 1] + ": holds no function");
    if (code == Exit::Done)
      code = check(llvm::sys::path::stem(last), files[0], before.front(),
                   after.front(), last);
  } else {
    return error(Exit::Usage, "give file.mlir [after.mlir] proof, file.mlir "
                              "folder, or folder; see --help");
  }
  return code == Exit::Done ? end() : code;
}

int main(int argc, char **argv) {
  startTool();
  llvm::InitLLVM init(argc, argv, /*InstallPipeSignalExitHandler=*/false);
  cl::HideUnrelatedOptions(category);
  std::string problem = parseCommandLine(
      argc, argv,
      "checks proofs that two functions over tensors are equal for all sizes; "
      "looks for none\n\nexit codes: 0 accepted, 6 refused, 2 usage, 3 bad "
      "file, 9 output cannot be written\n");
  Exit code = problem.empty() ? Checks().run() : error(Exit::Usage, problem);
  return finishTool(static_cast<int>(code));
}
