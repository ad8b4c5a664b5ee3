//===- World.h - This process's rank, from the launcher ---------*- C++ -*-===//

#ifndef MLC_RUNTIME_TRANSPORT_WORLD_H
#define MLC_RUNTIME_TRANSPORT_WORLD_H

#include "runtime/Status.h"

#include <string>

namespace mlc::runtime::transport {

struct World {
  int rank = -1, size = -1, localRank = -1; // -1: not said
  /// The kind of variables: "torchrun" for RANK and WORLD_SIZE, also under `mlc
  /// launch`. Empty: none.
  std::string launcher;
  std::string starter; // the actual launcher, for messages

  bool isSlurm() const { return launcher == "Slurm"; }
  bool found() const { return size >= 0; }
  /// The default engine for this launcher; without one MPI's, which finds ranks
  /// itself.
  const char *engine() const;
};

/// Reads the variables of mpirun (OMPI_COMM_WORLD_*, PMI_*) and of torchrun and
/// `mlc launch` (RANK, WORLD_SIZE, LOCAL_RANK; TORCHELASTIC_RUN_ID and
/// MLC_LAUNCH tell which of the two). They must agree if several are set.
/// Without them it reads Slurm's (SLURM_PROCID, SLURM_NTASKS, SLURM_LOCALID),
/// which job scripts and processes of mpirun have too. Fails for incomplete
/// sets, invalid numbers, a rank beyond the size and contradictions.
Status findWorld(World &world);

} // namespace mlc::runtime::transport

#endif // MLC_RUNTIME_TRANSPORT_WORLD_H
