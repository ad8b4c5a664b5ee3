// What lowering makes is proved equal to the operators that it came from.
// RUN: mlc-opt --mlc-lower-to-linalg %s -o %t.mlir
// RUN: mlc-verify --function=conv %s %t.mlir | FileCheck %s
// RUN: mlc-verify --function=matmul %s %t.mlir | FileCheck %s
// RUN: mlc-verify --function=pool %s %t.mlir | FileCheck %s
// RUN: mlc-verify --function=softmax %s %t.mlir | FileCheck %s
// RUN: mlc-verify --function=batch_norm %s %t.mlir | FileCheck %s
// RUN: mlc-verify --function=layer_norm %s %t.mlir | FileCheck %s
// RUN: mlc-verify --function=concat %s %t.mlir | FileCheck %s
// RUN: mlc-verify --function=slice %s %t.mlir | FileCheck %s
// RUN: mlc-verify --function=reshape %s %t.mlir | FileCheck %s
// RUN: mlc-verify --function=reverse %s %t.mlir | FileCheck %s
// CHECK: proved

func.func @conv(%x: tensor<1x8x9x16xf32>, %w: tensor<16x4x3x3xf32>) -> tensor<1x16x5x8xf32> {
  %0 = mlc.conv %x, %w {strides = #mlc.dims<[2, 2]>, pads = #mlc.dims<[1, 1, 1, 1]>, dilations = #mlc.dims<[1, 1]>, groups = #mlc.int<2>} : (tensor<1x8x9x16xf32>, tensor<16x4x3x3xf32>) -> tensor<1x16x5x8xf32>
  return %0 : tensor<1x16x5x8xf32>
}

func.func @matmul(%a: tensor<2x3x4xf32>, %b: tensor<2x4x5xf32>) -> tensor<2x3x5xf32> {
  %0 = mlc.matmul %a, %b : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  return %0 : tensor<2x3x5xf32>
}

func.func @pool(%x: tensor<1x8x7x7xf32>) -> tensor<1x8x4x4xf32> {
  %0 = mlc.max_pool %x {kernel = #mlc.dims<[3, 3]>, strides = #mlc.dims<[2, 2]>, pads = #mlc.dims<[1, 1, 1, 1]>, dilations = #mlc.dims<[1, 1]>, ceil_pads = #mlc.dims<[0,0]>} : (tensor<1x8x7x7xf32>) -> tensor<1x8x4x4xf32>
  return %0 : tensor<1x8x4x4xf32>
}

func.func @softmax(%x: tensor<4x1000xf32>) -> tensor<4x1000xf32> {
  %0 = mlc.softmax %x {axis = 1 : i64} : (tensor<4x1000xf32>) -> tensor<4x1000xf32>
  return %0 : tensor<4x1000xf32>
}

// An epsilon that float32 holds exactly, as import makes it.
func.func @batch_norm(%x: tensor<1x8x4x4xf32>, %s: tensor<8xf32>, %b: tensor<8xf32>, %m: tensor<8xf32>, %v: tensor<8xf32>) -> tensor<1x8x4x4xf32> {
  %0 = mlc.batch_norm %x, %s, %b, %m, %v {epsilon = #mlc.real<0.0009765625>} : (tensor<1x8x4x4xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<1x8x4x4xf32>
  return %0 : tensor<1x8x4x4xf32>
}

func.func @layer_norm(%x: tensor<3x7xf32>, %s: tensor<7xf32>, %b: tensor<7xf32>) -> tensor<3x7xf32> {
  %0 = mlc.layer_norm %x, %s, %b {axis = 1 : i64, epsilon = #mlc.real<0.0009765625>} : (tensor<3x7xf32>, tensor<7xf32>, tensor<7xf32>) -> tensor<3x7xf32>
  return %0 : tensor<3x7xf32>
}

func.func @concat(%x: tensor<2x3x4xf32>, %y: tensor<5x3x4xf32>) -> tensor<7x3x4xf32> {
  %0 = mlc.concat %x, %y {axis = 0 : i64} : (tensor<2x3x4xf32>, tensor<5x3x4xf32>) -> tensor<7x3x4xf32>
  return %0 : tensor<7x3x4xf32>
}

func.func @slice(%x: tensor<2x3x4xf32>) -> tensor<1x2x4xf32> {
  %0 = mlc.slice %x {starts = #mlc.dims<[1, 0, 0]>, sizes = #mlc.dims<[1, 2, 4]>, steps = #mlc.dims<[1,2,1]>} : (tensor<2x3x4xf32>) -> tensor<1x2x4xf32>
  return %0 : tensor<1x2x4xf32>
}

func.func @reshape(%x: tensor<2x6x4xf32>) -> tensor<3x4x4xf32> {
  %0 = mlc.reshape %x {dims = #mlc.dims<[3, 4, 4]>} : (tensor<2x6x4xf32>) -> tensor<3x4x4xf32>
  return %0 : tensor<3x4x4xf32>
}

func.func @reverse(%x: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
  %0 = mlc.reverse %x {axes = array<i64: 1>} : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  return %0 : tensor<2x3x4xf32>
}
