//===- Ranks.h - The other ranks, as a session sees them --------*- C++ -*-===//
//
// What a session needs to run one program on several ranks: its own
// coordinates, and asynchronous collectives. runtime/transport implements it
// over an engine; the runtime itself knows no engine.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_RUNTIME_RANKS_H
#define MLC_RUNTIME_RANKS_H

#include "runtime/Device.h"
#include "runtime/Program.h"

#include <memory>

namespace mlc::runtime {

/// The items [begin, end) of part `part` if `things` items are divided among
/// `parts`. Sizes differ by at most one, the larger ones first. The same as in
/// runtime/transport/Schedule.h.
struct PartRange {
  int64_t begin, end;
  int64_t size() const { return end - begin; }
};
PartRange partRange(int64_t things, int64_t parts, int64_t part);

/// The shard of the rank with these coordinates of a tensor with dims `whole`:
/// its range in each dim. The splits must be valid.
std::vector<PartRange> partOfTensor(const std::vector<int64_t> &whole,
                                    const std::vector<Split> &splits,
                                    const std::vector<MeshAxis> &mesh,
                                    const std::vector<int64_t> &coordinates);

/// Copies the part `ranges` of the dense tensor `whole` with dims `dims` to the
/// dense `part`; with `join`, copies `part` back into `whole`.
void copyPart(const std::vector<int64_t> &dims,
              const std::vector<PartRange> &ranges, uint64_t elementBytes,
              uint8_t *whole, uint8_t *part, bool join);

/// The coordinates of rank `rank` in the mesh; the last axis changes fastest.
std::vector<int64_t> coordinatesOf(const std::vector<MeshAxis> &mesh,
                                   uint64_t rank);

/// A start step with its sizes; the same on all ranks of the group.
struct CollectiveCall {
  CollectiveKind kind = CollectiveKind::AllReduce;
  ReductionKind reduction = ReductionKind::Sum;
  std::string algorithm; ///< empty: the engine's own, or the default
  uint32_t axis = 0;
  /// Its index among the program's collectives on the axis, from 0. It decides
  /// which of several groups of the axis carries it out.
  uint32_t turn = 0;
  DType type = DType::F32;
  /// The root of a Broadcast; for Shift, how many ranks before.
  int64_t number = 0;
  /// Arguments that a kind lacks are 1 (StartStep).
  struct Message {
    int64_t extent = 0, join = 1, unit = 1;
  };
  std::vector<Message> messages;
};

/// Elements of a message on the rank with `coordinate` among the `ranks` of the
/// axis. False if a size is negative or overflows.
struct MessageSize {
  int64_t input = 0, output = 0;
};
bool messageSize(CollectiveKind kind, const CollectiveCall::Message &message,
                 int64_t ranks, int64_t coordinate, MessageSize &size);

/// The other ranks. One thread at a time may use it. All ranks must start the
/// same collectives in the same order.
class Ranks {
public:
  virtual ~Ranks() = default;
  Ranks(const Ranks &) = delete;
  Ranks &operator=(const Ranks &) = delete;

  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// The GPU on whose memory collectives can work (Device::gpu); -1: only host
  /// memory.
  virtual int gpu() const { return -1; }

  /// A collective, prepared to be run repeatedly without allocating. Must not
  /// be destroyed while it is under way.
  class Prepared {
  public:
    virtual ~Prepared() = default;
    /// Whether it can be started on GPU memory, as the engine's own can.
    bool canBeOnGpu = false;
  };
  /// Prepares a collective of a program with this mesh, whose number of ranks
  /// is size(). Fails for an unknown algorithm or elements that cannot be
  /// reduced.
  virtual Status prepare(const std::vector<MeshAxis> &mesh,
                         const CollectiveCall &call,
                         std::unique_ptr<Prepared> &prepared) = 0;
  /// Begins it, after all earlier ones of its group. `inputs[i]` and
  /// `outputs[i]` are message i, in host memory; this object owns them until
  /// wait(). It must not be under way.
  virtual void start(Prepared &prepared, const void *const *inputs,
                     void *const *outputs) = 0;
  /// As start(), on GPU memory. It begins after the CUevent `ready`, which must
  /// have been recorded; `done` is recorded after it.
  virtual void startOnGpu(Prepared &prepared, const void *const *inputs,
                          void *const *outputs, void *ready, void *done);
  /// Waits until `done` has been recorded, or the collective is over. Work that
  /// waits for `done` from then on sees the outputs, unless wait() returns an
  /// error.
  virtual Status waitUntilQueued(Prepared &prepared);
  /// Waits until it is over, at most for the timeout; success if it is not
  /// under way. An error names this rank, the collective and the missing rank;
  /// later collectives fail too.
  virtual Status wait(Prepared &prepared) = 0;

  /// Makes the groups of ranks that differ only on this axis of the mesh, in
  /// which collectives along it run. All ranks call it together. Without it,
  /// the first collective along an axis makes them, so all ranks have to
  /// prepare theirs in one order.
  virtual Status openGroups(const std::vector<MeshAxis> &mesh, uint32_t axis);

  /// A one-way connection of two ranks.
  struct Channel {
    int from, to;
    bool operator==(const Channel &other) const {
      return from == other.from && to == other.to;
    }
  };
  /// Makes channels, by which ranks send and receive. All ranks call it
  /// together, with the same channels. MLC_UNSUPPORTED if the engine has none.
  virtual Status openChannels(const std::vector<Channel> &channels);
  /// Whether the messages of all channels are launched in the order in which
  /// this rank begins them. Then ranks begin them in an order that is free of
  /// deadlock even if nothing is buffered.
  virtual bool ordersMessages() const { return false; }
  /// Begins to send or to receive a message on channel `channel`, of which this
  /// rank is an end. Its messages arrive in the order in which they are sent;
  /// `name` says for errors what one is, and is the same at both ends. The
  /// memory belongs to this object until the message has gone or come.
  virtual uint64_t beginMessage(size_t channel, const std::string &name,
                                void *data, uint64_t bytes);
  /// Waits until it has gone or come, as wait() does.
  virtual Status waitForMessage(uint64_t message);
  virtual bool isMessageOver(uint64_t message);

  /// Whether a collective has failed. Its memory may then still be written to,
  /// until abort().
  virtual bool hasFailed() const = 0;
  /// Ends all ranks, even those that hang, after an error was reported. Others
  /// get two seconds to report theirs. May end the process with `code`.
  virtual void abort(int code) = 0;
  /// Bytes that this rank has sent in finished collectives, without an engine's
  /// own.
  virtual uint64_t sentBytes() const = 0;
  /// Waits until all ranks call it, so that no rank hangs because another has
  /// ended.
  virtual Status finish() = 0;

protected:
  Ranks() = default;
};

/// Finds the device called `name` for sessions on these ranks, which may be
/// null. "cuda" is the ranks' GPU. MLC_USAGE for another GPU.
Status findDevice(const char *name, const Ranks *ranks, Device *&device);

/// An error if a program with this mesh cannot run on these ranks; null: a
/// single rank. The error says how many ranks it needs and how to start them.
Status checkRanks(const std::vector<MeshAxis> &mesh, const Ranks *ranks);

} // namespace mlc::runtime

#endif // MLC_RUNTIME_RANKS_H
