/*===- mlc_runtime.h - The C ABI of mlc's runtime --------------------------===*
 *
 * Loads an artifact (.mlca) that `mlc compile` made and runs it. This header
 * and the library are all that a user of an artifact needs; neither a compiler
 * nor LLVM is involved.
 *
 *   mlc_artifact *model;
 *   mlc_session *session;
 *   mlc_artifact_open("model.mlca", 0, &model);
 *   mlc_session_create(model, NULL, &session);
 *   int64_t dims[] = {1, 3, 224, 224};
 *   mlc_session_bind_input(session, 0, MLC_F32, 4, dims, pixels,
 *                          MLC_SPACE_HOST);
 *   mlc_session_run(session);
 *   mlc_tensor result;
 *   mlc_session_output(session, 0, &result);
 *
 * runtime/example.c is a whole program.
 *
 * Trust: an artifact is native code. Open only artifacts you trust. A damaged,
 * truncated or foreign file is refused, but the checksum is not a signature.
 *
 * Memory: a session allocates on the first run, and again when dims grow. While
 * dims repeat, even as a few alternating sets, a run allocates nothing.
 *
 * Floating point: kernels run under the IEEE defaults, round to nearest and
 * denormals kept, unless MLC_SESSION_FLUSH_DENORMALS asks otherwise. The
 * caller's own floating-point environment is restored after each run.
 *
 * Threads: sessions on many threads may share an artifact. One thread at a time
 * may use a session and those that share its states; calls from other threads
 * return MLC_USAGE (mlc_session_destroy waits). While a run started by
 * mlc_session_run_async is under way, all functions but mlc_session_wait,
 * _is_running and _destroy return MLC_USAGE. Calls leave the GPU's context
 * current on the calling thread. Functions never throw. After a fork the child
 * must make its own sessions: the parent's return MLC_USAGE there, and
 * mlc_session_destroy leaves them untouched.
 *
 * Entries: an artifact holds one program or several ("step", "evaluate"), which
 * share its weights and states. An opened artifact shows the inputs, outputs,
 * parameters, steps and buffers of its first entry. mlc_artifact_entry returns
 * a handle of the same artifact for another entry, and mlc_session_entry a
 * session of another entry over the same states. All functions take these
 * handles.
 *
 * States: memory that lives across runs and that a run may change in place
 * (weights in training). One thread at a time may use sessions that share
 * states. If a run fails before its first step, the states keep their values.
 * If it fails later, the states it writes are lost, and cannot be read until
 * they are set, loaded or reset. A run with wrong inputs or outputs that do not
 * fit fails before its first step, unless the sizes are computed during the
 * run.
 *
 * Ranks: an artifact whose mesh has several ranks (mlc_artifact_axis) runs on
 * as many processes or threads. Each has its own mlc_ranks and session, and
 * works on its shard of inputs, states and outputs (mlc_artifact_splits). All
 * of them run the same sessions in the same order. If a rank is missing, the
 * run ends within the timeout plus five seconds, with an error that names the
 * rank and the collective.
 *
 * Errors: functions return an mlc_status; on failure mlc_last_error() holds the
 * message of the calling thread's last failed call, in one line without control
 * characters. Output parameters are written on success only. Functions that
 * return no status treat NULL as an empty artifact or session; all others
 * return MLC_USAGE for it.
 *
 *===-----------------------------------------------------------------------===*/

#ifndef MLC_RUNTIME_H
#define MLC_RUNTIME_H

#include <stddef.h>
#include <stdint.h>

