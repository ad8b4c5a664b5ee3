//===- NoProver.cpp - For libraries that are linked without Z3 ------------===//
//
// A program linked with this instead of ProveGivenRules.cpp applies only the
// rules that the build proved.
//
//===----------------------------------------------------------------------===//

#include "rewrites/Rules/GivenRules.h"

using namespace mlc;
using llvm::Expected;
using llvm::StringRef;

Expected<GivenRules> GivenRules::prove(StringRef file, StringRef,
                                       llvm::ArrayRef<GivenRules>) {
  return llvm::createStringError(
      file + ": rules of a file are proved when they are read, and here is no "
             "prover; apply them with mlc-opt or mlc");
}

Expected<GivenRules> GivenRules::proveFile(StringRef path,
                                           llvm::ArrayRef<GivenRules> earlier) {
  return prove(path, "", earlier);
}
