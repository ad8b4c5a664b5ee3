//===- MultiOutput.h - Rules with several results ---------------*- C++ -*-===//
//
// If a concatenation of terms equals a term, the terms equal its parts:
// concat(matmul(a, b), matmul(a, c)) = matmul(a, concat(b, c)) says that two
// products of one operand are slices of one product. Such rules are not
// enumerated: each is derived from a proved rule, and then proved itself.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_REWRITES_GENERATE_MULTIOUTPUT_H
#define MLC_REWRITES_GENERATE_MULTIOUTPUT_H

#include "rewrites/Generate/Emit.h"

namespace mlc::generate {

/// Derives a rule with several results from a rule (ruleText). Exists only if
/// one side is a concatenation of different operators that share an argument
/// and the other side is not. `text` describes it.
struct MultiOutput {
  std::string rule, text;
};
std::optional<MultiOutput> multiOutputOf(llvm::StringRef rule,
                                         llvm::StringRef name);

} // namespace mlc::generate

#endif // MLC_REWRITES_GENERATE_MULTIOUTPUT_H
