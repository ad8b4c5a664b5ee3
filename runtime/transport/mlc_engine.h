/*===- mlc_engine.h - The C interface of an engine ---------------*- C -*-===*
 *
 * An engine moves bytes between ranks. It is a shared object of its own that
 * exports `mlc_engine_v1`, so that nothing of mlc links MPI or another one: the
 * runtime loads the object and calls its table. C11; no function throws.
 *
 * All functions of a `mlc_comm` are called by one thread at a time, but `look`
 * by others too. Functions
 * that return mlc_status leave what went wrong in mlc_comm's error text.
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
#define MLC_ENGINE_VERSION 1u

/** One rank's end of the engine, and something under way there. */
typedef struct mlc_comm mlc_comm;
typedef struct mlc_request mlc_request;

/** What the launcher said of this rank; -1: it said nothing, ask the engine. */
typedef struct mlc_world {
  int rank, size;
  int64_t timeout; /**< nanoseconds, for all to join */
} mlc_world;

/** What has been sent and received since open, without what the engine's own
 *  collectives send. */
typedef struct mlc_counters {
  uint64_t sent_bytes, received_bytes;
  uint64_t sent_messages, received_messages;
} mlc_counters;

/** Where a rank is. */
typedef enum mlc_rank_state {
  MLC_RANK_OUTSIDE = 0, /**< between collectives; `number` was the last one */
  MLC_RANK_INSIDE = 1,  /**< in the collective `number` */
  MLC_RANK_FAILED = 2,  /**< has given up in `number`, because of `blamed` */
  MLC_RANK_LEFT = 3     /**< has closed its end */
} mlc_rank_state;

/** What a rank publishes of itself. */
typedef struct mlc_notice {
  uint64_t number; /**< of its collective, from 1; 0: none yet */
  uint64_t beat;   /**< grows while the rank runs and waits */
  int32_t state;   /**< mlc_rank_state */
  int32_t blamed;  /**< rank, or -1 */
  char name[80];   /**< the collective; alike on all ranks */
} mlc_notice;

typedef struct mlc_engine {
  uint32_t version; /**< MLC_ENGINE_VERSION */
  const char *name;

  /** Joins the others. On an error `text` (of `size` bytes) says what. */
  mlc_status (*open)(const mlc_world *world, mlc_comm **comm, char *text,
                     size_t size);
  /** Leaves in good order: all requests are done. */
  void (*close)(mlc_comm *comm);
  /** Ends what all ranks do, those that hang too; may end the process. */
  void (*abort)(mlc_comm *comm, int code);

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
  /** Begins the engine's own all-reduce (sum), in place. MLC_UNSUPPORTED for
   *  types that it does not add. */
  mlc_status (*all_reduce)(mlc_comm *comm, void *data, size_t elements,
                           mlc_dtype type, mlc_request **request);
  /** Whether it is done, after at most `nanoseconds` (0: at once). What is done
   *  or has failed is gone. */
  mlc_status (*test)(mlc_comm *comm, mlc_request *request, int64_t nanoseconds,
                     int *done);

  /** Makes this rank's notice known, and reads another's: 0 if the engine does
   *  not know it (it is on another machine). Neither waits for anybody. */
  void (*publish)(mlc_comm *comm, const mlc_notice *notice);
  int (*look)(mlc_comm *comm, int rank, mlc_notice *notice);

  void (*counters)(mlc_comm *comm, mlc_counters *counters);
} mlc_engine;

/** What a plugin exports under this name. */
#define MLC_ENGINE_ENTRY "mlc_engine_v1"
typedef const mlc_engine *(*mlc_engine_entry)(void);

#ifdef __cplusplus
}
#endif

#endif /* MLC_ENGINE_H */
