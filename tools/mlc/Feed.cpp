//===- Feed.cpp - Inputs of a run -----------------------------------------===//

#include "tools/mlc/Feed.h"
#include "runtime/Npy.h"
#include "runtime/Text.h"
#include "tools/mlc/Failure.h"
#include "tools/mlc/Random.h"
#include "tools/mlc/SmallFloats.h"
#include "llvm/ADT/STLExtras.h"
#include <cstdlib>
#include <cstring>

using namespace mlc::cli;
namespace runtime = mlc::runtime;

llvm::Expected<HostTensor> HostTensor::zeros(mlc_dtype type,
                                             std::vector<int64_t> dims) {
  HostTensor tensor{type, std::move(dims), nullptr, mlc_dtype_size(type)};
  for (int64_t dim : tensor.dims)
    if (dim < 0 ||
        __builtin_mul_overflow(tensor.bytes, size_t(dim), &tensor.bytes) ||
        tensor.bytes > size_t(1) << 46)
      return fail(Exit::Usage, "an input of these dims has too many elements; "
                               "give smaller ones with --dim");
  size_t rounded = (tensor.bytes + 64) / 64 * 64;
  char *data = static_cast<char *>(std::aligned_alloc(64, rounded));
  if (!data)
    return fail(Exit::Resources, "out of memory for an input of " +
                                     llvm::Twine(tensor.bytes) +
                                     " bytes; give smaller dims");
  std::memset(data, 0, rounded);
  tensor.data = std::shared_ptr<char>(data, std::free);
  return tensor;
}

/// The value of `text` where it is a number or a dim of `sizes`.
static std::optional<int64_t> sizeOf(llvm::StringRef text,
                                     llvm::ArrayRef<DimSetting> sizes) {
  for (const DimSetting &size : sizes)
    if (size.name == text && size.value)
      return *size.value;
  return std::nullopt;
}

llvm::Expected<std::vector<int64_t>>
mlc::cli::portDims(const mlc_port &port, llvm::ArrayRef<DimSetting> sizes) {
  std::vector<int64_t> dims;
  std::string missing;
  for (size_t i = 0; i < port.rank; ++i) {
    std::optional<int64_t> size = port.dims[i];
    if (*size < 0)
      size = sizeOf(port.dim_texts[i], sizes);
    if (!size)
      missing += (missing.empty() ? "" : ", ") + std::string(port.dim_texts[i]);
    dims.push_back(size.value_or(0));
  }
  if (llvm::StringRef(missing).contains("rank."))
    return fail(Exit::Usage, "input '" + runtime::printable(port.name) +
                                 "' is a part of each rank of a mesh, and this "
                                 "command runs programs of one; take mlc run");
  if (!missing.empty())
    return fail(Exit::Usage,
                "input '" + runtime::printable(port.name) +
                    "' has open dims: " + runtime::printable(missing) +
                    "; give their sizes with --dim NAME=N");
  return dims;
}

llvm::Expected<HostTensor> mlc::cli::readTensor(const std::string &path) {
  auto array = std::make_shared<mlc::runtime::NpyArray>();
  if (auto status = mlc::runtime::readNpy(path, *array); !status.ok())
    return fail(static_cast<Exit>(status.code), status.message);
  HostTensor tensor{static_cast<mlc_dtype>(array->type), array->dims, nullptr,
                    size_t(array->bytes)};
  tensor.data = std::shared_ptr<char>(
      array, reinterpret_cast<char *>(array->data.data()));
  return tensor;
}

/// The array in the file, which must be of the port's type.
static llvm::Expected<HostTensor> readInput(const std::string &path,
                                            const mlc_port &port) {
  auto tensor = readTensor(path);
  if (tensor && (tensor->type != port.type || tensor->dims.size() != port.rank))
    return fail(Exit::Usage,
                path + ": has type " + mlc_dtype_name(tensor->type) + " and " +
                    llvm::Twine(tensor->dims.size()) + " dims; input '" +
                    runtime::printable(port.name + std::string("' takes ") +
                                       typeText(port)));
  return tensor;
}

llvm::Expected<std::vector<HostTensor>>
mlc::cli::makeFeed(const Model &model, llvm::ArrayRef<DimSetting> sizes,
                   const InputOptions &options) {
  auto files = parseInputs(options.inputs);
  if (!files)
    return files.takeError();
  for (const InputFile &file : *files)
    if (llvm::none_of(model.inputs(), [&](const mlc_port &port) {
          return file.name == port.name;
        }))
      return fail(Exit::Usage, model.name() + ": has no input '" +
                                   runtime::printable(file.name) +
                                   "'; mlc inspect lists them");
  std::vector<HostTensor> feed;
  for (auto [index, port] : llvm::enumerate(model.inputs())) {
    auto file = llvm::find_if(
        *files, [&](const InputFile &f) { return f.name == port.name; });
    if (file != files->end()) {
      auto tensor = readInput(file->path, port);
      if (!tensor)
        return tensor.takeError();
      feed.push_back(std::move(*tensor));
      continue;
    }
    auto dims = portDims(port, sizes);
    if (!dims)
      return dims.takeError();
    auto tensor = HostTensor::zeros(port.type, std::move(*dims));
    if (!tensor)
      return tensor.takeError();
    fillRandomly(*tensor, options.seed + index);
    feed.push_back(std::move(*tensor));
  }
  return feed;
}

namespace {

template <typename T, typename Draw> void fill(HostTensor &tensor, Draw draw) {
  T *data = reinterpret_cast<T *>(tensor.data.get());
  std::generate(data, data + tensor.bytes / sizeof(T),
                [&] { return static_cast<T>(draw()); });
}

} // namespace

void mlc::cli::fillRandomly(HostTensor &tensor, uint64_t seed) {
  Random random(seed);
  auto normal = [&] { return random.normal(); };
  auto byte = [&] { return random.bits() % 256; };
  auto signedByte = [&] { return random.bits() % 128; };
  switch (tensor.type) {
  case MLC_F32:
    return fill<float>(tensor, normal);
  case MLC_F64:
    return fill<double>(tensor, normal);
  case MLC_F16:
  case MLC_BF16:
    return fill<uint16_t>(tensor,
                          [&] { return narrow(random.normal(), tensor.type); });
  case MLC_I8:
    return fill<int8_t>(tensor, signedByte);
  case MLC_U8:
    return fill<uint8_t>(tensor, byte);
  case MLC_I16:
  case MLC_U16:
    return fill<uint16_t>(tensor, byte);
  case MLC_I32:
  case MLC_U32:
    return fill<uint32_t>(tensor, byte);
  case MLC_I64:
  case MLC_U64:
    return fill<uint64_t>(tensor, byte);
  case MLC_BOOL:
    return fill<uint8_t>(tensor, [&] { return random.bits() % 2; });
  }
}
