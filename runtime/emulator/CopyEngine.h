//===- CopyEngine.h - Copies beside the threads -----------------*- C++ -*-===//
//
// A copy is made later than it is started, at a pseudo-random time, and at the
// latest when all threads wait. What it reads and writes is then checked
// against what lay before its start. So a thread that touches the memory in
// between is found, whether it comes before or after the copy.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_RUNTIME_EMULATOR_COPYENGINE_H
#define MLC_RUNTIME_EMULATOR_COPYENGINE_H

#include "runtime/emulator/Order.h"
#include "runtime/emulator/TensorMap.h"

#include <cstdint>
#include <map>
#include <vector>

namespace mlc::emulator {

/// The device header's mlcEmulatorPlace.
struct Place {
  int at[5];
  uint16_t offsets[3];
};

/// A copy between shared and global memory that has been started.
struct Transfer {
  bool isStore = false;
  bool isTensor = false;
  TensorMap map = {}; ///< of tensors
  Place place = {};
  uintptr_t global = 0; ///< of other bytes
  uintptr_t shared = 0;
  unsigned bytes = 0;
  uintptr_t barrier = 0; ///< of copies to shared memory
  int64_t phase = 0;
  unsigned thread = 0; ///< that started it
  void *at = nullptr;  ///< and where
  View view;           ///< what lies before its start
  // Stores:
  unsigned group = 0;
  bool isRead = false, isAwaited = false;
  uint64_t readStamp = 0; ///< once it is read
  std::vector<uint8_t> data;
};

class CopyEngine {
public:
  void startBlock();
  /// Reports what the block has not waited for, and ends its stores.
  void endBlock();

  void copyTensor(uintptr_t to, const void *map, uintptr_t barrier,
                  unsigned rank, bool isPixels, const Place &place, void *at);
  void copyBulk(uintptr_t to, uintptr_t from, unsigned bytes, uintptr_t barrier,
                void *at);
  void storeTensor(const void *map, uintptr_t from, unsigned rank,
                   const Place &place, void *at);
  void storeBulk(uintptr_t to, uintptr_t from, unsigned bytes, void *at);
  void commit(unsigned thread) { ++groups[thread]; }
  /// Ends all but the last `pending` groups of the running thread.
  void wait(unsigned pending, bool written);

  /// Whether any copy to shared memory, or read of a store, is to be made.
  bool areUnderWay() const { return waiting != 0; }
  /// Makes one of them.
  void runOne();

private:
  void start(Transfer transfer);
  void load(const Transfer &transfer);
  void read(Transfer &transfer);
  void write(const Transfer &transfer);

  std::vector<Transfer> transfers; ///< in the order of their starts
  std::map<unsigned, unsigned> groups;
  unsigned waiting = 0;
};

} // namespace mlc::emulator

#endif // MLC_RUNTIME_EMULATOR_COPYENGINE_H
