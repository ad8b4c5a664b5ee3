//===- StepReplay.h - A simulated step over real links ----------*- C++ -*-===//

#ifndef MLC_TOOLS_MLC_STEPREPLAY_H
#define MLC_TOOLS_MLC_STEPREPLAY_H

#include "runtime/Ranks.h"
#include "tools/mlc/Simulation.h"
#include <chrono>
#include <map>

namespace mlc::cli {

/// Does the actions of a simulated step on real ranks: waits as long as
/// computation is predicted to take, without using a core, and sends messages
/// of the right sizes. Waits follow each other without gaps, as kernels would
/// on a machine of their own; only messages, and what waits for them, are
/// measured.
class StepReplay {
public:
  /// `ranks` and `step` outlive this. All ranks make one.
  StepReplay(const Simulation &step, runtime::Ranks &ranks);

  /// Opens the channels; all ranks call it together.
  runtime::Status open();
  /// Does a step that begins now. Gives the seconds until this rank was done.
  runtime::Status run(double &seconds);

private:
  using Clock = std::chrono::steady_clock;
  /// A message that is sent or received here.
  struct Message {
    size_t channel;
    int64_t bytes;
    bool isSend;
    std::string name; ///< the same at both ends
  };

  size_t channelOf(int from, int to);
  void addReductions();
  std::vector<char> &memoryOf(const Message &message);
  uint64_t begin(const Message &message);
  runtime::Status await(uint64_t message);
  runtime::Status compute(const runtime::schedule::Action &action,
                          simulator::Time time);
  runtime::Status reduce(int64_t stage);

  const Simulation &step;
  runtime::Ranks &ranks;
  std::vector<runtime::Ranks::Channel> channels;
  /// By the place in this rank's list.
  std::map<size_t, Message> messages;
  /// By stage: with the other ranks that have it.
  std::map<int64_t, std::vector<Message>> reductions;
  std::vector<char> sendMemory;
  std::vector<std::vector<char>> receiveMemory;
  /// Received messages that are waited for, by stage and micro-batch.
  std::map<std::pair<int32_t, int32_t>, std::vector<uint64_t>> waiting;
  Clock::time_point now;
};

/// Replays a step `count` times on the ranks of this process, after one that is
/// not counted; gives the seconds that the slowest of all ranks took for each.
/// All processes call it. On an error all ranks end.
llvm::Expected<std::vector<double>>
replaySteps(const Simulation &step,
            llvm::ArrayRef<std::shared_ptr<runtime::Ranks>> ranks,
            unsigned count);

} // namespace mlc::cli

#endif // MLC_TOOLS_MLC_STEPREPLAY_H
