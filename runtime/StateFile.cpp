//===- StateFile.cpp - States in a file -----------------------------------===//

#include "runtime/NpzOutput.h"
#include "runtime/SharedStates.h"

namespace mlc::runtime {

Status SharedStates::save(const char *path) {
  std::vector<NpzItem> items;
  for (size_t i = 0; i < count(); ++i) {
    mlc_tensor tensor;
    if (Status status = read(i, tensor); !status.ok())
      return status;
    items.push_back(
        {state(i).name, state(i).type, dims(i), tensor.data, tensor.bytes});
  }
  return writeNpzFile(path, items);
}

Status SharedStates::load(const char *path) {
  NpzFile file;
  Status status = file.open(path);
  std::vector<NpyArray> arrays(count());
  // Read all before changing anything.
  for (size_t i = 0; status.ok() && i < count(); ++i) {
    status = file.read(state(i).name, arrays[i]);
    if (status.ok() &&
        (arrays[i].type != state(i).type || arrays[i].dims != dims(i)))
      status =
          Status::error(MLC_USAGE, std::string(path) + ": '" + state(i).name +
                                       "' has another type or other dims "
                                       "than the model's");
  }
  if (status.ok())
    status = placeAll();
  for (size_t i = 0; status.ok() && i < count(); ++i)
    status = set(i, arrays[i].type, arrays[i].dims.size(),
                 arrays[i].dims.data(), arrays[i].data.data(), MLC_SPACE_HOST);
  return status;
}

} // namespace mlc::runtime
