//===- OutputFile.h - Files that appear whole or not at all -----*- C++ -*-===//

#ifndef MLC_TOOLS_MLC_OUTPUTFILE_H
#define MLC_TOOLS_MLC_OUTPUTFILE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"
#include <functional>
#include <string>
#include <utility>

namespace mlc::cli {

/// Calls `write` on a stream to a temporary file beside `path` and renames the
/// file when all is written; a signal or an error removes it. `-` is standard
/// output. Devices and pipes are written directly, links are followed. Fails if
/// `write` does, with code 9 on a full disk, and with 2 if the file cannot be
/// made.
llvm::Error
writeOutput(llvm::StringRef path,
            llvm::function_ref<llvm::Error(llvm::raw_ostream &)> write);

/// A file and the function that writes it.
struct Output {
  std::string path;
  std::function<llvm::Error(llvm::raw_ostream &)> write;
};
/// The same for several files: all appear, or none. Their folders must exist.
llvm::Error writeOutputs(llvm::ArrayRef<Output> outputs);

/// An output file, and what it is, for messages: "the trace".
using NamedOutput = std::pair<std::string, std::string>;
/// An error with code 2 if two of `outputs` are the same file, whether it is
/// there yet or not. Empty names and `-` are no files. Commands call it before
/// long work.
llvm::Error refuseSame(llvm::ArrayRef<NamedOutput> outputs);

/// An error if one of `outputs` is the same file as one of `inputs`. Commands
/// call it before long work.
llvm::Error refuseInputs(llvm::ArrayRef<std::string> outputs,
                         llvm::ArrayRef<std::string> inputs);

} // namespace mlc::cli

#endif // MLC_TOOLS_MLC_OUTPUTFILE_H
