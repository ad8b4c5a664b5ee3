//===- Memory.cpp - The memory plan for given sizes -----------------------===//

#include "tools/mlc/Memory.h"
#include "tools/mlc/Failure.h"
#include "tools/mlc/Session.h"

using namespace mlc::cli;

/// The figures after one run on zeros.
static llvm::Expected<MemoryFigures>
runOnZeros(const Model &model, llvm::ArrayRef<DimSetting> sizes) {
  std::vector<HostTensor> inputs;
  for (const mlc_port &port : model.inputs()) {
    auto dims = portDims(port, sizes);
    if (!dims)
      return dims.takeError();
    auto tensor = HostTensor::zeros(port.type, std::move(*dims));
    if (!tensor)
      return tensor.takeError();
    inputs.push_back(std::move(*tensor));
  }
  auto session = Session::create(model, /*threads=*/1);
  if (!session)
    return session.takeError();
  if (llvm::Error error = session->bind(std::move(inputs)))
    return error;
  if (llvm::Error error = session->run())
    return error;
  auto memory = session->memory();
  if (!memory)
    return memory.takeError();
  return MemoryFigures{memory->arena_bytes, memory->lower_bound_bytes};
}

llvm::Expected<std::optional<MemoryFigures>>
mlc::cli::planForSizes(llvm::StringRef path, llvm::ArrayRef<DimSetting> sizes) {
  auto model = Model::open(path);
  if (!model) {
    // Code for another CPU can still be looked at.
    llvm::Error error = llvm::handleErrors(
        model.takeError(), [](std::unique_ptr<Failure> failure) -> llvm::Error {
          if (failure->getCode() == Exit::Device)
            return llvm::Error::success();
          return llvm::Error(std::move(failure));
        });
    if (error)
      return std::move(error);
    return std::nullopt;
  }
  bool open = false;
  for (const mlc_port &port : model->inputs())
    for (size_t i = 0; i < port.rank; ++i)
      open |= port.dims[i] < 0;
  if (open && sizes.empty())
    return std::nullopt;
  auto figures = runOnZeros(*model, sizes);
  if (!figures)
    return figures.takeError();
  return *figures;
}
