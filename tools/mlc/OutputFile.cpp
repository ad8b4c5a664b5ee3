//===- OutputFile.cpp - Files that appear whole or not at all -------------===//

#include "tools/mlc/OutputFile.h"
#include "tools/mlc/Failure.h"
#include "llvm/Support/FileSystem.h"

using namespace mlc::cli;
namespace fs = llvm::sys::fs;

static llvm::Error cannotWrite(llvm::StringRef path, std::error_code error) {
  if (isResourceError(error))
    return fail(Exit::Resources, path +
                                     ": cannot be written: " + error.message() +
                                     "; make room or give another place");
  return fail(Exit::Usage, path + ": cannot be written: " + error.message() +
                               "; give another place");
}

/// The stream's error, cleared so that its destructor does not end the
/// program.
static std::error_code flushed(llvm::raw_fd_ostream &os) {
  os.flush();
  std::error_code error = os.error();
  os.clear_error();
  return error;
}

static llvm::Error
writeDirectly(llvm::StringRef path,
              llvm::function_ref<llvm::Error(llvm::raw_ostream &)> write) {
  std::error_code error;
  llvm::raw_fd_ostream os(path, error, fs::CD_OpenExisting, fs::FA_Write,
                          fs::OF_None);
  if (error)
    return cannotWrite(path, error);
  llvm::Error failure = write(os);
  error = flushed(os);
  if (failure || !error)
    return failure;
  return cannotWrite(path, error);
}

llvm::Error mlc::cli::writeOutput(
    llvm::StringRef path,
    llvm::function_ref<llvm::Error(llvm::raw_ostream &)> write) {
  if (path == "-") {
    if (llvm::Error failure = write(llvm::outs()))
      return failure;
    std::error_code error = flushed(llvm::outs());
    return error ? cannotWrite("standard output", error)
                 : llvm::Error::success();
  }

  fs::file_status status;
  if (!fs::status(path, status) && fs::exists(status)) {
    if (fs::is_directory(status))
      return fail(Exit::Usage, path + ": is a folder; name a file in it");
    if (!fs::is_regular_file(status))
      return writeDirectly(path, write);
  }

  llvm::Expected<fs::TempFile> temporary =
      fs::TempFile::create(path + ".%%%%%%.tmp");
  if (!temporary)
    return cannotWrite(path, llvm::errorToErrorCode(temporary.takeError()));
  llvm::Error failure = llvm::Error::success();
  std::error_code error;
  {
    llvm::raw_fd_ostream os(temporary->FD, /*shouldClose=*/false);
    failure = write(os);
    error = flushed(os);
  }
  if (failure || error) {
    llvm::consumeError(temporary->discard());
    return failure ? std::move(failure) : cannotWrite(path, error);
  }
  if (llvm::Error rename = temporary->keep(path))
    return cannotWrite(path, llvm::errorToErrorCode(std::move(rename)));
  return failure;
}
