//===- CommandLine.h - Command lines and the life of a tool -----*- C++ -*-===//

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

/// Sets llvm::cl's options from the command line. Returns the error in one line
/// that ends in a remedy, without "mlc: error: ", or nothing. Prints only for
/// --help and --version, which end the program.
std::string parseCommandLine(int argc, char **argv, llvm::StringRef overview);

/// Call at the start of main. Opens closed standard streams and keeps a reader
/// that has gone (`mlc inspect | head`) from ending the program. A failed write
/// to standard output ends it with its own exit code, also for --help.
void startTool();

/// Call at the end of main. Flushes the output and returns `code`, or 9 (with a
/// message) if only writing to standard output failed.
int finishTool(int code);

/// Ends the program with code 9 and a message if it still lives after the
/// seconds of a flag.
class Deadline {
public:
  /// `after` ends the message: what was not finished, and what to do.
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

/// Returns what is wrong with the seconds of a flag, or nothing.
std::string checkSeconds(llvm::StringRef flag, double seconds);

/// Sets a Deadline for the rest of the program if the flag is given. It ends
/// the program, so that no output depends on a clock. Returns what is wrong
/// with the number, or nothing.
std::string endAfter(llvm::StringRef flag,
                     const llvm::cl::opt<double> &seconds);

/// Writes `text` to the file atomically. Devices and pipes are written into,
/// links are followed, and `-` is standard output. Fails if the file is one of
/// `inputs`, for a missing folder and on a full disk.
runtime::Status writeText(llvm::StringRef path, llvm::StringRef text,
                          llvm::ArrayRef<std::string> inputs = {});

} // namespace mlc

#endif // MLC_TOOLS_COMMANDLINE_H
