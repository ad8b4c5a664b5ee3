//===- Npz.cpp - Files of arrays ------------------------------------------===//

#include "tools/mlc/Npz.h"
#include "tools/mlc/Failure.h"
#include "tools/mlc/OutputFile.h"

using namespace mlc::cli;

llvm::Error mlc::cli::writeNpz(llvm::StringRef path,
                               const std::vector<runtime::NpzItem> &items) {
  return writeOutput(path, [&](llvm::raw_ostream &os) -> llvm::Error {
    auto status = runtime::writeNpz(items, [&](const void *data, size_t size) {
      os.write(static_cast<const char *>(data), size);
      return true;
    });
    if (!status.ok())
      return fail(static_cast<Exit>(status.code), status.message);
    return llvm::Error::success();
  });
}
