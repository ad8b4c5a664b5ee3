//===- Backend.h - Code for CPUs --------------------------------*- C++ -*-===//

#ifndef MLC_CODEGEN_CPU_BACKEND_H
#define MLC_CODEGEN_CPU_BACKEND_H

#include "codegen/kernel/Backend.h"

namespace mlc::cpu {

/// The back end that makes vector code for CPUs through LLVM.
const Backend &getBackend();

} // namespace mlc::cpu

#endif // MLC_CODEGEN_CPU_BACKEND_H
