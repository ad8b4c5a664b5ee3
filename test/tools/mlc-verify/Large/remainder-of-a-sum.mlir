module {
  func.func @before(%arg0: tensor<?x?xi64, #mlc.dims<[m + n, m]>> {mlc.assume = ["positive"]}, %arg1: tensor<?x?xi8, #mlc.dims<[m + n, m]>>, %arg2: tensor<?x?xf32, #mlc.dims<[m + n, m]>>) -> tensor<2x1xi64> attributes {mlc.assume = ["n >= 8", "n >= m"]} {
    %0 = mlc.reduce %arg0 {axes = array<i64: 0, 1>, kind = "sum"} : (tensor<?x?xi64, #mlc.dims<[m + n, m]>>) -> tensor<1x1xi64>
    %1 = mlc.concat %0, %0 {axis = 0 : i64} : (tensor<1x1xi64>, tensor<1x1xi64>) -> tensor<2x1xi64>
    %2 = mlc.mod %1, %1 : (tensor<2x1xi64>, tensor<2x1xi64>) -> tensor<2x1xi64>
    return %2 : tensor<2x1xi64>
  }
  func.func @after(%arg0: tensor<?x?xi64, #mlc.dims<[m + n, m]>> {mlc.assume = ["positive"]}, %arg1: tensor<?x?xi8, #mlc.dims<[m + n, m]>>, %arg2: tensor<?x?xf32, #mlc.dims<[m + n, m]>>) -> tensor<2x1xi64> attributes {mlc.assume = ["n >= 8", "n >= m"]} {
    %0 = mlc.fill  {dims = #mlc.dims<[m + n, m]>, type = i64, value = #mlc.real<0.000000e+00>} : () -> tensor<?x?xi64, #mlc.dims<[m + n, m]>>
    %1 = mlc.add %arg0, %0 : (tensor<?x?xi64, #mlc.dims<[m + n, m]>>, tensor<?x?xi64, #mlc.dims<[m + n, m]>>) -> tensor<?x?xi64, #mlc.dims<[m + n, m]>>
    %2 = mlc.reduce %1 {axes = array<i64: 0, 1>, kind = "sum"} : (tensor<?x?xi64, #mlc.dims<[m + n, m]>>) -> tensor<1x1xi64>
    %3 = mlc.concat %2, %2 {axis = 0 : i64} : (tensor<1x1xi64>, tensor<1x1xi64>) -> tensor<2x1xi64>
    %4 = mlc.mod %3, %3 : (tensor<2x1xi64>, tensor<2x1xi64>) -> tensor<2x1xi64>
    return %4 : tensor<2x1xi64>
  }
}
