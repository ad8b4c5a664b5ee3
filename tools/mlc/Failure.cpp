//===- Failure.cpp - Errors with their exit code --------------------------===//

#include "tools/mlc/Failure.h"
#include "runtime/Status.h"
#include "runtime/Text.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlc::cli;

char Failure::ID = 0;

llvm::Error mlc::cli::fail(Exit code, const llvm::Twine &message) {
  return llvm::make_error<Failure>(code, message.str());
}

llvm::Error mlc::cli::statusFailure(const runtime::Status &status) {
  return status.ok() ? llvm::Error::success()
                     : fail(static_cast<Exit>(status.code), status.message);
}

llvm::Error mlc::cli::reported(int code) {
  if (code == static_cast<int>(Exit::Done))
    return llvm::Error::success();
  return llvm::make_error<Failure>(static_cast<Exit>(code), "");
}

bool mlc::cli::isResourceError(std::error_code error) {
  return (error.category() == std::generic_category() ||
          error.category() == std::system_category()) &&
         mlc::runtime::isResourceError(error.value());
}

llvm::Error mlc::cli::withFile(llvm::StringRef file, Exit code,
                               llvm::Error error) {
  return llvm::handleErrors(
      std::move(error),
      [](std::unique_ptr<Failure> failure) -> llvm::Error {
        return llvm::Error(std::move(failure));
      },
      [&](const llvm::ErrorInfoBase &info) -> llvm::Error {
        bool resource = isResourceError(info.convertToErrorCode());
        return fail(resource ? Exit::Resources : code,
                    file + ": " + info.message());
      });
}

static void printLines(llvm::StringRef message) {
  llvm::SmallVector<llvm::StringRef> lines;
  message.rtrim().split(lines, '\n', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  // In one write, since several ranks may share a terminal.
  std::string text;
  for (llvm::StringRef line : lines)
    text += "mlc: error: " + mlc::runtime::printable(line) + '\n';
  llvm::errs() << text;
}

int mlc::cli::report(llvm::Error error) {
  int code = static_cast<int>(Exit::Done);
  llvm::handleAllErrors(
      std::move(error),
      [&](const Failure &failure) {
        // The first error's code wins.
        if (code == static_cast<int>(Exit::Done))
          code = static_cast<int>(failure.getCode());
        printLines(failure.message());
      },
      [&](const llvm::ErrorInfoBase &info) {
        bool resource = isResourceError(info.convertToErrorCode());
        code = static_cast<int>(resource ? Exit::Resources : Exit::Internal);
        printLines(info.message());
      });
  return code;
}

void mlc::cli::warn(llvm::StringRef file, const llvm::Twine &text) {
  std::string line = ("mlc: warning: " + file + ": " + text).str();
  llvm::errs() << mlc::runtime::printable(line) + '\n';
}
