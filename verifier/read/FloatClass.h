//===- FloatClass.h - How floats may differ ---------------------*- C++ -*-===//

#ifndef MLC_VERIFIER_READ_FLOATCLASS_H
#define MLC_VERIFIER_READ_FLOATCLASS_H

#include "llvm/ADT/StringRef.h"
#include <string>

namespace mlc {

/// How floats may differ, from the steps of the proof.
enum class FloatClass {
  BitExact,      // the same operations in the same order
  Reassociating, // ring axioms; no term is added or dropped
  ValueChanging, // a term is added, dropped or cancelled (0 * inf)
};

llvm::StringRef name(FloatClass floatClass); // "bit-exact"
/// The meaning of floats in proofs of this class.
std::string describeFloats(FloatClass floatClass);

} // namespace mlc

#endif // MLC_VERIFIER_READ_FLOATCLASS_H
