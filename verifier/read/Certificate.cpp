//===- Certificate.cpp - A proof and its obligations ----------------------===//

#include "verifier/read/Certificate.h"
#include "llvm/ADT/Twine.h"

void mlc::Certificate::add(llvm::StringRef title, llvm::StringRef assertions) {
  smtlib +=
      ("; " + title + "\n(push 1)\n" + assertions + "(check-sat)\n(pop 1)\n")
          .str();
  ++numLemmas;
}
