//===- Ranks.h - The other ranks, as a session sees them --------*- C++ -*-===//
//
// What a session needs of the processes that run the same program on other
// parts: its own coordinates, and collectives that are carried out while it
// goes on. runtime/transport implements it over an engine; the runtime itself
// knows no engine.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_RUNTIME_RANKS_H
#define MLC_RUNTIME_RANKS_H

#include "runtime/Device.h"
#include "runtime/Program.h"

#include <memory>

namespace mlc::runtime {

/// The things [begin, end) that are part `part` of `things` among `parts`:
/// sizes differ by one at most, the larger ones first. The same as
/// runtime/transport/Schedule.h's.
struct PartRange {
  int64_t begin, end;
  int64_t size() const { return end - begin; }
};
PartRange partRange(int64_t things, int64_t parts, int64_t part);

/// The part that a rank with these coordinates has of a tensor with dims
/// `whole`: for each dim where it begins and ends. The splits must be valid.
std::vector<PartRange> partOfTensor(const std::vector<int64_t> &whole,
                                    const std::vector<Split> &splits,
                                    const std::vector<MeshAxis> &mesh,
                                    const std::vector<int64_t> &coordinates);

/// Copies the part `ranges` of the dense tensor `whole` with dims `dims` to the
/// dense `part`; with `join`, the part into the whole.
void copyPart(const std::vector<int64_t> &dims,
              const std::vector<PartRange> &ranges, uint64_t elementBytes,
              uint8_t *whole, uint8_t *part, bool join);

/// The coordinates of rank `rank` in the mesh; the last axis changes fastest.
std::vector<int64_t> coordinatesOf(const std::vector<MeshAxis> &mesh,
                                   uint64_t rank);

/// A start step with its sizes: what all ranks of the group do alike.
struct CollectiveCall {
  CollectiveKind kind = CollectiveKind::AllReduce;
  ReductionKind reduction = ReductionKind::Sum;
  std::string algorithm; ///< empty: the engine's own, or what is there
  uint32_t axis = 0;
  /// Which of its program's on the axis it is, from 0: by that it is given to
  /// one of several groups of the axis.
  uint32_t turn = 0;
  DType type = DType::F32;
  /// Of Broadcast the root, of Shift how many ranks before.
  int64_t number = 0;
  /// Those that a kind has not are 1 (StartStep).
  struct Message {
    int64_t extent = 0, join = 1, unit = 1;
  };
  std::vector<Message> messages;
};

/// Elements of a message on the rank with `coordinate` among the `ranks` of the
/// axis. False where a size is negative or overflows.
struct MessageSize {
  int64_t input = 0, output = 0;
};
bool messageSize(CollectiveKind kind, const CollectiveCall::Message &message,
                 int64_t ranks, int64_t coordinate, MessageSize &size);

/// The other ranks. One thread at a time uses it, but all ranks start the same
/// collectives in the same order.
class Ranks {
public:
  virtual ~Ranks() = default;
  Ranks(const Ranks &) = delete;
  Ranks &operator=(const Ranks &) = delete;

  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// The GPU in whose memory collectives can be (Device::gpu); -1: none, all is
  /// in the host's memory.
  virtual int gpu() const { return -1; }

  /// A collective with what is needed to carry it out again and again without
  /// allocating. Not to be destroyed while it is under way.
  class Prepared {
  public:
    virtual ~Prepared() = default;
    /// Whether it can be started on memory of the GPU: it is the engine's own.
    bool canBeOnGpu = false;
  };
  /// Of a program with this mesh, whose number of ranks is size(). Errors: an
  /// algorithm that there is not, elements that cannot be reduced.
  virtual Status prepare(const std::vector<MeshAxis> &mesh,
                         const CollectiveCall &call,
                         std::unique_ptr<Prepared> &prepared) = 0;
  /// Begins it, behind all that was begun before in its group. `inputs[i]` and
  /// `outputs[i]` are message i, in the host's memory; they are this object's
  /// until wait(). It must not be under way.
  virtual void start(Prepared &prepared, const void *const *inputs,
                     void *const *outputs) = 0;
  /// As start(), on memory of the GPU: it begins when the CUevent `ready`,
  /// which has been recorded, has happened, and `done` is recorded behind it.
  virtual void startOnGpu(Prepared &prepared, const void *const *inputs,
                          void *const *outputs, void *ready, void *done);
  /// Until `done` has been recorded, or it is over: what waits for `done` from
  /// then on has the outputs, unless wait() returns an error.
  virtual Status waitUntilQueued(Prepared &prepared);
  /// Until it is over, which is within the timeout; success where it is not
  /// under way. An error names this rank, the collective, and who is missing;
  /// what is begun afterwards fails as well.
  virtual Status wait(Prepared &prepared) = 0;

  /// Whether a collective has failed. Then memory that was under way may still
  /// be written to, until abort().
  virtual bool hasFailed() const = 0;
  /// After an error that has been told: ends all ranks, those that hang too.
  /// Others get two seconds to tell theirs. May end the process with `code`.
  virtual void abort(int code) = 0;
  /// Bytes that this rank has sent, in collectives that are over; without what
  /// an engine's own ones send.
  virtual uint64_t sentBytes() const = 0;
  /// Waits for all ranks to have come here, so that none leaves one behind that
  /// hangs as it ends.
  virtual Status finish() = 0;

protected:
  Ranks() = default;
};

/// The device called `name`, for sessions on these ranks, which may be null.
/// "cuda" is the GPU that the ranks have. MLC_USAGE for another GPU than that.
Status findDevice(const char *name, const Ranks *ranks, Device *&device);

/// Whether a program with this mesh can run on these ranks; null: on one alone.
/// The error says how many it needs and how to start them.
Status checkRanks(const std::vector<MeshAxis> &mesh, const Ranks *ranks);

} // namespace mlc::runtime

#endif // MLC_RUNTIME_RANKS_H
