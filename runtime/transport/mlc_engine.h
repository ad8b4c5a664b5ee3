/*===- mlc_engine.h - The C interface of an engine ---------------*- C -*-===*
 *
 * An engine moves bytes between ranks. It is a shared object of its own that
 * exports `mlc_engine_v4`, so that nothing of mlc links MPI or another one: the
 * runtime loads the object and calls its table. C11; no function throws.
 *
 * All functions of a `mlc_comm`, and of those that were split from it, are
 * called by one thread at a time, but `look` by others too. Functions that
 * return mlc_status leave what went wrong in mlc_comm's error text.
 *
 *===----------------------------------------------------------------------===*/

#ifndef MLC_ENGINE_H
#define MLC_ENGINE_H

#include "runtime/mlc_runtime.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Changes with everything below. */
#define MLC_ENGINE_VERSION 4u

/** One rank's end of the engine or of a group, and something under way there.
 */
typedef struct mlc_comm mlc_comm;
typedef struct mlc_request mlc_request;

/** What the launcher said of this rank; -1: it said nothing, ask the engine. */
typedef struct mlc_world {
  int rank, size;
  int64_t timeout; /**< nanoseconds, for all to join */
  /** The GPU in whose memory collectives may be (mlc_on_device); -1: none. */
  int device;
} mlc_world;

/** What has been sent and received since open, without what the engine's own
 *  collectives send. */
typedef struct mlc_counters {
  uint64_t sent_bytes, received_bytes;
  uint64_t sent_messages, received_messages;
} mlc_counters;

/** What a collective makes of each rank's elements, in place. Part p of
 *  `elements` has parts[p] elements and lies behind those before it. */
typedef enum mlc_collective {
  MLC_ALL_REDUCE = 0,     /**< all have the reduction of all */
  MLC_REDUCE_SCATTER = 1, /**< rank r has it in part r */
  MLC_ALL_GATHER = 2,     /**< all have part r of each rank r */
  MLC_BROADCAST = 3,      /**< all have what `root` had */
  MLC_ALL_TO_ALL = 4      /**< what lies in part p goes to rank p; what rank p
                               sends lies in part p, of `receives`, after */
} mlc_collective;

typedef enum mlc_reduction {
  MLC_SUM = 0,
  MLC_MAX = 1,
  MLC_MIN = 2,
  MLC_PROD = 3
} mlc_reduction;

/** Where a collective in a GPU's memory works. Input and output are apart, or
 *  lie in one another as they do in place. */
typedef struct mlc_on_device {
  /** What this rank gives: all elements, but of an all-gather its part, of an
   *  all-to-all its `parts`. */
  const void *input;
  /** Where it gets: all elements, but of a reduce-scatter its part, of an
   *  all-to-all its `receives`. */
  void *output;
  /** CUevents of the caller's, or NULL: the collective begins when `ready`,
   *  which has been recorded, has happened; `done` is recorded behind it. */
  void *ready, *done;
} mlc_on_device;

/** How far one in a GPU's memory is; a sum. */
enum {
  MLC_STAGE_QUEUED = 1, /**< `done` has been recorded */
  MLC_STAGE_READY = 2   /**< `ready` has happened */
};

/** An engine's own collective. All but `parts` and `receives` of an all-to-all
 *  is alike on all ranks. */
typedef struct mlc_operation {
  mlc_collective kind;
  mlc_reduction reduction; /**< of what reduces */
  mlc_dtype type;
  size_t element_size; /**< bytes of the type */
  int root;            /**< of a broadcast */
  size_t elements;
  /** One number for each rank; not of all-reduce and broadcast. */
  const size_t *parts;
  const size_t *receives; /**< of an all-to-all */
  /** NULL: in the host's memory, in place. Of engines that have `stage`. */
  const mlc_on_device *on_device;
} mlc_operation;

/** Where a rank is. */
typedef enum mlc_rank_state {
  MLC_RANK_OUTSIDE = 0, /**< between collectives; `number` was the last one */
  MLC_RANK_INSIDE = 1,  /**< in the collective `number` */
  MLC_RANK_FAILED = 2,  /**< has given up in `number`, because of `blamed` */
  MLC_RANK_LEFT = 3,    /**< has closed its end */
  MLC_RANK_DIED = 4     /**< has ended without a word: what `look` finds out */
} mlc_rank_state;

