//===- OutputFile.h - Files that appear whole or not at all -----*- C++ -*-===//

#ifndef MLC_TOOLS_MLC_OUTPUTFILE_H
#define MLC_TOOLS_MLC_OUTPUTFILE_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"

namespace mlc::cli {

/// Calls `write` on a stream to a temporary file beside `path` and gives it
/// that name when all is written; a signal or an error removes it. `-` is the
/// standard output; a path that is a device or pipe is written directly.
/// Errors: those of `write`; code 9 when the disk is full, 2 when the file
/// cannot be made.
llvm::Error
writeOutput(llvm::StringRef path,
            llvm::function_ref<llvm::Error(llvm::raw_ostream &)> write);

} // namespace mlc::cli

#endif // MLC_TOOLS_MLC_OUTPUTFILE_H