#if defined(MLC_RUNTIME_SHARED) && defined(__GNUC__)
#define MLC_API __attribute__((visibility("default")))
#else
#define MLC_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** The numbers equal the exit codes of the tools. */
typedef enum mlc_status {
  MLC_OK = 0,
  MLC_INTERNAL = 1,    /**< a bug in mlc */
  MLC_USAGE = 2,       /**< wrong argument: index, type, rank, dims */
  MLC_BAD_FILE = 3,    /**< not an artifact, damaged, or of another version */
  MLC_UNSUPPORTED = 4, /**< known, but not supported here */
  MLC_DIFFERS = 5,     /**< training reached a value that is not finite */
  MLC_DEVICE = 8,      /**< this machine lacks what the artifact needs */
  MLC_RESOURCES = 9,   /**< out of memory, disk or open files */
  MLC_INTERRUPTED = 130
} mlc_status;

typedef enum mlc_dtype {
  MLC_F32 = 0,
  MLC_F16 = 1,
  MLC_BF16 = 2,
  MLC_F64 = 3,
  MLC_I8 = 4,
  MLC_I16 = 5,
  MLC_I32 = 6,
  MLC_I64 = 7,
  MLC_U8 = 8,
  MLC_U16 = 9,
  MLC_U32 = 10,
  MLC_U64 = 11,
  MLC_BOOL = 12 /**< one byte, 0 or 1 */
} mlc_dtype;

#define MLC_MAX_RANK 16

typedef struct mlc_artifact mlc_artifact;
typedef struct mlc_session mlc_session;
typedef struct mlc_ranks mlc_ranks;

/** Message of this thread's last failed call; "" before any. Valid until the
 * next call on this thread. */
MLC_API const char *mlc_last_error(void);
/** Version of this runtime, for example "0.1.0". */
MLC_API const char *mlc_version(void);
/** Bytes of one element; 0 for a number that is no mlc_dtype. */
MLC_API size_t mlc_dtype_size(mlc_dtype type);
/** "f32", "bool", ...; "?" for a number that is no mlc_dtype. */
MLC_API const char *mlc_dtype_name(mlc_dtype type);

/*===- Devices ------------------------------------------------------------===*/

/** Where data lies. On "cpu" both are the same memory. A device with its own
 * memory copies the host's data in each run. */
typedef enum mlc_space {
  MLC_SPACE_HOST = 0,
  MLC_SPACE_DEVICE = 1, /**< memory of the session's device */
  /** Not a space. Makes every int a value of the type, so that a wrong one is
   * refused and not undefined behaviour in C++. */
  MLC_SPACE_LARGEST_ENUM = 0x7fffffff
} mlc_space;

/** The devices that this library always has; "cpu" is the first. A name lives
 * as long as the library; it is NULL beyond the last. Other devices are looked
 * up when a session asks for one: "cuda:0" (or "cuda"), "cuda:1", ... through
 * NVIDIA's driver, and "emulator" ("emulator:1", ...), which checks GPU code
 * and is slow. */
MLC_API size_t mlc_device_count(void);
MLC_API const char *mlc_device_name(size_t index);

/*===- Artifacts ----------------------------------------------------------===*/

enum {
  /** Do not verify the checksum (saves some 40 ms per 100 MB). */
  MLC_OPEN_SKIP_CHECKSUM = 1u,
  /** Copy the weights into memory of large pages instead of mapping the file:
   * slower to open, faster to run with weights of hundreds of megabytes, and
   * the file may change afterwards. */
  MLC_OPEN_COPY_WEIGHTS = 2u,
  /** Read everything but load no code, to inspect artifacts for other CPUs.
   * Sessions cannot be created. */
  MLC_OPEN_INSPECT = 4u
};

/** Opens the file at `path`; `flags` is a sum of MLC_OPEN_*. */
MLC_API mlc_status mlc_artifact_open(const char *path, uint32_t flags,
                                     mlc_artifact **artifact);
/** Opens an artifact in memory, which the caller keeps unchanged and alive as
 * long as the artifact (weights are read from there). */
MLC_API mlc_status mlc_artifact_open_memory(const void *data, size_t size,
                                            uint32_t flags,
                                            mlc_artifact **artifact);
/** Releases one reference; sessions hold their own. NULL is allowed. */
MLC_API void mlc_artifact_close(mlc_artifact *artifact);

