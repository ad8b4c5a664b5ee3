//===- Enums.td - Words that attributes choose among -------*- tablegen -*-===//
//
// In the IR such an attribute is a string; C++ has an enumeration with
// symbolizeX(text) and stringifyX(value).
//
//===----------------------------------------------------------------------===//

#ifndef MLC_DIALECTS_SYMBOLIC_ENUMS
#define MLC_DIALECTS_SYMBOLIC_ENUMS

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/CommonAttrConstraints.td"
include "mlir/IR/EnumAttr.td"

class Mlc_Words<string name, string summary, list<I32EnumCase> cases>
    : I32Enum<name, summary, cases> {
  let cppNamespace = "::mlc";
}

/// A word of `words`. Other strings are rejected before any of the op's methods
/// run (OpInterfaces.cpp), and by its verifier.
class Mlc_WordAttr<Mlc_Words words>
    : Attr<And<[StrAttr.predicate,
                CPred<words.cppNamespace # "::" # words.stringToSymbolFnName #
                      "(::llvm::cast<::mlir::StringAttr>($_self).getValue())">]>,
           words.summary> {
  let storageType = "::mlir::StringAttr";
  let returnType = words.cppNamespace # "::" # words.className;
  let convertFromStorage = "*" # words.cppNamespace # "::" #
                           words.stringToSymbolFnName # "($_self.getValue())";
  let constBuilderCall = "$_builder.getStringAttr(" # words.cppNamespace # "::" #
                         words.symbolToStringFnName # "($0))";
}

def Mlc_ComparePredicate : Mlc_Words<"ComparePredicate",
    "eq, ne, lt, le, gt or ge", [
  I32EnumCase<"EQ", 0, "eq">, I32EnumCase<"NE", 1, "ne">,
  I32EnumCase<"LT", 2, "lt">, I32EnumCase<"LE", 3, "le">,
  I32EnumCase<"GT", 4, "gt">, I32EnumCase<"GE", 5, "ge">]>;

/// A predicate of every element of a tensor.
def Mlc_ElementPredicate : Mlc_Words<"ElementPredicate",
    "positive, nonnegative, nonzero, finite, allequal or constant", [
  I32EnumCase<"Positive", 0, "positive">,
  I32EnumCase<"NonNegative", 1, "nonnegative">,
  I32EnumCase<"NonZero", 2, "nonzero">, I32EnumCase<"Finite", 3, "finite">,
  I32EnumCase<"AllEqual", 4, "allequal">,
  I32EnumCase<"Constant", 5, "constant">]>;

def Mlc_Reduction : Mlc_Words<"Reduction", "sum, prod, max, min or mean", [
  I32EnumCase<"Sum", 0, "sum">, I32EnumCase<"Prod", 1, "prod">,
  I32EnumCase<"Max", 2, "max">, I32EnumCase<"Min", 3, "min">,
  I32EnumCase<"Mean", 4, "mean">]>;

def Mlc_PadMode : Mlc_Words<"PadMode", "constant, edge or reflect", [
  I32EnumCase<"Constant", 0, "constant">, I32EnumCase<"Edge", 1, "edge">,
  I32EnumCase<"Reflect", 2, "reflect">]>;

def Mlc_ResizeMode : Mlc_Words<"ResizeMode", "nearest or linear", [
  I32EnumCase<"Nearest", 0, "nearest">, I32EnumCase<"Linear", 1, "linear">]>;

def Mlc_ResizeTransform : Mlc_Words<"ResizeTransform",
    "half_pixel, pytorch_half_pixel, asymmetric or align_corners", [
  I32EnumCase<"HalfPixel", 0, "half_pixel">,
  I32EnumCase<"PytorchHalfPixel", 1, "pytorch_half_pixel">,
  I32EnumCase<"Asymmetric", 2, "asymmetric">,
  I32EnumCase<"AlignCorners", 3, "align_corners">]>;

def Mlc_NearestMode : Mlc_Words<"NearestMode",
    "round_prefer_floor, round_prefer_ceil, floor or ceil", [
  I32EnumCase<"RoundPreferFloor", 0, "round_prefer_floor">,
  I32EnumCase<"RoundPreferCeil", 1, "round_prefer_ceil">,
  I32EnumCase<"Floor", 2, "floor">, I32EnumCase<"Ceil", 3, "ceil">]>;

#endif // MLC_DIALECTS_SYMBOLIC_ENUMS
