//===- Main.cpp - Random texts: an answer, soon, in little memory ---------===//
//
//   random-texts N [--seed S] FILE...
//
// Changes the statements and rules of the files at random and does with each
// text what mlc-verify and mlc-rules audit do: read, prove or refute, and for
// some look for a condition. Children work through some texts each; one that
// dies, takes 10 seconds of the processor, or 1 GiB, leaves its text in
// --keep and makes the exit code 5. Text i depends on S and i alone.
//
//===----------------------------------------------------------------------===//

#include "dialects/Module/ParseModule.h"
#include "dialects/Rule/Rule.h"
#include "dialects/Symbolic/Attributes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "rewrites/Precondition/Precondition.h"
#include "rewrites/Rules/Rule.h"
#include "verifier/read/AssumeText.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include <random>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace mlc;
using llvm::StringRef;
namespace cl = llvm::cl;

static cl::opt<unsigned> count(cl::Positional, cl::Required,
                               cl::desc("how many texts"));
static cl::list<std::string> files(cl::Positional, cl::OneOrMore,
                                   cl::desc("files to change"));
static cl::opt<uint64_t> seed("seed", cl::desc("Seed of all texts (1)"),
                              cl::init(1));
static cl::opt<uint64_t> start("start", cl::desc("Number of the first (0)"),
                               cl::init(0));
static cl::opt<std::string> keep("keep", cl::desc("Folder for what fails (.)"),
                                 cl::init("."));
static cl::opt<double> effort("effort",
                              cl::desc("Share of the verifier's work (0.01)"),
                              cl::init(0.01));

namespace {

constexpr int secondsOfProcessor = 10;
constexpr long mostKilobytes = 1 << 20;

//===----------------------------------------------------------------------===//
// Texts
//===----------------------------------------------------------------------===//

using Random = std::mt19937_64;

/// Statements and rules, each with the aliases of its file before it.
std::vector<std::string> readSeeds() {
  std::vector<std::string> seeds;
  for (const std::string &file : files) {
    auto buffer = llvm::MemoryBuffer::getFile(file);
    if (!buffer) {
      llvm::errs() << "mlc: error: " << file << ": "
                   << buffer.getError().message() << '\n';
      continue;
    }
    std::string shared, part;
    llvm::SmallVector<StringRef> lines;
    (*buffer)->getBuffer().split(lines, '\n');
    unsigned functions = 0;
    auto flush = [&] {
      if (functions)
        seeds.push_back(shared + part);
      part.clear();
      functions = 0;
    };
    for (StringRef line : lines) {
      if (line.starts_with("!") || line.starts_with("#")) {
        shared += (line + "\n").str();
        continue;
      }
      bool isRule = line.starts_with("rule.def");
      if (isRule || (line.starts_with("func.func") && functions == 2) ||
          line.starts_with("//---"))
        flush();
      functions += isRule ? 3 : line.starts_with("func.func");
      if (!line.starts_with("//"))
        part += (line + "\n").str();
    }
    flush();
  }
  return seeds;
}

/// Pieces of a text: words, numbers, signs.
std::vector<StringRef> tokensOf(StringRef text) {
  std::vector<StringRef> tokens;
  while (!text.empty()) {
    size_t size = text.take_while([](char c) {
                        return llvm::isAlnum(c) || c == '_' || c == '%' ||
                               c == '@' || c == '.';
                      })
                      .size();
    tokens.push_back(text.take_front(std::max<size_t>(size, 1)));
    text = text.drop_front(tokens.back().size());
  }
  return tokens;
}

constexpr StringRef spice[] = {"-9223372036854775808",
                               "9223372036854775807",
                               "170141183460469231731",
                               "0",
                               "-1",
                               "1e308",
                               "inf",
                               "nan",
                               "\"\"",
                               "n",
                               "(",
                               ")",
                               "<",
                               ">",
                               "[",
                               "]",
                               "{",
                               "}",
                               ",",
                               "floordiv(n, m)",
                               "mod(n, 3)",
                               "max(n - 100, 0)",
                               "* n",
                               "i128",
                               "i1",
                               "i8",
                               "f16",
                               "index",
                               "tensor<?xf32>",
                               "2147483648",
                               "floordiv(-9223372036854775808 * n, 3)",
                               "\\00",
                               "\xff",
                               "4294967296"};

/// One change after the other to the pieces of a text.
class Mutation {
public:
  Mutation(StringRef base, StringRef second, Random &random)
      : random(random), tokens(tokensOf(base)), others(tokensOf(second)) {}