/** The manifest as JSON text: tool version, git id, flags, target, model hash,
 * shapes, rewrite trail, metadata. */
MLC_API const char *mlc_artifact_manifest(const mlc_artifact *artifact,
                                          size_t *size);
/** Number of metadata entries; entry `index` as key and value. */
MLC_API size_t mlc_artifact_metadata_count(const mlc_artifact *artifact);
MLC_API mlc_status mlc_artifact_metadata_at(const mlc_artifact *artifact,
                                            size_t index, const char **key,
                                            const char **value);
/** Value of the first entry named `key`, NULL if there is none. */
MLC_API const char *mlc_artifact_metadata(const mlc_artifact *artifact,
                                          const char *key);

/** An input or output. A dim that is not fixed is -1 in `dims` and given as
 * text ("N", "2*W + 1") in `dim_texts`; the text of a fixed dim is its number.
 * All pointers live as long as the artifact. */
typedef struct mlc_port {
  const char *name;
  mlc_dtype type;
  size_t rank;
  const int64_t *dims;
  const char *const *dim_texts;
} mlc_port;

MLC_API size_t mlc_artifact_input_count(const mlc_artifact *artifact);
MLC_API size_t mlc_artifact_output_count(const mlc_artifact *artifact);
MLC_API mlc_status mlc_artifact_input(const mlc_artifact *artifact,
                                      size_t index, mlc_port *port);
MLC_API mlc_status mlc_artifact_output(const mlc_artifact *artifact,
                                       size_t index, mlc_port *port);

/** The parameters: weights that mlc_session_set_parameter may change. Their
 * dims are fixed. */
MLC_API size_t mlc_artifact_parameter_count(const mlc_artifact *artifact);
MLC_API mlc_status mlc_artifact_parameter(const mlc_artifact *artifact,
                                          size_t index, mlc_port *port);

/** The entries; most artifacts have one. A name lives as long as the artifact;
 * it is NULL beyond the last. */
MLC_API size_t mlc_artifact_entry_count(const mlc_artifact *artifact);
MLC_API const char *mlc_artifact_entry_name(const mlc_artifact *artifact,
                                            size_t index);
MLC_API mlc_status mlc_artifact_find_entry(const mlc_artifact *artifact,
                                           const char *name, size_t *index);
/** A handle of the artifact for entry `index`: functions on it describe that
 * entry, and its sessions run it. It is one more reference, to be released with
 * mlc_artifact_close. */
MLC_API mlc_status mlc_artifact_entry(mlc_artifact *artifact, size_t index,
                                      mlc_artifact **entry);

/** Which entry the artifact is. */
MLC_API size_t mlc_artifact_entry_index(const mlc_artifact *artifact);

/** The states, which all entries share; their dims are fixed. */
MLC_API size_t mlc_artifact_state_count(const mlc_artifact *artifact);
MLC_API mlc_status mlc_artifact_state(const mlc_artifact *artifact,
                                      size_t index, mlc_port *port);
MLC_API mlc_status mlc_artifact_find_state(const mlc_artifact *artifact,
                                           const char *name, size_t *index);

/** The axes of the mesh of ranks; without axes the artifact runs on one rank.
 * The coordinate on the last axis changes fastest with the rank. */
typedef struct mlc_axis {
  const char *name;
  size_t ranks;
} mlc_axis;

MLC_API size_t mlc_artifact_axis_count(const mlc_artifact *artifact);
MLC_API mlc_status mlc_artifact_axis(const mlc_artifact *artifact, size_t index,
                                     mlc_axis *axis);

/** A dim that is sharded along an axis of R ranks. The dim consists of n = dim
 * / unit items. The rank with coordinate r holds n / R of them, one more if r <
 * n % R, from item r * (n / R) + min(r, n % R) on. A dim may have several
 * splits: each divides the part that those before it leave. */
typedef struct mlc_split {
  size_t dim, axis;
  uint64_t unit;
} mlc_split;

