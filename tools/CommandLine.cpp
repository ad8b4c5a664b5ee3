//===- CommandLine.cpp - Command lines and the life of a tool -------------===//

#include "tools/CommandLine.h"
#include "runtime/OutputFiles.h"
#include "runtime/Status.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>

using llvm::StringRef;

namespace mlc {

/// The real standard error while that of llvm::cl, which may exit, is
/// redirected.
static int terminal = -1;

/// Captures llvm::cl's messages, which go partly to a given stream and partly
/// to stderr.
static std::string parse(int argc, char **argv, StringRef overview) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  int memory = ::memfd_create("errors", MFD_CLOEXEC);
  terminal = ::dup(STDERR_FILENO);
  if (memory >= 0 && terminal >= 0)
    ::dup2(memory, STDERR_FILENO);
  bool ok = llvm::cl::ParseCommandLineOptions(argc, argv, overview, &stream);
  if (memory >= 0 && terminal >= 0) {
    ::dup2(terminal, STDERR_FILENO);
    char buffer[4096];
    ssize_t size = ::pread(memory, buffer, sizeof(buffer), 0);
    text.insert(0, buffer, size > 0 ? size : 0);
  }
  ::close(memory);
  ::close(terminal);
  terminal = -1;
  return ok ? std::string() : text + "\n";
}

/// "; did you mean 'inspect'?" if one of `names` is similar, else "".
static std::string suggest(StringRef given, StringRef dashes,
                           llvm::ArrayRef<StringRef> names) {
  // One letter in three may be wrong.
  unsigned least = std::max<size_t>(1, given.size() / 3) + 1;
  StringRef nearest;
  for (StringRef name : names)
    if (unsigned distance = given.edit_distance(name, true, least);
        distance < least) {
      least = distance;
      nearest = name;
    }
  return nearest.empty() ? ""
                         : ("; did you mean '" + dashes + nearest + "'?").str();
}

/// The options of the subcommand in `argv`, or of the program.
static llvm::DenseMap<StringRef, llvm::cl::Option *> &optionsOf(int argc,
                                                                char **argv) {
  for (StringRef argument : llvm::ArrayRef(argv, argc).drop_front())
    for (llvm::cl::SubCommand *sub : llvm::cl::getRegisteredSubcommands())
      if (!sub->getName().empty() && sub->getName() == argument)
        return llvm::cl::getRegisteredOptions(*sub);
  return llvm::cl::getRegisteredOptions();
}

/// The values that the help of `option` lists.
static std::vector<std::string> valuesOf(const llvm::cl::Option &option) {
  llvm::outs().flush();
  int memory = ::memfd_create("help", MFD_CLOEXEC);
  int output = ::dup(STDOUT_FILENO);
  std::string text(1 << 14, 0);
  if (memory >= 0 && output >= 0) {
    ::dup2(memory, STDOUT_FILENO);
    option.printOptionInfo(/*GlobalWidth=*/80);
    llvm::outs().flush();
    ::dup2(output, STDOUT_FILENO);
    text.resize(
        std::max<ssize_t>(0, ::pread(memory, text.data(), text.size(), 0)));
  }
  ::close(memory);
  ::close(output);
  std::vector<std::string> values;
  llvm::SmallVector<StringRef> lines;
  StringRef(text).split(lines, '\n');
  for (StringRef line : llvm::drop_begin(lines))
    if (line = line.ltrim(); line.consume_front("="))
      values.push_back(line.take_until(llvm::isSpace).str());
  return values;
}

/// `message` with a remedy: similar names, or the values of an option.
static std::string advise(StringRef message, int argc, char **argv) {
  StringRef given = message.split('\'').second.rsplit('\'').first;
  auto &options = optionsOf(argc, argv);
  auto option = options.find(message.split(' ').first.ltrim('-'));
  if (message.contains("annot find option named") && option != options.end()) {
    std::vector<std::string> values = valuesOf(*option->second);
    return ("--" + option->first + "=" + given + ": expected one of " +
            llvm::join(values, ", "))
        .str();
  }
  std::vector<StringRef> names;
  std::string advice;
  if (message.starts_with("unknown subcommand")) {
    for (llvm::cl::SubCommand *sub : llvm::cl::getRegisteredSubcommands())
      names.push_back(sub->getName());
    advice = suggest(given, "", names);
  } else if (message.starts_with("unknown command line argument")) {
    for (auto &entry : options)
      if (entry.second->getOptionHiddenFlag() == llvm::cl::NotHidden)
        names.push_back(entry.first);
    llvm::sort(names);
    advice = suggest(given.ltrim('-').split('=').first, "--", names);
  }
  return message.str() + (advice.empty() ? "; see --help" : advice);
}

