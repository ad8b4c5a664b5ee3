//===- TypeAliases.h - Short names for the types of a file ------*- C++ -*-===//
//
// Types make up most of a rule's text. A file of rules names them by their
// dims: `!n_c_h_w`, `!A0_A1plusB1`. A size that is no short sum of products,
// such as that of a convolution's result, is called `out`.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_REWRITES_GENERATE_TYPEALIASES_H
#define MLC_REWRITES_GENERATE_TYPEALIASES_H

#include "llvm/ADT/StringRef.h"
#include <string>

namespace mlc::generate {

/// The rules of a file (texts of ruleText, one after another) with an alias for
/// each tensor type, defined above the first rule that uses it. `rules` is
/// valid and defines no aliases.
std::string withTypeAliases(llvm::StringRef rules);

} // namespace mlc::generate

#endif // MLC_REWRITES_GENERATE_TYPEALIASES_H