enum { MLC_INPUT = 0, MLC_OUTPUT = 1, MLC_STATE = 2 };

/** How a port (`kind` is MLC_INPUT, MLC_OUTPUT or MLC_STATE) is split: `count`
 * splits, which live as long as the artifact. The dims of inputs and outputs
 * are those of this rank's shard; mlc_artifact_state gives the dims of the
 * whole state. */
MLC_API mlc_status mlc_artifact_splits(const mlc_artifact *artifact, int kind,
                                       size_t index, const mlc_split **splits,
                                       size_t *count);

/** A step of the program. `nodes` are the model's nodes that it computes;
 * `text` describes the rest for people: "kernel k3, tasks 4*N". */
typedef struct mlc_step {
  const char *name;
  const char *kind; /**< "launch", "library", "bind", ... */
  size_t node_count;
  const char *const *nodes;
  const char *text;
} mlc_step;

MLC_API size_t mlc_artifact_step_count(const mlc_artifact *artifact);
MLC_API mlc_status mlc_artifact_step(const mlc_artifact *artifact, size_t index,
                                     mlc_step *step);
/** Bytes of the weights, and of the code of all images. */
MLC_API uint64_t mlc_artifact_weight_bytes(const mlc_artifact *artifact);
MLC_API uint64_t mlc_artifact_code_bytes(const mlc_artifact *artifact);

/** The kernels' code for one kind of device. A device takes the first image
 * that it can run; others may be of kinds that this library does not know. */
typedef struct mlc_image {
  const char *kind;   /**< "elf", "cubin", "ptx", "source"; "?" if unknown */
  const char *target; /**< its architecture, "x86-64-v3" */
  uint64_t bytes;
  const void *data; /**< its bytes, while the artifact is open */
} mlc_image;

MLC_API size_t mlc_artifact_image_count(const mlc_artifact *artifact);
MLC_API mlc_status mlc_artifact_image(const mlc_artifact *artifact,
                                      size_t index, mlc_image *image);

/*===- Sessions -----------------------------------------------------------===*/

enum {
  /** Treat denormals as zero, in operands and results, on all threads. */
  MLC_SESSION_FLUSH_DENORMALS = 1u,
  /** Give every buffer memory of its own, so that mlc_session_buffer can read
   * intermediate results after a run. Uses much more memory. */
  MLC_SESSION_KEEP_BUFFERS = 2u,
  /** Measure the time of every step (see mlc_session_step_ns). */
  MLC_SESSION_PROFILE = 4u
};

/** Begin with MLC_SESSION_OPTIONS_INIT. A newer library accepts the shorter
 * struct of an older header. An older library refuses fields it does not know
 * unless they are zero. */
typedef struct mlc_session_options {
  size_t size; /**< sizeof(mlc_session_options) */
  /** Threads that work on a run, the caller's among them; 0: one per core that
   * this process may use. */
  uint32_t threads;
  uint32_t flags; /**< a sum of MLC_SESSION_* */
  /** A name from mlc_device_name, or one that is looked up, as "cuda:0"; NULL:
   * the first device. */
  const char *device;
  /** The stream that gets all work of the session: a CUstream (or cudaStream_t)
   * that was made in the device's primary context, is not captured while the
   * session is used, and outlives it. NULL: the session makes its own.
   * MLC_USAGE for a stream of another device, the default streams, and devices
   * without streams ("cpu"). */
  void *stream;
  /** The ranks to which the session belongs, as many as the artifact's mesh
   * has; they stay open while it lives. NULL: a single rank. */
  mlc_ranks *ranks;
} mlc_session_options;

#define MLC_SESSION_OPTIONS_INIT                                               \
  {sizeof(mlc_session_options), 0, 0, NULL, NULL, NULL}

/** `options` may be NULL: all cores, no flags, the first device, a single rank.
 * MLC_DEVICE if this build or machine lacks the device, MLC_USAGE if the number
 * of ranks differs from the artifact's. */
