//===- TemporaryFolder.h - A folder that is removed again -------*- C++ -*-===//

#ifndef MLC_TOOLS_MLC_TEMPORARYFOLDER_H
#define MLC_TOOLS_MLC_TEMPORARYFOLDER_H

#include "llvm/Support/Error.h"
#include <string>

namespace mlc::cli {

/// A new folder in the system's temporary place, removed with its contents.
class TemporaryFolder {
public:
  static llvm::Expected<TemporaryFolder> create();
  TemporaryFolder(TemporaryFolder &&other);
  TemporaryFolder &operator=(TemporaryFolder &&) = delete;
  ~TemporaryFolder();

  /// Path of `name` in it.
  std::string operator/(llvm::StringRef name) const;
  const std::string &path() const { return folder; }

  /// Removes all that exist; for the end of an interrupted program.
  static void removeAll();

private:
  explicit TemporaryFolder(std::string folder);
  std::string folder;
};

} // namespace mlc::cli

#endif // MLC_TOOLS_MLC_TEMPORARYFOLDER_H
