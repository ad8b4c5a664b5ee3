//===- Engine.h - Engines by name -------------------------------*- C++ -*-===//

#ifndef MLC_RUNTIME_TRANSPORT_ENGINE_H
#define MLC_RUNTIME_TRANSPORT_ENGINE_H

#include "runtime/Status.h"
#include "runtime/transport/mlc_engine.h"

#include <memory>
#include <string>

namespace mlc::runtime::transport {

/// Loads the engine `name`: libmlc_engine_NAME.so from `folder` or the system's
/// search path, or the shared object at `name` if it has a slash. It stays
/// loaded. Errors name what is missing, with the remedy.
Status loadEngine(const std::string &name, const std::string &folder,
                  const mlc_engine *&engine);

/// The folder of plugins: that of this code, or lib beside it.
std::string engineFolder();

/// Ranks that are threads of this process, for tests and to study algorithms.
/// The engine's `open` needs a current hub on its thread.
class InprocHub {
public:
  explicit InprocHub(int ranks);
  ~InprocHub();
  InprocHub(const InprocHub &) = delete;
  InprocHub &operator=(const InprocHub &) = delete;

  /// The next communicator that this thread opens joins the hub.
  void makeCurrent();

  struct Impl;

private:
  std::shared_ptr<Impl> impl;
};

const mlc_engine &inprocEngine();

} // namespace mlc::runtime::transport

#endif // MLC_RUNTIME_TRANSPORT_ENGINE_H
