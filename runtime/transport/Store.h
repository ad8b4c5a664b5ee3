//===- Store.h - A table of notes between ranks -----------------*- C++ -*-===//
//
// A table of short named texts that rank 0 holds at MASTER_ADDR:MASTER_PORT.
// The size of network input is bounded.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_RUNTIME_TRANSPORT_STORE_H
#define MLC_RUNTIME_TRANSPORT_STORE_H

#include <atomic>
#include <chrono>
#include <map>
#include <string>
#include <thread>

namespace mlc::runtime::transport {

/// Each rank leaves its first note under `rankPrefix` and its number. The store
/// lists ranks whose connection has ended since under `goneRanks`: "rank 1, 2".
inline constexpr const char *rankPrefix = "size/", *goneRanks = "gone";

/// Answers on a thread until it is destroyed.
class StoreServer {
public:
  ~StoreServer();
  /// Waits until no other rank is connected, at most for `most`.
  void waitForOthers(std::chrono::nanoseconds most);
  /// Returns an error text, or nothing.
  std::string start(const std::string &address, const std::string &port);

private:
  struct Client {
    std::string in, out;
    std::string rank; // once it has identified itself
  };
  void run();
  void noteEnd(const Client &client);
  bool answer(Client &client);

  int listener = -1;
  std::atomic<bool> stopping{false};
  std::atomic<size_t> connected{0};
  std::map<std::string, std::string> table;
  std::map<int, Client> clients;
  std::thread thread;
};

class StoreClient {
public:
  using Clock = std::chrono::steady_clock;
  ~StoreClient();
  /// Tries until `deadline`, since rank 0 may not listen yet.
  std::string connect(const std::string &address, const std::string &port,
                      Clock::time_point deadline);
  /// Sets a new name; false if it exists or the server has gone.
  bool set(const std::string &name, const std::string &value);
  /// False if the name does not exist.
  bool get(const std::string &name, std::string &value);
  /// Whether the server has answered all requests.
  bool isConnected() const { return fd >= 0 && !lost; }
  /// This machine's numeric address on the connection to rank 0.
  std::string ownAddress() const;

private:
  bool ask(char what, const std::string &name, std::string &value);
  int fd = -1;
  bool lost = false;
};

} // namespace mlc::runtime::transport

#endif // MLC_RUNTIME_TRANSPORT_STORE_H
