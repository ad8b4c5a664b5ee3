//===- RegisterFunctions.cpp - Registers that warpgroups ask for ----------===//

#include "runtime/emulator/Cuda.h"
#include "runtime/emulator/Execution.h"
#include "runtime/emulator/RegisterCounts.h"

namespace mlc::emulator {

void RegisterCounts::startBlock(unsigned threads) {
  groups.assign((threads + 127) / 128, {});
  made.assign(threads, 0);
}

void RegisterCounts::set(int count, bool raises, void *at) {
  unsigned me = execution.running;
  const char *does = raises ? "calls raiseRegisters" : "calls dropRegisters";
  if (me / 128 * 128 + 128 > made.size())
    execution.misuse(at, does, "its warpgroup has not four warps");
  std::vector<Request> &requests = groups[me / 128];
  Request request{count, raises};
  if (made[me] == requests.size())
    requests.push_back(request);
  if (!(requests[made[me]] == request))
    execution.misuse(at, does, "its warpgroup asks for other registers");
  ++made[me];
  last = at;
  lastThread = me;
}

void RegisterCounts::endBlock() const {
  constexpr int most = 65536;
  auto refuse = [&](std::string what) {
    execution.report(
        {Problem::Misuse,
         {execution.place(last), lastThread, 0, "asked last for registers"},
         {},
         std::move(what)});
  };
  int sum = 0;
  for (size_t i = 0; i < groups.size(); ++i) {
    for (size_t j = 128 * i; j < 128 * (i + 1) && j < made.size(); ++j)
      if (made[j] != groups[i].size())
        return refuse("not all threads of a warpgroup did");
    if (!groups[i].empty())
      sum += 128 * groups[i].back().count;
  }
  if (sum > most)
    refuse("warpgroups ask for " + std::to_string(sum) +
           " registers, and a multiprocessor has 65536");
}

} // namespace mlc::emulator

using namespace mlc::emulator;

extern "C" {
MLC_EMULATOR_API void mlcEmulatorSetRegisters(int count, bool raises) {
  execution.registers.set(count, raises, __builtin_return_address(0));
}
MLC_EMULATOR_API void mlcEmulatorWaitForPriorLaunch() {
  if (execution.order.isActive)
    execution.order.observe(execution.running, Order::priorLaunch, 1);
}
}
