/*===- mlc_engine.h - The C interface of an engine ---------------*- C -*-===*
 *
 * An engine moves bytes between ranks. It is a shared object of its own that
 * exports `mlc_engine_v4`, so that mlc itself does not link MPI or the like:
 * the runtime loads the object and calls its table. C11; no function throws.
 *
 * One thread at a time calls the functions of an `mlc_comm` and of those split
 * from it, except `look`, which others call too. Functions that return
 * mlc_status leave the message in mlc_comm's error text.
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

/** One rank's end of the engine or of a group, and an operation under way
 * there. */
typedef struct mlc_comm mlc_comm;
typedef struct mlc_request mlc_request;

/** What the launcher says of this rank; -1: nothing, ask the engine. */
typedef struct mlc_world {
  int rank, size;
  int64_t timeout; /**< nanoseconds until all must have joined */
  /** The GPU on whose memory collectives may work (mlc_on_device); -1: none. */
  int device;
} mlc_world;

/** Traffic since open, without that of the engine's own collectives. */
typedef struct mlc_counters {
  uint64_t sent_bytes, received_bytes;
  uint64_t sent_messages, received_messages;
} mlc_counters;

/** What a collective does to each rank's elements, in place. `elements`
 *  consists of consecutive parts; part p has parts[p] elements. */
typedef enum mlc_collective {
  MLC_ALL_REDUCE = 0,     /**< every rank gets the reduction over all ranks */
  MLC_REDUCE_SCATTER = 1, /**< rank r gets part r of the reduction */
  MLC_ALL_GATHER = 2,     /**< every rank gets part r from each rank r */
  MLC_BROADCAST = 3,      /**< every rank gets the elements of `root` */
  MLC_ALL_TO_ALL = 4 /**< part p goes to rank p; the data from rank p arrives in
                        part p of `receives` */
} mlc_collective;

typedef enum mlc_reduction {
  MLC_SUM = 0,
  MLC_MAX = 1,
  MLC_MIN = 2,
  MLC_PROD = 3
} mlc_reduction;

/** The memory of a collective on a GPU. Input and output are disjoint, or
 *  overlap as they do in place. */
typedef struct mlc_on_device {
  /** What this rank sends: all elements; for an all-gather its part, for an
   *  all-to-all its `parts`. */
  const void *input;
  /** What it receives: all elements; for a reduce-scatter its part, for an
   *  all-to-all its `receives`. */
  void *output;
  /** CUevents of the caller, or NULL. The collective begins after `ready`,
   *  which has already been recorded; `done` is recorded after it. */
  void *ready, *done;
} mlc_on_device;

/** Progress of a collective on a GPU; a sum of these. */
enum {
  MLC_STAGE_QUEUED = 1, /**< `done` has been recorded */
  MLC_STAGE_READY = 2   /**< `ready` has happened */
};

/** An engine's own collective. All fields are the same on all ranks, except
 *  `parts` and `receives` of an all-to-all. */
typedef struct mlc_operation {
  mlc_collective kind;
  mlc_reduction reduction; /**< if the collective reduces */
  mlc_dtype type;
  size_t element_size; /**< bytes of the type */
  int root;            /**< of a broadcast */
  size_t elements;
  /** One number for each rank; unused by all-reduce and broadcast. */
  const size_t *parts;
  const size_t *receives; /**< of an all-to-all */
  /** NULL: in host memory, in place. Only for engines that have `stage`. */
  const mlc_on_device *on_device;
} mlc_operation;

/** What a rank is doing. */
typedef enum mlc_rank_state {
  MLC_RANK_OUTSIDE = 0, /**< between collectives; `number` was the last one */
  MLC_RANK_INSIDE = 1,  /**< in the collective `number` */
  MLC_RANK_FAILED = 2,  /**< gave up in `number` because of `blamed` */
  MLC_RANK_LEFT = 3,    /**< has closed its end */
  MLC_RANK_DIED = 4     /**< ended without notice, as `look` found */
} mlc_rank_state;

