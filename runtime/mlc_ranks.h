/*===- mlc_ranks.h - The C ABI of mlc's ranks ------------------------------===*
 *
 * For artifacts whose mesh has several ranks. Each of as many processes or
 * threads joins the others and passes its handle to its session.
 *
 *   mlc_ranks *ranks;
 *   mlc_ranks_open(NULL, NULL, &ranks);
 *   mlc_session_options options = MLC_SESSION_OPTIONS_INIT;
 *   options.ranks = ranks;
 *   mlc_session_create(model, &options, &session);
 *   ... runs of the session, alike on all ranks
 *   mlc_ranks_finish(ranks);
 *
 * Part of libmlc_runtime; the rules of mlc_runtime.h for errors apply.
 *
 *===-----------------------------------------------------------------------===*/

#ifndef MLC_RANKS_H
#define MLC_RANKS_H

#include "mlc_runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Begin with MLC_RANKS_OPTIONS_INIT, as for session options. */
typedef struct mlc_ranks_options {
  size_t size; /**< sizeof(mlc_ranks_options) */
  /** Seconds of waiting without progress after which the error names the
   * missing rank and all ranks end. */
  double timeout;
  /** The folder of the engines; NULL: this library's folder. */
  const char *folder;
  /** The sessions' device. For "cuda" and "cuda:N" an engine that can (nccl)
   * works in the GPU's memory without copies through the host. "cuda" is the
   * GPU of LOCAL_RANK, also for a session on these ranks whose device is
   * "cuda". Other engines ignore it. */
  const char *device;
  /** Groups of the ranks of each axis, 1 to 64, the same on all ranks. A
   * session's collectives go to the groups in turn; collectives of different
   * groups overlap. */
  size_t groups;
} mlc_ranks_options;

#define MLC_RANKS_OPTIONS_INIT {sizeof(mlc_ranks_options), 300, NULL, NULL, 1}

/** Joins the other ranks, according to the environment variables of mpirun, mlc
 * launch, torchrun or Slurm. `engine` is an engine's name ("mpi"; `mlc run
 * --help` lists them) or path; NULL: as the launcher says. `options` may be
 * NULL. Returns when all ranks have joined, or an error within the timeout. */
MLC_API mlc_status mlc_ranks_open(const char *engine,
                                  const mlc_ranks_options *options,
                                  mlc_ranks **ranks);
/** `count` ranks of this process, one per thread: ranks[0] to
 * ranks[count - 1]. For tests, and to try an artifact out. */
MLC_API mlc_status mlc_ranks_open_threads(size_t count,
                                          const mlc_ranks_options *options,
                                          mlc_ranks **ranks);
/** Closes the handle; sessions keep their ranks open until they are destroyed.
 * After a run that failed because of the ranks, this or the last
 * mlc_session_destroy ends all ranks and may end the process, so report the
 * error before. NULL is allowed. */
MLC_API void mlc_ranks_close(mlc_ranks *ranks);
/** Which rank this is, of how many; 0 of 0 for NULL. */
MLC_API size_t mlc_ranks_rank(const mlc_ranks *ranks);
MLC_API size_t mlc_ranks_count(const mlc_ranks *ranks);
/** Waits until all ranks call it, so that no rank ends, and counts as missing,
 * while others still wait for it. */
MLC_API mlc_status mlc_ranks_finish(mlc_ranks *ranks);
/** Ends all ranks, even those that hang, after this rank has reported an error
 * of its own. `code` is the exit code if this ends the process. */
MLC_API void mlc_ranks_abort(mlc_ranks *ranks, int code);

#ifdef __cplusplus
}
#endif

#endif /* MLC_RANKS_H */
