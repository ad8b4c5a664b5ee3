//===- CommandLine.cpp - What is wrong with a command line ----------------===//

#include "tools/CommandLine.h"
#include "runtime/OutputFiles.h"
#include "runtime/Status.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
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

/// Standard error while llvm::cl, which may exit, writes elsewhere.
static int terminal = -1;

/// What llvm::cl says of a wrong command line, partly to the stream it is given
/// and partly to stderr.
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

std::string parseCommandLine(int argc, char **argv, StringRef overview) {
  std::string text = parse(argc, argv, overview);
  if (text.empty())
    return text;
  // The first line is the error; the next may tell the nearest name.
  auto [first, rest] = StringRef(text).split('\n');
  std::string speaker = (llvm::sys::path::filename(argv[0]) + ": ").str();
  first.consume_front(speaker);
  // The line ends in advice with the program's path.
  first = first.take_front(first.find("  Try: "));
  first = first.take_front(first.find(": See: "));
  first.consume_front("for the ");
  std::string message = first.rtrim(" .!").str();
  if (!message.empty())
    message.front() = llvm::toLower(message.front());
  StringRef nearest = rest.split('\n').first;
  if (nearest.consume_front(speaker) &&
      nearest.consume_front("Did you mean ") && nearest != "'-h'?" &&
      nearest != "'--help'?")
    return message + "; did you mean " + nearest.str();
  return message + "; see --help";
}

void startTool() {
  runtime::fillStandardStreams();
  ::signal(SIGPIPE, SIG_IGN);
  // --help and --version leave by exit(). This comes before the destructor of
  // the stream, which was made before it.
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
  // Else its destructor ends the program with another code.
  llvm::outs().clear_error();
  llvm::errs().clear_error();
  if (!error || error == std::errc::broken_pipe || code != 0)
    return code;
  bool lack = runtime::isResourceError(error.value()) || error.value() == EIO;
  llvm::errs() << "mlc: error: standard output: cannot be written: "
               << error.message() << '\n';
  return lack ? MLC_RESOURCES : MLC_USAGE;
}

std::string endAfter(StringRef flag, const llvm::cl::opt<double> &seconds) {
  if (seconds.getNumOccurrences() == 0)
    return "";
  const double limit = seconds;
  if (!(limit > 0) || limit > 1e9)
    return (flag + ": expected a number of seconds above 0").str();
  std::thread([flag = flag.str(), limit] {
    std::this_thread::sleep_for(std::chrono::duration<double>(limit));
    std::string text =
        llvm::formatv("mlc: error: not done after the {0} s of {1}; nothing "
                      "was decided; give it more time, or less to do\n",
                      limit, flag);
    (void)!::write(STDERR_FILENO, text.data(), text.size());
    llvm::sys::RunInterruptHandlers(); // take away what is half written
    std::_Exit(MLC_RESOURCES);
  }).detach();
  return "";
}

runtime::Status writeText(llvm::StringRef path, llvm::StringRef text,
                          llvm::ArrayRef<std::string> inputs) {
  if (path == "-") {
    llvm::outs() << text; // finishTool tells of errors
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