/** What a rank publishes about itself. */
typedef struct mlc_notice {
  uint64_t number; /**< of its collective, from 1; 0: none yet */
  uint64_t beat;   /**< heartbeat: grows while the rank runs and waits */
  int32_t state;   /**< mlc_rank_state */
  int32_t blamed;  /**< rank among all, or -1 */
  int32_t code;    /**< mlc_status if `state` is a failure, or 0 */
  char name[84];   /**< the collective; the same on all ranks */
} mlc_notice;

typedef struct mlc_engine {
  uint32_t version; /**< MLC_ENGINE_VERSION */
  const char *name;
  /** Not 0: transfers begun between two calls of `test` run together, before
   *  those begun later. Each transfer is then one message. */
  int stepwise;

  /** Joins the other ranks. On an error `text` (of `size` bytes) gets the
   *  message. */
  mlc_status (*open)(const mlc_world *world, mlc_comm **comm, char *text,
                     size_t size);
  /** Leaves in good order; all requests must be done. */
  void (*close)(mlc_comm *comm);
  /** Ends all ranks, even those that hang; may end the process. */
  void (*abort)(mlc_comm *comm, int code);

  /** Makes groups of the ranks of `comm`, which all call this together: ranks
   *  of the same `color`, in the same order. A rank of color -1 is in no group;
   *  its *group is NULL. `members` has room for size(comm) numbers and begins
   *  with the ranks of the group. Messages of a group do not match those of
   *  other groups. Groups are closed before the comm that they were split from.
   */
  mlc_status (*split)(mlc_comm *comm, int color, int64_t timeout, int *members,
                      mlc_comm **group);

  int (*rank)(mlc_comm *comm);
  int (*size)(mlc_comm *comm);
  /** The message of the last call that did not return MLC_OK. */
  const char *(*error)(mlc_comm *comm);

  /** Begin a transfer; the engine owns the memory until it is done. Transfers
   *  from one rank to another match in the order in which they were begun. */
  mlc_status (*send)(mlc_comm *comm, int peer, const void *data, size_t bytes,
                     mlc_request **request);
  mlc_status (*receive)(mlc_comm *comm, int peer, void *data, size_t bytes,
                        mlc_request **request);
  /** Begins the engine's own collective; `operation` is read before it
   *  returns. `data` is host memory, as for transfers. Collectives on a GPU run
   *  in the order in which they were begun. MLC_UNSUPPORTED for types and
   *  reductions that the engine lacks. */
  mlc_status (*collective)(mlc_comm *comm, const mlc_operation *operation,
                           void *data, mlc_request **request);
  /** Waits at most `nanoseconds` (0: not at all) and tells whether the request
   *  is done. A request that is done or has failed no longer exists. */
  mlc_status (*test)(mlc_comm *comm, mlc_request *request, int64_t nanoseconds,
                     int *done);

  /** The progress of a collective on a GPU (MLC_STAGE_*). NULL for engines that
   *  do not work in a GPU's memory. */
  int (*stage)(mlc_comm *comm, mlc_request *request);
  /** Cancels this rank's collectives on the GPU, so that work that waits for
   *  them there continues, with undefined outputs. All later calls fail. Does
   *  not wait. */
  void (*cancel)(mlc_comm *comm);

  /** Publishes this rank's notice, and reads another's: 0 if the engine cannot
   *  read it (that rank is on another machine). Neither waits. */
  void (*publish)(mlc_comm *comm, const mlc_notice *notice);
  int (*look)(mlc_comm *comm, int rank, mlc_notice *notice);

  void (*counters)(mlc_comm *comm, mlc_counters *counters);
} mlc_engine;

/** The name that a plugin exports. */
#define MLC_ENGINE_ENTRY "mlc_engine_v4"
typedef const mlc_engine *(*mlc_engine_entry)(void);

#ifdef __cplusplus
}
#endif

#endif /* MLC_ENGINE_H */
