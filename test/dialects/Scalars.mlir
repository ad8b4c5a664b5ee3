// Operators on tensors without dims.
// RUN: %python %S/round_trip.py mlc-opt %s
// RUN: mlc-opt %s | FileCheck %s --implicit-check-not='"mlc.'

// CHECK-LABEL: func.func @scalar
// CHECK: mlc.transpose %arg0 {permutation = array<i64>} : (tensor<f32>) -> tensor<f32>
func.func @scalar(%x: tensor<f32>, %i: tensor<i32>, %b: tensor<i1>, %j: tensor<i64>, %y: tensor<4xf32>) {
  %0 = mlc.abs %x : (tensor<f32>) -> tensor<f32>
  %1 = mlc.ceil %x : (tensor<f32>) -> tensor<f32>
  %2 = mlc.cos %x : (tensor<f32>) -> tensor<f32>
  %3 = mlc.elu %x {alpha = #mlc.real<alpha>} : (tensor<f32>) -> tensor<f32>
  %4 = mlc.erf %x : (tensor<f32>) -> tensor<f32>
  %5 = mlc.exp %x : (tensor<f32>) -> tensor<f32>
  %6 = mlc.floor %x : (tensor<f32>) -> tensor<f32>
  %7 = mlc.hard_sigmoid %x {alpha = #mlc.real<0.2>, beta = #mlc.real<0.5>} : (tensor<f32>) -> tensor<f32>
  %8 = mlc.leaky_relu %x {alpha = #mlc.real<0.01>} : (tensor<f32>) -> tensor<f32>
  %9 = mlc.log %x : (tensor<f32>) -> tensor<f32>
  %10 = mlc.neg %x : (tensor<f32>) -> tensor<f32>
  %11 = mlc.reciprocal %x : (tensor<f32>) -> tensor<f32>
  %12 = mlc.relu %x : (tensor<f32>) -> tensor<f32>
  %13 = mlc.round_even %x : (tensor<f32>) -> tensor<f32>
  %14 = mlc.sigmoid %x : (tensor<f32>) -> tensor<f32>
  %15 = mlc.sign %x : (tensor<f32>) -> tensor<f32>
  %16 = mlc.sin %x : (tensor<f32>) -> tensor<f32>
  %17 = mlc.sqrt %x : (tensor<f32>) -> tensor<f32>
  %18 = mlc.tanh %x : (tensor<f32>) -> tensor<f32>
  %19 = mlc.clip %x {max = #mlc.real<6.0>, min = #mlc.real<-0.0>} : (tensor<f32>) -> tensor<f32>
  %20 = mlc.add %x, %x : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %21 = mlc.sub %x, %x : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %22 = mlc.mul %x, %x : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %23 = mlc.div %x, %x : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %24 = mlc.pow %x, %x : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %25 = mlc.min %x, %x : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %26 = mlc.max %x, %x : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %27 = mlc.mod %i, %i : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %28 = mlc.not %b : (tensor<i1>) -> tensor<i1>
  %29 = mlc.and %b, %b : (tensor<i1>, tensor<i1>) -> tensor<i1>
  %30 = mlc.or %b, %b : (tensor<i1>, tensor<i1>) -> tensor<i1>
  %31 = mlc.xor %b, %b : (tensor<i1>, tensor<i1>) -> tensor<i1>
  %32 = mlc.compare %x, %x {predicate = "le"} : (tensor<f32>, tensor<f32>) -> tensor<i1>
  %33 = mlc.select %b, %x, %x : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
  %34 = mlc.cast %x {to = i32} : (tensor<f32>) -> tensor<i32>
  %35 = mlc.reshape %x {dims = #mlc.dims<[1, 1]>} : (tensor<f32>) -> tensor<1x1xf32>
  %36 = mlc.transpose %x {permutation = array<i64>} : (tensor<f32>) -> tensor<f32>
  %37 = mlc.broadcast %x {dims = #mlc.dims<[]>} : (tensor<f32>) -> tensor<f32>
  %38 = mlc.slice %x {sizes = #mlc.dims<[]>, starts = #mlc.dims<[]>, steps = #mlc.dims<[]>} : (tensor<f32>) -> tensor<f32>
  %39 = mlc.pad %x {high = #mlc.dims<[]>, low = #mlc.dims<[]>, mode = "edge", value = #mlc.real<0.0>} : (tensor<f32>) -> tensor<f32>
  %40 = mlc.reverse %x {axes = array<i64>} : (tensor<f32>) -> tensor<f32>
  %41 = mlc.gather %y, %j {axis = 0 : i64} : (tensor<4xf32>, tensor<i64>) -> tensor<f32>
  %42 = mlc.fill {dims = #mlc.dims<[]>, type = i8, value = #mlc.real<-128.0>} : () -> tensor<i8>
  %43 = mlc.int_tensor {dims = #mlc.dims<[]>, values = #mlc.dims<[n]>} : () -> tensor<i64>
  %44 = mlc.reduce %x {axes = array<i64>, kind = "prod"} : (tensor<f32>) -> tensor<f32>
  %45 = mlc.resize %x {dims = #mlc.dims<[]>, mode = "nearest", nearest_mode = "ceil", scales = [], transform = "half_pixel"} : (tensor<f32>) -> tensor<f32>
  %46 = mlc.compute %x {definition = "(x) Y[] = -x[]", dims = #mlc.dims<[]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (tensor<f32>) -> tensor<f32>
  return
}
