//===- MaskedStores.h - Stores that LLVM would widen ------------*- C++ -*-===//

#ifndef MLC_CODEGEN_CPU_MASKEDSTORES_H
#define MLC_CODEGEN_CPU_MASKEDSTORES_H

#include "llvm/IR/Module.h"

namespace mlc::cpu {

/// Writes masked stores of integers out where the mask is constant and some
/// aligned block of its lanes has a single one: LLVM 22 stores that one as wide
/// as it was before a truncation, over what lies behind (X86ISelLowering, for
/// AVX-512; llvm-project issue 179489, repaired in LLVM 23). To be run when
/// masks are as constant as they will be.
void writeOutMaskedStores(llvm::Module &module);

} // namespace mlc::cpu

#endif // MLC_CODEGEN_CPU_MASKEDSTORES_H
