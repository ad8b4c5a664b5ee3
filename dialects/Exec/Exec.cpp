//===- Exec.cpp - Programs for the runtime --------------------------------===//

#include "dialects/Exec/Exec.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/OpImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlc;
using namespace mlc::exec;

#include "dialects/Exec/ExecDialect.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "dialects/Exec/ExecTypes.cpp.inc"

#include "dialects/Exec/ExecInterfaces.cpp.inc"

#define GET_OP_CLASSES
#include "dialects/Exec/Exec.cpp.inc"

void ExecDialect::initialize() {
  registerTypes();
  addOperations<
#define GET_OP_LIST
#include "dialects/Exec/Exec.cpp.inc"
      >();
}

void ExecDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialects/Exec/ExecTypes.cpp.inc"
      >();
}
