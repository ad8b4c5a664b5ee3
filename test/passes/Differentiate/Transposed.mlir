// The gradients of a transposed convolution are those of the convolution whose gradient it is.
// RUN: mlc-opt %s --mlc-differentiate=function=up | FileCheck %s
// RUN: mlc-opt %s --mlc-differentiate=function=up -o %t.mlir
// RUN: mlc-verify %t.mlir --gradient-of=up --gradient=up_gradient | FileCheck %s --check-prefix=JUDGE
// RUN: mlc-opt %s --mlc-differentiate=function=grouped | FileCheck %s --check-prefix=GROUPED
// RUN: mlc-opt %s --mlc-differentiate=function=grouped -o %t.mlir
// RUN: mlc-verify %t.mlir --gradient-of=grouped --gradient=grouped_gradient | FileCheck %s --check-prefix=JUDGE
// RUN: mlc-opt %s --mlc-differentiate=function=empty | FileCheck %s --check-prefix=EMPTY
// JUDGE: proved

// CHECK-LABEL: func.func @up_gradient(
// CHECK-SAME: %[[X:.*]]: tensor<2x5x6x7xf32>, %[[W:.*]]: tensor<5x3x2x2xf32>, %[[D:.*]]: tensor<2x3x12x14xf32>)
// CHECK: %[[DX:.*]] = mlc.conv %[[D]], %[[W]]
// CHECK-NOT: mlc.compute
// CHECK: return %[[DX]], %{{.*}} : tensor<2x5x6x7xf32>, tensor<5x3x2x2xf32>
func.func @up(%x: tensor<2x5x6x7xf32>, %w: tensor<5x3x2x2xf32>) -> tensor<2x3x12x14xf32> {
  %0 = mlc.conv_transpose %x, %w {strides = #mlc.dims<[2, 2]>, pads = #mlc.dims<[0, 0, 0, 0]>, dilations = #mlc.dims<[1, 1]>, output_padding = #mlc.dims<[0, 0]>, groups = #mlc.int<1>} : (tensor<2x5x6x7xf32>, tensor<5x3x2x2xf32>) -> tensor<2x3x12x14xf32>
  return %0 : tensor<2x3x12x14xf32>
}

// Weights of groups have their gradient by definition.
// GROUPED-LABEL: func.func @grouped_gradient(
// GROUPED: mlc.conv %{{.*}}, %{{.*}} {{.*}}groups = #mlc.int<2>
// GROUPED: mlc.compute
func.func @grouped(%x: tensor<1x4x3x3xf32>, %w: tensor<4x2x3x3xf32>) -> tensor<1x4x6x6xf32> {
  %0 = mlc.conv_transpose %x, %w {strides = #mlc.dims<[2, 2]>, pads = #mlc.dims<[1, 1, 1, 1]>, dilations = #mlc.dims<[1, 1]>, output_padding = #mlc.dims<[1, 1]>, groups = #mlc.int<2>} : (tensor<1x4x3x3xf32>, tensor<4x2x3x3xf32>) -> tensor<1x4x6x6xf32>
  return %0 : tensor<1x4x6x6xf32>
}

// EMPTY-LABEL: func.func @empty_gradient(
// EMPTY-NOT: mlc.conv %
func.func @empty(%x: tensor<0x4x3x3xf32>, %w: tensor<4x2x2x2xf32>) -> tensor<0x2x6x6xf32> {
  %0 = mlc.conv_transpose %x, %w {strides = #mlc.dims<[2, 2]>, pads = #mlc.dims<[0, 0, 0, 0]>, dilations = #mlc.dims<[1, 1]>, output_padding = #mlc.dims<[0, 0]>, groups = #mlc.int<1>} : (tensor<0x4x3x3xf32>, tensor<4x2x2x2xf32>) -> tensor<0x2x6x6xf32>
  return %0 : tensor<0x2x6x6xf32>
}
