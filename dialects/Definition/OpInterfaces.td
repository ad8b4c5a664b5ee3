//===- OpInterfaces.td - Interfaces of operators -----------*- tablegen -*-===//

#ifndef MLC_DIALECTS_DEFINITION_OPINTERFACES
#define MLC_DIALECTS_DEFINITION_OPINTERFACES

include "mlir/IR/OpBase.td"

def DefinitionOpInterface : OpInterface<"DefinitionOpInterface"> {
  let cppNamespace = "::mlc";
  let description = [{
    An operator that states its meaning in index notation. Result types,
    well-formedness, linalg, values, logic and costs are derived from it.
  }];
  let methods = [
    InterfaceMethod<[{
      Builds the definition over the operands (input i is operand i). Called
      only when `checkOperands` succeeded.
    }], "void", "define", (ins "::mlc::DefinitionBuilder &":$builder)>,
    InterfaceMethod<[{
      What must hold of ranks, element types and attribute lists before
      `define` can be called; emits the error.
    }], "::mlir::LogicalResult", "checkOperands", (ins), [{}], [{
      return ::mlir::success();
    }]>,
  ];
  let verify = [{ return ::mlc::verifyResultTypes($_op); }];
}

def OpaqueOpInterface : OpInterface<"OpaqueOpInterface"> {
  let cppNamespace = "::mlc";
  let description = [{
    An operator without a definition: it states its result types, its cost and
    the runtime library's kernel. Rules treat it as an uninterpreted function.
    One that has a definition too means what that says, and the kernel computes
    it.
  }];
  let methods = [
    InterfaceMethod<[{
      The result types for these operands; emits the error.
    }], "::mlir::FailureOr<::llvm::SmallVector<::mlir::Type>>",
      "inferOpaqueTypes", (ins)>,
    InterfaceMethod<"Scalar operations, as a rough count.",
      "::mlc::IntExpr", "countOperations", (ins)>,
    InterfaceMethod<"The runtime library's name of the kernel.",
      "::llvm::StringRef", "getLibraryKernel", (ins)>,
    InterfaceMethod<"The integers that the kernel is called with.",
      "::llvm::SmallVector<::mlc::IntExpr>", "getLibraryArguments", (ins)>,
    InterfaceMethod<"What must hold of sizes that are known at run time only.",
      "::llvm::SmallVector<::mlc::Requirement>", "getRequirements", (ins), [{}],
      [{ return {}; }]>,
  ];
  let verify = [{ return ::mlc::verifyResultTypes($_op); }];
}

#endif // MLC_DIALECTS_DEFINITION_OPINTERFACES
