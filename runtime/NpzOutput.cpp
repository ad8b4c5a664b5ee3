//===- NpzOutput.cpp - Files of arrays, whole or not at all ---------------===//

#include "runtime/NpzOutput.h"
#include "runtime/OutputFiles.h"

#include <mutex>

namespace mlc::runtime {

Status writeNpzFile(const std::string &path,
                    const std::vector<NpzItem> &items) {
  // A process may have one OutputFiles at a time.
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

} // namespace mlc::runtime
