/*===- mlc_train.h - The C ABI of mlc's trainer ----------------------------===*
 *
 * Trains an artifact that `mlc train --artifact` made:
 *
 *   mlc_trainer *trainer;
 *   mlc_trainer_create(artifact, NULL, &trainer);
 *   mlc_tensor batch[] = {images, labels};
 *   for (...) {
 *     ... the next batch
 *     mlc_trainer_step(trainer, batch, rate, &loss);
 *   }
 *   mlc_trainer_save(trainer, NULL, 0, "checkpoint.npz");
 *
 * Part of libmlc_runtime; the rules of mlc_runtime.h for errors, threads and
 * memory apply. MLC_DIFFERS means that training reached a loss, a gradient or a
 * weight that is not finite.
 *
 * Ranks: each rank has a trainer and makes the same calls in the same order as
 * the others. It passes all samples of each batch; the trainer takes its rank's
 * shard.
 *
 *===-----------------------------------------------------------------------===*/

#ifndef MLC_TRAIN_H
#define MLC_TRAIN_H

#include "mlc_ranks.h"
#include "mlc_runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mlc_trainer mlc_trainer;
typedef struct mlc_samples mlc_samples;

/** Begin with MLC_TRAINER_OPTIONS_INIT, as for session options. */
typedef struct mlc_trainer_options {
  size_t size; /**< sizeof(mlc_trainer_options) */
  /** As in mlc_session_options. */
  uint32_t threads;
  const char *device;
  mlc_ranks *ranks;
  /** The model's name, the prefix of messages; may be NULL. */
  const char *name;
} mlc_trainer_options;

#define MLC_TRAINER_OPTIONS_INIT                                               \
  {sizeof(mlc_trainer_options), 0, NULL, NULL, NULL}

/** `options` may be NULL. The trainer holds a reference to the artifact.
 * MLC_USAGE if the artifact is not for training, or its batch size is unknown.
 */
MLC_API mlc_status mlc_trainer_create(mlc_artifact *artifact,
                                      const mlc_trainer_options *options,
                                      mlc_trainer **trainer);
/** NULL is allowed, as for the other close functions below. */
MLC_API void mlc_trainer_destroy(mlc_trainer *trainer);

/** What a batch is made of: the inputs of the model, then the loss's target. A
 * port's first dim is the sample, of all ranks together. */
MLC_API size_t mlc_trainer_input_count(const mlc_trainer *trainer);
MLC_API mlc_status mlc_trainer_input(const mlc_trainer *trainer, size_t index,
                                     mlc_port *port);
/** How many batches one step averages the gradients over. */
MLC_API size_t mlc_trainer_batches_of_step(const mlc_trainer *trainer);

/** Runs the next step. `batches` has mlc_trainer_input_count tensors for each
 * of the step's batches, dense and row-major, in host memory; they are copied.
 * `rate` is finite and not negative. `loss` is the mean of the batches' losses
 * before the step. If it is not finite, MLC_DIFFERS is returned. If that is
 * because a sample is not finite or no label counts, the step is not done and
 * nothing has changed. If not, the weights have become too large, and training
 * goes on from a checkpoint. */
MLC_API mlc_status mlc_trainer_step(mlc_trainer *trainer,
                                    const mlc_tensor *batches, double rate,
                                    double *loss);
/** The loss of one batch, and its weight in a mean over batches: the number of
 * labels that are not negative, or 1 without labels. If the weight is 0, so is
 * the loss. MLC_USAGE if the artifact has no entry "evaluate". */
MLC_API mlc_status mlc_trainer_evaluate(mlc_trainer *trainer,
                                        const mlc_tensor *batch, double *loss,
                                        double *count);

/** Samples for batches in an order that a seed determines, as with `mlc train
 * --seed`. They come from a .npz file with an array named after each input, or
 * from arrays in the order of the inputs, which are copied. */
MLC_API mlc_status mlc_samples_open(const mlc_trainer *trainer,
                                    const char *path, mlc_samples **samples);
MLC_API mlc_status mlc_samples_copy(const mlc_trainer *trainer,
                                    const mlc_tensor *arrays,
                                    mlc_samples **samples);
