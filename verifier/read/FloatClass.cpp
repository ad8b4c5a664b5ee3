//===- FloatClass.cpp - How floats may differ -----------------------------===//

#include "verifier/read/FloatClass.h"
#include "llvm/Support/ErrorHandling.h"

using namespace mlc;

llvm::StringRef mlc::name(FloatClass floatClass) {
  static constexpr const char *names[] = {"bit-exact", "reassociating",
                                          "value-changing"};
  return names[static_cast<unsigned>(floatClass)];
}

std::string mlc::describeFloats(FloatClass floatClass) {
  switch (floatClass) {
  case FloatClass::BitExact:
    return "floats: the same operations in the same order, element by element; "
           "equal bits (of NaN, only that it is one)";
  case FloatClass::Reassociating:
    return "floats: real numbers, sums and products in any order; rounding may "
           "differ, and so may overflow, signs of zeros and NaN; finite inputs";
  case FloatClass::ValueChanging:
    return "floats: real numbers, and terms that are 0 there may come or go; "
           "rounding, overflow, infinities and NaN may differ; finite inputs";
  }
  llvm_unreachable("unknown float class");
}
