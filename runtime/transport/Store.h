//===- Store.h - Where ranks leave notes for each other ---------*- C++ -*-===//
//
// A table of short texts by name that rank 0 holds at MASTER_ADDR:MASTER_PORT.
// What comes from the network is bounded.
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

/// Under this with a rank behind it each rank leaves its first note; the store
/// lists those whose connection has ended since as `goneRanks`: "rank 1, 2".
inline constexpr const char *rankPrefix = "size/", *goneRanks = "gone";

/// Answers on a thread until it is destroyed.
class StoreServer {
public:
  ~StoreServer();
  /// Until nobody else is connected.
  void waitForOthers(std::chrono::nanoseconds most);
  /// An error's text, or nothing.
  std::string start(const std::string &address, const std::string &port);

private:
  struct Client {
    std::string in, out;
    std::string rank; // that has said who it is
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
  /// Tries until `deadline`, as rank 0 may not be there yet.
  std::string connect(const std::string &address, const std::string &port,
                      Clock::time_point deadline);
  /// Sets a name that is not there; false if it is, or the server has gone.
  bool set(const std::string &name, const std::string &value);
  /// False if it is not there.
  bool get(const std::string &name, std::string &value);
  /// Whether the server has answered whatever it was asked.
  bool isConnected() const { return fd >= 0 && !lost; }
  /// This machine's address towards rank 0, as a number.
  std::string ownAddress() const;

private:
  bool ask(char what, const std::string &name, std::string &value);
  int fd = -1;
  bool lost = false;
};

} // namespace mlc::runtime::transport

#endif // MLC_RUNTIME_TRANSPORT_STORE_H
