//===- GenerateCommand.cpp - mlc-rules generate ---------------------------===//

#include "rewrites/Generate/Generate.h"
#include "tools/mlc-rules/Command.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <unistd.h>

namespace cl = llvm::cl;

namespace mlc::rules {

static cl::SubCommand command("generate",
                              "find rules by enumeration and prove them");
static cl::list<std::string>
    ops("ops", cl::CommaSeparated, cl::value_desc("name,..."),
        cl::desc("operators of which graphs are made (all)"), cl::sub(command),
        cl::cat(category()));
static cl::opt<unsigned> maxOps("max-ops", cl::value_desc("N"), cl::init(2),
                                cl::desc("operators of a graph (2; 1 to 4)"),
                                cl::sub(command), cl::cat(category()));
static cl::opt<std::string>
    out("out", cl::value_desc("folder"),
        cl::desc("write rules, report.json and state there"), cl::sub(command),
        cl::cat(category()));
static cl::opt<unsigned> jobs("jobs", cl::value_desc("N"), cl::init(1),
                              cl::desc("threads (1)"), cl::sub(command),
                              cl::cat(category()));
static cl::opt<uint64_t> maxGraphs(
    "max-graphs", cl::value_desc("N"), cl::init(0),
    cl::desc("stop making graphs of --max-ops operators behind so many of a "
             "set of leaves, and say what was left out (none)"),
    cl::sub(command), cl::cat(category()));
static cl::opt<size_t>
    maxProofs("max-proofs", cl::value_desc("N"), cl::init(0),
              cl::desc("try so many proofs of each kind, small ones first, and "
                       "say what was left out (all)"),
              cl::sub(command), cl::cat(category()));
static cl::opt<double>
    timeLimit("time-limit", cl::value_desc("seconds"),
              cl::desc("end with code 9 then, without rules; --resume goes on "
                       "with the proofs that there are (never)"),
              cl::sub(command), cl::cat(category()));
static cl::opt<bool>
    onlyHoles("only-holes",
              cl::desc("only rules whose weights are solved, no enumeration"),
              cl::sub(command), cl::cat(category()));
static cl::opt<bool> resume("resume",
                            cl::desc("go on where a run into the folder ended"),
                            cl::sub(command), cl::cat(category()));
static cl::opt<bool> json("json", cl::desc("print the report as JSON"),
                          cl::sub(command), cl::cat(category()));

static Exit checkFlags() {
  std::vector<std::string> known = generate::operatorNames();
  for (const std::string &op : ops)
    if (op != "all" && !llvm::is_contained(known, op))
      return fail(Exit::Usage, "--ops: unknown operator '" + op +
                                   "'; there are all, " +
                                   llvm::join(known, ", "));
  if (maxOps < 1 || maxOps > 4)
    return fail(Exit::Usage,
                "--max-ops: expected 1, 2, 3 or 4, got " + llvm::Twine(maxOps));
  if (jobs < 1 || jobs > 256)
    return fail(Exit::Usage,
                "--jobs: expected 1 to 256 threads, got " + llvm::Twine(jobs));
  if (out.empty())
    return fail(Exit::Usage, "--out: expected the folder to write rules to");
  if (std::string wrong = endAfter("--time-limit", timeLimit); !wrong.empty())
    return fail(Exit::Usage, wrong);
  return Exit::Done;
}

static std::string pathOf(llvm::StringRef name) {
  llvm::SmallString<128> path(out);
  llvm::sys::path::append(path, name);
  return path.str().str();
}

/// Makes the folder, or reads the state of the run to resume.
static Exit openFolder(generate::GenerateOptions &options, bool &isNew) {
  std::error_code error = llvm::sys::fs::create_directories(out);
  if (error)
    return fail(Exit::Resources, out + ": " + error.message());
  llvm::sys::fs::directory_iterator entries(out, error);
  if (error)
    return fail(Exit::Resources, out + ": " + error.message());
  isNew = entries == llvm::sys::fs::directory_iterator();
  if (isNew)
    return Exit::Done;
  if (!resume)
    return fail(Exit::Usage,
                out + ": the folder is not empty; give another one, or "
                      "--resume to go on with the run in it");
  auto buffer = llvm::MemoryBuffer::getFile(pathOf("state"));
  if (!buffer)
    return fail(Exit::BadFile,
                pathOf("state") + ": " + buffer.getError().message() +
                    "; --resume needs the folder of an earlier run");
  if (llvm::Error problem = readState((*buffer)->getBuffer(), options))
    return fail(Exit::BadFile, pathOf("state") + ": " +
                                   llvm::toString(std::move(problem)) +
                                   "; give the same --ops and --max-ops");
  return Exit::Done;
}

static void printSummary(const generate::GenerateReport &report) {
  using Kind = Verdict::Kind;
  llvm::raw_ostream &os = llvm::outs();
  for (const generate::LeafSetReport &leafSet : report.leafSets)
    for (const generate::SizeCounts &size : leafSet.sizes)
      os << llvm::formatv("{0}, {1} operators: {2} graphs, {3} classes, {4} "
                          "pairs, {5} conditional, {6:f1} s\n",
                          leafSet.name, size.numOperators, size.graphs,
                          size.representatives, size.pairs, size.conditional,
                          size.seconds);
  const generate::PruneCounts &p = report.prune;
  os << llvm::formatv(
      "{0} pairs, {1} after renaming, {2} without common subgraph (TASO's "
      "count), {3} instances of smaller ones, {4} coincidences, {5} others "
      "abstracted, {6} not instances, {7} with variants merged, {8} families\n",
      p.pairs, p.renamed, p.withoutCommon, p.covered, p.coincidences, p.general,
      p.notInstance, p.families, p.linear);
  for (const generate::StageReport &stage : report.stages)
    os << llvm::formatv("{0,-40} {1,10} in {2,7:f1} s, {3,7:f1} s of CPU, {4} "
                        "MB\n",
                        stage.name, stage.count, stage.seconds,
                        stage.cpuSeconds, stage.peakBytes >> 20);
  const generate::HoleRuleReport &h = report.holes;
  os << llvm::formatv("weights: {0} graphs, {1} templates, {2} fitting, {3} "
                      "solved, {4} proved, {5} refuted, {6} unknown\n",
                      h.befores, h.templates, h.fitting, h.solved, h.proved,
                      h.refuted, h.unknown);
  for (bool onlyLinear : {true, false})
    os << llvm::formatv("{0}: {1} proved, {2} refuted, {3} unknown\n",
                        onlyLinear ? "families" : "with repeated leaves",
                        report.count(Kind::Proved, onlyLinear),
                        report.count(Kind::Refuted, onlyLinear),
                        report.count(Kind::Unknown, onlyLinear));
  os << llvm::formatv("leaves apart: {0} families, {1} proved, {2} refuted, "
                      "{3} unknown\n",
                      report.widened.size(), report.countWidened(Kind::Proved),
                      report.countWidened(Kind::Refuted),
                      report.countWidened(Kind::Unknown));
  os << llvm::formatv(
      "conditional: {0} pairs, {1} after renaming, {2} families of which {3} "
      "follow from others, {4} proved, {5} without a condition, {6} unknown\n",
      p.conditionalPairs, p.conditionalRenamed, p.conditionalFamilies,
      p.conditionalDerived, report.countConditional(Kind::Proved),
      report.countConditional(Kind::Refuted),
      report.countConditional(Kind::Unknown));
  os << llvm::formatv("several results: {0} rules read off the basis, {1} "
                      "proved, {2} refuted, {3} unknown\n",
                      report.multiOutput.size(),
                      report.countMultiOutput(Kind::Proved),
                      report.countMultiOutput(Kind::Refuted),
                      report.countMultiOutput(Kind::Unknown));
  os << llvm::formatv(
      "basis: {0} families, {1} rules with their variants and ranks\n",
      report.countBasis(), report.basis.size());
  for (const std::string &what : report.skipped)
    os << "left out: " << what << '\n';
}

/// Shows the progress on a terminal, at most twice a second.
class TerminalProgress {
public:
  void operator()(const std::string &text) {
    auto now = std::chrono::steady_clock::now();
    if (!isTerminal || now - last < std::chrono::milliseconds(500))
      return;
    last = now;
    llvm::errs() << "\r\033[Kmlc: " << text;
  }
  ~TerminalProgress() {
    if (isTerminal)
      llvm::errs() << "\r\033[K";
  }

private:
  bool isTerminal = ::isatty(STDERR_FILENO);
  std::chrono::steady_clock::time_point last = std::chrono::steady_clock::now();
};

static Exit run() {
  if (Exit code = checkFlags(); code != Exit::Done)
    return code;
  generate::GenerateOptions options;
  if (!llvm::is_contained(ops, "all"))
    options.ops.assign(ops.begin(), ops.end());
  options.maxOperators = maxOps;
  options.onlyHoles = onlyHoles;
  options.jobs = jobs;
  options.maxGraphs = maxGraphs;
  options.maxProofs = maxProofs;
  bool isNew = true;
  if (Exit code = openFolder(options, isNew); code != Exit::Done)
    return code;
  // Write proofs as they are found, so that none is lost.
  std::error_code error;
  llvm::raw_fd_ostream state(pathOf("state"), error,
                             isNew ? llvm::sys::fs::OF_None
                                   : llvm::sys::fs::OF_Append);
  if (error)
    return fail(Exit::Resources, pathOf("state") + ": " + error.message());
  // End a truncated line.
  state << (isNew ? generate::stateHeader(options) : "\n");
  options.proved = [&](const std::string &family,
                       const generate::Outcome &outcome) {
    state << generate::stateLine(family, outcome);
    state.flush();
  };
  generate::GenerateReport report;
  {
    TerminalProgress progress;
    options.progress = [&](const std::string &text) { progress(text); };
    report = generate::generate(options);
  }
  for (auto &[name, text] : generate::ruleFiles(report))
    if (Exit code = writeFile(pathOf(name), text); code != Exit::Done)
      return code;
  llvm::json::Value document = toJson(report, options);
  if (Exit code = writeFile(pathOf("report.json"),
                            llvm::formatv("{0:2}\n", document).str());
      code != Exit::Done)
    return code;
  if (json)
    printJson(std::move(document));
  else
    printSummary(report);
  return Exit::Done;
}

Command generateCommand() { return {command, run}; }

} // namespace mlc::rules