MLC_API mlc_status mlc_session_create(mlc_artifact *artifact,
                                      const mlc_session_options *options,
                                      mlc_session **session);
/** Waits for a run that is under way. NULL is allowed. */
MLC_API void mlc_session_destroy(mlc_session *session);

/** Binds input `index`. `type` and `rank` must be the port's. The data is dense
 * and row-major. It is not copied if it is on the device and 64-byte aligned,
 * so keep it alive and unchanged during each run. `data` may be NULL if a dim
 * is 0. mlc_session_run checks the dims of all inputs together. */
MLC_API mlc_status mlc_session_bind_input(mlc_session *session, size_t index,
                                          mlc_dtype type, size_t rank,
                                          const int64_t *dims, const void *data,
                                          mlc_space space);
/** Makes later runs write output `index` to the caller's memory, dense and
 * row-major; if `data` is NULL, to the session's again. A run whose result has
 * more than `capacity` bytes fails before it writes there. If `data` is on the
 * device and 64-byte aligned, most outputs are computed in place; others are
 * copied at the end. The memory must not overlap that of an input or another
 * output; a run refuses that. */
MLC_API mlc_status mlc_session_bind_output(mlc_session *session, size_t index,
                                           void *data, size_t capacity,
                                           mlc_space space);

/** Changes parameter `index` for this session's later runs; the data is copied.
 * Until then a session uses the artifact's value. `type`, `rank` and `dims`
 * must be the port's. Steps that depend on parameters alone (packing for
 * blocked layouts) are repeated only in the next run. */
MLC_API mlc_status mlc_session_set_parameter(mlc_session *session, size_t index,
                                             mlc_dtype type, size_t rank,
                                             const int64_t *dims,
                                             const void *data, mlc_space space);

/** A session of entry `index` on the same device, with the same threads and
 * flags, over the states of `session`; it has its own inputs, outputs and
 * memory for intermediates. The states live until the last session that shares
 * them is destroyed. */
MLC_API mlc_status mlc_session_entry(mlc_session *session, size_t index,
                                     mlc_session **entry);

/** Runs the program on the bound inputs. */
MLC_API mlc_status mlc_session_run(mlc_session *session);
/** Begins a run on a thread of the session and returns. Keep all bound memory
 * until mlc_session_wait, which returns the status of the run. */
MLC_API mlc_status mlc_session_run_async(mlc_session *session);
/** The stream that gets the session's work, so that the caller can order other
 * work before or after it: a CUstream on a GPU. MLC_UNSUPPORTED on devices
 * without streams. */
MLC_API mlc_status mlc_session_stream(mlc_session *session, void **stream);
/** Hands a run to the session's stream, on the calling thread, and returns
 * without waiting. All bound memory must be the device's (else MLC_USAGE, also
 * with MLC_SESSION_PROFILE).
 *
 * Order: the run reads its inputs after all earlier work of the stream, and
 * writes its outputs before all later work; consecutive runs are ordered the
 * same way. Keep bound memory until the stream has passed the run. Other inputs
 * may be bound at once. The host waits if memory must grow (new dims), and
 * within the run if the program needs it: for top-k and for sizes read from
 * tensors. On "cpu" the run is over when the function returns.
 *
 * The next function that waits reports later failures: mlc_session_wait,
 * mlc_session_run, or mlc_session_output of an output that is not bound. */
MLC_API mlc_status mlc_session_enqueue(mlc_session *session);
/** Waits for the run under way, or for all enqueued runs; MLC_OK if there are
 * none. */
MLC_API mlc_status mlc_session_wait(mlc_session *session);
/** 1 while a run is under way, 0 once mlc_session_wait would not wait. */
MLC_API int mlc_session_is_running(const mlc_session *session);

typedef struct mlc_tensor {
  mlc_dtype type;
  size_t rank;
  int64_t dims[MLC_MAX_RANK];
  const void *data; /**< dense and row-major */
  size_t bytes;
} mlc_tensor;

