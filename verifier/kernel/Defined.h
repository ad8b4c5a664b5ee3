//===- Defined.h - Where elements have a value ------------------*- C++ -*-===//
//
// The one place that says what must hold for an element to have a value. The
// evaluator (dialects/Evaluator/Evaluator.h) and docs/Trust.md have the same
// words:
//
//   defined  all operations that it takes have what they need, but for what is
//            masked: a divisor is not 0, a root's argument not negative, ...
//   masked   not asked for: the branch that a selection does not take, a read
//            out of range and what stands for a read in range, a truth value
//            where another one decides
//   dead     an element that no result reads, or a masked one does: it need not
//            be defined, but that no integer is divided by 0
//
// A function is defined where all elements of its results are.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_VERIFIER_KERNEL_DEFINED_H
#define MLC_VERIFIER_KERNEL_DEFINED_H

#include "verifier/kernel/Unfold.h"

namespace mlc::kernel {

struct Needs {
  std::vector<Need> needs;
  std::string failure; // why they are not known; empty otherwise
};

/// Of a definition's elements. It must outlive this.
class Definedness {
public:
  Definedness(const Definition &definition, const Assumptions &assumptions,
              Names &names);

  /// What the element of a stage at indices that are in range needs to be
  /// defined.
  Needs needsOf(unsigned stage, llvm::ArrayRef<Integer> indices);
  /// Whether an element of a stage may have no value.
  bool mayBeUndefined(unsigned stage) const { return partial[stage]; }

private:
  const Definition &definition;
  const Assumptions &assumptions;
  Names &names;
  std::vector<bool> partial; // by stage
};

} // namespace mlc::kernel

#endif // MLC_VERIFIER_KERNEL_DEFINED_H
