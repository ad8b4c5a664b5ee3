//===- Share.h - What both functions compute alike --------------*- C++ -*-===//

#ifndef MLC_VERIFIER_SHARE_H
#define MLC_VERIFIER_SHARE_H

#include "verifier/Question.h"

namespace mlc::verifier {

/// The question with every tensor that both sides compute alike as a further
/// input, whatever it is made of; nothing where there is none. Its proof is one
/// of the question's: the sides are equal for all values of these inputs, and
/// so for the values that both compute. Elements of an input that need not be
/// defined (`isPartial`) must be read before where they are read after.
struct SharedQuestion {
  Case question;
  std::vector<bool> isPartial; // by input
};
std::optional<SharedQuestion> withSharedStages(const Case &question);

} // namespace mlc::verifier

#endif // MLC_VERIFIER_SHARE_H
