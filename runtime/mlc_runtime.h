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
 * Trust: an artifact is native code. Open only what you trust. A damaged,
 * truncated or foreign file is refused, but the checksum is no signature.
 *
 * Memory: a session allocates on the first run, and again when it meets larger
 * dims; while dims repeat (also a few sets of dims in turn) a run allocates
 * nothing.
 *
 * Floating point: kernels run under the IEEE defaults, round to nearest and
 * denormals kept, unless MLC_SESSION_FLUSH_DENORMALS asks otherwise. The
 * caller's own floating-point environment is restored after each run.
 *
 * Threads: an artifact may be shared by sessions of many threads at once. A
 * session, with those that share its states, is used by one thread at a time;
 * others are refused with MLC_USAGE meanwhile (mlc_session_destroy waits). So
 * are all functions but mlc_session_wait, _is_running and _destroy while a run
 * that mlc_session_run_async has started is under way. A GPU's context is the
 * calling thread's current one afterwards. Functions never throw. After a fork
 * the child makes sessions of its own: the parent's refuse it with MLC_USAGE,
 * and mlc_session_destroy leaves them as they are.
 *
 * Entries: an artifact holds one program or several ("step", "evaluate"), which
 * share its weights and states. An artifact's inputs, outputs, parameters,
 * steps and buffers are those of its first entry; mlc_artifact_entry gives the
 * same artifact as another entry, and mlc_session_entry a session of another
 * entry over the same states. All functions take what these give.
 *
 * States: memory that lives across runs and that a run may change in place
 * (weights in training). Sessions that share states are used by one thread at a
 * time, as if they were one. When a run fails before its first step, states are
 * as they were; when it fails later, those that it writes are lost, and are
 * refused until they are set, loaded or reset. A run whose outputs do not fit,
 * or whose inputs are wrong, fails before its first step, unless that depends
 * on computed sizes.
 *
 * Ranks: an artifact whose mesh has several ranks (mlc_artifact_axis) runs on
 * as many processes, or threads, each with an mlc_ranks and a session of its
 * own, on its part of inputs, states and outputs (mlc_artifact_splits). All of
 * them run the same sessions in the same order. A run in which a rank is
 * missing ends with an error that names it and the collective, within the
 * timeout and five seconds.
 *
 * Errors: functions return an mlc_status; on failure mlc_last_error() holds
 * the message of the calling thread's last failed call, in one line without
 * control characters. Output parameters are written on success only. Functions
 * that return no status take NULL for an artifact or session with nothing in
 * it; all others refuse it with MLC_USAGE.
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
  MLC_DIFFERS = 5,     /**< training has come to no finite number */
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

/** Where data lies. On "cpu" both are the same memory; to and from a device
 * with memory of its own, the host's data is copied in each run. */
typedef enum mlc_space {
  MLC_SPACE_HOST = 0,
  MLC_SPACE_DEVICE = 1, /**< memory of the session's device */
  /** No space: makes every int a value of the type, so that a wrong one is
   * refused instead of undefined in C++. */
  MLC_SPACE_LARGEST_ENUM = 0x7fffffff
} mlc_space;

/** The devices that this library runs programs on; "cpu" is the first. The name
 * lives as long as the library; NULL beyond the last. Not among them are those
 * that are looked for when a session asks for one: "cuda:0" (or "cuda"),
 * "cuda:1", ... by NVIDIA's driver, and "emulator" ("emulator:1", ...), which
 * checks the code for GPUs and is slow. */
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
  /** Read everything but load no code: for inspection on another CPU. Sessions
   * cannot be created. */
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
/** Gives one reference back; sessions hold their own. NULL is allowed. */
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

/** The entries: one in most artifacts, which is then all there is. A name lives
 * as long as the artifact; NULL beyond the last. */
MLC_API size_t mlc_artifact_entry_count(const mlc_artifact *artifact);
MLC_API const char *mlc_artifact_entry_name(const mlc_artifact *artifact,
                                            size_t index);
MLC_API mlc_status mlc_artifact_find_entry(const mlc_artifact *artifact,
                                           const char *name, size_t *index);
/** The artifact as entry `index`: one more reference, for mlc_artifact_close,
 * whose functions tell of that entry, and whose sessions run it. */
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

/** The axes of the mesh of ranks; none: it runs on one. The last one's
 * coordinate changes fastest with the rank. */
typedef struct mlc_axis {
  const char *name;
  size_t ranks;
} mlc_axis;

MLC_API size_t mlc_artifact_axis_count(const mlc_artifact *artifact);
MLC_API mlc_status mlc_artifact_axis(const mlc_artifact *artifact, size_t index,
                                     mlc_axis *axis);