MLC_API void mlc_samples_close(mlc_samples *samples);
MLC_API size_t mlc_samples_count(const mlc_samples *samples);
/** mlc_trainer_step on the next batches. MLC_USAGE if the samples were made for
 * a trainer with other inputs. */
MLC_API mlc_status mlc_trainer_step_samples(mlc_trainer *trainer,
                                            const mlc_samples *samples,
                                            uint64_t seed, double rate,
                                            double *loss);
/** The mean loss of all whole batches, weighted by labels if there are any;
 * MLC_USAGE if no label counts. */
MLC_API mlc_status mlc_trainer_evaluate_samples(mlc_trainer *trainer,
                                                const mlc_samples *samples,
                                                double *loss);

/** How many steps are done; how many of them were skipped because a gradient
 * was not finite; the loss scale. */
MLC_API uint64_t mlc_trainer_steps(const mlc_trainer *trainer);
MLC_API uint64_t mlc_trainer_skipped(const mlc_trainer *trainer);
MLC_API double mlc_trainer_loss_scale(const mlc_trainer *trainer);

enum { MLC_RATE_CONSTANT = 0, MLC_RATE_LINEAR = 1, MLC_RATE_COSINE = 2 };
/** The learning rate of step `step`, counted from 0. It grows linearly from 0
 * to `rate` over `warmup` steps, then follows `schedule`, an MLC_RATE_*; linear
 * and cosine reach 0 after the last of `steps`. 0 for an unknown schedule. */
MLC_API double mlc_learning_rate(int schedule, double rate, uint64_t warmup,
                                 uint64_t steps, uint64_t step);

/** The weights, running statistics and optimizer states: their names, and what
 * they belong to. Pointers live as long as the trainer. */
typedef struct mlc_trained_state {
  mlc_port port;     /**< of the whole tensor, also if it is sharded */
  const char *role;  /**< "weight", "statistic" or "moment" */
  const char *owner; /**< the weight's or statistic's name in the model */
} mlc_trained_state;

MLC_API size_t mlc_trainer_state_count(const mlc_trainer *trainer);
MLC_API mlc_status mlc_trainer_state(const mlc_trainer *trainer, size_t index,
                                     mlc_trained_state *state);
/** The state's value, valid until the next call. All ranks call it together. If
 * the state is split, rank 0 gets the whole and the others their shards. */
MLC_API mlc_status mlc_trainer_get_state(mlc_trainer *trainer, size_t index,
                                         mlc_tensor *tensor);
/** Sets the state on all ranks from the whole tensor in `tensor`. */
MLC_API mlc_status mlc_trainer_set_state(mlc_trainer *trainer, size_t index,
                                         const mlc_tensor *tensor);

/** Writes a checkpoint, as `mlc train --checkpoint` does; all ranks call it
 * together, rank 0 writes, and none returns before the file is there. `samples`
 * and `seed` are those of the steps; NULL if the caller made the batches.
 * MLC_DIFFERS if a value is not finite. */
MLC_API mlc_status mlc_trainer_save(mlc_trainer *trainer,
                                    const mlc_samples *samples, uint64_t seed,
                                    const char *path);
/** Resumes from a checkpoint that was made with the same model, loss, optimizer
 * and samples; MLC_USAGE names what differs. */
MLC_API mlc_status mlc_trainer_load(mlc_trainer *trainer,
                                    const mlc_samples *samples, uint64_t seed,
                                    const char *path);

/** A log with a row for each step, as `mlc train --log` writes it: `place` is
 * FILE.csv, FILE.jsonl or tensorboard:FOLDER. If the trainer has done steps,
 * the log continues after them, else it starts anew. Only one of several ranks
 * may write it. */
typedef struct mlc_training_log mlc_training_log;
MLC_API mlc_status mlc_training_log_open(const mlc_trainer *trainer,
                                         const char *place,
                                         mlc_training_log **log);
/** Writes the row of the trainer's last step. `held_out_loss` may be NULL.
 * MLC_RESOURCES for a full disk. */
MLC_API mlc_status mlc_training_log_write(mlc_training_log *log,
                                          const mlc_trainer *trainer,
                                          double loss, double rate,
                                          double samples_per_second,
                                          const double *held_out_loss);
MLC_API void mlc_training_log_close(mlc_training_log *log);

#ifdef __cplusplus
}
#endif

#endif /* MLC_TRAIN_H */
