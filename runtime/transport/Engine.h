//===- Engine.h - Engines by name -------------------------------*- C++ -*-===//

#ifndef MLC_RUNTIME_TRANSPORT_ENGINE_H
#define MLC_RUNTIME_TRANSPORT_ENGINE_H

#include "runtime/Status.h"
#include "runtime/transport/mlc_engine.h"

#include <memory>
#include <string>

namespace mlc::runtime::transport {

/// Loads the engine `name`: libmlc_engine_NAME.so from `folder` or from where
/// the system looks, or the shared object if `name` has a slash. It stays
/// loaded. Errors name what is missing, with the remedy.
Status loadEngine(const std::string &name, const std::string &folder,
                  const mlc_engine *&engine);

/// The folder of plugins: where the code of this function lies, or lib beside
/// it.
std::string engineFolder();

/// Ranks that are threads of this process, for tests and for looking at an
/// algorithm: the engine's `open` needs a hub to be current on its thread.
class InprocHub {
public:
  explicit InprocHub(int ranks);
  ~InprocHub();
  InprocHub(const InprocHub &) = delete;
  InprocHub &operator=(const InprocHub &) = delete;

  /// What this thread opens next joins the hub.
  void makeCurrent();

  struct Impl;

private:
  std::shared_ptr<Impl> impl;
};

const mlc_engine &inprocEngine();

} // namespace mlc::runtime::transport

#endif // MLC_RUNTIME_TRANSPORT_ENGINE_H
