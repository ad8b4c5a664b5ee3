/*===- mlc_pipeline.h - The C ABI of models in stages ----------------------===*
 *
 * Runs an artifact that `mlc compile --stages` made:
 *
 *   mlc_pipeline *pipeline;
 *   mlc_pipeline_create(artifact, NULL, &pipeline);
 *   mlc_pipeline_bind_input(pipeline, 0, MLC_F32, 2, dims, data);
 *   mlc_pipeline_run(pipeline);
 *   mlc_pipeline_output(pipeline, 0, &result);
 *
 * Part of libmlc_runtime; the rules of mlc_runtime.h for errors, threads and
 * memory apply. mlc_artifact_input and mlc_artifact_output describe the inputs
 * and outputs of the whole model, for a batch; entries of the artifact are its
 * stages, for a micro-batch.
 *
 * Ranks: each rank has a pipeline of its own and makes the same calls in the
 * same order as the others, with the same inputs. Each runs its stages and has
 * all outputs afterwards.
 *
 *===-----------------------------------------------------------------------===*/

#ifndef MLC_PIPELINE_H
#define MLC_PIPELINE_H

#include "mlc_ranks.h"
#include "mlc_runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mlc_pipeline mlc_pipeline;

/** What an artifact says of its stages. */
typedef struct mlc_pipeline_sizes {
  size_t stages;        /**< 0: the artifact is no pipeline */
  size_t micro_batches; /**< parts of a batch */
  size_t ranks;         /**< that run the stages; one rank can, too */
} mlc_pipeline_sizes;
MLC_API mlc_status mlc_artifact_pipeline(const mlc_artifact *artifact,
                                         mlc_pipeline_sizes *sizes);

/** `options` may be NULL, as for mlc_session_create; without ranks, or on one,
 * the stages run in turn. Flags other than MLC_SESSION_FLUSH_DENORMALS are not
 * taken. MLC_USAGE if the artifact is no pipeline, or of another number of
 * ranks. The pipeline holds a reference to the artifact. */
MLC_API mlc_status mlc_pipeline_create(mlc_artifact *artifact,
                                       const mlc_session_options *options,
                                       mlc_pipeline **pipeline);
/** NULL is allowed. */
MLC_API void mlc_pipeline_destroy(mlc_pipeline *pipeline);

/** Binds input `index` of the model for the runs to come. The data is dense and
 * row-major, in host memory, and is read in each run. */
MLC_API mlc_status mlc_pipeline_bind_input(mlc_pipeline *pipeline, size_t index,
                                           mlc_dtype type, size_t rank,
                                           const int64_t *dims,
                                           const void *data);
/** Runs the stages on a batch. MLC_USAGE if its micro-batches do not divide
 * it. */
MLC_API mlc_status mlc_pipeline_run(mlc_pipeline *pipeline);
/** Output `index` of the last successful run, valid until the next one. */
MLC_API mlc_status mlc_pipeline_output(mlc_pipeline *pipeline, size_t index,
                                       mlc_tensor *tensor);
/** How often the pipeline has allocated or planned so far: constant in steady
 * state. */
MLC_API uint64_t mlc_pipeline_allocation_count(const mlc_pipeline *pipeline);

#ifdef __cplusplus
}
#endif

#endif /* MLC_PIPELINE_H */
