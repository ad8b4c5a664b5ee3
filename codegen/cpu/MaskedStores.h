//===- MaskedStores.h - Stores that LLVM would widen ------------*- C++ -*-===//

#ifndef MLC_CODEGEN_CPU_MASKEDSTORES_H
#define MLC_CODEGEN_CPU_MASKEDSTORES_H

#include "llvm/IR/Module.h"

namespace mlc::cpu {

/// Replaces masked stores of integers by plain stores if the mask is constant
/// and some aligned block of its lanes has a single active one. LLVM 22 stores
/// that lane as wide as it was before a truncation and overwrites what follows
/// (X86ISelLowering, for AVX-512; llvm-project issue 179489, repaired in LLVM
/// 23). Run this once masks are folded to constants.
void writeOutMaskedStores(llvm::Module &module);

} // namespace mlc::cpu

#endif // MLC_CODEGEN_CPU_MASKEDSTORES_H
