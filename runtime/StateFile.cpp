//===- StateFile.cpp - States in a file -----------------------------------===//

#include "runtime/Npy.h"
#include "runtime/OutputFiles.h"
#include "runtime/SharedStates.h"

#include <mutex>

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
  // There is one set of files at a time in a process.
  static std::mutex one;
  std::lock_guard<std::mutex> lock(one);
  OutputFiles files({path}, "");
  Status status = files.begin();
  if (status.ok())
    status = files.open(0);
  if (!status.ok())
    return status;
  Status written;
  status = writeNpz(items, [&](const void *data, size_t size) {
    written = files.write(data, size);
    return written.ok();
  });
  if (status.ok())
    status = std::move(written);
  if (status.ok())
    status = files.close();
  return status.ok() ? files.commit() : status;
}

Status SharedStates::load(const char *path) {
  NpzFile file;
  Status status = file.open(path);
  std::vector<NpyArray> arrays(count());
  // All is read before anything is changed.
  for (size_t i = 0; status.ok() && i < count(); ++i) {
    status = file.read(state(i).name, arrays[i]);
    if (status.ok() &&
        (arrays[i].type != state(i).type || arrays[i].dims != dims(i)))
      status =
          Status::error(MLC_USAGE, std::string(path) + ": '" + state(i).name +
                                       "' has another type or other dims "
                                       "than the model's");
  }
  for (size_t i = 0; status.ok() && i < count(); ++i)
    status = set(i, arrays[i].type, arrays[i].dims.size(),
                 arrays[i].dims.data(), arrays[i].data.data(), MLC_SPACE_HOST);
  return status;
}

} // namespace mlc::runtime
