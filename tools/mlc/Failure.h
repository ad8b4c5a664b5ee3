//===- Failure.h - Errors with their exit code ------------------*- C++ -*-===//
//
// Every error that reaches the user is a Failure: an exit code of the contract
// and a message `FILE: NODE: what; remedy` (lower case, no period).
//
//===----------------------------------------------------------------------===//

#ifndef MLC_TOOLS_MLC_FAILURE_H
#define MLC_TOOLS_MLC_FAILURE_H

#include "runtime/Exit.h"
#include "runtime/Status.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Error.h"

namespace mlc::cli {

using mlc::Exit; // for users of this namespace alone

class Failure : public llvm::ErrorInfo<Failure> {
public:
  static char ID;

  Failure(Exit code, std::string message)
      : code(code), text(std::move(message)) {}
  Exit getCode() const { return code; }
  void log(llvm::raw_ostream &os) const override { os << text; }
  std::error_code convertToErrorCode() const override {
    return llvm::inconvertibleErrorCode();
  }

private:
  Exit code;
  std::string text;
};

/// An error with code `code`; several lines are several errors.
llvm::Error fail(Exit code, const llvm::Twine &message);

/// An error of code `code` (0: none) that was already reported to the user.
llvm::Error reported(int code);

/// The status as an error with its exit code; success if it is ok.
llvm::Error statusFailure(const runtime::Status &status);

/// `error` about `file` as a Failure with code `code`; an existing Failure, or
/// a lack of memory or disk, keeps its own code.
llvm::Error withFile(llvm::StringRef file, Exit code, llvm::Error error);

/// Whether the system error means a lack of memory or disk (code 9).
bool isResourceError(std::error_code error);

/// Prints each line of each error after `mlc: error: ` to stderr and returns
/// the exit code; success returns 0.
int report(llvm::Error error);

/// Prints `mlc: warning: FILE: text` to stderr.
void warn(llvm::StringRef file, const llvm::Twine &text);

} // namespace mlc::cli

#endif // MLC_TOOLS_MLC_FAILURE_H
