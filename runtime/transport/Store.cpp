//===- Store.cpp - A table of notes between ranks -------------------------===//
//
// A request is a letter (s: set, g: get), the lengths of name and value as four
// bytes each, the name and the value. A reply is one byte for success, the
// length of a value and the value.
//
//===----------------------------------------------------------------------===//

#include "runtime/transport/Store.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

namespace mlc::runtime::transport {

static constexpr uint32_t longestName = 1 << 10, longestValue = 1 << 20;
static constexpr size_t mostEntries = 1 << 18;
static constexpr size_t headSize = 9, answerHead = 5;

static void appendLength(std::string &text, size_t length) {
  const auto number = static_cast<uint32_t>(length);
  text.append(reinterpret_cast<const char *>(&number), sizeof(number));
}

static uint32_t lengthAt(const std::string &text, size_t at) {
  uint32_t number;
  std::memcpy(&number, text.data() + at, sizeof(number));
  return number;
}

/// Opens a socket that `use` accepts, among the addresses of the name.
template <typename Use>
static int openSocket(const std::string &address, const std::string &port,
                      std::string &error, Use use) {
  addrinfo hints{}, *found = nullptr;
  hints.ai_socktype = SOCK_STREAM;
  if (int code = getaddrinfo(address.c_str(), port.c_str(), &hints, &found)) {
    error = gai_strerror(code);
    return -1;
  }
  int fd = -1;
  for (addrinfo *one = found; one && fd < 0; one = one->ai_next) {
    fd = socket(one->ai_family, one->ai_socktype | SOCK_CLOEXEC,
                one->ai_protocol);
    if (fd < 0 || use(fd, one->ai_addr, one->ai_addrlen))
      continue;
    error = std::strerror(errno);
    close(fd);
    fd = -1;
  }
  freeaddrinfo(found);
  return fd;
}

StoreServer::~StoreServer() {
  stopping = true;
  if (thread.joinable())
    thread.join();
  for (auto &client : clients)
    close(client.first);
  if (listener >= 0)
    close(listener);
}

std::string StoreServer::start(const std::string &address,
                               const std::string &port) {
  std::string error;
  listener = openSocket(
      address, port, error, [](int fd, const sockaddr *at, socklen_t size) {
        int on = 1;
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
        return bind(fd, at, size) == 0 && listen(fd, 1024) == 0;
      });
  if (listener < 0)
    return error;
  fcntl(listener, F_SETFL, O_NONBLOCK);
  thread = std::thread([this] { run(); });
  return "";
}

/// Answers complete requests in the input; false if one is invalid.
bool StoreServer::answer(Client &client) {
  while (client.in.size() >= headSize) {
    const char what = client.in[0];
    const uint32_t name = lengthAt(client.in, 1),
                   value = lengthAt(client.in, 5);
    if ((what != 's' && what != 'g') || name > longestName ||
        value > longestValue)
      return false;
    if (client.in.size() < headSize + name + value)
      return true;
    std::string key = client.in.substr(headSize, name);
    std::string text = client.in.substr(headSize + name, value);
    client.in.erase(0, headSize + name + value);
    auto found = table.find(key);
    bool done = found != table.end();
    std::string result;
    if (what == 'g' && done)
      result = found->second;
    if (what == 's') {
      done = table.size() < mostEntries && table.emplace(key, text).second;
      if (done && key.rfind(rankPrefix, 0) == 0)
        client.rank = key.substr(std::strlen(rankPrefix));
    }
    client.out += done ? '\1' : '\0';
    appendLength(client.out, result.size());
    client.out += result;
  }
  return true;
}

void StoreServer::run() {
  char buffer[1 << 14];
  while (!stopping) {
    std::vector<pollfd> polled{{listener, POLLIN, 0}};
    for (auto &client : clients)
      polled.push_back(
          {client.first,
           static_cast<short>(client.second.out.empty() ? POLLIN
                                                        : POLLIN | POLLOUT),
           0});
    if (poll(polled.data(), polled.size(), 50) <= 0)
      continue;
    if (polled[0].revents)
      if (int fd =
              accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
          fd >= 0)
        clients[fd];
    for (size_t i = 1; i < polled.size(); ++i) {
      const int fd = polled[i].fd;
      Client &client = clients[fd];
      bool open = true;
      if (polled[i].revents & (POLLIN | POLLHUP | POLLERR)) {
        ssize_t size = read(fd, buffer, sizeof(buffer));
        open = size > 0 || (size < 0 && (errno == EAGAIN || errno == EINTR));
        if (size > 0)
          client.in.append(buffer, size);
        open = open && answer(client);
      }
      if (open && !client.out.empty()) {
        ssize_t size =
            ::send(fd, client.out.data(), client.out.size(), MSG_NOSIGNAL);
        if (size > 0)
          client.out.erase(0, size);
        else
          open = errno == EAGAIN || errno == EINTR;
      }
      if (!open) {
        close(fd);
        noteEnd(client);
        clients.erase(fd);
      }
    }
    connected = clients.size();
  }
}

void StoreServer::noteEnd(const Client &client) {
  if (client.rank.empty())
    return;
  std::string &gone = table[goneRanks];
  gone += (gone.empty() ? "rank " : ", ") + client.rank;
}

void StoreServer::waitForOthers(std::chrono::nanoseconds most) {
  const auto end = std::chrono::steady_clock::now() + most;
  while (connected > 1 && std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
}

StoreClient::~StoreClient() {
  if (fd >= 0)
    close(fd);
}

std::string StoreClient::connect(const std::string &address,
                                 const std::string &port,
                                 Clock::time_point deadline) {
  // The timeout of one reply is a fraction of the total, so that a waiting rank
  // reports a stopped server before it is ended itself.
  using std::chrono::microseconds;
  const auto patience = std::clamp(
      std::chrono::duration_cast<microseconds>((deadline - Clock::now()) / 3),
      microseconds(500'000), microseconds(10'000'000));
  std::string error;
  for (;;) {
    fd = openSocket(address, port, error,
                    [](int fd, const sockaddr *at, socklen_t size) {
                      return ::connect(fd, at, size) == 0;
                    });
    if (fd >= 0) {
      const timeval time{patience.count() / 1'000'000,
                         patience.count() % 1'000'000};
      setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof(time));
      return "";
    }
    if (Clock::now() >= deadline)
      return error;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

static bool readAll(int fd, char *to, size_t size) {
  while (size) {
    ssize_t n = read(fd, to, size);
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      return false;
    to += n;
    size -= n;
  }
  return true;
}

bool StoreClient::ask(char what, const std::string &name, std::string &value) {
  std::string text(1, what);
  appendLength(text, name.size());
  appendLength(text, value.size());
  text += name + value;
  for (size_t at = 0; at < text.size();) {
    ssize_t n = ::send(fd, text.data() + at, text.size() - at, MSG_NOSIGNAL);
    if (n < 0 && errno != EINTR)
      return !(lost = true);
    at += n > 0 ? n : 0;
  }
  std::string head(answerHead, '\0');
  if (!readAll(fd, head.data(), head.size()))
    return !(lost = true);
  const uint32_t size = lengthAt(head, 1);
  if (size > longestValue)
    return !(lost = true);
  value.resize(size);
  lost = !readAll(fd, value.data(), size);
  return !lost && head[0];
}

bool StoreClient::set(const std::string &name, const std::string &value) {
  std::string text = value;
  return ask('s', name, text);
}

bool StoreClient::get(const std::string &name, std::string &value) {
  value.clear();
  return ask('g', name, value);
}

std::string StoreClient::ownAddress() const {
  sockaddr_storage address{};
  socklen_t size = sizeof(address);
  char text[NI_MAXHOST] = "";
  if (getsockname(fd, reinterpret_cast<sockaddr *>(&address), &size) ||
      getnameinfo(reinterpret_cast<sockaddr *>(&address), size, text,
                  sizeof(text), nullptr, 0, NI_NUMERICHOST))
    return "127.0.0.1";
  return text;
}

} // namespace mlc::runtime::transport