std::string parseCommandLine(int argc, char **argv, StringRef overview) {
  std::string text = parse(argc, argv, overview);
  if (text.empty())
    return text;
  // The first line is the error; the next may suggest a name, however
  // different.
  StringRef first = StringRef(text).split('\n').first;
  std::string speaker = (llvm::sys::path::filename(argv[0]) + ": ").str();
  first.consume_front(speaker);
  // The line ends in advice with the program's path.
  first = first.take_front(first.find("  Try: "));
  first = first.take_front(first.find(": See: "));
  first.consume_front("for the ");
  std::string message = first.rtrim(" .!").str();
  if (!message.empty())
    message.front() = llvm::toLower(message.front());
  return advise(message, argc, argv);
}

void startTool() {
  runtime::fillStandardStreams();
  ::signal(SIGPIPE, SIG_IGN);
  // --help and --version call exit(). The stream is made first, so this handler
  // runs before its destructor.
  llvm::outs();
  std::atexit([] {
    if (terminal >= 0)
      ::dup2(terminal, STDERR_FILENO);
    if (int code = finishTool(0))
      std::_Exit(code);
  });
}

int finishTool(int code) {
  llvm::outs().flush();
  std::error_code error = llvm::outs().error();
  // Otherwise its destructor ends the program with another code.
  llvm::outs().clear_error();
  llvm::errs().clear_error();
  if (!error || error == std::errc::broken_pipe || code != 0)
    return code;
  bool lack = runtime::isResourceError(error.value()) || error.value() == EIO;
  llvm::errs() << "mlc: error: standard output: cannot be written: "
               << error.message() << '\n';
  return lack ? MLC_RESOURCES : MLC_USAGE;
}

Deadline::Deadline(StringRef flag, double seconds, StringRef after)
    : end(std::chrono::steady_clock::now() +
          std::chrono::nanoseconds(static_cast<int64_t>(seconds * 1e9))) {
  llvm::raw_string_ostream(text)
      << "mlc: error: not done after the " << llvm::format("%g", seconds)
      << " s of " << flag << "; " << after << '\n';
  thread = std::thread([this] { wait(); });
}

void Deadline::wait() {
  std::unique_lock<std::mutex> lock(mutex);
  if (changed.wait_until(lock, end, [this] { return isMet; }))
    return;
  (void)!::write(STDERR_FILENO, text.data(), text.size());
  llvm::sys::RunInterruptHandlers(); // remove partial files
  std::_Exit(MLC_RESOURCES);
}

Deadline::~Deadline() {
  {
    // The thread holds the lock while it ends the program, so this waits.
    std::lock_guard<std::mutex> lock(mutex);
    // Decide by the clock, in case the thread runs late.
    isMet = std::chrono::steady_clock::now() < end;
  }
  changed.notify_all();
  thread.join();
}

std::string checkSeconds(StringRef flag, double seconds) {
  return seconds > 0 && seconds <= 1e9
             ? ""
             : (flag + ": expected a number of seconds above 0").str();
}

std::string endAfter(StringRef flag, const llvm::cl::opt<double> &seconds) {
  if (seconds.getNumOccurrences() == 0)
    return "";
  std::string wrong = checkSeconds(flag, seconds);
  if (wrong.empty()) {
    // Never destroyed.
    static Deadline *deadline = nullptr;
    deadline = new Deadline(flag, seconds,
                            "nothing was decided; give it more time, or less "
                            "to do");
    (void)deadline;
  }
  return wrong;
}

runtime::Status writeText(llvm::StringRef path, llvm::StringRef text,
                          llvm::ArrayRef<std::string> inputs) {
  if (path == "-") {
    llvm::outs() << text; // finishTool reports errors
    return runtime::Status::success();
  }
  runtime::Status status = runtime::refuseInputs({path.str()}, inputs.vec());
  if (!status.ok())
    return status;
  runtime::OutputFiles files({path.str()}, "");
  status = files.begin();
  if (status.ok())
    status = files.open(0);
  if (status.ok())
    status = files.write(text.data(), text.size());
  if (status.ok())
    status = files.close();
  return status.ok() ? files.commit() : status;
}

} // namespace mlc
