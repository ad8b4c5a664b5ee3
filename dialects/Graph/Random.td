//===- Random.td - Random numbers --------------------------*- tablegen -*-===//
//
// Random numbers are functions of their position: nothing is stored between
// steps, and recomputation gives the same numbers.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_DIALECTS_GRAPH_RANDOM
#define MLC_DIALECTS_GRAPH_RANDOM

include "dialects/Graph/OpBase.td"

def Mlc_RandomUniformOp : Mlc_Op<"random_uniform"> {
  let summary = "numbers drawn evenly from [0, 1)";
  let description = [{
    `Y[i...] = threefry(seed + step * 0x9E3779B97F4A7C15, place) / 2^64`, rounded
    down to the digits of the float `type`; `place` is the element's place in
    row-major order. Equal seeds and steps give equal numbers; a loop gives each
    pass a `step` of its own, a scalar of ui64.
  }];
  let arguments = (ins Mlc_Tensor:$step, Mlc_DimsAttr:$dims, I64Attr:$seed,
                       TypeAttr:$type);
}

def Mlc_Word : AnyTypeOf<[I64, VectorOfNonZeroRankOf<[I64]>]>;

def Mlc_ThreefryOp : Op<Mlc_Dialect, "threefry",
    [Pure, Elementwise, Scalarizable, Vectorizable,
     AllTypesMatch<["key", "counter", "bits"]>]> {
  let summary = "64 random bits of a key and a counter";
  let description = [{
    Threefry-2x32 of 20 rounds, on numbers instead of tensors: what the function
    of that name in definitions becomes in code. Words are halves of the operands
    and of the result, the first one low.
  }];
  let arguments = (ins Mlc_Word:$key, Mlc_Word:$counter);
  let results = (outs Mlc_Word:$bits);
  let assemblyFormat = "$key `,` $counter attr-dict `:` type($bits)";
}

#endif // MLC_DIALECTS_GRAPH_RANDOM
