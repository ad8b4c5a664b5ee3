// Every operator over open dims, which are expressions of symbols in one normal form.
// RUN: %python %S/round_trip.py mlc-opt %s
// RUN: mlc-opt %s | FileCheck %s --implicit-check-not='{{%[0-9:]+ = "mlc}}'

// CHECK-LABEL: func.func @open
// CHECK: mlc.reshape %arg0 {dims = #mlc.dims<[m + n, n]>}
// CHECK: mlc.concat %arg0, %arg0 {{.*}} -> tensor<?x?xf32, #mlc.dims<[n, 2 * m + 2 * n]>>
// CHECK: mlc.conv %arg7, %arg8 {{.*}} -> tensor<?x4x?x?xf32, #mlc.dims<[n, 4, floordiv(h + 1, 2), w - 2]>>
// CHECK: mlc.resize {{.*}} -> tensor<?x?xf32, #mlc.dims<[2 * n, floordiv(m, 2)]>>
func.func @open(%x: tensor<?x?xf32, #mlc.dims<[n, m + n]>>, %i: tensor<?x?xi32, #mlc.dims<[n, m + n]>>, %b: tensor<?x?xi1, #mlc.dims<[n, m + n]>>, %o: tensor<1x?xf32, #mlc.dims<[1, m + n]>>, %g: tensor<?xi64, #mlc.dims<[k]>>, %t: tensor<?x?xf32, #mlc.dims<[m + n, k]>>, %s: tensor<?xf32, #mlc.dims<[m + n]>>, %c: tensor<?x6x?x?xf32, #mlc.dims<[n, 6, h, w]>>, %w: tensor<4x3x3x3xf32>, %v: tensor<6x2x3x3xf32>, %k: tensor<?x2x?x?x4xf32, #mlc.dims<[n, 2, h, w, 4]>>, %d: tensor<2x6x3x3x4xf32>, %e: tensor<3x2x3x3x4x4xf32>, %f: tensor<2x3x3x4xf32>) {
  %0 = mlc.abs %x : (tensor<?x?xf32, #mlc.dims<[n, m + n]>>) -> tensor<?x?xf32, #mlc.dims<[n, m + n]>>
  %1 = mlc.ceil %x : (tensor<?x?xf32, #mlc.dims<[n, m + n]>>) -> tensor<?x?xf32, #mlc.dims<[n, m + n]>>
  %2 = mlc.cos %x : (tensor<?x?xf32, #mlc.dims<[n, m + n]>>) -> tensor<?x?xf32, #mlc.dims<[n, m + n]>>
  %3 = mlc.elu %x {alpha = #mlc.real<alpha>} : (tensor<?x?xf32, #mlc.dims<[n, m + n]>>) -> tensor<?x?xf32, #mlc.dims<[n, m + n]>>
  %4 = mlc.erf %x : (tensor<?x?xf32, #mlc.dims<[n, m + n]>>) -> tensor<?x?xf32, #mlc.dims<[n, m + n]>>
  %5 = mlc.exp %x : (tensor<?x?xf32, #mlc.dims<[n, m + n]>>) -> tensor<?x?xf32, #mlc.dims<[n, m + n]>>
  %6 = mlc.floor %x : (tensor<?x?xf32, #mlc.dims<[n, m + n]>>) -> tensor<?x?xf32, #mlc.dims<[n, m + n]>>
  %7 = mlc.hard_sigmoid %x {alpha = #mlc.real<0.2>, beta = #mlc.real<0.5>} : (tensor<?x?xf32, #mlc.dims<[n, m + n]>>) -> tensor<?x?xf32, #mlc.dims<[n, m + n]>>
  %8 = mlc.leaky_relu %x {alpha = #mlc.real<0.01>} : (tensor<?x?xf32, #mlc.dims<[n, m + n]>>) -> tensor<?x?xf32, #mlc.dims<[n, m + n]>>
  %9 = mlc.log %x : (tensor<?x?xf32, #mlc.dims<[n, m + n]>>) -> tensor<?x?xf32, #mlc.dims<[n, m + n]>>
  %10 = mlc.neg %x : (tensor<?x?xf32, #mlc.dims<[n, m + n]>>) -> tensor<?x?xf32, #mlc.dims<[n, m + n]>>
  %11 = mlc.reciprocal %x : (tensor<?x?xf32, #mlc.dims<[n, m + n]>>) -> tensor<?x?xf32, #mlc.dims<[n, m + n]>>
  %12 = mlc.relu %x : (tensor<?x?xf32, #mlc.dims<[n, m + n]>>) -> tensor<?x?xf32, #mlc.dims<[n, m + n]>>
  %13 = mlc.round_even %x : (tensor<?x?xf32, #mlc.dims<[n, m + n]>>) -> tensor<?x?xf32, #mlc.dims<[n, m + n]>>
  %14 = mlc.sigmoid %x : (tensor<?x?xf32, #mlc.dims<[n, m + n]>>) -> tensor<?x?xf32, #mlc.dims<[n, m + n]>>
  %15 = mlc.sign %x : (tensor<?x?xf32, #mlc.dims<[n, m + n]>>) -> tensor<?x?xf32, #mlc.dims<[n, m + n]>>
  %16 = mlc.sin %x : (tensor<?x?xf32, #mlc.dims<[n, m + n]>>) -> tensor<?x?xf32, #mlc.dims<[n, m + n]>>
  %17 = mlc.sqrt %x : (tensor<?x?xf32, #mlc.dims<[n, m + n]>>) -> tensor<?x?xf32, #mlc.dims<[n, m + n]>>
  %18 = mlc.tanh %x : (tensor<?x?xf32, #mlc.dims<[n, m + n]>>) -> tensor<?x?xf32, #mlc.dims<[n, m + n]>>
  %19 = mlc.clip %x {max = #mlc.real<6.0>, min = #mlc.real<-0.0>} : (tensor<?x?xf32, #mlc.dims<[n, m + n]>>) -> tensor<?x?xf32, #mlc.dims<[n, m + n]>>
  %20 = mlc.add %x, %x : (tensor<?x?xf32, #mlc.dims<[n, m + n]>>, tensor<?x?xf32, #mlc.dims<[n, m + n]>>) -> tensor<?x?xf32, #mlc.dims<[n, m + n]>>
  %21 = mlc.sub %x, %x : (tensor<?x?xf32, #mlc.dims<[n, m + n]>>, tensor<?x?xf32, #mlc.dims<[n, m + n]>>) -> tensor<?x?xf32, #mlc.dims<[n, m + n]>>
  %22 = mlc.mul %x, %x : (tensor<?x?xf32, #mlc.dims<[n, m + n]>>, tensor<?x?xf32, #mlc.dims<[n, m + n]>>) -> tensor<?x?xf32, #mlc.dims<[n, m + n]>>
  %23 = mlc.div %x, %x : (tensor<?x?xf32, #mlc.dims<[n, m + n]>>, tensor<?x?xf32, #mlc.dims<[n, m + n]>>) -> tensor<?x?xf32, #mlc.dims<[n, m + n]>>
  %24 = mlc.pow %x, %x : (tensor<?x?xf32, #mlc.dims<[n, m + n]>>, tensor<?x?xf32, #mlc.dims<[n, m + n]>>) -> tensor<?x?xf32, #mlc.dims<[n, m + n]>>
  %25 = mlc.min %x, %x : (tensor<?x?xf32, #mlc.dims<[n, m + n]>>, tensor<?x?xf32, #mlc.dims<[n, m + n]>>) -> tensor<?x?xf32, #mlc.dims<[n, m + n]>>
  %26 = mlc.max %x, %x : (tensor<?x?xf32, #mlc.dims<[n, m + n]>>, tensor<?x?xf32, #mlc.dims<[n, m + n]>>) -> tensor<?x?xf32, #mlc.dims<[n, m + n]>>
  %27 = mlc.mod %i, %i : (tensor<?x?xi32, #mlc.dims<[n, m + n]>>, tensor<?x?xi32, #mlc.dims<[n, m + n]>>) -> tensor<?x?xi32, #mlc.dims<[n, m + n]>>
  %28 = mlc.not %b : (tensor<?x?xi1, #mlc.dims<[n, m + n]>>) -> tensor<?x?xi1, #mlc.dims<[n, m + n]>>
  %29 = mlc.and %b, %b : (tensor<?x?xi1, #mlc.dims<[n, m + n]>>, tensor<?x?xi1, #mlc.dims<[n, m + n]>>) -> tensor<?x?xi1, #mlc.dims<[n, m + n]>>
  %30 = mlc.or %b, %b : (tensor<?x?xi1, #mlc.dims<[n, m + n]>>, tensor<?x?xi1, #mlc.dims<[n, m + n]>>) -> tensor<?x?xi1, #mlc.dims<[n, m + n]>>
  %31 = mlc.xor %b, %b : (tensor<?x?xi1, #mlc.dims<[n, m + n]>>, tensor<?x?xi1, #mlc.dims<[n, m + n]>>) -> tensor<?x?xi1, #mlc.dims<[n, m + n]>>
  %32 = mlc.compare %x, %x {predicate = "le"} : (tensor<?x?xf32, #mlc.dims<[n, m + n]>>, tensor<?x?xf32, #mlc.dims<[n, m + n]>>) -> tensor<?x?xi1, #mlc.dims<[n, m + n]>>
  %33 = mlc.select %b, %x, %x : (tensor<?x?xi1, #mlc.dims<[n, m + n]>>, tensor<?x?xf32, #mlc.dims<[n, m + n]>>, tensor<?x?xf32, #mlc.dims<[n, m + n]>>) -> tensor<?x?xf32, #mlc.dims<[n, m + n]>>
  %34 = mlc.cast %x {to = i32} : (tensor<?x?xf32, #mlc.dims<[n, m + n]>>) -> tensor<?x?xi32, #mlc.dims<[n, m + n]>>
  %35 = mlc.reshape %x {dims = #mlc.dims<[m + n, n]>} : (tensor<?x?xf32, #mlc.dims<[n, m + n]>>) -> tensor<?x?xf32, #mlc.dims<[m + n, n]>>
  %36 = mlc.transpose %x {permutation = array<i64: 1, 0>} : (tensor<?x?xf32, #mlc.dims<[n, m + n]>>) -> tensor<?x?xf32, #mlc.dims<[m + n, n]>>
  %37 = mlc.broadcast %o {dims = #mlc.dims<[n, m + n]>} : (tensor<1x?xf32, #mlc.dims<[1, m + n]>>) -> tensor<?x?xf32, #mlc.dims<[n, m + n]>>
  %38 = mlc.slice %x {sizes = #mlc.dims<[n, m + n]>, starts = #mlc.dims<[0, 0]>, steps = #mlc.dims<[1, 1]>} : (tensor<?x?xf32, #mlc.dims<[n, m + n]>>) -> tensor<?x?xf32, #mlc.dims<[n, m + n]>>
  %39 = mlc.concat %x, %x {axis = 1 : i64} : (tensor<?x?xf32, #mlc.dims<[n, m + n]>>, tensor<?x?xf32, #mlc.dims<[n, m + n]>>) -> tensor<?x?xf32, #mlc.dims<[n, 2 * m + 2 * n]>>
  %40 = mlc.pad %x {high = #mlc.dims<[0, 3]>, low = #mlc.dims<[1, 0]>, mode = "constant", value = #mlc.real<"-inf">} : (tensor<?x?xf32, #mlc.dims<[n, m + n]>>) -> tensor<?x?xf32, #mlc.dims<[n + 1, m + n + 3]>>
  %41 = mlc.reverse %x {axes = array<i64: 0, 1>} : (tensor<?x?xf32, #mlc.dims<[n, m + n]>>) -> tensor<?x?xf32, #mlc.dims<[n, m + n]>>
  %42 = mlc.gather %x, %g {axis = 0 : i64} : (tensor<?x?xf32, #mlc.dims<[n, m + n]>>, tensor<?xi64, #mlc.dims<[k]>>) -> tensor<?x?xf32, #mlc.dims<[k, m + n]>>
  %43 = mlc.fill {dims = #mlc.dims<[n, m + n]>, type = f32, value = #mlc.real<nan>} : () -> tensor<?x?xf32, #mlc.dims<[n, m + n]>>
  %44 = mlc.iota {axis = 1 : i64, dims = #mlc.dims<[n, m + n]>, start = #mlc.int<3>, step = #mlc.int<-1>} : () -> tensor<?x?xi64, #mlc.dims<[n, m + n]>>
  %45 = mlc.int_tensor {dims = #mlc.dims<[2]>, values = #mlc.dims<[n, -1]>} : () -> tensor<2xi64>
  %46 = mlc.matmul %x, %t : (tensor<?x?xf32, #mlc.dims<[n, m + n]>>, tensor<?x?xf32, #mlc.dims<[m + n, k]>>) -> tensor<?x?xf32, #mlc.dims<[n, k]>>
  %47 = mlc.reduce %x {axes = array<i64: 1>, kind = "mean"} : (tensor<?x?xf32, #mlc.dims<[n, m + n]>>) -> tensor<?x1xf32, #mlc.dims<[n, 1]>>
  %48 = mlc.softmax %x {axis = 1 : i64} : (tensor<?x?xf32, #mlc.dims<[n, m + n]>>) -> tensor<?x?xf32, #mlc.dims<[n, m + n]>>
  %49 = mlc.log_softmax %x {axis = 0 : i64} : (tensor<?x?xf32, #mlc.dims<[n, m + n]>>) -> tensor<?x?xf32, #mlc.dims<[n, m + n]>>
  %50 = mlc.batch_norm %x, %s, %s, %s, %s {epsilon = #mlc.real<1.0e-5>} : (tensor<?x?xf32, #mlc.dims<[n, m + n]>>, tensor<?xf32, #mlc.dims<[m + n]>>, tensor<?xf32, #mlc.dims<[m + n]>>, tensor<?xf32, #mlc.dims<[m + n]>>, tensor<?xf32, #mlc.dims<[m + n]>>) -> tensor<?x?xf32, #mlc.dims<[n, m + n]>>
  %51 = mlc.layer_norm %x, %s, %s {axis = 1 : i64, epsilon = #mlc.real<eps>} : (tensor<?x?xf32, #mlc.dims<[n, m + n]>>, tensor<?xf32, #mlc.dims<[m + n]>>, tensor<?xf32, #mlc.dims<[m + n]>>) -> tensor<?x?xf32, #mlc.dims<[n, m + n]>>
  %52 = mlc.lrn %x {alpha = #mlc.real<1.0e-4>, beta = #mlc.real<0.75>, bias = #mlc.real<1.0>, size = #mlc.int<5>} : (tensor<?x?xf32, #mlc.dims<[n, m + n]>>) -> tensor<?x?xf32, #mlc.dims<[n, m + n]>>
  %53 = mlc.cumsum %x {axis = 1 : i64, exclusive = true, reverse = false} : (tensor<?x?xf32, #mlc.dims<[n, m + n]>>) -> tensor<?x?xf32, #mlc.dims<[n, m + n]>>
  %54 = mlc.compute %x, %s {definition = "(x, s; ; eps) Y[i] = sum{r < 2}(s<0>[i + r]) / (1 + eps)", dims = #mlc.dims<[m + n]>, integers = #mlc.dims<[]>, reals = [#mlc.real<eps>], type = f32} : (tensor<?x?xf32, #mlc.dims<[n, m + n]>>, tensor<?xf32, #mlc.dims<[m + n]>>) -> tensor<?xf32, #mlc.dims<[m + n]>>
  %55 = mlc.conv %c, %w {dilations = #mlc.dims<[1, 2]>, groups = #mlc.int<2>, pads = #mlc.dims<[1, 0, 1, 2]>, strides = #mlc.dims<[2, 1]>} : (tensor<?x6x?x?xf32, #mlc.dims<[n, 6, h, w]>>, tensor<4x3x3x3xf32>) -> tensor<?x4x?x?xf32, #mlc.dims<[n, 4, floordiv(h + 1, 2), w - 2]>>
  %56 = mlc.conv_transpose %c, %v {dilations = #mlc.dims<[1, 1]>, groups = #mlc.int<1>, output_padding = #mlc.dims<[0, 1]>, pads = #mlc.dims<[0, 0, 0, 0]>, strides = #mlc.dims<[2, 2]>} : (tensor<?x6x?x?xf32, #mlc.dims<[n, 6, h, w]>>, tensor<6x2x3x3xf32>) -> tensor<?x2x?x?xf32, #mlc.dims<[n, 2, 2 * h + 1, 2 * w + 2]>>
  %57 = mlc.max_pool %c {dilations = #mlc.dims<[1, 1]>, kernel = #mlc.dims<[2, 3]>, ceil_pads = #mlc.dims<[1, 0]>, pads = #mlc.dims<[0, 1, 0, 1]>, strides = #mlc.dims<[2, 1]>} : (tensor<?x6x?x?xf32, #mlc.dims<[n, 6, h, w]>>) -> tensor<?x6x?x?xf32, #mlc.dims<[n, 6, floordiv(h + 1, 2), w]>>
  %58 = mlc.avg_pool %c {count_include_pad = true, dilations = #mlc.dims<[1, 1]>, kernel = #mlc.dims<[2, 3]>, ceil_pads = #mlc.dims<[0, 0]>, pads = #mlc.dims<[0, 1, 0, 1]>, strides = #mlc.dims<[2, 1]>} : (tensor<?x6x?x?xf32, #mlc.dims<[n, 6, h, w]>>) -> tensor<?x6x?x?xf32, #mlc.dims<[n, 6, floordiv(h, 2), w]>>
  %59 = mlc.laid_out %c, %d {layouts = [#mlc.layout<[a, b, c, d]>, #mlc.layout<[a div 4, b, c, d, a mod 4], a = 8>, #mlc.layout<[a, b div 4, c, d, b mod 4], b = 8>], plain_attributes = {dilations = #mlc.dims<[1, 1]>, groups = #mlc.int<1>, pads = #mlc.dims<[0, 0, 0, 0]>, strides = #mlc.dims<[1, 2]>}, plain_op = "mlc.conv"} : (tensor<?x6x?x?xf32, #mlc.dims<[n, 6, h, w]>>, tensor<2x6x3x3x4xf32>) -> tensor<?x2x?x?x4xf32, #mlc.dims<[n, 2, h - 2, floordiv(w + 1, 2) - 1, 4]>>
  %60 = mlc.laid_out %k, %e {layouts = [#mlc.layout<[a, b div 4, c, d, b mod 4], b = 8>, #mlc.layout<[a div 4, b div 4, c, d, b mod 4, a mod 4], a = 12, b = 8>, #mlc.layout<[a, b div 4, c, d, b mod 4], b = 12>], plain_attributes = {dilations = #mlc.dims<[1, 1]>, groups = #mlc.int<1>, pads = #mlc.dims<[0, 0, 0, 0]>, strides = #mlc.dims<[1, 1]>}, plain_op = "mlc.conv"} : (tensor<?x2x?x?x4xf32, #mlc.dims<[n, 2, h, w, 4]>>, tensor<3x2x3x3x4x4xf32>) -> tensor<?x3x?x?x4xf32, #mlc.dims<[n, 3, h - 2, w - 2, 4]>>
  %61 = mlc.laid_out %k, %f {layouts = [#mlc.layout<[a, b div 4, c, d, b mod 4], b = 8>, #mlc.layout<[a div 4, c, d, a mod 4], a = 8, b = 1>, #mlc.layout<[a, b div 4, c, d, b mod 4], b = 8>], plain_attributes = {dilations = #mlc.dims<[1, 2]>, groups = #mlc.int<8>, pads = #mlc.dims<[0, 0, 0, 0]>, strides = #mlc.dims<[1, 1]>}, plain_op = "mlc.conv"} : (tensor<?x2x?x?x4xf32, #mlc.dims<[n, 2, h, w, 4]>>, tensor<2x3x3x4xf32>) -> tensor<?x2x?x?x4xf32, #mlc.dims<[n, 2, h - 2, w - 4, 4]>>
  %62 = mlc.pack %c {layout = #mlc.layout<[a, b div 4, c, d, b mod 4], b = 6 in 2>} : (tensor<?x6x?x?xf32, #mlc.dims<[n, 6, h, w]>>) -> tensor<?x2x?x?x4xf32, #mlc.dims<[n, 2, h, w, 4]>>
  %63 = mlc.unpack %k {layout = #mlc.layout<[a, b div 4, c, d, b mod 4], b = 7>} : (tensor<?x2x?x?x4xf32, #mlc.dims<[n, 2, h, w, 4]>>) -> tensor<?x7x?x?xf32, #mlc.dims<[n, 7, h, w]>>
  %64:2 = mlc.top_k %x {axis = 1 : i64, k = #mlc.int<1>, largest = true, sorted = false} : (tensor<?x?xf32, #mlc.dims<[n, m + n]>>) -> (tensor<?x1xf32, #mlc.dims<[n, 1]>>, tensor<?x1xi64, #mlc.dims<[n, 1]>>)
  %65 = mlc.resize %x {dims = #mlc.dims<[2 * n, floordiv(m, 2)]>, mode = "linear", nearest_mode = "round_prefer_ceil", scales = [], transform = "pytorch_half_pixel"} : (tensor<?x?xf32, #mlc.dims<[n, m + n]>>) -> tensor<?x?xf32, #mlc.dims<[2 * n, floordiv(m, 2)]>>
  %66 = mlc.arg_max %x {axis = 0 : i64} : (tensor<?x?xf32, #mlc.dims<[n, m + n]>>) -> tensor<1x?xi64, #mlc.dims<[1, m + n]>>
  %67 = mlc.arg_min %x {axis = 1 : i64} : (tensor<?x?xf32, #mlc.dims<[n, m + n]>>) -> tensor<?x1xi64, #mlc.dims<[n, 1]>>
  return
}
