//===- CheckWorkers.cpp - Rejects exchanges between a server's workers ----===//

#include "dialects/Dist/Dist.h"
#include "passes/Base/Form.h"
#include "passes/Base/Passes.h"
#include "passes/Base/Remedy.h"

using namespace mlir;

namespace mlc {

#define GEN_PASS_DEF_CHECKWORKERSPASS
#include "passes/Base/Passes.h.inc"

namespace {

struct CheckWorkersPass : impl::CheckWorkersPassBase<CheckWorkersPass> {
  using CheckWorkersPassBase::CheckWorkersPassBase;

  void runOnOperation() override {
    if (failed(requireForm(*this, getOperation(), Form::Graph)))
      return signalPassFailure();
    WalkResult result = getOperation().walk([](Operation *op) {
      if (!isa_and_nonnull<dist::DistDialect>(op->getDialect()))
        return WalkResult::advance();
      op->emitError("needs something of all samples of a batch, which workers "
                    "of a server do not exchange; statistics of batches may be "
                    "of its own samples on each")
          << Remedy{Remedy::Kind::SumBetweenRanks}
          << Remedy{Remedy::Kind::LocalStatistics};
      return WalkResult::interrupt();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};

} // namespace

} // namespace mlc
