//===- Program.h - A whole program as CUDA C++ ------------------*- C++ -*-===//

#ifndef MLC_CODEGEN_CUDA_PROGRAM_H
#define MLC_CODEGEN_CUDA_PROGRAM_H

#include "codegen/kernel/Backend.h"
#include "runtime/Program.h"
#include "llvm/Support/Error.h"

namespace mlc::cuda {

/// The source files of a program that runs `program` with the kernels whose
/// sources are in `images` (Backend::printProgram). Fails on a step that runs
/// in the runtime's library; the error names its node.
llvm::Expected<SourceTree> printProgram(const runtime::Program &program,
                                        llvm::ArrayRef<KernelImage> images,
                                        uint64_t weightsSize,
                                        const Target &target);

/// The body of its `main`.
std::string printMain(const runtime::Program &program, uint64_t weightsSize);

} // namespace mlc::cuda

#endif // MLC_CODEGEN_CUDA_PROGRAM_H
