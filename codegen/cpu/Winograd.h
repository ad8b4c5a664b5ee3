//===- Winograd.h - 3×3 convolutions by Winograd's algorithm ----*- C++ -*-===//
//
// F(m,3) computes m×m outputs of a 3×3 convolution of stride 1 from (m+2)×(m+2)
// inputs with (m+2)² instead of 9·m² products per channel pair:
//
//   Y = Aᵀ [ Σ_ic (G w Gᵀ) ⊙ (Bᵀ x B) ] A            (Lavin and Gray, 2015)
//
// The kernel form. A kernel (seam 3) whose anchor is a blocked 3×3 convolution
// of stride and dilation 1,
//
//   Y[n,ob,oh,ow,oi] += X[n,ib,oh+kh,ow+kw,ii] · W[ob,ib,kh,kw,ii,oi]
//
// with padded X as for direct convolution, is computed by F(m,3), m 2 or 4,
// when W is not an argument but the original (exec.inverse_transform
// "winograd") of one,
//
//   U[ob][ξ][ib][ii][oi],   ξ = i·(m+2) + j,   (m+2)² elements for each 9,
//
// winogradElements() in number, which transformFilter() makes from W at compile
// time. Sizes oh and n may be open; channels and ow are fixed.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_CODEGEN_CPU_WINOGRAD_H
#define MLC_CODEGEN_CPU_WINOGRAD_H

#include "codegen/cpu/Body.h"
#include "llvm/ADT/ArrayRef.h"

namespace mlc::cpu {

/// The emitter of kernels that take a transformed filter, for the table in
/// Emit.cpp.
bool acceptsWinograd(const Kernel &kernel, const Target &target);
mlir::FailureOr<EmittedKernel> emitWinogradKernel(KernelBody &body);

/// The filter transform for `kernel`, if it is a convolution as above with an
/// untransformed filter and chooseConvolutionAlgorithm chooses Winograd.
/// Filters with infinities or NaN are not transformed: these would spread over
/// a tile.
std::optional<ConstantTransform> findWinograd(const Kernel &kernel,
                                              const Target &target);

/// How to compute a convolution.
struct ConvolutionAlgorithm {
  /// m of F(m,3), or 0 for direct convolution.
  int64_t winograd = 0;
  /// Estimated cycles per image; winogradCycles is the largest double if
  /// Winograd does not apply.
  double directCycles = 0, winogradCycles = 0;
};

/// The faster algorithm for `shape` on `target`, with channels as kernels have
/// them; direct if Winograd does not apply or gains less than a tenth. The
/// estimate takes direct convolution as bound by peak arithmetic or by reading
/// its filter, and Winograd with its best blocking.
ConvolutionAlgorithm chooseConvolutionAlgorithm(const Target &target,
                                                const ConvolutionShape &shape);

/// Backend::getConvolutionShare for convolutions in `layout`: the same choice,
/// for the kernels that the layout makes of `shape` if its input is blocked. It
/// ignores the surrounding graph. A convolution with too few input channels for
/// blocks counts as one of an image, which stays plain. One without border that
/// follows a plain tensor reads it unblocked, which only direct convolution
/// can.
double getConvolutionShare(const Target &target,
                           const ConvolutionLayout &layout,
                           const ConvolutionShape &shape);

/// Elements of U for `outputBlocks` × `inputBlocks` blocks of `block` channels.
int64_t winogradElements(int64_t outputBlocks, int64_t inputBlocks,
                         int64_t block, int64_t m);

/// Makes U from a packed filter W[ob][ib][3][3][ii][oi]; the sums are made in
/// double precision. `threads` threads share the output blocks.
void transformFilter(llvm::ArrayRef<float> packed, int64_t outputBlocks,
                     int64_t inputBlocks, int64_t block, int64_t m,
                     llvm::MutableArrayRef<float> u, unsigned threads = 1);

} // namespace mlc::cpu

#endif // MLC_CODEGEN_CPU_WINOGRAD_H
