// A large constant of one number stays that number, whoever reads it.
// RUN: mlc-opt --mlc-lower-to-linalg %s | FileCheck %s
// RUN: mlc-opt --mlc-lower-to-linalg --mlc-fuse %s | FileCheck %s --check-prefix=FUSED
// RUN: %if x86-64-v3 %{ %python %S/../execute.py %s -- --mlc-lower-to-linalg --mlc-fuse %}
// FUSED-LABEL: exec.program @large
// FUSED-NOT: exec.constant
// FUSED-LABEL: exec.program @small
// FUSED: exec.constant dense<5.0{{.*}}e-01> : tensor<1023x256xf32>

// CHECK-LABEL: func.func @large
// CHECK: %[[C:.*]] = arith.constant 5.0{{.*}}e-01 : f32
// CHECK: linalg.generic
// CHECK: linalg.yield %[[C]] : f32
func.func @large(%x: tensor<3x1024xf32>) -> (tensor<3x256xf32>, tensor<1024x256xf32>) {
  %w = mlc.constant dense<0.5> : tensor<1024x256xf32>
  %0 = mlc.matmul %x, %w : (tensor<3x1024xf32>, tensor<1024x256xf32>) -> tensor<3x256xf32>
  return %0, %w : tensor<3x256xf32>, tensor<1024x256xf32>
}

// CHECK-LABEL: func.func @small
// CHECK: arith.constant dense<5.0{{.*}}e-01> : tensor<1023x256xf32>
func.func @small(%x: tensor<3x1023xf32>) -> tensor<3x256xf32> {
  %w = mlc.constant dense<0.5> : tensor<1023x256xf32>
  %0 = mlc.matmul %x, %w : (tensor<3x1023xf32>, tensor<1023x256xf32>) -> tensor<3x256xf32>
  return %0 : tensor<3x256xf32>
}

// A part that lies in one piece is read where the whole was written.
// FUSED-LABEL: exec.program @part
// FUSED: exec.launch
// FUSED: exec.alias
func.func @part() -> tensor<3x512xf32> {
  %w = mlc.constant dense<0.5> : tensor<600x512xf32>
  %0 = mlc.slice %w {starts = #mlc.dims<[2, 0]>, sizes = #mlc.dims<[3, 512]>, steps = #mlc.dims<[1, 1]>} : (tensor<600x512xf32>) -> tensor<3x512xf32>
  return %0 : tensor<3x512xf32>
}
