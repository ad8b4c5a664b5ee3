//===- CommandLine.h - What is wrong with a command line --------*- C++ -*-===//

#ifndef MLC_TOOLS_COMMANDLINE_H
#define MLC_TOOLS_COMMANDLINE_H

#include "runtime/Status.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/CommandLine.h"
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace mlc {

/// Sets llvm::cl's options from the command line. What is wrong with it, in one
/// line that ends in a remedy and has no "mlc: error: "; empty when nothing is.
/// Prints nothing but --help and --version, which end the program.
std::string parseCommandLine(int argc, char **argv, llvm::StringRef overview);

/// At the start of main: the standard streams are open, a reader that has gone
/// (`mlc inspect | head`) does not end the program, and what standard output
/// cannot take does, by its own exit code, also for --help.
void startTool();

/// At the end of main: prints what is left to print. `code`, or 9 (with a
/// message) if nothing else went wrong and the standard output cannot take it.
int finishTool(int code);

/// Ends the program with code 9 and a message when the seconds of a flag are
/// over before it is destroyed.
class Deadline {
public:
  /// `after` ends the message: what did not come of it, and what to do.
  Deadline(llvm::StringRef flag, double seconds, llvm::StringRef after);
  ~Deadline();
  Deadline(const Deadline &) = delete;
  Deadline &operator=(const Deadline &) = delete;

private:
  void wait();

  std::string text;
  std::chrono::steady_clock::time_point end;
  std::mutex mutex;
  std::condition_variable changed;
  bool isMet = false;
  std::thread thread;
};

/// What is wrong with the seconds of a flag, or nothing.
std::string checkSeconds(llvm::StringRef flag, double seconds);

/// A Deadline till the end of the program, where the flag is given: nothing
/// that is written depends on a clock. What is wrong with the number, or
/// nothing.
std::string endAfter(llvm::StringRef flag,
                     const llvm::cl::opt<double> &seconds);

/// Writes `text` to the file, which is there whole or as it was before; devices
/// and pipes are written into, links followed, and `-` is standard output.
/// Errors: one of `inputs` is that file, a folder that is not there, a full
/// disk.
runtime::Status writeText(llvm::StringRef path, llvm::StringRef text,
                          llvm::ArrayRef<std::string> inputs = {});

} // namespace mlc

#endif // MLC_TOOLS_COMMANDLINE_H