/** A dim of which each rank of an axis has a part: of the dim / unit things
 * that it is made of, n in all, those from r * (n / R) + min(r, n % R) on, n /
 * R or one more, for the coordinate r of R. A dim may have several splits: each
 * divides the part that is left by those before it. */
typedef struct mlc_split {
  size_t dim, axis;
  uint64_t unit;
} mlc_split;

enum { MLC_INPUT = 0, MLC_OUTPUT = 1, MLC_STATE = 2 };

/** How a port (`kind` is MLC_INPUT, MLC_OUTPUT or MLC_STATE) is split: `count`
 * splits, which live as long as the artifact. Dims of inputs and outputs are
 * those of this rank's part, dims of a state as mlc_artifact_state has them
 * those of the whole. */
MLC_API mlc_status mlc_artifact_splits(const mlc_artifact *artifact, int kind,
                                       size_t index, const mlc_split **splits,
                                       size_t *count);

/** A step of the program. `nodes` are the model's nodes that it computes;
 * `text` is the rest of it for people, "kernel k3, tasks 4*N". */
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
/** Bytes of weights and of code, that of all images. */
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

/** Begin with MLC_SESSION_OPTIONS_INIT. A newer library takes the shorter
 * struct of an older header; an older library refuses what it does not know
 * unless it is zero. */
typedef struct mlc_session_options {
  size_t size; /**< sizeof(mlc_session_options) */
  /** Threads that work on a run, the caller's among them; 0: one per core that
   * this process may use. */
  uint32_t threads;
  uint32_t flags; /**< a sum of MLC_SESSION_* */
  /** A name as mlc_device_name gives it, "cuda:0" or another that is looked
   * for; NULL: the first. */
  const char *device;
  /** A stream of the device that the session hands all its work to: a CUstream
   * (or cudaStream_t) that was made in the device's primary context, is not
   * captured while the session is used, and outlives it. NULL: one of the
   * session's own. MLC_USAGE for a stream of another device, the default
   * streams, and devices without streams ("cpu"). */
  void *stream;
  /** The ranks that the session is one of, as many as the artifact's mesh has;
   * they stay open while it lives. NULL: it is alone. */
  mlc_ranks *ranks;
} mlc_session_options;

#define MLC_SESSION_OPTIONS_INIT                                               \
  {sizeof(mlc_session_options), 0, 0, NULL, NULL, NULL}

/** `options` may be NULL: all cores, no flags, the first device, no other
 * ranks. MLC_DEVICE for a device that this build or machine has not, MLC_USAGE
 * for another number of ranks than the artifact's. */
MLC_API mlc_status mlc_session_create(mlc_artifact *artifact,
                                      const mlc_session_options *options,
                                      mlc_session **session);
/** Waits for a run that is under way. NULL is allowed. */
MLC_API void mlc_session_destroy(mlc_session *session);

/** Binds input `index`. `type` and `rank` must be the port's. The data is
 * dense and row-major; on the device it is not copied if 64-byte aligned, so
 * keep it alive and unchanged during each run. `data` may be NULL if a dim is
 * 0. Dims are checked together, by mlc_session_run. */
MLC_API mlc_status mlc_session_bind_input(mlc_session *session, size_t index,
                                          mlc_dtype type, size_t rank,
                                          const int64_t *dims, const void *data,
                                          mlc_space space);
/** Has the runs from now on leave output `index` in the caller's memory, dense
 * and row-major; `data` NULL: in the session's again. A run fails before it
 * writes there if the result has more than `capacity` bytes. If `data` is
 * on the device and 64-byte aligned, most outputs are computed in place; others
 * are copied at the end. The memory must not overlap that of an input or
 * another output; a run refuses that. */
MLC_API mlc_status mlc_session_bind_output(mlc_session *session, size_t index,
                                           void *data, size_t capacity,
                                           mlc_space space);

/** Changes parameter `index` for this session's later runs; the data is copied.
 * Until then a session has the artifact's. `type`, `rank` and `dims` must be
 * the port's. Steps that depend on parameters alone (packing for blocked
 * layouts) run again with the next run, and not with others. */
MLC_API mlc_status mlc_session_set_parameter(mlc_session *session, size_t index,
                                             mlc_dtype type, size_t rank,
                                             const int64_t *dims,
                                             const void *data, mlc_space space);

/** A session of entry `index` on the same device, with the same threads and
 * flags, over the states of `session`; inputs, outputs and the memory for what
 * a run computes are its own. The states stay until the last session that
 * shares them is destroyed. */
MLC_API mlc_status mlc_session_entry(mlc_session *session, size_t index,
                                     mlc_session **entry);

