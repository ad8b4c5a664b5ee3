//===- Wires.cpp - Messages among processes through shared memory ---------===//

#include "test/transport/nccl/Wires.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <set>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>

namespace mlc::test::nccl {

/// Bytes on their way from one rank to another; zeros are an empty one.
struct Wires::Wire {
  static constexpr size_t capacity = 1 << 16;
  std::atomic<uint64_t> in, out;
  char data[capacity];
};

struct Wires::Head {
  std::atomic<int> come, aborted;
};

static size_t bytesFor(size_t head, size_t wire, int size) {
  return head + wire * size * size;
}

std::unique_ptr<Wires> Wires::open(const std::string &name, int size,
                                   int rank) {
  std::unique_ptr<Wires> made(new Wires);
  made->own = name;
  made->size = size;
  made->rank = rank;
  const size_t bytes = bytesFor(sizeof(Head), sizeof(Wire), size);
  const int fd = shm_open(name.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600);
  if (fd < 0 || ftruncate(fd, static_cast<off_t>(bytes)))
    return nullptr;
  made->memory =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  ::close(fd);
  if (made->memory == MAP_FAILED) {
    made->memory = nullptr;
    return nullptr;
  }
  auto *head = static_cast<Head *>(made->memory);
  ++head->come;
  using Clock = std::chrono::steady_clock;
  const Clock::time_point end = Clock::now() + std::chrono::minutes(1);
  while (head->come < size && Clock::now() < end)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  shm_unlink(name.c_str());
  return head->come < size ? nullptr : std::move(made);
}

Wires::~Wires() {
  if (memory)
    munmap(memory, bytesFor(sizeof(Head), sizeof(Wire), size));
}

Wires::Wire &Wires::wire(int from, int to) const {
  auto *first = reinterpret_cast<Wire *>(static_cast<Head *>(memory) + 1);
  return first[static_cast<size_t>(from) * size + to];
}

void Wires::abort() { static_cast<Head *>(memory)->aborted = 1; }
bool Wires::isAborted() const {
  return static_cast<const Head *>(memory)->aborted;
}

/// As far as it goes now; whether that was anything.
bool Wires::move(Message &message) {
  Wire &one =
      message.isSend ? wire(rank, message.peer) : wire(message.peer, rank);
  const uint64_t in = one.in.load(std::memory_order_acquire),
                 out = one.out.load(std::memory_order_acquire);
  const uint64_t at = message.isSend ? in : out;
  const size_t place = at % Wire::capacity;
  const size_t free = message.isSend ? Wire::capacity - (in - out) : in - out;
  const size_t count =
      std::min({free, Wire::capacity - place, message.bytes - message.done});
  if (!count)
    return false;
  if (message.isSend)
    std::memcpy(one.data + place, message.data + message.done, count);
  else
    std::memcpy(message.data + message.done, one.data + place, count);
  message.done += count;
  (message.isSend ? one.in : one.out)
      .store(at + count, std::memory_order_release);
  return true;
}

/// The k-th send is what the k-th receive takes.
void Wires::passToItself(std::vector<Message> &messages) {
  std::vector<Message *> sends, receives;
  for (Message &message : messages)
    if (message.peer == rank)
      (message.isSend ? sends : receives).push_back(&message);
  for (size_t i = 0; i < std::min(sends.size(), receives.size()); ++i) {
    std::memmove(receives[i]->data, sends[i]->data, sends[i]->bytes);
    sends[i]->done = sends[i]->bytes;
    receives[i]->done = receives[i]->bytes;
  }
}

bool Wires::pass(std::vector<Message> &messages) {
  passToItself(messages);
  for (int idle = 0;;) {
    bool moved = false, all = true;
    std::set<std::pair<bool, int>> busy; // the first of each is under way
    for (Message &message : messages) {
      if (message.done == message.bytes ||
          !busy.emplace(message.isSend, message.peer).second)
        continue;
      moved |= move(message);
      all &= message.done == message.bytes;
    }
    // What stands behind another one may be left.
    all = all && std::all_of(messages.begin(), messages.end(),
                             [](auto &one) { return one.done == one.bytes; });
    if (all)
      return true;
    if (isAborted())
      return false;
    idle = moved ? 0 : idle + 1;
    if (idle > 100)
      std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
}

} // namespace mlc::test::nccl
