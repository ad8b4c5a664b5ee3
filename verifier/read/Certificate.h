//===- Certificate.h - A proof and its obligations --------------*- C++ -*-===//

#ifndef MLC_VERIFIER_READ_CERTIFICATE_H
#define MLC_VERIFIER_READ_CERTIFICATE_H

#include "llvm/ADT/StringRef.h"
#include <string>

namespace mlc {

struct Certificate {
  /// The proof that the kernel has accepted (kernel/Text.h).
  std::string proof;
  /// The obligations of the proof, beyond docs/Trust.md: one SMT-LIB script in
  /// which each is a (push) .. (check-sat) (pop) that must answer unsat.
  std::string smtlib;
  unsigned numLemmas = 0;

  /// Adds an obligation: declarations and unsatisfiable assertions.
  void add(llvm::StringRef title, llvm::StringRef assertions);
};

} // namespace mlc

#endif // MLC_VERIFIER_READ_CERTIFICATE_H
