//===- Progress.cpp - Shows the progress of a long command ----------------===//

#include "tools/mlc/Progress.h"
#include "runtime/Text.h"
#include <cstdio>
#include <unistd.h>

using namespace mlc::cli;

Progress::Progress(llvm::StringRef what)
    : what(mlc::runtime::printable(what)),
      start(std::chrono::steady_clock::now()) {
  if (::isatty(STDERR_FILENO))
    thread = std::thread([this] { show(); });
}

Progress::~Progress() {
  if (!thread.joinable())
    return;
  {
    std::lock_guard<std::mutex> lock(mutex);
    done = true;
  }
  changed.notify_all();
  thread.join();
}

void Progress::next(llvm::StringRef what) {
  std::lock_guard<std::mutex> lock(mutex);
  this->what = mlc::runtime::printable(what);
}

void Progress::show() {
  std::unique_lock<std::mutex> lock(mutex);
  bool shown = false;
  auto wait = std::chrono::milliseconds(2000);
  while (!changed.wait_for(lock, wait, [this] { return done; })) {
    auto seconds = std::chrono::duration_cast<std::chrono::seconds>(
        std::chrono::steady_clock::now() - start);
    std::fprintf(stderr, "\r\033[Kmlc: %s (%lld s)", what.c_str(),
                 static_cast<long long>(seconds.count()));
    shown = true;
    wait = std::chrono::milliseconds(500);
  }
  if (shown)
    std::fputs("\r\033[K", stderr);
}
