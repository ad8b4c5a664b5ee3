//===- WinogradTransform.cpp - Matrices of F(m,3), filter transform -------===//

#include "codegen/cpu/WinogradTransform.h"
#include "codegen/cpu/Winograd.h"
#include "llvm/Support/ThreadPool.h"
#include <algorithm>
#include <cassert>

namespace mlc::cpu {

const WinogradMatrices &winogradMatrices(int64_t m) {
  static const WinogradMatrices two{
      {4, 4, {1, 0, -1, 0, 0, 1, 1, 0, 0, -1, 1, 0, 0, 1, 0, -1}},
      {4, 3, {1, 0, 0, .5, .5, .5, .5, -.5, .5, 0, 0, 1}},
      {2, 4, {1, 1, 1, 0, 0, 1, -1, -1}}};
  static const WinogradMatrices four{
      {6, 6, {4, 0,  -5, 0, 1, 0, 0, -4, -4, 1,  1, 0, 0, 4, -4, -1, 1, 0,
              0, -2, -1, 2, 1, 0, 0, 2,  -1, -2, 1, 0, 0, 4, 0,  -5, 0, 1}},
      {6,
       3,
       {1. / 4, 0, 0, -1. / 6, -1. / 6, -1. / 6, -1. / 6, 1. / 6, -1. / 6,
        1. / 24, 1. / 12, 1. / 6, 1. / 24, -1. / 12, 1. / 6, 0, 0, 1}},
      {4, 6, {1, 1, 1, 1, 1, 0, 0, 1, -1, 2, -2, 0,
              0, 1, 1, 4, 4, 0, 0, 1, -1, 8, -8, 1}}};
  assert((m == 2 || m == 4) && "F(2,3) and F(4,3) exist here");
  return m == 2 ? two : four;
}

int64_t winogradElements(int64_t outputBlocks, int64_t inputBlocks,
                         int64_t block, int64_t m) {
  return outputBlocks * inputBlocks * block * block * (m + 2) * (m + 2);
}

/// Runs body(i) for i in [0, count) on `threads` threads.
template <typename Body>
static void parallelFor(int64_t count, unsigned threads, Body body) {
  if (threads < 2 || count < 2) {
    for (int64_t i = 0; i < count; ++i)
      body(i);
    return;
  }
  llvm::DefaultThreadPool pool(llvm::hardware_concurrency(threads));
  int64_t parts = std::min<int64_t>(count, threads * 4);
  for (int64_t part = 0; part < parts; ++part)
    pool.async([=] {
      for (int64_t i = count * part / parts; i < count * (part + 1) / parts;
           ++i)
        body(i);
    });
  pool.wait();
}

/// One block pair: G w Gᵀ for all lanes at once, lane by lane in double.
static void transformBlock(const float *w, float *u, int64_t lanes,
                           int64_t planeStride, const TransformMatrix &g) {
  unsigned size = g.rows;
  std::vector<double> half(size * 3 * lanes);
  for (unsigned i = 0; i < size; ++i)
    for (unsigned kw = 0; kw < 3; ++kw)
      for (int64_t l = 0; l < lanes; ++l) {
        double sum = 0;
        for (unsigned kh = 0; kh < 3; ++kh)
          sum += g.at(i, kh) * w[(kh * 3 + kw) * lanes + l];
        half[(i * 3 + kw) * lanes + l] = sum;
      }
  for (unsigned i = 0; i < size; ++i)
    for (unsigned j = 0; j < size; ++j)
      for (int64_t l = 0; l < lanes; ++l) {
        double sum = 0;
        for (unsigned kw = 0; kw < 3; ++kw)
          sum += g.at(j, kw) * half[(i * 3 + kw) * lanes + l];
        u[(i * size + j) * planeStride + l] = float(sum);
      }
}

void transformFilter(llvm::ArrayRef<float> packed, int64_t outputBlocks,
                     int64_t inputBlocks, int64_t block, int64_t m,
                     llvm::MutableArrayRef<float> u, unsigned threads) {
  int64_t lanes = block * block, planes = (m + 2) * (m + 2);
  assert(int64_t(packed.size()) == outputBlocks * inputBlocks * lanes * 9 &&
         int64_t(u.size()) == outputBlocks * inputBlocks * lanes * planes);
  const TransformMatrix &g = winogradMatrices(m).filter;
  const float *from = packed.data();
  float *to = u.data();
  parallelFor(outputBlocks, threads, [=, &g](int64_t ob) {
    for (int64_t ib = 0; ib < inputBlocks; ++ib)
      transformBlock(from + (ob * inputBlocks + ib) * 9 * lanes,
                     to + (ob * planes * inputBlocks + ib) * lanes, lanes,
                     inputBlocks * lanes, g);
  });
}

} // namespace mlc::cpu
