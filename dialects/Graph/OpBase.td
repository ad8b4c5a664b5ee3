//===- OpBase.td - Base class of operators -----------------*- tablegen -*-===//

#ifndef MLC_DIALECTS_GRAPH_OPBASE
#define MLC_DIALECTS_GRAPH_OPBASE

include "dialects/Symbolic/Attributes.td"
include "dialects/Symbolic/Enums.td"
include "dialects/Definition/OpInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Mlc_Tensor : Type<CPred<"::llvm::isa<::mlir::RankedTensorType>($_self)">,
                      "ranked tensor", "::mlir::RankedTensorType">;

def Mlc_IntExpr : Attr<CPred<"::llvm::isa<::mlc::IntExpr>($_self)">,
                       "symbolic integer"> {
  let storageType = "::mlc::IntExpr";
  let returnType = "::mlc::IntExpr";
  let convertFromStorage = "$_self";
}

/// An operator with a definition. Its result types follow from its operands,
/// and its verifier compares them. Every operator also answers `checkOperands`.
class Mlc_Op<string mnemonic, list<Trait> traits = []>
    : Op<Mlc_Dialect, mnemonic,
         !listconcat(traits, [Pure,
           DeclareOpInterfaceMethods<DefinitionOpInterface, ["checkOperands"]>])> {
  let results = (outs Mlc_Tensor:$result);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

#endif // MLC_DIALECTS_GRAPH_OPBASE
