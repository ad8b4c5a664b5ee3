//===- TemporaryFolder.cpp - A folder that is removed again ---------------===//

#include "tools/mlc/TemporaryFolder.h"
#include "tools/mlc/Failure.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <set>

using namespace mlc::cli;
namespace fs = llvm::sys::fs;

static std::set<std::string> &living() {
  static std::set<std::string> folders;
  return folders;
}

TemporaryFolder::TemporaryFolder(std::string folder)
    : folder(std::move(folder)) {
  living().insert(this->folder);
}

TemporaryFolder::TemporaryFolder(TemporaryFolder &&other) {
  std::swap(folder, other.folder);
}

TemporaryFolder::~TemporaryFolder() {
  if (folder.empty())
    return;
  fs::remove_directories(folder);
  living().erase(folder);
}

llvm::Expected<TemporaryFolder> TemporaryFolder::create() {
  llvm::SmallString<128> path;
  if (std::error_code error = fs::createUniqueDirectory("mlc", path))
    return fail(isResourceError(error) ? Exit::Resources : Exit::Usage,
                "cannot make a temporary folder: " + error.message() +
                    "; set TMPDIR to a place with room");
  return TemporaryFolder(path.str().str());
}

std::string TemporaryFolder::operator/(llvm::StringRef name) const {
  llvm::SmallString<128> path(folder);
  llvm::sys::path::append(path, name);
  return path.str().str();
}

void TemporaryFolder::removeAll() {
  for (const std::string &folder : living())
    fs::remove_directories(folder);
}
