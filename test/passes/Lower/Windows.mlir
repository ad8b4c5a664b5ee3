// Convolutions and pooling: guarded reads, groups, windows.
// RUN: mlc-opt --mlc-lower-to-linalg %s | FileCheck %s
// RUN: %if x86-64-v3 %{ %python %S/../execute.py %s N=2 H=7 -- --mlc-lower-to-linalg --mlc-fuse %}
// RUN: mlc-opt --mlc-lower-to-linalg %s -o %t.mlir
// RUN: mlc-verify --function=pool %s %t.mlir | FileCheck %s --check-prefix=PROOF
// PROOF: proved

// A guarded read becomes a pad of just the halo that the loops reach, which
// depends on H; a grouped channel is an affine index; H is an argument.
// CHECK: #[[X:.+]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, (d1 floordiv 8) * 4 + d4, d2 * 2 + d5, d3 * 2 + d6)>
// An input that is smaller than the window by less than a stride gives an empty
// output: nothing is left to check at run time.
// CHECK-NOT: mlc.check
// CHECK-LABEL: func.func @conv
// CHECK-SAME: %[[ARG:.+]]: tensor<?x8x?x16xf32> {mlc.dims = #mlc.dims<[N, 8, H, 16]>}
// CHECK-SAME: index, %{{.+}}: index) -> (tensor<?x16x?x8xf32> {mlc.dims = #mlc.dims<[N, 16, floordiv(H + 1, 2), 8]>})
// CHECK-SAME: mlc.symbols = ["N", "H"]
// CHECK: %[[P:.+]] = tensor.pad %[[ARG]] low[0, 0, 1, 1] high[0, 0, %{{.+}}, 0]
// CHECK: linalg.fill
// CHECK: linalg.generic {indexing_maps = [#[[X]], {{.*}}iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%[[P]],
// CHECK: arith.mulf
// CHECK: arith.addf
func.func @conv(%x: tensor<?x8x?x16xf32, #mlc.dims<[N, 8, H, 16]>>, %w: tensor<16x4x3x3xf32>) -> tensor<?x16x?x8xf32, #mlc.dims<[N, 16, floordiv(H - 1, 2) + 1, 8]>> {
  %0 = mlc.conv %x, %w {strides = #mlc.dims<[2, 2]>, pads = #mlc.dims<[1, 1, 1, 1]>, dilations = #mlc.dims<[1, 1]>, groups = #mlc.int<2>} : (tensor<?x8x?x16xf32, #mlc.dims<[N, 8, H, 16]>>, tensor<16x4x3x3xf32>) -> tensor<?x16x?x8xf32, #mlc.dims<[N, 16, floordiv(H - 1, 2) + 1, 8]>>
  return %0 : tensor<?x16x?x8xf32, #mlc.dims<[N, 16, floordiv(H - 1, 2) + 1, 8]>>
}

// A window that no operand shows is an operand without elements that matter.
// CHECK-LABEL: func.func @pool
// CHECK: tensor.pad %{{.+}} low[0, 0, 1, 1] high[0, 0, 1, 1]
// CHECK: arith.constant 0xFF800000
// CHECK: linalg.generic {{.*}} ins(%padded, %{{.+}} : tensor<1x8x9x9xf32>, tensor<3x3xf32>)
// CHECK: arith.maximumf
// The sum is a stage of its own before it is divided.
// CHECK: arith.addf
// CHECK: linalg.generic {{.*}}"parallel", "parallel", "parallel", "parallel"]}
// CHECK: %[[NINE:.+]] = arith.constant 9.0
// CHECK: arith.divf %{{.+}}, %[[NINE]]
func.func @pool(%x: tensor<1x8x7x7xf32>) -> (tensor<1x8x4x4xf32>, tensor<1x8x3x3xf32>) {
  %0 = mlc.max_pool %x {kernel = #mlc.dims<[3, 3]>, strides = #mlc.dims<[2, 2]>, pads = #mlc.dims<[1, 1, 1, 1]>, dilations = #mlc.dims<[1, 1]>, ceil_pads = #mlc.dims<[0,0]>} : (tensor<1x8x7x7xf32>) -> tensor<1x8x4x4xf32>
  %1 = mlc.avg_pool %x {kernel = #mlc.dims<[3, 3]>, strides = #mlc.dims<[2, 2]>, pads = #mlc.dims<[0, 0, 0, 0]>, dilations = #mlc.dims<[1, 1]>, ceil_pads = #mlc.dims<[0,0]>, count_include_pad = false} : (tensor<1x8x7x7xf32>) -> tensor<1x8x3x3xf32>
  return %0, %1 : tensor<1x8x4x4xf32>, tensor<1x8x3x3xf32>
}