  std::string run() {
    // Half of the texts keep their form: numbers and words for their like.
    bool keepsForm = below(2);
    for (size_t changes = 1 + below(3); changes > 0; --changes) {
      size_t at = below(tokens.size());
      change(keepsForm ? 4 + below(2) : below(8), at);
      if (tokens.empty())
        tokens.push_back("x");
    }
    return llvm::join(tokens, "");
  }

private:
  size_t below(size_t n) { return n ? random() % n : 0; }

  void change(size_t kind, size_t at) {
    switch (kind) {
    case 0:
      tokens[at] = spice[below(std::size(spice))];
      break;
    case 1:
      tokens.insert(tokens.begin() + at, spice[below(std::size(spice))]);
      break;
    case 2:
      tokens.erase(tokens.begin() + at);
      break;
    case 3:
      std::swap(tokens[at], tokens[below(tokens.size())]);
      break;
    case 4:
      return changeNumber();
    case 5:
      return changeWord(at);
    case 6:
      return repeat(at);
    default:
      insertLine(at);
    }
  }

  /// A number for a number, from anywhere.
  void changeNumber() {
    std::vector<size_t> numbers;
    for (size_t i = 0; i < tokens.size(); ++i)
      if (llvm::isDigit(tokens[i][0]))
        numbers.push_back(i);
    if (!numbers.empty())
      tokens[numbers[below(numbers.size())]] = spice[below(5)];
  }

  /// A word for a word of this or another text.
  void changeWord(size_t at) {
    const std::vector<StringRef> &from = below(2) ? others : tokens;
    auto kindOf = [](StringRef word) {
      return llvm::isDigit(word[0])                       ? 0
             : word[0] == '%' || word[0] == '@'           ? 1
             : llvm::isAlpha(word[0]) && word.size() == 1 ? 2
             : llvm::isAlpha(word[0])                     ? 3
                                                          : 4;
    };
    std::vector<StringRef> fitting;
    for (StringRef word : from)
      if (kindOf(word) == kindOf(tokens[at]) && kindOf(word) != 4)
        fitting.push_back(word);
    if (!fitting.empty())
      tokens[at] = fitting[below(fitting.size())];
  }

  /// A piece again, at times very often.
  void repeat(size_t at) {
    size_t size = std::min(1 + below(6), tokens.size() - at);
    std::vector<StringRef> piece(tokens.begin() + at,
                                 tokens.begin() + at + size);
    size_t times = below(8) ? 1 : 1 + below(3000);
    std::vector<StringRef> repeated;
    for (size_t i = 0; i < times; ++i)
      repeated.insert(repeated.end(), piece.begin(), piece.end());
    tokens.insert(tokens.begin() + at, repeated.begin(), repeated.end());
  }

  /// A line of the other text.
  void insertLine(size_t at) {
    size_t from = below(others.size());
    size_t size = std::min<size_t>(1 + below(30), others.size() - from);
    tokens.insert(tokens.begin() + at, others.begin() + from,
                  others.begin() + from + size);
  }

