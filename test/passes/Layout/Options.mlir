// What the pass's options refuse; a filter with one channel in blocks of one.
// RUN: not mlc-opt --mlc-assign-layout=block=1000000 %s 2>&1 | FileCheck --check-prefix=LARGE %s
// RUN: not mlc-opt --mlc-assign-layout=block=-2 %s 2>&1 | FileCheck --check-prefix=NEGATIVE %s
// RUN: not mlc-opt "--mlc-assign-layout=channels-last block=8" %s 2>&1 | FileCheck --check-prefix=BOTH %s
// RUN: mlc-opt --mlc-assign-layout=block=1 %s -o %t.mlir
// RUN: FileCheck --check-prefix=ONE %s < %t.mlir
// RUN: mlc-verify --function=main %s %t.mlir | FileCheck --check-prefix=PROOF %s

// LARGE: error: a block of 1000000 channels; give 1 to 4096, or 0
// NEGATIVE: error: a block of -2 channels; give 1 to 4096, or 0
// BOTH: error: channels are last or in blocks, not both
// ONE: mlc.laid_out {{.*}}a div 1, b div 1, c, d, b mod 1, a mod 1], a = 1, b = 2
// PROOF: proved
func.func @main(%x: tensor<1x2x8x8xf32>) -> tensor<1x1x8x8xf32> {
  %w = mlc.constant dense<0.5> : tensor<1x2x3x3xf32>
  %0 = mlc.conv %x, %w {strides = #mlc.dims<[1, 1]>, pads = #mlc.dims<[1, 1, 1, 1]>, dilations = #mlc.dims<[1, 1]>, groups = #mlc.int<1>} : (tensor<1x2x8x8xf32>, tensor<1x2x3x3xf32>) -> tensor<1x1x8x8xf32>
  return %0 : tensor<1x1x8x8xf32>
}
