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

} // namespace mlc

#endif // MLC_TOOLS_COMMANDLINE_H
