//===- Reduction.td - Reductions and normalizations --------*- tablegen -*-===//

#ifndef MLC_DIALECTS_GRAPH_REDUCTION
#define MLC_DIALECTS_GRAPH_REDUCTION

include "dialects/Graph/OpBase.td"

def Mlc_ReduceOp : Mlc_Op<"reduce"> {
  let summary = "sum, prod, max, min or mean over some axes";
  let description = [{
    The rank stays: reduced dims become 1. `kind` is one of sum, prod, max,
    min, mean. The mean of integers truncates.
  }];
  let arguments = (ins Mlc_Tensor:$x, Mlc_WordAttr<Mlc_Reduction>:$kind,
                       DenseI64ArrayAttr:$axes);
}

def Mlc_SoftmaxOp : Mlc_Op<"softmax"> {
  let summary = "exponentials divided by their sum along an axis";
  let description = [{
    `Y[.., i, ..] = exp(X[i] - max_r X[r]) / sum_r exp(X[r] - max X)`. Follows
    ONNX Softmax of opset 13.
  }];
  let arguments = (ins Mlc_Tensor:$x, I64Attr:$axis);
}

def Mlc_LogSoftmaxOp : Mlc_Op<"log_softmax"> {
  let summary = "logarithm of softmax";
  let description = "`Y[i] = X[i] - max X - log sum_r exp(X[r] - max X)`.";
  let arguments = (ins Mlc_Tensor:$x, I64Attr:$axis);
}

def Mlc_BatchNormOp : Mlc_Op<"batch_norm"> {
  let summary = "batch normalization, inference form";
  let description = [{
    `Y[n,c,...] = (X[n,c,...] - mean[c]) scale[c] / sqrt(var[c] + epsilon) + bias[c]`.
    Follows ONNX BatchNormalization.
  }];
  let arguments = (ins Mlc_Tensor:$x, Mlc_Tensor:$scale, Mlc_Tensor:$bias,
                       Mlc_Tensor:$mean, Mlc_Tensor:$variance,
                       Mlc_RealAttr:$epsilon);
}

def Mlc_LayerNormOp : Mlc_Op<"layer_norm"> {
  let summary = "normalization over the trailing dims from `axis` on";
  let description = [{
    `Y = (X - mean) / sqrt(var + epsilon) * scale + bias`, mean and variance over
    dims axis, axis + 1, ...; scale and bias have those dims. Follows ONNX
    LayerNormalization.
  }];
  let arguments = (ins Mlc_Tensor:$x, Mlc_Tensor:$scale, Mlc_Tensor:$bias,
                       I64Attr:$axis, Mlc_RealAttr:$epsilon);
}

def Mlc_LrnOp : Mlc_Op<"lrn"> {
  let summary = "local response normalization across channels (dim 1)";
  let description = [{
    `Y[n,c,..] = X / (bias + alpha / size * sum_{|j - c| in window} X[n,j,..]^2)^beta`,
    the window reaching floor((size-1)/2) down and ceil((size-1)/2) up. Follows ONNX LRN.
  }];
  let arguments = (ins Mlc_Tensor:$x, Mlc_IntExpr:$size, Mlc_RealAttr:$alpha,
                       Mlc_RealAttr:$beta, Mlc_RealAttr:$bias);
}

def Mlc_CumSumOp : Mlc_Op<"cumsum"> {
  let summary = "running sum along an axis";
  let description = "`Y[i] = sum_{r <= i} X[r]`, `r < i` when exclusive, from the end when reverse.";
  let arguments = (ins Mlc_Tensor:$x, I64Attr:$axis, BoolAttr:$exclusive, BoolAttr:$reverse);
}

class Mlc_ArgOp<string mnemonic, string text> : Mlc_Op<mnemonic> {
  let summary = "first index of the " # text # " along an axis, as i64";
  let description = "The rank stays: the axis becomes 1.";
  let arguments = (ins Mlc_Tensor:$x, I64Attr:$axis);
}
def Mlc_ArgMaxOp : Mlc_ArgOp<"arg_max", "maximum">;
def Mlc_ArgMinOp : Mlc_ArgOp<"arg_min", "minimum">;

#endif // MLC_DIALECTS_GRAPH_REDUCTION
