
//===----------------------------------------------------------------------===//
// The host's side: arrays from files, memory, launches
//===----------------------------------------------------------------------===//

/// Ends the program with a message.
template <typename... Parts> [[noreturn]] void fail(const Parts &...parts) {
  ((std::cerr << "error: ") << ... << parts) << '\n';
  std::exit(1);
}

inline void check(cudaError_t result, const char *what) {
  if (result != cudaSuccess)
    fail(what, ": ", cudaGetErrorString(result));
}

/// A size; overflow of 64 bits ends the program.
class Size {
public:
  Size(long long value) : value(value) {}
  operator long long() const { return value; }

private:
  long long value;
};

inline Size plus(long long x, long long y) {
  long long sum = (long long)((unsigned long long)x + (unsigned long long)y);
  if ((x < 0) == (y < 0) && (sum < 0) != (x < 0))
    fail("a size overflows 64 bits");
  return sum;
}
inline Size times(long long x, long long y) {
  long long product =
      (long long)((unsigned long long)x * (unsigned long long)y);
  const long long least = -9223372036854775807ll - 1;
  if ((x == -1 && y == least) || (x != 0 && x != -1 && product / x != y))
    fail("a size overflows 64 bits");
  return product;
}
// Enables operators on a size and a number of any type.
template <typename X, typename Y>
using IfSizes = typename std::enable_if<
    (std::is_same<X, Size>::value && std::is_convertible<Y, long long>::value) ||
    (std::is_same<Y, Size>::value && std::is_integral<X>::value)>::type;
template <typename X, typename Y, typename = IfSizes<X, Y>>
Size operator+(X x, Y y) {
  return plus(x, y);
}
template <typename X, typename Y, typename = IfSizes<X, Y>>
Size operator*(X x, Y y) {
  return times(x, y);
}

/// Quotient and remainder; the remainder has the divisor's sign.
inline Size floorDiv(long long x, long long y) {
  if (y == 0 || (y == -1 && x < -9223372036854775807ll))
    fail("a size is divided by ", y);
  long long quotient = x / y;
  return quotient - (x % y != 0 && (x < 0) != (y < 0));
}
inline Size floorMod(long long x, long long y) {
  return x - (long long)(floorDiv(x, y)) * y;
}

/// An array of a .npy file (NumPy's format, versions 1 to 3, row-major).
struct Array {
  std::string type; ///< as NumPy writes it: "<f4"
  std::vector<long long> dims;
  std::vector<char> bytes;
};

inline Array readArray(const char *path) {
  std::ifstream file(path, std::ios::binary);
  std::vector<char> all((std::istreambuf_iterator<char>(file)),
                        std::istreambuf_iterator<char>());
  if (!file.good() && all.empty())
    fail(path, ": cannot be read");
  if (all.size() < 12 || std::memcmp(all.data(), "\x93NUMPY", 6) != 0)
    fail(path, ": is no .npy file");
  bool isLong = all[6] > 1;
  size_t length = (unsigned char)(all[8]) | (unsigned char)(all[9]) << 8;
  if (isLong)
    length |= size_t((unsigned char)(all[10])) << 16 |
              size_t((unsigned char)(all[11])) << 24;
  size_t start = isLong ? 12 : 10;
  if (length > all.size() - start)
    fail(path, ": ends in its header");
  std::string header(all.data() + start, length);
  auto after = [&](const char *key) {
    size_t at = header.find(key);
    if (at == std::string::npos)
      fail(path, ": has no ", key, " in its header");
    return at + std::strlen(key);
  };
  Array array;
  size_t quote = header.find('\'', after("'descr':"));
  size_t end = header.find('\'', quote + 1);
  if (quote == std::string::npos || end == std::string::npos)
    fail(path, ": has no type");
  array.type = header.substr(quote + 1, end - quote - 1);
  if (header.compare(after("'fortran_order':"), 5, " True") == 0)
    fail(path, ": is not row-major");
  long long count = 1;
  const char *text = header.c_str() + after("'shape':");
  text += std::strspn(text, " (");
  while (*text >= '0' && *text <= '9') {
    char *rest = nullptr;
    array.dims.push_back(std::strtoll(text, &rest, 10));
    if (array.dims.back() > (1ll << 40) / (count ? count : 1))
      fail(path, ": is too large");
    count *= array.dims.back();
    text = rest + std::strspn(rest, ", ");
  }
  array.bytes.assign(all.begin() + start + length, all.end());
  size_t width =
      array.type.empty() ? 0 : std::atoi(&array.type[array.type.size() - 1]);
  if (array.bytes.size() != size_t(count) * width)
    fail(path, ": has ", array.bytes.size(), " bytes of data");
  return array;
}

