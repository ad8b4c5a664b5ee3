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

    What else follows from a definition, it answers by methods that have a
    default: its values, what it does for all ranks, how ranks share it, and its
    gradients. Passes ask these and do not know the operator.
  }];
  let methods = [
    InterfaceMethod<[{
      The result types for these operands; emits the error.
    }], "::mlir::FailureOr<::llvm::SmallVector<::mlir::Type>>",
      "inferOpaqueTypes", (ins)>,
    InterfaceMethod<"Scalar operations, as a rough count.",
      "::mlc::IntExpr", "countOperations", (ins)>,
    InterfaceMethod<[{
      The runtime library's name of the kernel. Back ends that have kernels of
      their own find them by it.
    }], "::llvm::StringRef", "getLibraryKernel", (ins)>,
    InterfaceMethod<"The integers that the kernel is called with.",
      "::llvm::SmallVector<::mlc::IntExpr>", "getLibraryArguments", (ins)>,
    InterfaceMethod<"What must hold of sizes that are known at run time only.",
      "::llvm::SmallVector<::mlc::Requirement>", "getRequirements", (ins), [{}],
      [{ return {}; }]>,
    InterfaceMethod<[{
      What computes its values; null if its definition does, or if it has none
      on one rank.
    }], "::mlc::OpaqueEvaluator", "getEvaluator", (ins), [{}],
      [{ return nullptr; }]>,
    InterfaceMethod<[{
      The dims along which it does the same to every slice, whatever their
      sizes: ranks may have parts of them.
    }], "::llvm::SmallVector<::mlc::SharedDim>", "getSharedDims", (ins), [{}],
      [{ return {}; }]>,
    InterfaceMethod<[{
      Creates the operator on operands that have `count` more dims in front: it
      does to each slice along them what it does to its operands. Null, without
      an error, if there is no such operator.
    }], "::mlir::FailureOr<::mlir::Operation *>", "createStacked",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::ValueRange":$operands,
           "unsigned":$count), [{}],
      [{ return static_cast<::mlir::Operation *>(nullptr); }]>,
    InterfaceMethod<[{
      The types of what a rank finds in its part of a dim that is not shared, so
      that the results follow from what all ranks find. None if they do not
      follow, or if ranks may find different numbers.
    }], "::llvm::SmallVector<::mlir::Type>", "getCandidateTypes",
      (ins "const ::mlc::OpaqueSplit &":$split), [{}], [{ return {}; }]>,
    InterfaceMethod<[{
      Creates what finds them; `operands` has the part.
    }], "::mlir::FailureOr<::llvm::SmallVector<::mlir::Value>>",
      "createCandidates",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::ValueRange":$operands,
           "const ::mlc::OpaqueSplit &":$split, "::mlc::EmitDefinition":$emit),
      [{}], [{ return ::mlir::failure(); }]>,
    InterfaceMethod<[{
      Creates the results from the candidates of all ranks, which lie along the
      split dim in the order of the ranks.
    }], "::mlir::FailureOr<::llvm::SmallVector<::mlir::Value>>",
      "chooseCandidates",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::ValueRange":$candidates,
           "const ::mlc::OpaqueSplit &":$split, "::mlc::EmitDefinition":$emit),
      [{}], [{ return ::mlir::failure(); }]>,
    InterfaceMethod<[{
      The attributes with which it computes a part of its result from a part of
      an operand, which begins at `begin` of `dim`, if it has attributes for
      that. What they mean is compared with the definition, so it has one.
    }], "::std::optional<::mlir::NamedAttrList>", "getAttributesOfPart",
      (ins "unsigned":$operand, "unsigned":$dim, "::mlc::IntExpr":$begin), [{}],
      [{ return ::std::nullopt; }]>,
    InterfaceMethod<[{
      Creates the gradients with respect to the operands from the cotangents of
      the results, which are null for results that nothing differentiable reads.
      One per operand, null where it has none; empty if it has no gradient.
    }], "::mlir::FailureOr<::llvm::SmallVector<::mlir::Value>>",
      "createGradients",
      (ins "::mlir::OpBuilder &":$builder,
           "::llvm::ArrayRef<::mlir::Value>":$cotangents,
           "::mlc::EmitDefinition":$emit), [{}],
      [{ return ::llvm::SmallVector<::mlir::Value>(); }]>,
  ];
  let verify = [{ return ::mlc::verifyResultTypes($_op); }];
}

#endif // MLC_DIALECTS_DEFINITION_OPINTERFACES
