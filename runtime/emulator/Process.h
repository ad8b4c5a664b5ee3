//===- Process.h - Running a compiler and other tools -----------*- C++ -*-===//

#ifndef MLC_RUNTIME_EMULATOR_PROCESS_H
#define MLC_RUNTIME_EMULATOR_PROCESS_H

#include <string>
#include <vector>

namespace mlc::emulator {

/// Runs `arguments[0]`, a path, without a shell; its output and errors go to
/// `output`. Returns the exit status, or -1 with the reason in `output`.
int runProgram(const std::vector<std::string> &arguments, std::string &output);

/// The path of the first of `names` that is executable, searched in PATH unless
/// it has a slash; empty if there is none.
std::string findProgram(const std::vector<std::string> &names);

/// Makes `folder` and its missing parents; whether it exists now.
bool makeFolders(const std::string &folder);
bool writeFile(const std::string &path, const std::string &text);

} // namespace mlc::emulator

#endif // MLC_RUNTIME_EMULATOR_PROCESS_H
