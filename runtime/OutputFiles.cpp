//===- OutputFiles.cpp - Files that appear whole or not at all ------------===//

#include "runtime/OutputFiles.h"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace mlc::runtime {

namespace {

constexpr int watched[] = {SIGINT, SIGTERM, SIGHUP};

/// What the signal handler reads: set up before any file exists and never
/// moved while it can be seen.
std::atomic<OutputFiles *> active{nullptr};

/// The results are in place: too late for an interrupt to undo them.
std::atomic<bool> committed{false};

class SignalsBlocked {
public:
  SignalsBlocked() {
    sigset_t set;
    sigemptyset(&set);
    for (int signal : watched)
      sigaddset(&set, signal);
    pthread_sigmask(SIG_BLOCK, &set, &old);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &old, nullptr); }

private:
  sigset_t old;
};

} // namespace

InterruptGuard::InterruptGuard() {
  committed = false;
  struct sigaction action = {};
  action.sa_handler = OutputFiles::onSignal;
  sigfillset(&action.sa_mask);
  for (size_t i = 0; i < std::size(watched); ++i)
    sigaction(watched[i], &action, &old[i]);
}

InterruptGuard::~InterruptGuard() {
  for (size_t i = 0; i < std::size(watched); ++i)
    sigaction(watched[i], &old[i], nullptr);
}

OutputFiles::OutputFiles(std::vector<std::string> finalPaths,
                         std::string outputFolder)
    : paths(std::move(finalPaths)), folder(std::move(outputFolder)) {
  for (const std::string &path : paths)
    temporaries.push_back(path + ".tmp" + std::to_string(getpid()));
  active = this;
}

OutputFiles::~OutputFiles() {
  SignalsBlocked blocked;
  removeAll();
  active = nullptr;
}

/// Async-signal-safe.
void OutputFiles::removeAll() {
  for (const std::string &path : temporaries)
    unlink(path.c_str());
  for (size_t i = made.size(); i-- > 0;)
    rmdir(made[i].c_str());
}

void OutputFiles::onSignal(int) {
  if (committed)
    return;
  if (OutputFiles *files = active)
    files->removeAll();
  _exit(MLC_INTERRUPTED);
}

Status OutputFiles::fail(int code, const std::string &path) const {
  bool full = code == ENOSPC || code == EDQUOT || code == EFBIG ||
              code == EIO || code == ENOMEM || code == EMFILE;
  return Status::error(full ? MLC_RESOURCES : MLC_USAGE,
                       path + ": cannot write: " + std::strerror(code));
}

Status OutputFiles::begin() {
  for (size_t slash = 0; !folder.empty() && slash != std::string::npos;) {
    slash = folder.find('/', slash + 1);
    std::string part = folder.substr(0, slash);
    SignalsBlocked blocked;
    if (mkdir(part.c_str(), 0777) == 0)
      made.push_back(part);
    else if (errno != EEXIST)
      return fail(errno, part);
  }
  struct stat info;
  if (!folder.empty() &&
      (stat(folder.c_str(), &info) != 0 || !S_ISDIR(info.st_mode)))
    return fail(ENOTDIR, folder);
  return Status::success();
}

Status OutputFiles::open(size_t index) {
  current = index;
  fd = ::open(temporaries[index].c_str(),
              O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  return fd < 0 ? fail(errno, paths[index]) : Status::success();
}

Status OutputFiles::write(const void *data, size_t size) {
  const char *p = static_cast<const char *>(data);
  while (size > 0) {
    ssize_t n = ::write(fd, p, size);
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0) {
      int code = errno;
      ::close(fd);
      return fail(code, paths[current]);
    }
    p += n;
    size -= n;
  }
  return Status::success();
}

Status OutputFiles::close() {
  // Some file systems tell only here that they are full.
  return ::close(fd) == 0 ? Status::success() : fail(errno, paths[current]);
}

Status OutputFiles::commit() {
  SignalsBlocked blocked;
  for (size_t i = 0; i < paths.size(); ++i)
    if (rename(temporaries[i].c_str(), paths[i].c_str()) != 0) {
      int code = errno;
      // Those renamed so far are part of a set that failed.
      for (size_t j = 0; j < i; ++j)
        unlink(paths[j].c_str());
      return fail(code, paths[i]);
    }
  made.clear();
  committed = true;
  return Status::success();
}

} // namespace mlc::runtime
