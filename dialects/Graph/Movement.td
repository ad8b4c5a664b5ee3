//===- Movement.td - Data movement and leaves --------------*- tablegen -*-===//

#ifndef MLC_DIALECTS_GRAPH_MOVEMENT
#define MLC_DIALECTS_GRAPH_MOVEMENT

include "dialects/Graph/OpBase.td"

def Mlc_ReshapeOp : Mlc_Op<"reshape"> {
  let summary = "the same elements in row-major order with other dims";
  let description = "`Y` reinterprets `X` row-major; the numbers of elements are equal.";
  let arguments = (ins Mlc_Tensor:$x, Mlc_DimsAttr:$dims);
}

def Mlc_TransposeOp : Mlc_Op<"transpose"> {
  let summary = "permutation of dims";
  let description = "Result dim j is operand dim permutation[j].";
  let arguments = (ins Mlc_Tensor:$x, DenseI64ArrayAttr:$permutation);
}

def Mlc_BroadcastOp : Mlc_Op<"broadcast"> {
  let summary = "repetition along dims of size 1";
  let description = [{
    `Y[i...] = X[min(i, dim - 1)...]`: each operand dim is 1 or the result's.
    Ranks are equal; a reshape adds dims.
  }];
  let arguments = (ins Mlc_Tensor:$x, Mlc_DimsAttr:$dims);
}

def Mlc_SliceOp : Mlc_Op<"slice"> {
  let summary = "a strided box of the operand";
  let description = "`Y[i] = X[start + i step]`; steps may be negative constants.";
  let arguments = (ins Mlc_Tensor:$x, Mlc_DimsAttr:$starts, Mlc_DimsAttr:$sizes,
                       Mlc_DimsAttr:$steps);
}

def Mlc_ConcatOp : Mlc_Op<"concat"> {
  let summary = "operands one after another along an axis";
  let description = "Pieces of the result are the operands; other dims are equal.";
  let arguments = (ins Variadic<Mlc_Tensor>:$inputs, I64Attr:$axis);
}

def Mlc_PadOp : Mlc_Op<"pad"> {
  let summary = "a border around the operand";
  let description = [{
    `Y[i] = X<value>[i - low]` in mode constant; modes edge and reflect repeat
    or mirror the operand. Paddings are not negative.
  }];
  let arguments = (ins Mlc_Tensor:$x, Mlc_DimsAttr:$low, Mlc_DimsAttr:$high,
                       Mlc_WordAttr<Mlc_PadMode>:$mode, Mlc_RealAttr:$value);
}

def Mlc_GatherOp : Mlc_Op<"gather"> {
  let summary = "slices of the operand picked by an index tensor";
  let description = [{
    `Y[a.., j.., b..] = X<0>[a.., I[j..], b..]` with I read along `axis`; negative
    indices count from the end, others out of range give 0. Follows ONNX Gather.
  }];
  let arguments = (ins Mlc_Tensor:$x, Mlc_Tensor:$indices, I64Attr:$axis);
}

def Mlc_ScatterAddOp : Mlc_Op<"scatter_add",
    [DeclareOpInterfaceMethods<OpaqueOpInterface,
        ["getRequirements", "getAttributesOfPart", "createGradients"]>]> {
  let summary = "the operand with slices added where an index tensor says";
  let description = [{
    `Y[a.., v, b..] = X[a.., v, b..] + sum{j..}(I[j..] = v ? U[a.., j.., b..] : 0)`
    along `axis`; negative indices count from the end, others out of range add
    nothing. It is what `gather` has as its derivative. Slices of one index are
    added in the order of their places, whatever computes them. The CPU has a
    kernel of the library for it, whose work grows with the updates.

    `reduction` (sum) prod multiplies instead, max and min keep the larger or
    the smaller, or NaN where there is one.

    The operand may be a part of what indices speak of, which has `whole` slices
    (as many as the operand): slice v is that of `begin` (0) + v.
  }];
  let arguments = (ins Mlc_Tensor:$x, Mlc_Tensor:$indices, Mlc_Tensor:$updates,
                       I64Attr:$axis, OptionalAttr<Mlc_IntExpr>:$begin,
                       OptionalAttr<Mlc_IntExpr>:$whole,
                       OptionalAttr<Mlc_WordAttr<Mlc_Reduction>>:$reduction);
  let builders = [OpBuilder<(ins "::mlir::TypeRange":$types, "::mlir::Value":$x,
                                 "::mlir::Value":$indices,
                                 "::mlir::Value":$updates, "uint64_t":$axis,
                                 CArg<"::mlir::StringAttr", "{}">:$reduction), [{
    build($_builder, $_state, types, x, indices, updates, axis, ::mlc::IntExpr(),
          ::mlc::IntExpr(), reduction);
  }]>];
}

def Mlc_ResizeOp : Mlc_Op<"resize"> {
  let summary = "resampling to other dims";
  let description = [{
    `mode` nearest or linear; `transform` and `nearest_mode` as in ONNX Resize;
    coordinates are computed in float32 as ONNX does. `scales` has one number
    per dim, or is empty: then it is result dim / operand dim.
  }];
  let arguments = (ins Mlc_Tensor:$x, Mlc_DimsAttr:$dims,
                       Mlc_WordAttr<Mlc_ResizeMode>:$mode,
                       Mlc_WordAttr<Mlc_ResizeTransform>:$transform,
                       Mlc_WordAttr<Mlc_NearestMode>:$nearest_mode,
                       ArrayAttr:$scales);
}

def Mlc_ReverseOp : Mlc_Op<"reverse"> {
  let summary = "reversed order along some axes";
  let description = "`Y[i] = X[dim - 1 - i]` along each axis.";
  let arguments = (ins Mlc_Tensor:$x, DenseI64ArrayAttr:$axes);
}

def Mlc_FillOp : Mlc_Op<"fill"> {
  let summary = "one number everywhere";
  let description = "`Y[i...] = value` with these dims and element type.";
  let arguments = (ins Mlc_DimsAttr:$dims, Mlc_RealAttr:$value, TypeAttr:$type);
}

def Mlc_IotaOp : Mlc_Op<"iota"> {
  let summary = "start, start + step, ... along an axis, as i64";
  let description = "`Y[.., i, ..] = start + i step`.";
  let arguments = (ins Mlc_DimsAttr:$dims, I64Attr:$axis, Mlc_IntExpr:$start, Mlc_IntExpr:$step);
}

def Mlc_IntTensorOp : Mlc_Op<"int_tensor"> {
  let summary = "a scalar or vector of symbolic integers, as i64";
  let description = "`dims` is [] or the number of values.";
  let arguments = (ins Mlc_DimsAttr:$values, Mlc_DimsAttr:$dims);
}

#endif // MLC_DIALECTS_GRAPH_MOVEMENT
