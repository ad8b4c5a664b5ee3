//===- Pointwise.td - Element-wise operators ---------------*- tablegen -*-===//
//
// Operands have the same dims: broadcasts are explicit operators. The result's
// element is one scalar expression of the operands' elements, written beside
// the name: x[0], x[1], ... are the elements, `c(v)` is the number v in their
// type, and attributes are read by their getters.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_DIALECTS_GRAPH_POINTWISE
#define MLC_DIALECTS_GRAPH_POINTWISE

include "dialects/Graph/OpBase.td"

/// `elements` says which element types are allowed: Float, Number (floats and
/// integers), Bool or Any; `expr` is the result's element.
class Mlc_PointwiseOp<string mnemonic, dag operands, string elements,
                      string expr, string text> : Mlc_Op<mnemonic> {
  let summary = text;
  let description = "`Y[i...] = f(X[i...])`, f being the " # text # ".";
  let arguments = operands;
  let extraClassDefinition = [{
    ::mlir::LogicalResult $cppClass::checkOperands() {
      return ::mlc::checkPointwise(*this, ::mlc::ElementClass::}] # elements # [{);
    }
    void $cppClass::define(::mlc::DefinitionBuilder &b) {
      ::mlc::definePointwise(b, (*this)->getNumOperands(), [&](::llvm::ArrayRef<::mlc::Expr> x) {
        [[maybe_unused]] auto c = [&](double v) { return b.constant(x[0]->type, v); };
        [[maybe_unused]] auto r = [&](::mlc::RealAttr v) { return b.real(x[0]->type, v); };
        using enum ::mlc::UnaryFn;
        using enum ::mlc::ComparePredicate;
        using BinaryFn [[maybe_unused]] = ::mlc::BinaryFn;
        return }] # expr # [{;
      });
    }
  }];
}

class Mlc_UnaryOp<string mnemonic, string elements, string expr, string text>
    : Mlc_PointwiseOp<mnemonic, (ins Mlc_Tensor:$x), elements, expr, text>;

class Mlc_BinaryOp<string mnemonic, string elements, string expr, string text>
    : Mlc_PointwiseOp<mnemonic, (ins Mlc_Tensor:$lhs, Mlc_Tensor:$rhs),
                      elements, expr, text>;

def Mlc_NegOp : Mlc_UnaryOp<"neg", "Number", "-x[0]", "negative">;
def Mlc_AbsOp : Mlc_UnaryOp<"abs", "Number", "unary(Abs, x[0])", "absolute value">;
def Mlc_ExpOp : Mlc_UnaryOp<"exp", "Float", "unary(Exp, x[0])", "exponential">;
def Mlc_LogOp : Mlc_UnaryOp<"log", "Float", "unary(Log, x[0])", "natural logarithm">;
def Mlc_SqrtOp : Mlc_UnaryOp<"sqrt", "Float", "unary(Sqrt, x[0])", "square root">;
def Mlc_ReciprocalOp
    : Mlc_UnaryOp<"reciprocal", "Float", "unary(Reciprocal, x[0])", "reciprocal">;
def Mlc_TanhOp : Mlc_UnaryOp<"tanh", "Float", "unary(Tanh, x[0])", "hyperbolic tangent">;
def Mlc_ErfOp : Mlc_UnaryOp<"erf", "Float", "unary(Erf, x[0])", "error function">;
def Mlc_SinOp : Mlc_UnaryOp<"sin", "Float", "unary(Sin, x[0])", "sine">;
def Mlc_CosOp : Mlc_UnaryOp<"cos", "Float", "unary(Cos, x[0])", "cosine">;
def Mlc_FloorOp : Mlc_UnaryOp<"floor", "Float", "unary(Floor, x[0])", "floor">;
def Mlc_CeilOp : Mlc_UnaryOp<"ceil", "Float", "unary(Ceil, x[0])", "ceiling">;
def Mlc_RoundEvenOp : Mlc_UnaryOp<"round_even", "Float", "unary(RoundEven, x[0])",
    "nearest integer, halves to even">;
def Mlc_NotOp : Mlc_UnaryOp<"not", "Bool", "unary(Not, x[0])", "logical negation">;
def Mlc_SigmoidOp : Mlc_UnaryOp<"sigmoid", "Float",
    "unary(Reciprocal, c(1) + unary(Exp, -x[0]))", "logistic function">;
def Mlc_ReluOp : Mlc_UnaryOp<"relu", "Number",
    "binary(BinaryFn::Max, x[0], c(0))", "rectifier max(x, 0)">;
