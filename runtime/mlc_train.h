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
 * In libmlc_runtime, as mlc_runtime.h, whose rules of errors, threads and
 * memory are these too. MLC_DIFFERS is what training itself ends with: a loss,
 * a gradient or a weight that is not finite.
 *
 * Ranks: each rank has a trainer, gives all samples of each batch, of which it
 * takes its part, and makes the same calls in the same order as the others.
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

/** Begin with MLC_TRAINER_OPTIONS_INIT, as with a session's. */
typedef struct mlc_trainer_options {
  size_t size; /**< sizeof(mlc_trainer_options) */
  /** As mlc_session_options has them. */
  uint32_t threads;
  const char *device;
  mlc_ranks *ranks;
  /** The model's name, with which messages begin; may be NULL. */
  const char *name;
} mlc_trainer_options;

#define MLC_TRAINER_OPTIONS_INIT                                               \
  {sizeof(mlc_trainer_options), 0, NULL, NULL, NULL}

/** `options` may be NULL. The trainer holds the artifact. MLC_USAGE for an
 * artifact that does not train, or whose batch nobody has said the size of. */
MLC_API mlc_status mlc_trainer_create(mlc_artifact *artifact,
                                      const mlc_trainer_options *options,
                                      mlc_trainer **trainer);
/** NULL is allowed, here and below for the other things that are closed. */
MLC_API void mlc_trainer_destroy(mlc_trainer *trainer);

/** What a batch is made of: the inputs of the model, then the loss's target. A
 * port's first dim is the sample, of all ranks together. */
MLC_API size_t mlc_trainer_input_count(const mlc_trainer *trainer);
MLC_API mlc_status mlc_trainer_input(const mlc_trainer *trainer, size_t index,
                                     mlc_port *port);
/** Batches of which a step takes the mean of the gradients. */
MLC_API size_t mlc_trainer_batches_of_step(const mlc_trainer *trainer);

/** The next step. `batches` has mlc_trainer_input_count tensors for each of the
 * step's batches, dense and row-major, in the host's memory; they are copied.
 * `rate` is finite and not negative. `loss` is the mean of the batches' losses
 * before the step. MLC_DIFFERS, with the step done, where that is not finite.
 */
MLC_API mlc_status mlc_trainer_step(mlc_trainer *trainer,
                                    const mlc_tensor *batches, double rate,
                                    double *loss);
/** The loss of one batch, and how much it counts in a mean over batches: the
 * number of its labels that are not negative, else 1. Where that is 0, so is
 * the loss. MLC_USAGE where the artifact has no entry "evaluate". */
MLC_API mlc_status mlc_trainer_evaluate(mlc_trainer *trainer,
                                        const mlc_tensor *batch, double *loss,
                                        double *count);

/** Samples of which batches are made in an order that a seed gives, as `mlc
 * train --seed` has it: from a .npz file with an array by the name of each
 * input, or from such arrays, in the order of the inputs, which are copied. */
MLC_API mlc_status mlc_samples_open(const mlc_trainer *trainer,
                                    const char *path, mlc_samples **samples);
MLC_API mlc_status mlc_samples_copy(const mlc_trainer *trainer,
                                    const mlc_tensor *arrays,
                                    mlc_samples **samples);
MLC_API void mlc_samples_close(mlc_samples *samples);
MLC_API size_t mlc_samples_count(const mlc_samples *samples);
/** mlc_trainer_step on the batches that are next. MLC_USAGE where the samples
 * were made for a trainer that takes others. */
MLC_API mlc_status mlc_trainer_step_samples(mlc_trainer *trainer,
                                            const mlc_samples *samples,
                                            uint64_t seed, double rate,
                                            double *loss);
/** The mean of the losses of all whole batches, over labels where there are
 * some; MLC_USAGE where no label counts. */
MLC_API mlc_status mlc_trainer_evaluate_samples(mlc_trainer *trainer,
                                                const mlc_samples *samples,
                                                double *loss);

/** How many steps are done, and how many of them changed nothing, because a
 * gradient was not finite; what the loss is scaled by. */
MLC_API uint64_t mlc_trainer_steps(const mlc_trainer *trainer);
MLC_API uint64_t mlc_trainer_skipped(const mlc_trainer *trainer);
MLC_API double mlc_trainer_loss_scale(const mlc_trainer *trainer);

enum { MLC_RATE_CONSTANT = 0, MLC_RATE_LINEAR = 1, MLC_RATE_COSINE = 2 };
/** The learning rate of step `step`, from 0: it grows linearly from nothing for
 * `warmup` steps to `rate`, and goes to 0 behind the last of `steps` as
 * `schedule`, an MLC_RATE_*, says. 0 for another schedule. */
MLC_API double mlc_learning_rate(int schedule, double rate, uint64_t warmup,
                                 uint64_t steps, uint64_t step);

/** The weights, running statistics and what the optimizer keeps: their names,
 * and what they belong to. Pointers live as long as the trainer. */
typedef struct mlc_trained_state {
  mlc_port port;     /**< of the whole, where ranks have parts */
  const char *role;  /**< "weight", "statistic" or "moment" */
  const char *owner; /**< the weight's or statistic's name in the model */
} mlc_trained_state;

MLC_API size_t mlc_trainer_state_count(const mlc_trainer *trainer);
MLC_API mlc_status mlc_trainer_state(const mlc_trainer *trainer, size_t index,
                                     mlc_trained_state *state);
/** What it holds, until the next call; all ranks call it together. The first
 * rank gets the whole of what is split, others their part. */
MLC_API mlc_status mlc_trainer_get_state(mlc_trainer *trainer, size_t index,
                                         mlc_tensor *tensor);
/** Sets it, on all ranks, to the whole in `tensor`. */
MLC_API mlc_status mlc_trainer_set_state(mlc_trainer *trainer, size_t index,
                                         const mlc_tensor *tensor);

/** Writes a checkpoint, as `mlc train --checkpoint` does; all ranks call it
 * together, the first writes, and none returns before the file is there.
 * `samples` and `seed` are those of the steps; NULL: the caller's own batches.
 * MLC_DIFFERS where something is not finite. */
MLC_API mlc_status mlc_trainer_save(mlc_trainer *trainer,
                                    const mlc_samples *samples, uint64_t seed,
                                    const char *path);
/** Goes on from a checkpoint that was made with the same model, loss, optimizer
 * and samples; MLC_USAGE names what differs. */
MLC_API mlc_status mlc_trainer_load(mlc_trainer *trainer,
                                    const mlc_samples *samples, uint64_t seed,
                                    const char *path);

/** A log with a row for each step, as `mlc train --log` writes it: `place` is
 * FILE.csv, FILE.jsonl or tensorboard:FOLDER. Where the trainer has done steps,
 * the log goes on behind them, else it begins anew. Of several ranks one writes
 * it. */
typedef struct mlc_training_log mlc_training_log;
MLC_API mlc_status mlc_training_log_open(const mlc_trainer *trainer,
                                         const char *place,
                                         mlc_training_log **log);
/** The row of the step that `trainer` has done last. `held_out_loss` may be
 * NULL. MLC_RESOURCES for a full disk. */
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
