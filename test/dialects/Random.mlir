// Random bits on numbers, printed and read again.
// RUN: %python %S/round_trip.py mlc-opt %s
// RUN: mlc-opt %s | FileCheck %s --implicit-check-not='"mlc.'

// CHECK-LABEL: func.func @words
func.func @words(%key: i64, %counter: vector<4xi64>) -> (i64, vector<4xi64>) {
  // CHECK: mlc.threefry %{{.*}}, %{{.*}} : i64
  %0 = mlc.threefry %key, %key : i64
  // CHECK: mlc.threefry %{{.*}}, %{{.*}} : vector<4xi64>
  %1 = mlc.threefry %counter, %counter : vector<4xi64>
  return %0, %1 : i64, vector<4xi64>
}
