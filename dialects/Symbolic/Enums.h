//===- Enums.h - Words that attributes choose among -------------*- C++ -*-===//

#ifndef MLC_DIALECTS_SYMBOLIC_ENUMS_H
#define MLC_DIALECTS_SYMBOLIC_ENUMS_H

#include "mlir/IR/OpImplementation.h"
#include "llvm/ADT/DenseMapInfo.h"
#include "llvm/ADT/StringRef.h"
#include <optional>

#include "dialects/Symbolic/Enums.h.inc"

#endif // MLC_DIALECTS_SYMBOLIC_ENUMS_H
