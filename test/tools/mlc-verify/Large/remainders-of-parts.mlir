module {
  func.func @before(%arg0: tensor<?x?xi8, #mlc.dims<[2 * n, n]>>, %arg1: tensor<?x?x?xf32, #mlc.dims<[n, m + n, n]>>) -> tensor<?x?xi8, #mlc.dims<[8 * n, n]>> attributes {mlc.assume = ["3 divides m", "n <= 10"]} {
    %0 = mlc.sub %arg0, %arg0 : (tensor<?x?xi8, #mlc.dims<[2 * n, n]>>, tensor<?x?xi8, #mlc.dims<[2 * n, n]>>) -> tensor<?x?xi8, #mlc.dims<[2 * n, n]>>
    %1 = mlc.concat %0, %arg0 {axis = 0 : i64} : (tensor<?x?xi8, #mlc.dims<[2 * n, n]>>, tensor<?x?xi8, #mlc.dims<[2 * n, n]>>) -> tensor<?x?xi8, #mlc.dims<[4 * n, n]>>
    %2 = mlc.concat %1, %1 {axis = 0 : i64} : (tensor<?x?xi8, #mlc.dims<[4 * n, n]>>, tensor<?x?xi8, #mlc.dims<[4 * n, n]>>) -> tensor<?x?xi8, #mlc.dims<[8 * n, n]>>
    %3 = mlc.mod %2, %2 : (tensor<?x?xi8, #mlc.dims<[8 * n, n]>>, tensor<?x?xi8, #mlc.dims<[8 * n, n]>>) -> tensor<?x?xi8, #mlc.dims<[8 * n, n]>>
    return %3 : tensor<?x?xi8, #mlc.dims<[8 * n, n]>>
  }
  func.func @after(%arg0: tensor<?x?xi8, #mlc.dims<[2 * n, n]>>, %arg1: tensor<?x?x?xf32, #mlc.dims<[n, m + n, n]>>) -> tensor<?x?xi8, #mlc.dims<[8 * n, n]>> attributes {mlc.assume = ["3 divides m", "n <= 10"]} {
    %0 = mlc.sub %arg0, %arg0 : (tensor<?x?xi8, #mlc.dims<[2 * n, n]>>, tensor<?x?xi8, #mlc.dims<[2 * n, n]>>) -> tensor<?x?xi8, #mlc.dims<[2 * n, n]>>
    %1 = mlc.reverse %arg0 {axes = array<i64: 0>} : (tensor<?x?xi8, #mlc.dims<[2 * n, n]>>) -> tensor<?x?xi8, #mlc.dims<[2 * n, n]>>
    %2 = mlc.reverse %1 {axes = array<i64: 0>} : (tensor<?x?xi8, #mlc.dims<[2 * n, n]>>) -> tensor<?x?xi8, #mlc.dims<[2 * n, n]>>
    %3 = mlc.concat %0, %2 {axis = 0 : i64} : (tensor<?x?xi8, #mlc.dims<[2 * n, n]>>, tensor<?x?xi8, #mlc.dims<[2 * n, n]>>) -> tensor<?x?xi8, #mlc.dims<[4 * n, n]>>
    %4 = mlc.concat %3, %3 {axis = 0 : i64} : (tensor<?x?xi8, #mlc.dims<[4 * n, n]>>, tensor<?x?xi8, #mlc.dims<[4 * n, n]>>) -> tensor<?x?xi8, #mlc.dims<[8 * n, n]>>
    %5 = mlc.concat %4, %4 {axis = 0 : i64} : (tensor<?x?xi8, #mlc.dims<[8 * n, n]>>, tensor<?x?xi8, #mlc.dims<[8 * n, n]>>) -> tensor<?x?xi8, #mlc.dims<[16 * n, n]>>
    %6 = mlc.slice %5 {sizes = #mlc.dims<[8 * n, n]>, starts = #mlc.dims<[0, 0]>, steps = #mlc.dims<[1, 1]>} : (tensor<?x?xi8, #mlc.dims<[16 * n, n]>>) -> tensor<?x?xi8, #mlc.dims<[8 * n, n]>>
    %7 = mlc.mod %6, %4 : (tensor<?x?xi8, #mlc.dims<[8 * n, n]>>, tensor<?x?xi8, #mlc.dims<[8 * n, n]>>) -> tensor<?x?xi8, #mlc.dims<[8 * n, n]>>
    %8 = mlc.reverse %7 {axes = array<i64: 1>} : (tensor<?x?xi8, #mlc.dims<[8 * n, n]>>) -> tensor<?x?xi8, #mlc.dims<[8 * n, n]>>
    %9 = mlc.reverse %8 {axes = array<i64: 1>} : (tensor<?x?xi8, #mlc.dims<[8 * n, n]>>) -> tensor<?x?xi8, #mlc.dims<[8 * n, n]>>
    return %9 : tensor<?x?xi8, #mlc.dims<[8 * n, n]>>
  }
}
