/*===- mlc_ranks.h - The C ABI of mlc's ranks ------------------------------===*
 *
 * For artifacts whose mesh has several ranks: each of as many processes, or
 * threads, joins the others and gives what it got to its session.
 *
 *   mlc_ranks *ranks;
 *   mlc_ranks_open(NULL, NULL, &ranks);
 *   mlc_session_options options = MLC_SESSION_OPTIONS_INIT;
 *   options.ranks = ranks;
 *   mlc_session_create(model, &options, &session);
 *   ... runs of the session, alike on all ranks
 *   mlc_ranks_finish(ranks);
 *
 * In libmlc_runtime, as mlc_runtime.h, whose rules of errors are these too.
 *
 *===-----------------------------------------------------------------------===*/

#ifndef MLC_RANKS_H
#define MLC_RANKS_H

#include "mlc_runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Begin with MLC_RANKS_OPTIONS_INIT, as with a session's. */
typedef struct mlc_ranks_options {
  size_t size; /**< sizeof(mlc_ranks_options) */
  /** Seconds of waiting without progress, after which who is missing is named
   * and all ranks end. */
  double timeout;
  /** The folder of the engines; NULL: where this library lies. */
  const char *folder;
  /** The sessions' device. Of "cuda" and "cuda:N" the engine nccl works in the
   * memory of that GPU, without the host's copies; of "cuda" it is the GPU of
   * LOCAL_RANK, and a session on these ranks whose device is "cuda" takes the
   * same. Other engines do not look at it. */
  const char *device;
  /** Groups of the ranks of each axis, 1 to 64, alike on all ranks: a session's
   * collectives are given to them in turn, and those of different groups are
   * under way at once. */
  size_t groups;
} mlc_ranks_options;

#define MLC_RANKS_OPTIONS_INIT {sizeof(mlc_ranks_options), 300, NULL, NULL, 1}

/** Joins the other ranks, as the variables say that mpirun, mlc launch,
 * torchrun and Slurm set. `engine` is "mpi", "gloo", "nccl" or the path of one;
 * NULL: gloo for those whom mlc launch or torchrun started, else mpi. `options`
 * may be NULL. Returns when all have come, or an error within the timeout. */
MLC_API mlc_status mlc_ranks_open(const char *engine,
                                  const mlc_ranks_options *options,
                                  mlc_ranks **ranks);
/** `count` ranks of this process, each for a thread of its own: ranks[0] to
 * ranks[count - 1]. For tests, and to try an artifact out. */
MLC_API mlc_status mlc_ranks_open_threads(size_t count,
                                          const mlc_ranks_options *options,
                                          mlc_ranks **ranks);
/** Leaves; sessions keep their ranks open until they are destroyed. After a run
 * that failed because of the ranks this, or the last mlc_session_destroy, ends
 * all of them, and may end the process: tell of the error before. NULL is
 * allowed. */
MLC_API void mlc_ranks_close(mlc_ranks *ranks);
/** Which rank this is, of how many; 0 of 0 for NULL. */
MLC_API size_t mlc_ranks_rank(const mlc_ranks *ranks);
MLC_API size_t mlc_ranks_count(const mlc_ranks *ranks);
/** Waits for all ranks to have come here, so that none ends, and is taken for
 * missing, while others still wait for it. */
MLC_API mlc_status mlc_ranks_finish(mlc_ranks *ranks);
/** After an error of this rank's own that has been told: ends all ranks, those
 * that hang too, with `code` where that ends the process. */
MLC_API void mlc_ranks_abort(mlc_ranks *ranks, int code);

#ifdef __cplusplus
}
#endif

#endif /* MLC_RANKS_H */
