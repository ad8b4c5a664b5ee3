//===- CommandLine.h - What is wrong with a command line --------*- C++ -*-===//

#ifndef MLC_TOOLS_COMMANDLINE_H
#define MLC_TOOLS_COMMANDLINE_H

#include "llvm/ADT/StringRef.h"
#include <string>

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

} // namespace mlc

#endif // MLC_TOOLS_COMMANDLINE_H
