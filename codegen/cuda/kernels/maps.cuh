
//===----------------------------------------------------------------------===//
// The host's side of tensor maps
//===----------------------------------------------------------------------===//

/// A function of the driver.
template <typename Function> Function driverFunction(const char *name) {
  void *function = nullptr;
#if CUDART_VERSION >= 12050
  check(cudaGetDriverEntryPointByVersion(name, &function, 12000,
                                         cudaEnableDefault),
        name);
#else
  check(cudaGetDriverEntryPoint(name, &function, cudaEnableDefault), name);
#endif
  if (!function)
    fail("the driver has no ", name, ": update it to one for CUDA 12 or later");
  return reinterpret_cast<Function>(function);
}

/// What a tensor map shows. It is made where it becomes a parameter. Lists have
/// the fastest dim first; types and swizzles are the driver's numbers.
struct MapRequest {
  const char *what;
  int type, swizzle;
  char *memory;
  std::vector<Size> dims, strides; ///< strides in bytes, none for the first dim
  std::vector<unsigned> steps, box;
  std::vector<int> lower, upper; ///< of pixels, which have no box
  unsigned channels, pixels;

  operator TensorMap() const {
    std::vector<unsigned long long> sizes, distances(1);
    bool isEmpty = false;
    for (long long dim : dims) {
      if (dim < 0)
        fail("a size of the ", what, " is negative");
      isEmpty = isEmpty || dim == 0;
      sizes.push_back((unsigned long long)dim);
    }
    for (long long stride : strides)
      distances.push_back((unsigned long long)stride);
    if (isEmpty)
      fillEmpty(sizes, distances);
    TensorMap map = {};
    encode(map, sizes.data(), distances.data() + 1);
    return map;
  }

private:
  /// Without elements: dims of 0 count as 1, and nothing is copied.
  static void fillEmpty(std::vector<unsigned long long> &sizes,
                        std::vector<unsigned long long> &distances) {
    for (size_t i = 0; i < sizes.size(); ++i) {
      sizes[i] = std::max(sizes[i], 1ull);
      if (i)
        distances[i] =
            std::max({distances[i], 16ull, distances[i - 1] * sizes[i - 1]});
      else
        distances[i] = 16;
    }
  }
  void encode(TensorMap &map, const unsigned long long *sizes,
              const unsigned long long *distances) const {
    typedef const unsigned long long *Sizes;
    typedef const unsigned *Counts;
    typedef const int *Corner;
    typedef int (*EncodeTiled)(void *, int, unsigned, void *, Sizes, Sizes,
                               Counts, Counts, int, int, int, int);
    typedef int (*EncodePixels)(void *, int, unsigned, void *, Sizes, Sizes,
                                Corner, Corner, unsigned, unsigned, Counts, int,
                                int, int, int);
    const unsigned rank = unsigned(dims.size());
    int result = pixels
                     ? driverFunction<EncodePixels>("cuTensorMapEncodeIm2col")(
                           &map, type, rank, memory, sizes, distances,
                           lower.data(), upper.data(), channels, pixels,
                           steps.data(), 0, swizzle, 2, 0)
                     : driverFunction<EncodeTiled>("cuTensorMapEncodeTiled")(
                           &map, type, rank, memory, sizes, distances,
                           box.data(), steps.data(), 0, swizzle, 2, 0);
    if (result)
      fail("the ", what, " cannot be made: error ", result, " of the driver");
  }
};