/** Output `index` of the last successful run. The data is in the memory that
 * mlc_session_bind_output gave, or else in host memory of the session, copied
 * from the device if need be. It is valid until the next run, bind or change of
 * a parameter. */
MLC_API mlc_status mlc_session_output(mlc_session *session, size_t index,
                                      mlc_tensor *tensor);
/** The value of parameter `index`; valid until it is set. */
MLC_API mlc_status mlc_session_parameter(mlc_session *session, size_t index,
                                         mlc_tensor *tensor);

/** The value of state `index`, in host memory, read-only, valid until the next
 * run or change. For a state that is split it is this rank's shard, as in files
 * of states. MLC_USAGE if the state has no value: it was lost, or it was not
 * set and the artifact has none for it. */
MLC_API mlc_status mlc_session_state(mlc_session *session, size_t index,
                                     mlc_tensor *tensor);
/** Sets state `index`; the data is copied. `type`, `rank` and `dims` must be
 * the port's, or this rank's shard's if it is split. */
MLC_API mlc_status mlc_session_set_state(mlc_session *session, size_t index,
                                         mlc_dtype type, size_t rank,
                                         const int64_t *dims, const void *data,
                                         mlc_space space);
/** Resets all states to their values when the session was made. */
MLC_API mlc_status mlc_session_reset_states(mlc_session *session);
/** Writes all states by name to a .npz file, atomically: on failure an existing
 * file stays as it was. All states must have values, less than 4 GiB together.
 */
MLC_API mlc_status mlc_session_save_states(mlc_session *session,
                                           const char *path);
/** Sets all states from a .npz file, which may hold other arrays too. Sets none
 * if an array is missing, damaged, or of another type or other dims. */
MLC_API mlc_status mlc_session_load_states(mlc_session *session,
                                           const char *path);

/** Memory of the session for the dims of the last run. */
typedef struct mlc_memory {
  uint64_t arena_bytes;       /**< planned arena */
  uint64_t lower_bound_bytes; /**< largest set of bytes alive at one time */
  uint64_t scratch_bytes;     /**< all threads together */
  uint64_t allocated_bytes;   /**< held by the session in all */
} mlc_memory;
MLC_API mlc_status mlc_session_memory(mlc_session *session, mlc_memory *memory);
/** How often the session has allocated or planned so far: constant in steady
 * state, 0 while a run is under way. */
MLC_API uint64_t mlc_session_allocation_count(const mlc_session *session);

/** Nanoseconds that step `index` took in the last run; needs
 * MLC_SESSION_PROFILE. */
MLC_API mlc_status mlc_session_step_ns(mlc_session *session, size_t index,
                                       uint64_t *ns);

/** The least work of step `index` for the dims of the last run: bytes of the
 * tensors it reads and writes, each counted once, and scalar operations (a
 * multiply-add is two; 0 if unknown, as for library steps). */
typedef struct mlc_step_cost {
  uint64_t bytes_read, bytes_written;
  uint64_t operations;
  uint64_t contraction_operations; /**< those in matrix products */
} mlc_step_cost;
MLC_API mlc_status mlc_session_step_cost(mlc_session *session, size_t index,
                                         mlc_step_cost *cost);

/** Buffers of the program (inputs, weights, intermediates, outputs) by number:
 * the tensor's name in the model ("" if it has none) and its contents after the
 * last run. Intermediates need MLC_SESSION_KEEP_BUFFERS. */
MLC_API size_t mlc_artifact_buffer_count(const mlc_artifact *artifact);
MLC_API const char *mlc_artifact_buffer_name(const mlc_artifact *artifact,
                                             size_t index);
MLC_API mlc_status mlc_session_buffer(mlc_session *session, size_t index,
                                      mlc_tensor *tensor);

#ifdef __cplusplus
}
#endif

#endif /* MLC_RUNTIME_H */
