//===- Feed.cpp - Inputs of a run -----------------------------------------===//

#include "tools/mlc/Feed.h"
#include "runtime/Random.h"
#include "runtime/Text.h"
#include "runtime/mlc_pipeline.h"
#include "tools/mlc/Failure.h"
#include "tools/mlc/SmallFloats.h"
#include "llvm/ADT/STLExtras.h"
#include <cstdlib>
#include <cstring>
#include <map>

using namespace mlc::cli;
namespace runtime = mlc::runtime;

/// The value of `text` if it is a number or a dim of `sizes`.
static std::optional<int64_t> sizeOf(llvm::StringRef text,
                                     llvm::ArrayRef<DimSetting> sizes) {
  int64_t number = 0;
  if (!text.getAsInteger(10, number))
    return number;
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

/// Reads the array in the file, which must have the port's type.
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

/// The inputs that hold indices, and their bound: a number or a dim.
static llvm::Expected<std::map<std::string, std::string>>
indicesOf(const Model &model) {
  auto manifest = model.manifest();
  if (!manifest)
    return manifest.takeError();
  std::map<std::string, std::string> indices;
  if (const llvm::json::Object *object = manifest->getAsObject())
    if (const llvm::json::Object *listed = object->getObject("indices"))
      for (const auto &[name, extent] : *listed)
        indices[name.str()] = extent.getAsString().value_or("").str();
  return indices;
}

/// The names of the inputs, for a message.
static std::string namesOf(const Model &model) {
  std::string names;
  for (const mlc_port &port : model.inputs())
    names += (names.empty() ? "" : ", ") + runtime::printable(port.name);
  return names.empty() ? "none" : names;
}

llvm::Expected<std::vector<HostTensor>>
mlc::cli::makeFeed(const Model &model, llvm::ArrayRef<DimSetting> sizes,
                   const InputOptions &options) {
  mlc_pipeline_sizes stages = {};
  if (!mlc_artifact_pipeline(model.get(), &stages) && stages.stages)
    return fail(Exit::Usage,
                model.name() + ": is a pipeline of " +
                    std::to_string(stages.stages) +
                    " stages, which is not taken here; run it with mlc run, or "
                    "compile the model without stages");
  auto files = parseInputs(options.inputs);
  if (!files)
    return files.takeError();
  for (const InputFile &file : *files)
    if (llvm::none_of(model.inputs(), [&](const mlc_port &port) {
          return file.name == port.name;
        }))
      return fail(Exit::Usage, model.name() + ": has no input '" +
                                   runtime::printable(file.name) +
                                   "'; it has " + namesOf(model));
  auto indices = indicesOf(model);
  if (!indices)
    return indices.takeError();
  std::vector<DimSetting> known = sizes;
  std::vector<HostTensor> feed(model.inputs().size());
  for (auto [tensor, port] : llvm::zip(feed, model.inputs())) {
    auto file = llvm::find_if(
        *files, [&](const InputFile &f) { return f.name == port.name; });
    if (file == files->end())
      continue;
    auto read = readInput(file->path, port);
    if (!read)
      return read.takeError();
    tensor = std::move(*read);
    for (auto [text, size] :
         llvm::zip(llvm::ArrayRef(port.dim_texts, port.rank), tensor.dims))
      known.push_back({text, size});
  }
  for (auto [index, port] : llvm::enumerate(model.inputs())) {
    HostTensor &tensor = feed[index];
    if (tensor.data)
      continue;
    auto dims = portDims(port, known);
    if (!dims)
      return dims.takeError();
    auto zeros = makeZeros(port.type, std::move(*dims));
    if (!zeros)
      return zeros.takeError();
    tensor = std::move(*zeros);
    auto extent = indices->find(port.name);
    if (extent != indices->end())
      fillBelow(tensor, options.seed + index,
                sizeOf(extent->second, known).value_or(0));
    else if (llvm::StringRef(port.name).contains_insensitive("mask"))
      fillWithOnes(tensor);
    else
      fillRandomly(tensor, options.seed + index);
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
  runtime::Random random(seed);
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

/// Fills signed or unsigned integers.
template <typename Draw>
static void fillIntegers(HostTensor &tensor, Draw draw) {
  switch (mlc_dtype_size(tensor.type)) {
  case 1:
    return fill<uint8_t>(tensor, draw);
  case 2:
    return fill<uint16_t>(tensor, draw);
  case 4:
    return fill<uint32_t>(tensor, draw);
  default:
    return fill<uint64_t>(tensor, draw);
  }
}

void mlc::cli::fillBelow(HostTensor &tensor, uint64_t seed, int64_t end) {
  runtime::Random random(seed);
  fillIntegers(tensor, [&]() -> uint64_t {
    return end > 0 ? random.bits() % static_cast<uint64_t>(end) : 0;
  });
}

void mlc::cli::fillWithOnes(HostTensor &tensor) {
  switch (tensor.type) {
  case MLC_F32:
    return fill<float>(tensor, [] { return 1.0f; });
  case MLC_F64:
    return fill<double>(tensor, [] { return 1.0; });
  case MLC_F16:
  case MLC_BF16:
    return fill<uint16_t>(tensor, [&] { return narrow(1.0, tensor.type); });
  default:
    return fillIntegers(tensor, [] { return 1; });
  }
}
