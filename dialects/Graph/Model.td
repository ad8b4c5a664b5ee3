//===- Model.td - A model besides its operators ------------*- tablegen -*-===//

#ifndef MLC_DIALECTS_GRAPH_MODEL
#define MLC_DIALECTS_GRAPH_MODEL

include "dialects/Graph/OpBase.td"

def Mlc_ConstantOp : Op<Mlc_Dialect, "constant",
    [Pure, ConstantLike, AllTypesMatch<["value", "result"]>]> {
  let summary = "a literal tensor";
  let description = "A weight or literal; the type is the attribute's.";
  let arguments = (ins ElementsAttr:$value);
  let results = (outs Mlc_Tensor:$result);
  let assemblyFormat = "attr-dict $value";
  let hasFolder = 1;
}

def Mlc_CheckOp : Op<Mlc_Dialect, "check", [HasParent<"::mlir::ModuleOp">]> {
  let summary = "a condition on the model's dims that must hold at run time";
  let description = [{
    Stands in the module. The model implies it, but the compiler cannot show it:
    the runtime holds it against the dims of the inputs, and refuses a run with
    `message`, which names the node, where it does not hold.
    `mlc.check #mlc.int<2 * n> "le" #mlc.int<8>, "Concat_1: at most eight"`.
    The prover assumes none of them.
  }];
  let arguments = (ins Mlc_IntExpr:$lhs,
                       Mlc_WordAttr<Mlc_ComparePredicate>:$predicate,
                       Mlc_IntExpr:$rhs, StrAttr:$message);
  let assemblyFormat = "$lhs $predicate $rhs `,` $message attr-dict";
}

#endif // MLC_DIALECTS_GRAPH_MODEL