  Random &random;
  std::vector<StringRef> tokens, others;
};

std::string mutate(const std::vector<std::string> &seeds, Random &random) {
  const std::string &base = seeds[random() % seeds.size()];
  const std::string &second = seeds[random() % seeds.size()];
  return Mutation(base, second, random).run();
}

//===----------------------------------------------------------------------===//
// What the tools do
//===----------------------------------------------------------------------===//

struct Counts {
  unsigned read = 0, verdicts[3] = {}, conditions = 0;
};

void judge(mlir::func::FuncOp before, mlir::func::FuncOp after,
           const Assumptions &assumptions, bool synthesize, Counts &counts) {
  VerifierOptions options;
  options.scaleWork(effort);
  options.trialsAfter = 20;
  options.minimizeCounterexample = synthesize;
  Verdict verdict = verify(before, after, assumptions, options);
  ++counts.verdicts[static_cast<unsigned>(verdict.kind)];
  if (!synthesize || !verdict.isRefuted())
    return;
  SynthesisOptions synthesis;
  synthesis.verifier.scaleWork(effort);
  synthesis.firstSamples = 20;
  synthesis.freshSamples = 40;
  synthesis.maxRounds = 2;
  synthesis.maxProofs = 1;
  synthesis.anyArgument = true;
  synthesizeCondition(before, after, assumptions, synthesis);
  ++counts.conditions;
}

void run(const std::string &text, bool synthesize, Counts &counts) {
  mlir::DialectRegistry registry;
  registry.insert<MlcDialect, rule::RuleDialect, mlir::func::FuncDialect,
                  mlir::linalg::LinalgDialect, mlir::tensor::TensorDialect,
                  mlir::arith::ArithDialect, mlir::math::MathDialect,
                  mlir::affine::AffineDialect, mlir::scf::SCFDialect>();
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  context.loadDialect<rule::RuleDialect, MlcDialect, mlir::func::FuncDialect>();
  context.getDiagEngine().registerHandler(
      [](mlir::Diagnostic &) { return mlir::success(); });
  auto module = parseModuleText(text, "text", &context);
  if (!module)
    return;
  ++counts.read;
  std::vector<mlir::func::FuncOp> functions;
  for (auto function : module->getOps<mlir::func::FuncOp>())
    functions.push_back(function);
  if (functions.size() >= 2) {
    llvm::Expected<Assumptions> assumptions = readAssumptions(functions[0]);
    if (assumptions)
      judge(functions[0], functions[1], *assumptions, synthesize, counts);
    else
      llvm::consumeError(assumptions.takeError());
  }
  RuleSet rules;
  if (mlir::failed(rules.add(std::move(module))))
    return;
  for (Rule &rule : rules.rules)
    judge(rule.getBefore(), rule.getAfter(), rule.assumptions, synthesize,
          counts);
}

//===----------------------------------------------------------------------===//
// Children
//===----------------------------------------------------------------------===//

std::string textOf(const std::vector<std::string> &seeds, uint64_t number) {
  Random random(seed * 1000003 + number);
  return mutate(seeds, random);
}

/// What a child reports through its pipe before and after each text.
struct Report {
  uint64_t number;
  Counts counts;
};

[[noreturn]] void work(const std::vector<std::string> &seeds, uint64_t begin,
                       uint64_t end, int pipe) {
  Report report{};
  for (uint64_t number = begin; number < end; ++number) {
    report.number = number;
    (void)!write(pipe, &report, sizeof(report));
    // Of the processor, so that a busy machine is no hang.
    itimerval timer{{0, 0}, {secondsOfProcessor, 0}};
    setitimer(ITIMER_VIRTUAL, &timer, nullptr);
    run(textOf(seeds, number), number % 8 == 0, report.counts);
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    if (usage.ru_maxrss > mostKilobytes)
      _exit(9);
  }
  report.number = end;
  (void)!write(pipe, &report, sizeof(report));
  _exit(0);
}

class Campaign {
public:
  explicit Campaign(std::vector<std::string> seeds) : seeds(std::move(seeds)) {}

  int run() {
    constexpr uint64_t chunk = 100;
    uint64_t end = start + count;
    for (uint64_t number = start; number < end;)
      number = child(number, std::min(number + chunk, end));
    llvm::outs() << llvm::formatv(
        "{0} texts; {1} were read: {2} proved, {3} refuted, {4} unknown, {5} "
        "conditions; {6} failed\n",
        count.getValue(), total.read, total.verdicts[0], total.verdicts[1],
        total.verdicts[2], total.conditions, failures);
    return failures ? 5 : 0;
  }

private:
  /// Works through texts in a child; returns the first that is left.
  uint64_t child(uint64_t begin, uint64_t end) {
    int ends[2];
    if (pipe(ends) != 0)
      llvm::report_fatal_error("no pipe");
    llvm::outs().flush();
    pid_t pid = fork();
    if (pid == 0) {
      close(ends[0]);
      work(seeds, begin, end, ends[1]);
    }
    close(ends[1]);
    Report last{}, one{};
    last.number = begin;
    while (read(ends[0], &one, sizeof(one)) == sizeof(one))
      last = one;
    close(ends[0]);
    int status = 0;
    waitpid(pid, &status, 0);
    total.read += last.counts.read;
    for (unsigned i = 0; i < 3; ++i)
      total.verdicts[i] += last.counts.verdicts[i];
    total.conditions += last.counts.conditions;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
      return end;
    std::string why = WIFSIGNALED(status) && WTERMSIG(status) == SIGVTALRM
                          ? "hang"
                      : WIFEXITED(status) && WEXITSTATUS(status) == 9 ? "memory"
                                                                      : "crash";
    ++failures;
    std::string file = keep + "/" + why + "-" + std::to_string(seed) + "-" +
                       std::to_string(last.number) + ".mlir";
    llvm::outs() << why << ": " << file << '\n';
    llvm::outs().flush();
    std::error_code error = llvm::sys::fs::create_directories(keep);
    llvm::raw_fd_ostream os(file, error);
    if (!error)
      os << textOf(seeds, last.number);
    return last.number + 1;
  }

  std::vector<std::string> seeds;
  Counts total;
  unsigned failures = 0;
};

} // namespace

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  cl::ParseCommandLineOptions(argc, argv,
                              "random texts: an answer, soon, in little "
                              "memory\n");
  std::vector<std::string> seeds = readSeeds();
  if (seeds.empty()) {
    llvm::errs() << "mlc: error: the files hold no function\n";
    return 2;
  }
  return Campaign(std::move(seeds)).run();
}
