// Movement that cancels is removed, with symbolic dims and attributes bound by
// solving equations; each function is proved equal to what it was.
// RUN: mlc-opt --mlc-apply-rules=target=cpu:x86-64-v3 %s -o %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: mlc-verify --function=parts %s %t.mlir | FileCheck --check-prefix=PROOF %s
// RUN: mlc-verify --function=slices %s %t.mlir | FileCheck --check-prefix=PROOF %s
// RUN: mlc-verify --function=borders %s %t.mlir | FileCheck --check-prefix=PROOF %s

// PROOF: proved

!a = tensor<?x3x?x4xf32, #mlc.dims<[N, 3, H, 4]>>
!b = tensor<?x5x?x4xf32, #mlc.dims<[N, 5, H, 4]>>
!ab = tensor<?x8x?x4xf32, #mlc.dims<[N, 8, H, 4]>>

// CHECK-LABEL: func.func @parts
// CHECK-NEXT: return %arg1
func.func @parts(%x: !a, %y: !b) -> !b {
  %0 = mlc.concat %x, %y {axis = 1 : i64} : (!a, !b) -> !ab
  %1 = mlc.slice %0 {starts = #mlc.dims<[0, 3, 0, 0]>, sizes = #mlc.dims<[N, 5, H, 4]>, steps = #mlc.dims<[1, 1, 1, 1]>} : (!ab) -> !b
  return %1 : !b
}

// CHECK-LABEL: func.func @slices
// CHECK-NEXT: mlc.slice %arg0 {sizes = #mlc.dims<[3]>, starts = #mlc.dims<[7]>, steps = #mlc.dims<[6]>}
func.func @slices(%x: tensor<40xf32>) -> tensor<3xf32> {
  %0 = mlc.slice %x {starts = #mlc.dims<[1]>, sizes = #mlc.dims<[12]>, steps = #mlc.dims<[3]>} : (tensor<40xf32>) -> tensor<12xf32>
  %1 = mlc.slice %0 {starts = #mlc.dims<[2]>, sizes = #mlc.dims<[3]>, steps = #mlc.dims<[2]>} : (tensor<12xf32>) -> tensor<3xf32>
  return %1 : tensor<3xf32>
}

// Borders of different values are not one border.
// CHECK-LABEL: func.func @borders
// CHECK-NEXT: mlc.pad
// CHECK-NEXT: mlc.pad
func.func @borders(%x: tensor<1x2x3x4xf32>) -> tensor<1x2x5x8xf32> {
  %0 = mlc.pad %x {low = #mlc.dims<[0, 0, 1, 1]>, high = #mlc.dims<[0, 0, 0, 1]>, mode = "constant", value = #mlc.real<0.0>} : (tensor<1x2x3x4xf32>) -> tensor<1x2x4x6xf32>
  %1 = mlc.pad %0 {low = #mlc.dims<[0, 0, 1, 1]>, high = #mlc.dims<[0, 0, 0, 1]>, mode = "constant", value = #mlc.real<1.0>} : (tensor<1x2x4x6xf32>) -> tensor<1x2x5x8xf32>
  return %1 : tensor<1x2x5x8xf32>
}
