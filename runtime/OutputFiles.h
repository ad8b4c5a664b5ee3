//===- OutputFiles.h - Files that appear whole or not at all ----*- C++ -*-===//
//
// A set of files written under temporary names and renamed together at the end.
// If an error or a signal ends the process before, nothing is left behind.
// Targets that are not regular files (a device, a FIFO, this process's own
// standard output) are written into, never replaced. For a link, the file it
// names is replaced.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_RUNTIME_OUTPUTFILES_H
#define MLC_RUNTIME_OUTPUTFILES_H

#include "runtime/Status.h"

#include <csignal>
#include <cstddef>
#include <string>
#include <vector>

namespace mlc::runtime {

/// While it lives, SIGINT, SIGTERM and SIGHUP end the process with 130 and
/// leave no incomplete output files; SIGPIPE becomes an error of the write.
/// Only one may exist at a time.
class InterruptGuard {
public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard &) = delete;
  InterruptGuard &operator=(const InterruptGuard &) = delete;

private:
  struct sigaction old[3], oldPipe;
};

/// At most one object at a time exists in a process: signal handlers refer to
/// it. Errors name the path; a full disk is MLC_RESOURCES.
class OutputFiles {
public:
  /// `paths` are the final names. `folder` (may be empty) is made if missing,
  /// with its parents.
  OutputFiles(std::vector<std::string> paths, std::string folder);
  /// Removes files that were not committed.
  ~OutputFiles();
  OutputFiles(const OutputFiles &) = delete;
  OutputFiles &operator=(const OutputFiles &) = delete;

  /// Makes the folder and finds out where writes go.
  Status begin();
  /// Opens file `index` for writing; then write, then close it.
  Status open(size_t index);
  Status write(const void *data, size_t size);
  Status close();
  /// Gives all files their final names.
  Status commit();

  /// Removes the uncommitted files of the living object, if there is one. For
  /// signal handlers.
  static void abandon();

private:
  friend class InterruptGuard;
  struct Place {
    std::string path;      ///< as given, for messages
    std::string target;    ///< the regular file to make or replace
    std::string temporary; ///< empty: not made
    unsigned mode = 0;     ///< of the file that is replaced
    bool exists = false;   ///< there is one
    bool direct = false;   ///< written into, not replaced
    int standard = -1;     ///< it is this open descriptor of the process
  };
  Status resolve(Place &place) const;
  Status openTemporary(Place &place);
  void removeAll();
  static void onSignal(int signal);

  std::vector<Place> places;
  std::string folder;
  /// Folders that begin() made, outermost first.
  std::vector<std::string> made;
  size_t current = 0;
  int fd = -1;
};

/// The error for a system call that failed to make or write `path`.
Status cannotWrite(int code, const std::string &path);

/// An error if one of `outputs` is the same file as one of `inputs`, also by
/// another name or a link: writing it would destroy the input.
Status refuseInputs(const std::vector<std::string> &outputs,
                    const std::vector<std::string> &inputs);

/// Flushes standard output. A reader that has gone is no error.
Status flushStandardOutput();

/// Opens closed standard streams on /dev/null, so that no file opened later
/// takes their place.
void fillStandardStreams();

} // namespace mlc::runtime

#endif // MLC_RUNTIME_OUTPUTFILES_H
