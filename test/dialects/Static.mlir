// Every operator, printed and read again in its own syntax and in the generic one.
// RUN: %python %S/round_trip.py mlc-opt %s
// RUN: mlc-opt %s | FileCheck %s --implicit-check-not='{{%[0-9:]+ = "mlc}}'

// CHECK-LABEL: func.func @static
// CHECK: mlc.elu %arg0 {alpha = #mlc.real<alpha>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK: mlc.clip %arg0 {max = #mlc.real<6.000000e+00>, min = #mlc.real<-0.000000e+00>}
// CHECK: mlc.pad {{.*}}value = #mlc.real<"-inf">
// CHECK: mlc.fill {dims = #mlc.dims<[2, 3]>, type = f32, value = #mlc.real<nan>} : () -> tensor<2x3xf32>
// CHECK: mlc.top_k %arg0 {{.*}} : (tensor<2x3xf32>) -> (tensor<2x1xf32>, tensor<2x1xi64>)
func.func @static(%x: tensor<2x3xf32>, %i: tensor<2x3xi32>, %b: tensor<2x3xi1>, %o: tensor<1x3xf32>, %g: tensor<4xi64>, %t: tensor<3x5xf32>, %s: tensor<3xf32>, %c: tensor<1x6x8x8xf32>, %w: tensor<4x3x3x3xf32>, %v: tensor<6x2x3x3xf32>, %k: tensor<1x2x6x6x4xf32>, %d: tensor<2x6x3x3x4xf32>, %e: tensor<3x2x3x3x4x4xf32>, %f: tensor<2x3x3x4xf32>) {
  %0 = mlc.abs %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = mlc.ceil %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = mlc.cos %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %3 = mlc.elu %x {alpha = #mlc.real<alpha>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %4 = mlc.erf %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %5 = mlc.exp %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %6 = mlc.floor %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %7 = mlc.hard_sigmoid %x {alpha = #mlc.real<0.2>, beta = #mlc.real<0.5>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %8 = mlc.leaky_relu %x {alpha = #mlc.real<0.01>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %9 = mlc.log %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %10 = mlc.neg %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %11 = mlc.reciprocal %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %12 = mlc.relu %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %13 = mlc.round_even %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %14 = mlc.sigmoid %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %15 = mlc.sign %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %16 = mlc.sin %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %17 = mlc.sqrt %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %18 = mlc.tanh %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %19 = mlc.clip %x {max = #mlc.real<6.0>, min = #mlc.real<-0.0>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %20 = mlc.add %x, %x : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %21 = mlc.sub %x, %x : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %22 = mlc.mul %x, %x : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %23 = mlc.div %x, %x : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %24 = mlc.pow %x, %x : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %25 = mlc.min %x, %x : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %26 = mlc.max %x, %x : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %27 = mlc.mod %i, %i : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi32>
  %28 = mlc.not %b : (tensor<2x3xi1>) -> tensor<2x3xi1>
  %29 = mlc.and %b, %b : (tensor<2x3xi1>, tensor<2x3xi1>) -> tensor<2x3xi1>
  %30 = mlc.or %b, %b : (tensor<2x3xi1>, tensor<2x3xi1>) -> tensor<2x3xi1>
  %31 = mlc.xor %b, %b : (tensor<2x3xi1>, tensor<2x3xi1>) -> tensor<2x3xi1>
  %32 = mlc.compare %x, %x {predicate = "le"} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
  %33 = mlc.select %b, %x, %x : (tensor<2x3xi1>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %34 = mlc.cast %x {to = i32} : (tensor<2x3xf32>) -> tensor<2x3xi32>
  %35 = mlc.reshape %x {dims = #mlc.dims<[3, 2]>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %36 = mlc.transpose %x {permutation = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %37 = mlc.broadcast %o {dims = #mlc.dims<[2, 3]>} : (tensor<1x3xf32>) -> tensor<2x3xf32>
  %38 = mlc.slice %x {sizes = #mlc.dims<[2, 3]>, starts = #mlc.dims<[0, 0]>, steps = #mlc.dims<[1, 1]>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %39 = mlc.concat %x, %x {axis = 1 : i64} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x6xf32>
  %40 = mlc.pad %x {high = #mlc.dims<[0, 3]>, low = #mlc.dims<[1, 0]>, mode = "constant", value = #mlc.real<"-inf">} : (tensor<2x3xf32>) -> tensor<3x6xf32>
  %41 = mlc.reverse %x {axes = array<i64: 0, 1>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %42 = mlc.gather %x, %g {axis = 0 : i64} : (tensor<2x3xf32>, tensor<4xi64>) -> tensor<4x3xf32>
  %43 = mlc.fill {dims = #mlc.dims<[2, 3]>, type = f32, value = #mlc.real<nan>} : () -> tensor<2x3xf32>
  %44 = mlc.iota {axis = 1 : i64, dims = #mlc.dims<[2, 3]>, start = #mlc.int<3>, step = #mlc.int<-1>} : () -> tensor<2x3xi64>
  %45 = mlc.int_tensor {dims = #mlc.dims<[2]>, values = #mlc.dims<[2, -1]>} : () -> tensor<2xi64>
  %46 = mlc.matmul %x, %t : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>
  %47 = mlc.reduce %x {axes = array<i64: 1>, kind = "mean"} : (tensor<2x3xf32>) -> tensor<2x1xf32>
  %48 = mlc.softmax %x {axis = 1 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %49 = mlc.log_softmax %x {axis = 0 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %50 = mlc.batch_norm %x, %s, %s, %s, %s {epsilon = #mlc.real<1.0e-5>} : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %51 = mlc.layer_norm %x, %s, %s {axis = 1 : i64, epsilon = #mlc.real<eps>} : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %52 = mlc.lrn %x {alpha = #mlc.real<1.0e-4>, beta = #mlc.real<0.75>, bias = #mlc.real<1.0>, size = #mlc.int<5>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %53 = mlc.cumsum %x {axis = 1 : i64, exclusive = true, reverse = false} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %54 = mlc.compute %x, %s {definition = "(x, s; ; eps) Y[i] = sum{r < 2}(s<0>[i + r]) / (1 + eps)", dims = #mlc.dims<[3]>, integers = #mlc.dims<[]>, reals = [#mlc.real<eps>], type = f32} : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %55 = mlc.conv %c, %w {dilations = #mlc.dims<[1, 2]>, groups = #mlc.int<2>, pads = #mlc.dims<[1, 0, 1, 2]>, strides = #mlc.dims<[2, 1]>} : (tensor<1x6x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x4x6xf32>
  %56 = mlc.conv_transpose %c, %v {dilations = #mlc.dims<[1, 1]>, groups = #mlc.int<1>, output_padding = #mlc.dims<[0, 1]>, pads = #mlc.dims<[0, 0, 0, 0]>, strides = #mlc.dims<[2, 2]>} : (tensor<1x6x8x8xf32>, tensor<6x2x3x3xf32>) -> tensor<1x2x17x18xf32>
  %57 = mlc.max_pool %c {dilations = #mlc.dims<[1, 1]>, kernel = #mlc.dims<[2, 3]>, ceil_pads = #mlc.dims<[1, 0]>, pads = #mlc.dims<[0, 1, 0, 1]>, strides = #mlc.dims<[2, 1]>} : (tensor<1x6x8x8xf32>) -> tensor<1x6x4x8xf32>
  %58 = mlc.avg_pool %c {count_include_pad = true, dilations = #mlc.dims<[1, 1]>, kernel = #mlc.dims<[2, 3]>, ceil_pads = #mlc.dims<[0, 0]>, pads = #mlc.dims<[0, 1, 0, 1]>, strides = #mlc.dims<[2, 1]>} : (tensor<1x6x8x8xf32>) -> tensor<1x6x4x8xf32>
  %59 = mlc.laid_out %c, %d {layouts = [#mlc.layout<[a, b, c, d]>, #mlc.layout<[a div 4, b, c, d, a mod 4], a = 8>, #mlc.layout<[a, b div 4, c, d, b mod 4], b = 8>], plain_attributes = {dilations = #mlc.dims<[1, 1]>, groups = #mlc.int<1>, pads = #mlc.dims<[0, 0, 0, 0]>, strides = #mlc.dims<[1, 2]>}, plain_op = "mlc.conv"} : (tensor<1x6x8x8xf32>, tensor<2x6x3x3x4xf32>) -> tensor<1x2x6x3x4xf32>
  %60 = mlc.laid_out %k, %e {layouts = [#mlc.layout<[a, b div 4, c, d, b mod 4], b = 8>, #mlc.layout<[a div 4, b div 4, c, d, b mod 4, a mod 4], a = 12, b = 8>, #mlc.layout<[a, b div 4, c, d, b mod 4], b = 12>], plain_attributes = {dilations = #mlc.dims<[1, 1]>, groups = #mlc.int<1>, pads = #mlc.dims<[0, 0, 0, 0]>, strides = #mlc.dims<[1, 1]>}, plain_op = "mlc.conv"} : (tensor<1x2x6x6x4xf32>, tensor<3x2x3x3x4x4xf32>) -> tensor<1x3x4x4x4xf32>
  %61 = mlc.laid_out %k, %f {layouts = [#mlc.layout<[a, b div 4, c, d, b mod 4], b = 8>, #mlc.layout<[a div 4, c, d, a mod 4], a = 8, b = 1>, #mlc.layout<[a, b div 4, c, d, b mod 4], b = 8>], plain_attributes = {dilations = #mlc.dims<[1, 2]>, groups = #mlc.int<8>, pads = #mlc.dims<[0, 0, 0, 0]>, strides = #mlc.dims<[1, 1]>}, plain_op = "mlc.conv"} : (tensor<1x2x6x6x4xf32>, tensor<2x3x3x4xf32>) -> tensor<1x2x4x2x4xf32>
  %62 = mlc.pack %c {layout = #mlc.layout<[a, b div 4, c, d, b mod 4], b = 6 in 2>} : (tensor<1x6x8x8xf32>) -> tensor<1x2x8x8x4xf32>
  %63 = mlc.unpack %k {layout = #mlc.layout<[a, b div 4, c, d, b mod 4], b = 7>} : (tensor<1x2x6x6x4xf32>) -> tensor<1x7x6x6xf32>
  %64:2 = mlc.top_k %x {axis = 1 : i64, k = #mlc.int<1>, largest = true, sorted = false} : (tensor<2x3xf32>) -> (tensor<2x1xf32>, tensor<2x1xi64>)
  %65 = mlc.resize %x {dims = #mlc.dims<[4, 3]>, mode = "nearest", nearest_mode = "floor", scales = [#mlc.real<2.0>, #mlc.real<1.0>], transform = "asymmetric"} : (tensor<2x3xf32>) -> tensor<4x3xf32>
  %none = mlc.resize %x {dims = #mlc.dims<[0, 3]>, mode = "nearest", nearest_mode = "floor", scales = [], transform = "asymmetric"} : (tensor<2x3xf32>) -> tensor<0x3xf32>
  %66 = mlc.arg_max %x {axis = 0 : i64} : (tensor<2x3xf32>) -> tensor<1x3xi64>
  %67 = mlc.arg_min %x {axis = 1 : i64} : (tensor<2x3xf32>) -> tensor<2x1xi64>
  return
}

// Elements in the text, repeated, and in the file's own resources; symbols that are no words are quoted.
// CHECK-LABEL: func.func @literals
// CHECK: mlc.constant dense<{{\[\[}}1, -2], [3, 4]]> : tensor<2x2xi8>
// CHECK: mlc.constant dense<5.000000e-01> : tensor<2x3xbf16>
// CHECK: mlc.constant dense<> : tensor<0x2xf64>
// CHECK: mlc.constant dense<true> : tensor<i1>
// CHECK: mlc.constant dense_resource<w> : tensor<2xf32>
// CHECK: #mlc.real<"an epsilon">
// CHECK: #mlc.dims<["batch size", "mod", 2]>
func.func @literals(%x: tensor<?x?x2xf32, #mlc.dims<["batch size", "mod", 2]>>) {
  %0 = mlc.constant dense<[[1, -2], [3, 4]]> : tensor<2x2xi8>
  %1 = mlc.constant dense<0.5> : tensor<2x3xbf16>
  %2 = mlc.constant dense<> : tensor<0x2xf64>
  %3 = mlc.constant dense<true> : tensor<i1>
  %4 = mlc.constant dense_resource<w> : tensor<2xf32>
  %5 = mlc.fill {dims = #mlc.dims<[2]>, type = f32, value = #mlc.real<"an epsilon">} : () -> tensor<2xf32>
  %6 = mlc.neg %x : (tensor<?x?x2xf32, #mlc.dims<["batch size", "mod", 2]>>) -> tensor<?x?x2xf32, #mlc.dims<["batch size", "mod", 2]>>
  return
}

{-#
  dialect_resources: {
    builtin: {
      w: "0x040000000000803F00000040"
    }
  }
#-}
