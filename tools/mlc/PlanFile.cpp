//===- PlanFile.cpp - Plans that other simulators made --------------------===//

#include "tools/mlc/PlanFile.h"
#include "simulator/timeline/Pictures.h"
#include "tools/mlc/OutputFile.h"
#include <fmt/format.h>

using namespace mlc;
using namespace mlc::cli;

llvm::Error mlc::cli::writeSimulated(const SimulationRequest &request,
                                     const std::string &output, int64_t ranks,
                                     bool isQuiet) {
  auto done = simulate(request);
  if (!done)
    return done.takeError();
  const int64_t own = done->plan.training->countRanks();
  if (!isQuiet) {
    llvm::outs() << "as it is carried out, mlc simulate says "
                 << simulator::toText(done->timeline.span) << '\n';
    if (own < ranks)
      llvm::outs() << fmt::format("the plan is of {} rank{}; start as many\n",
                                  own, own == 1 ? "" : "s");
  }
  return writeOutputs({{output, [&](llvm::raw_ostream &os) {
                          os << done->plan.text();
                          return llvm::Error::success();
                        }}});
}
