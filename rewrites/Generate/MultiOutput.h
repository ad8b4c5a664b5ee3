//===- MultiOutput.h - Rules with several results ---------------*- C++ -*-===//
//
// Where a concatenation of terms is equal to a term, the terms are equal to
// its parts: concat(matmul(a, b), matmul(a, c)) = matmul(a, concat(b, c)) says
// that two products of one operand are the slices of one product. Such a rule
// is never enumerated: it is read off a rule that was proved, and proved
// itself.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_REWRITES_GENERATE_MULTIOUTPUT_H
#define MLC_REWRITES_GENERATE_MULTIOUTPUT_H

#include "rewrites/Generate/Emit.h"

namespace mlc::generate {

/// The rule with several results that a rule (ruleText) gives: nothing unless
/// one side is a concatenation of different operators that share an argument,
/// and the other is none. `text` describes it.
struct MultiOutput {
  std::string rule, text;
};
std::optional<MultiOutput> multiOutputOf(llvm::StringRef rule,
                                         llvm::StringRef name);

} // namespace mlc::generate

#endif // MLC_REWRITES_GENERATE_MULTIOUTPUT_H