inline void writeArray(const std::string &path, const Array &array) {
  std::string shape;
  for (long long dim : array.dims)
    shape += std::to_string(dim) + ", ";
  if (array.dims.size() > 1)
    shape.resize(shape.size() - 2);
  else if (!shape.empty())
    shape.resize(shape.size() - 1);
  std::string header = "{'descr': '" + array.type +
                       "', 'fortran_order': False, 'shape': (" + shape +
                       "), }";
  // Data begins at a multiple of 64 bytes.
  header.resize((header.size() + 10 + 64) / 64 * 64 - 10, ' ');
  header.back() = '\n';
  std::ofstream file(path, std::ios::binary);
  const char length[] = {char(header.size() & 255), char(header.size() >> 8)};
  file.write("\x93NUMPY\x01\x00", 8).write(length, 2) << header;
  file.write(array.bytes.data(), std::streamsize(array.bytes.size()));
  if (!file.flush())
    fail(path, ": cannot be written");
}

/// Reads an input of the given type and rank.
inline Array readInput(const char *path, const char *name, const char *type,
                size_t rank) {
  Array array = readArray(path);
  if (array.type != type || array.dims.size() != rank)
    fail(path, ": input ", name, " has type ", type, " and ", rank,
         " dims, this is ", array.type, " with ", array.dims.size());
  return array;
}

/// Memory of the GPU; `bytes` may be 0.
inline char *allocate(long long bytes) {
  if (bytes < 0)
    fail("a size is negative");
  void *memory = nullptr;
  check(cudaMalloc(&memory, size_t(bytes ? bytes : 1)), "cudaMalloc");
  return static_cast<char *>(memory);
}

inline char *upload(const void *from, size_t bytes) {
  char *memory = allocate((long long)bytes);
  if (bytes)
    check(cudaMemcpy(memory, from, bytes, cudaMemcpyHostToDevice),
          "cudaMemcpy to the GPU");
  return memory;
}

inline std::vector<char> download(const char *from, size_t bytes) {
  std::vector<char> result(bytes);
  if (bytes)
    check(cudaMemcpy(result.data(), from, bytes, cudaMemcpyDeviceToHost),
          "cudaMemcpy from the GPU");
  return result;
}

/// Reads a file other than the program's inputs.
inline std::vector<char> readFile(const char *path, size_t bytes) {
  std::ifstream file(path, std::ios::binary);
  std::vector<char> result((std::istreambuf_iterator<char>(file)),
                           std::istreambuf_iterator<char>());
  if (result.size() != bytes)
    fail(path, ": ", bytes, " bytes are expected, there are ", result.size());
  return result;
}

/// Scratch memory: bytes per block, for a number of blocks.
struct Scratch {
  char *memory;
  long long stride, blocks;
};

inline Scratch makeScratch(Size stride) {
  int processors = 0;
  check(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0),
        "cudaDeviceGetAttribute");
  stride = floorDiv(stride + 63, 64) * 64 + 64;
  return {allocate(stride * processors * 4), stride, processors * 4ll};
}

/// Memory for blocks that share sums; its leading counters begin at zero.
inline char *makeWorkspace(long long bytes, size_t counterBytes) {
  char *memory = allocate(std::max<long long>(bytes, (long long)counterBytes));
  const std::vector<char> zeros(counterBytes);
  check(cudaMemcpy(memory, zeros.data(), counterBytes, cudaMemcpyHostToDevice),
        "cudaMemcpy to the GPU");
  return memory;
}

/// An integer that a size is taken from.
template <typename T> long long readValue(const char *from) {
  check(cudaDeviceSynchronize(), "the kernels");
  std::vector<char> bytes = download(from, sizeof(T));
  T value;
  std::memcpy(&value, bytes.data(), sizeof(T));
  return (long long)(value);
}

/// Runs `tasks` tasks of a kernel, a block for each or for several.
template <typename... Parameters, typename... Arguments>
void launch(const char *what, void (*kernel)(Parameters...), long long tasks,
            int block, size_t shared, long long mostBlocks,
            Arguments... arguments) {
  if (tasks < 1)
    return;
  if (shared > 48 * 1024)
    check(cudaFuncSetAttribute(kernel,
                               cudaFuncAttributeMaxDynamicSharedMemorySize,
                               int(shared)),
          what);
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(unsigned(tasks < mostBlocks ? tasks : mostBlocks));
  config.blockDim = dim3(unsigned(block));
  config.dynamicSmemBytes = shared;
  check(cudaLaunchKernelEx(&config, kernel, Parameters(arguments)...), what);
}
