//===- World.h - Which rank a launcher says this process is -----*- C++ -*-===//

#ifndef MLC_RUNTIME_TRANSPORT_WORLD_H
#define MLC_RUNTIME_TRANSPORT_WORLD_H

#include "runtime/Status.h"

#include <string>

namespace mlc::runtime::transport {

struct World {
  int rank = -1, size = -1, localRank = -1; // -1: not said
  /// Whose variables it was: "torchrun" for RANK and WORLD_SIZE, of `mlc
  /// launch` too. Empty: by none.
  std::string launcher;
  std::string starter; // who it really was, for messages

  bool isSlurm() const { return launcher == "Slurm"; }
  bool found() const { return size >= 0; }
  /// What processes of this launcher are connected by: Gloo, if it tells them
  /// where to meet, else MPI.
  const char *engine() const { return launcher == "torchrun" ? "gloo" : "mpi"; }
};

/// Reads the variables of mpirun (OMPI_COMM_WORLD_*, PMI_*) and those of
/// torchrun and `mlc launch` (RANK, WORLD_SIZE, LOCAL_RANK; which of the two it
/// was, TORCHELASTIC_RUN_ID and MLC_LAUNCH tell), which have to agree where
/// several are set, else
/// Slurm's (SLURM_PROCID, SLURM_NTASKS, SLURM_LOCALID), which a job's script
/// and what mpirun starts there have too. Errors: half of them, no numbers, a
/// rank beyond the size, contradictions.
Status findWorld(World &world);

} // namespace mlc::runtime::transport

#endif // MLC_RUNTIME_TRANSPORT_WORLD_H
