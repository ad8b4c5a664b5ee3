//===- Session.h - Running an artifact --------------------------*- C++ -*-===//

#ifndef MLC_TOOLS_MLC_SESSION_H
#define MLC_TOOLS_MLC_SESSION_H

#include "runtime/Ranks.h"
#include "tools/mlc/Feed.h"

namespace mlc::cli {

/// A session of the runtime with the inputs it reads.
class Session {
public:
  /// `model` outlives the session; `device` "": the first; `threads` 0: all
  /// cores; `flags` is a sum of MLC_SESSION_*; `ranks` may be null.
  static llvm::Expected<Session>
  create(const Model &model, const std::string &device, unsigned threads,
         uint32_t flags = 0, const std::shared_ptr<runtime::Ranks> &ranks = {});

  /// A session of the entry of `model`, over the states of this one.
  llvm::Expected<Session> entry(const Model &model) const;

  /// Binds one tensor per input, in order.
  llvm::Error bind(std::vector<HostTensor> inputs);
  llvm::Error run();
  llvm::Expected<mlc_tensor> output(size_t index) const;
  llvm::Expected<mlc_memory> memory() const;
  mlc_session *get() const { return session.get(); }

private:
  struct Destroy {
    void operator()(mlc_session *s) const { mlc_session_destroy(s); }
  };
  const Model *model = nullptr;
  std::unique_ptr<mlc_session, Destroy> session;
  std::vector<HostTensor> bound;
};

} // namespace mlc::cli

#endif // MLC_TOOLS_MLC_SESSION_H