/** Runs the program on the bound inputs. */
MLC_API mlc_status mlc_session_run(mlc_session *session);
/** Begins a run on a thread of the session's and returns. What is bound must
 * stay until mlc_session_wait, which returns what the run did. */
MLC_API mlc_status mlc_session_run_async(mlc_session *session);
/** The stream that the session hands its work to, for who orders work of his
 * own before or behind it: a CUstream on a GPU. MLC_UNSUPPORTED on devices
 * without streams. */
MLC_API mlc_status mlc_session_stream(mlc_session *session, void **stream);
/** Hands a run to the session's stream, on the calling thread, and returns
 * without waiting. All that is bound must be the device's memory (MLC_USAGE
 * otherwise, and with MLC_SESSION_PROFILE).
 *
 * Order: the run reads inputs after all that the stream was given before, and
 * has written outputs before all that it is given later; so do runs that follow
 * each other. What is bound must stay until the stream has come past the run,
 * not longer, and other inputs may be bound at once. The host waits where
 * memory must grow (new dims), and in between where a program needs it: top-k
 * and sizes that are read from tensors. On "cpu" the run is over when the
 * function returns.
 *
 * What fails later is told by the next function that waits: mlc_session_wait,
 * mlc_session_run, or mlc_session_output of an output that is not bound. */
MLC_API mlc_status mlc_session_enqueue(mlc_session *session);
/** Waits for the run under way, or for all that was enqueued; MLC_OK if there
 * is nothing. */
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

/** Output `index` of the last successful run. The data is where
 * mlc_session_bind_output said, or else the session's, in the host's memory (a
 * device's own is copied there), and valid until the next run or bind on it, or
 * change of a parameter. */
MLC_API mlc_status mlc_session_output(mlc_session *session, size_t index,
                                      mlc_tensor *tensor);
/** What parameter `index` holds; valid until it is set. */
MLC_API mlc_status mlc_session_parameter(mlc_session *session, size_t index,
                                         mlc_tensor *tensor);

/** What state `index` holds, in the host's memory, to be read only: valid until
 * the next run or change. Of a state that is split, this rank's part; files of
 * states have the parts too. MLC_USAGE for one that holds nothing: it was not
 * set, and the artifact has no value for it, or it was lost. */
MLC_API mlc_status mlc_session_state(mlc_session *session, size_t index,
                                     mlc_tensor *tensor);
/** Sets state `index`; the data is copied. `type`, `rank` and `dims` must be
 * the port's, where it is split those of this rank's part. */
MLC_API mlc_status mlc_session_set_state(mlc_session *session, size_t index,
                                         mlc_dtype type, size_t rank,
                                         const int64_t *dims, const void *data,
                                         mlc_space space);
/** Gives all states the values that they had when the session was made. */
MLC_API mlc_status mlc_session_reset_states(mlc_session *session);
/** Writes a .npz file with all states by their names; it is there whole, or
 * what was there before. All must hold something, less than 4 GiB together. */
MLC_API mlc_status mlc_session_save_states(mlc_session *session,
                                           const char *path);
/** Sets all states from a .npz file, which may hold other arrays too; none
 * where something is missing, of another type or other dims, or damaged. */
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
/** How often the session has allocated or planned so far; constant in the
 * steady state; 0 while a run is under way. */
MLC_API uint64_t mlc_session_allocation_count(const mlc_session *session);

/** Nanoseconds that step `index` took in the last run; needs
 * MLC_SESSION_PROFILE. */
MLC_API mlc_status mlc_session_step_ns(mlc_session *session, size_t index,
                                       uint64_t *ns);

/** What step `index` does at the least, for the dims of the last run: bytes of
 * the tensors that it reads and writes, each once, and scalar operations (a
 * multiply-add is two; 0 where nobody has counted them, as for library steps).
 */
typedef struct mlc_step_cost {
  uint64_t bytes_read, bytes_written;
  uint64_t operations;
  uint64_t contraction_operations; /**< those of matrix products among them */
} mlc_step_cost;
MLC_API mlc_status mlc_session_step_cost(mlc_session *session, size_t index,
                                         mlc_step_cost *cost);

/** Buffers of the program (inputs, weights, intermediates, outputs), by
 * number: the tensor's name in the model ("" if it has none) and its contents
 * after the last run. Intermediates need MLC_SESSION_KEEP_BUFFERS. */
MLC_API size_t mlc_artifact_buffer_count(const mlc_artifact *artifact);
MLC_API const char *mlc_artifact_buffer_name(const mlc_artifact *artifact,
                                             size_t index);
MLC_API mlc_status mlc_session_buffer(mlc_session *session, size_t index,
                                      mlc_tensor *tensor);

#ifdef __cplusplus
}
#endif

#endif /* MLC_RUNTIME_H */
