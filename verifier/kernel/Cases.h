//===- Cases.h - Cases of what is known of sizes ----------------*- C++ -*-===//
//
// A condition with alternatives becomes several statements, and equations among
// sizes are solved in them before a proof is looked for. What does so is not
// believed: that cases leave nothing out, and that each is what it says, is
// asked of the solver.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_VERIFIER_KERNEL_CASES_H
#define MLC_VERIFIER_KERNEL_CASES_H

#include "verifier/kernel/Decide.h"

namespace mlc::kernel {

/// One way in which what is known can hold.
struct SizeCase {
  /// A size that occurs nowhere else: `over` divided by `under`.
  struct Quotient {
    std::string name;
    Integer over, under; // of sizes of the statement and quotients before
  };
  struct Solved {
    std::string name;
    Integer value; // of sizes and quotients
  };
  std::vector<Formula> where; // holds in this case and, maybe, in others
  std::vector<Quotient> quotients;
  /// What stands for sizes in the statement of this case.
  std::vector<Solved> solved;
  /// What that statement knows, of the sizes that are left and of quotients.
  std::vector<Formula> known;
};

/// Why what is known does not lead to one of the cases, or one of them says
/// what does not follow; empty where all is as it must be.
std::string whyNoCases(llvm::ArrayRef<Formula> known,
                       llvm::ArrayRef<SizeCase> cases, Decider &decider);

} // namespace mlc::kernel

#endif // MLC_VERIFIER_KERNEL_CASES_H