def Mlc_SignOp : Mlc_UnaryOp<"sign", "Number",
    "select(compare(GT, x[0], c(0)), c(1), select(compare(LT, x[0], c(0)), c(-1), select(compare(EQ, x[0], c(0)), c(0), x[0])))",
    "sign (0 of -0, NaN of NaN)">;

def Mlc_LeakyReluOp : Mlc_PointwiseOp<"leaky_relu",
    (ins Mlc_Tensor:$x, Mlc_RealAttr:$alpha), "Float",
    "select(compare(GE, x[0], c(0)), x[0], r(getAlpha()) * x[0])",
    "rectifier with slope alpha below 0">;
def Mlc_EluOp : Mlc_PointwiseOp<"elu",
    (ins Mlc_Tensor:$x, Mlc_RealAttr:$alpha), "Float",
    "select(compare(GT, x[0], c(0)), x[0], r(getAlpha()) * (unary(Exp, x[0]) - c(1)))",
    "exponential linear unit">;
def Mlc_HardSigmoidOp : Mlc_PointwiseOp<"hard_sigmoid",
    (ins Mlc_Tensor:$x, Mlc_RealAttr:$alpha, Mlc_RealAttr:$beta), "Float",
    "binary(BinaryFn::Max, binary(BinaryFn::Min, r(getAlpha()) * x[0] + r(getBeta()), c(1)), c(0))",
    "clamp of alpha x + beta to [0, 1]">;
def Mlc_ClipOp : Mlc_PointwiseOp<"clip",
    (ins Mlc_Tensor:$x, Mlc_RealAttr:$min, Mlc_RealAttr:$max), "Number",
    "defineClip(b, x[0], getMin(), getMax())",
    "clamp to [min, max]; infinite bounds do not bind">;

def Mlc_AddOp : Mlc_BinaryOp<"add", "Number", "x[0] + x[1]", "sum">;
def Mlc_SubOp : Mlc_BinaryOp<"sub", "Number", "x[0] - x[1]", "difference">;
def Mlc_MulOp : Mlc_BinaryOp<"mul", "Number", "x[0] * x[1]", "product">;
def Mlc_DivOp : Mlc_BinaryOp<"div", "Number", "x[0] / x[1]",
    "quotient (truncating for integers)">;
def Mlc_PowOp : Mlc_BinaryOp<"pow", "Float", "binary(BinaryFn::Pow, x[0], x[1])", "power">;
def Mlc_MinOp : Mlc_BinaryOp<"min", "Number", "binary(BinaryFn::Min, x[0], x[1])",
    "minimum (NaN if either is)">;
def Mlc_MaxOp : Mlc_BinaryOp<"max", "Number", "binary(BinaryFn::Max, x[0], x[1])",
    "maximum (NaN if either is)">;
def Mlc_ModOp : Mlc_BinaryOp<"mod", "Integer", "defineMod(b, x[0], x[1])",
    "remainder with the sign of the divisor">;
def Mlc_AndOp : Mlc_BinaryOp<"and", "Bool", "binary(BinaryFn::And, x[0], x[1])",
    "logical conjunction">;
def Mlc_OrOp : Mlc_BinaryOp<"or", "Bool", "binary(BinaryFn::Or, x[0], x[1])",
    "logical disjunction">;
def Mlc_XorOp : Mlc_BinaryOp<"xor", "Bool", "binary(BinaryFn::Xor, x[0], x[1])",
    "exclusive disjunction">;

def Mlc_CompareOp : Mlc_Op<"compare"> {
  let summary = "comparison";
  let description = [{
    `Y[i...] = A[i...] predicate B[i...]`, predicate one of eq, ne, lt, le, gt,
    ge. Comparisons with NaN are false, but for ne.
  }];
  let arguments = (ins Mlc_Tensor:$lhs, Mlc_Tensor:$rhs,
                       Mlc_WordAttr<Mlc_ComparePredicate>:$predicate);
}

def Mlc_SelectOp : Mlc_Op<"select"> {
  let summary = "choice by a condition";
  let description = "`Y[i...] = C[i...] ? A[i...] : B[i...]`.";
  let arguments = (ins Mlc_Tensor:$condition, Mlc_Tensor:$then, Mlc_Tensor:$otherwise);
}

def Mlc_CastOp : Mlc_Op<"cast"> {
  let summary = "conversion of the element type";
  let description = [{
    Floats to integers truncate towards zero, anything to bool is `!= 0`.
  }];
  let arguments = (ins Mlc_Tensor:$x, TypeAttr:$to);
}

#endif // MLC_DIALECTS_GRAPH_POINTWISE
