// What is printed is read again, by an operator's own syntax and by the generic one.
// RUN: %python %source/test/dialects/round_trip.py mlc-opt %s
// RUN: mlc-opt %s | FileCheck %s --implicit-check-not='"mlc.'

// CHECK-LABEL: func.func @static
// CHECK: mlc.elu %arg0 {{.*}}#mlc.real<alpha>
func.func @static(%x: tensor<2x3xf32>, %i: tensor<2x3xi32>, %b: tensor<2x3xi1>, %s: tensor<3xf32>, %g: tensor<4xi64>, %c: tensor<1x6x5xf32>) {
  %0 = mlc.abs %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = mlc.ceil %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = mlc.cos %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %3 = mlc.erf %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %4 = mlc.floor %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %5 = mlc.round_even %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %6 = mlc.sigmoid %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %7 = mlc.sign %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %8 = mlc.sin %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %9 = mlc.tanh %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %10 = mlc.not %b : (tensor<2x3xi1>) -> tensor<2x3xi1>
  %11 = mlc.and %b, %b : (tensor<2x3xi1>, tensor<2x3xi1>) -> tensor<2x3xi1>
  %12 = mlc.or %b, %b : (tensor<2x3xi1>, tensor<2x3xi1>) -> tensor<2x3xi1>
  %13 = mlc.xor %b, %b : (tensor<2x3xi1>, tensor<2x3xi1>) -> tensor<2x3xi1>
  %14 = mlc.min %i, %i : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi32>
  %15 = mlc.mod %i, %i : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi32>
  %16 = mlc.pow %x, %x : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %17 = mlc.compare %x, %x {predicate = "le"} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
  %18 = mlc.select %b, %x, %x : (tensor<2x3xi1>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %19 = mlc.cast %x {to = f16} : (tensor<2x3xf32>) -> tensor<2x3xf16>
  %20 = mlc.clip %x {max = #mlc.real<6.0>, min = #mlc.real<-0.0>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %21 = mlc.elu %x {alpha = #mlc.real<alpha>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %22 = mlc.leaky_relu %x {alpha = #mlc.real<0.01>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %23 = mlc.hard_sigmoid %x {alpha = #mlc.real<0.2>, beta = #mlc.real<0.5>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %24 = mlc.cumsum %x {axis = 1 : i64, exclusive = true, reverse = false} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %25 = mlc.log_softmax %x {axis = 1 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %26 = mlc.layer_norm %x, %s, %s {axis = 1 : i64, epsilon = #mlc.real<1.0e-5>} : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %27 = mlc.lrn %x {alpha = #mlc.real<1.0e-4>, beta = #mlc.real<0.75>, bias = #mlc.real<1.0>, size = #mlc.int<5>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %28 = mlc.arg_max %x {axis = 0 : i64} : (tensor<2x3xf32>) -> tensor<1x3xi64>
  %29 = mlc.arg_min %x {axis = 1 : i64} : (tensor<2x3xf32>) -> tensor<2x1xi64>
  %30 = mlc.gather %x, %g {axis = 1 : i64} : (tensor<2x3xf32>, tensor<4xi64>) -> tensor<2x4xf32>
  %31 = mlc.reverse %x {axes = array<i64: 0, 1>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %32 = mlc.iota {axis = 0 : i64, dims = #mlc.dims<[4]>, start = #mlc.int<3>, step = #mlc.int<-1>} : () -> tensor<4xi64>
  %33 = mlc.int_tensor {dims = #mlc.dims<[2]>, values = #mlc.dims<[7, -1]>} : () -> tensor<2xi64>
  %34 = mlc.resize %x {dims = #mlc.dims<[4, 3]>, mode = "nearest", nearest_mode = "floor", scales = [#mlc.real<2.0>, #mlc.real<1.0>], transform = "asymmetric"} : (tensor<2x3xf32>) -> tensor<4x3xf32>
  %35:2 = mlc.top_k %x {axis = 1 : i64, k = #mlc.int<2>, largest = true, sorted = true} : (tensor<2x3xf32>) -> (tensor<2x2xf32>, tensor<2x2xi64>)
  %36 = mlc.pack %c {block = 4 : i64, groups = 2 : i64} : (tensor<1x6x5xf32>) -> tensor<1x2x5x4xf32>
  %37 = mlc.unpack %36 {channels = 6 : i64, groups = 2 : i64} : (tensor<1x2x5x4xf32>) -> tensor<1x6x5xf32>
  return
}

// Sizes are expressions of symbols, in one normal form.
// CHECK-LABEL: func.func @open
// CHECK: #mlc.dims<[n, m + n]>
// CHECK: #mlc.dims<[n, floordiv(m + n, 2)]>
// CHECK: #mlc.dims<[max(m, n), min(4, n)]>
func.func @open(%x: tensor<?x?xf32, #mlc.dims<[n, n + m]>>) {
  %0 = mlc.relu %x : (tensor<?x?xf32, #mlc.dims<[n, n + m]>>) -> tensor<?x?xf32, #mlc.dims<[n, m + n]>>
  %1 = mlc.slice %x {starts = #mlc.dims<[0, 0]>, sizes = #mlc.dims<[n, floordiv(n + m, 2)]>, steps = #mlc.dims<[1, 1]>} : (tensor<?x?xf32, #mlc.dims<[n, n + m]>>) -> tensor<?x?xf32, #mlc.dims<[n, floordiv(m + n, 2)]>>
  %2 = mlc.fill {dims = #mlc.dims<[max(m, n), min(n, 4)]>, type = f32, value = #mlc.real<0.0>} : () -> tensor<?x?xf32, #mlc.dims<[max(n, m), min(4, n)]>>
  return
}
