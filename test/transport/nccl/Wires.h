//===- Wires.h - Messages among processes through shared memory -*- C++ -*-===//

#ifndef MLC_TEST_TRANSPORT_NCCL_WIRES_H
#define MLC_TEST_TRANSPORT_NCCL_WIRES_H

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace mlc::test::nccl {

/// To or from `peer`; `done` bytes have passed.
struct Message {
  bool isSend;
  int peer;
  char *data;
  size_t bytes, done;
};

class Wires {
public:
  /// Waits for all ranks, which give the same name; null after a minute.
  static std::unique_ptr<Wires> open(const std::string &name, int size,
                                     int rank);
  ~Wires();

  const std::string &name() const { return own; }
  /// All together, those to or from one peer in order; false if a rank aborts.
  bool pass(std::vector<Message> &messages);
  void abort();
  bool isAborted() const;

private:
  struct Wire;
  struct Head;
  Wires() = default;
  Wire &wire(int from, int to) const;
  bool move(Message &message);
  void passToItself(std::vector<Message> &messages);

  std::string own;
  int size = 0, rank = 0;
  void *memory = nullptr;
};

} // namespace mlc::test::nccl

#endif // MLC_TEST_TRANSPORT_NCCL_WIRES_H