/** What a rank publishes of itself. */
typedef struct mlc_notice {
  uint64_t number; /**< of its collective, from 1; 0: none yet */
  uint64_t beat;   /**< grows while the rank runs and waits */
  int32_t state;   /**< mlc_rank_state */
  int32_t blamed;  /**< rank among all, or -1 */
  int32_t code;    /**< mlc_status of the failure that `state` tells of, or 0 */
  char name[84];   /**< the collective; alike on all ranks */
} mlc_notice;

typedef struct mlc_engine {
  uint32_t version; /**< MLC_ENGINE_VERSION */
  const char *name;
  /** Not 0: transfers that are begun between two calls of `test` are carried
   *  out together, and those begun later after them. A transfer is then one
   *  message. */
  int stepwise;

  /** Joins the others. On an error `text` (of `size` bytes) says what. */
  mlc_status (*open)(const mlc_world *world, mlc_comm **comm, char *text,
                     size_t size);
  /** Leaves in good order: all requests are done. */
  void (*close)(mlc_comm *comm);
  /** Ends what all ranks do, those that hang too; may end the process. */
  void (*abort)(mlc_comm *comm, int code);

  /** Makes groups of the ranks of `comm`, which all call this together: those
   *  of the same `color`, in the same order; -1: in none, *group is NULL then.
   *  `members`, of size(comm) numbers, begins with the ranks of the group.
   *  What is sent in a group does not meet what is sent elsewhere. Groups are
   *  closed before what they were split from. */
  mlc_status (*split)(mlc_comm *comm, int color, int64_t timeout, int *members,
                      mlc_comm **group);

  int (*rank)(mlc_comm *comm);
  int (*size)(mlc_comm *comm);
  /** Of the last call that did not return MLC_OK. */
  const char *(*error)(mlc_comm *comm);

  /** Begin a transfer; memory is the engine's until it is done. From one rank
   *  to another they are taken in the order in which they were begun. */
  mlc_status (*send)(mlc_comm *comm, int peer, const void *data, size_t bytes,
                     mlc_request **request);
  mlc_status (*receive)(mlc_comm *comm, int peer, void *data, size_t bytes,
                        mlc_request **request);
  /** Begins the engine's own collective; `operation` is read before it
   *  returns. `data` is the host's memory, as that of transfers; those in a
   *  GPU's are carried out in the order in which they were begun.
   * MLC_UNSUPPORTED for types and reductions that it does not do. */
  mlc_status (*collective)(mlc_comm *comm, const mlc_operation *operation,
                           void *data, mlc_request **request);
  /** Whether it is done, after at most `nanoseconds` (0: at once). What is done
   *  or has failed is gone. */
  mlc_status (*test)(mlc_comm *comm, mlc_request *request, int64_t nanoseconds,
                     int *done);

  /** Engines that work in a GPU's memory: how far a collective there is; not
   *  NULL in these alone. */
  int (*stage)(mlc_comm *comm, mlc_request *request);
  /** Ends what is under way on the GPU, here, so that what waits for it there
   *  goes on, with whatever lies in the outputs. Nothing succeeds afterwards.
   *  Does not wait. */
  void (*cancel)(mlc_comm *comm);

  /** Makes this rank's notice known, and reads another's: 0 if the engine does
   *  not know it (it is on another machine). Neither waits for anybody. */
  void (*publish)(mlc_comm *comm, const mlc_notice *notice);
  int (*look)(mlc_comm *comm, int rank, mlc_notice *notice);

  void (*counters)(mlc_comm *comm, mlc_counters *counters);
} mlc_engine;

/** What a plugin exports under this name. */
#define MLC_ENGINE_ENTRY "mlc_engine_v4"
typedef const mlc_engine *(*mlc_engine_entry)(void);

#ifdef __cplusplus
}
#endif

#endif /* MLC_ENGINE_H */
