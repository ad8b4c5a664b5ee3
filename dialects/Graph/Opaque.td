//===- Opaque.td - Operators without a definition ----------*- tablegen -*-===//

#ifndef MLC_DIALECTS_GRAPH_OPAQUE
#define MLC_DIALECTS_GRAPH_OPAQUE

include "dialects/Graph/OpBase.td"

def Mlc_TopKOp : Op<Mlc_Dialect, "top_k", [Pure,
    DeclareOpInterfaceMethods<OpaqueOpInterface>]> {
  let summary = "the k largest or smallest elements along an axis";
  let description = [{
    Values and their i64 indices; equal elements in order of index. Follows ONNX
    TopK. `sorted = false` still sorts.
  }];
  let arguments = (ins Mlc_Tensor:$x, I64Attr:$axis, Mlc_IntExpr:$k,
                       BoolAttr:$largest, BoolAttr:$sorted);
  let results = (outs Mlc_Tensor:$values, Mlc_Tensor:$indices);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

def Mlc_CheckOp : Op<Mlc_Dialect, "check", [HasParent<"::mlir::ModuleOp">]> {
  let summary = "a condition on the model's dims that must hold at run time";
  let description = [{
    Stands in the module. The model implies it, but the compiler cannot show it:
    the runtime holds it against the dims of the inputs, and refuses a run with
    `message`, which names the node, where it does not hold.
  }];
  let arguments = (ins Mlc_IntExpr:$lhs,
                       Mlc_WordAttr<Mlc_ComparePredicate>:$predicate,
                       Mlc_IntExpr:$rhs, StrAttr:$message);
  let assemblyFormat = "$lhs $predicate $rhs `,` $message attr-dict";
}

#endif // MLC_DIALECTS_GRAPH_OPAQUE
