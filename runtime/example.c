/* Runs a compiled model on zeros and prints the shape of each output and its
 * first value. Build it with the header and the library alone:
 *
 *   cc -std=c11 example.c -lmlc_runtime -o example && ./example model.mlca
 */

#include "mlc_runtime.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failed(const char *what) {
  fprintf(stderr, "%s: %s\n", what, mlc_last_error());
  return 1;
}

int main(int argc, char **argv) {
  mlc_artifact *model = NULL;
  mlc_session *session = NULL;
  mlc_session_options options = MLC_SESSION_OPTIONS_INIT;
  void **inputs;
  size_t i, d;

  if (argc != 2) {
    fprintf(stderr, "usage: example MODEL.mlca\n");
    return MLC_USAGE;
  }
  if (mlc_artifact_open(argv[1], 0, &model) != MLC_OK)
    return failed("open");
  options.threads = 2;
  if (mlc_session_create(model, &options, &session) != MLC_OK)
    return failed("session");

  inputs = calloc(mlc_artifact_input_count(model) + 1, sizeof(void *));
  if (!inputs)
    return MLC_RESOURCES;
  for (i = 0; i < mlc_artifact_input_count(model); ++i) {
    mlc_port port;
    int64_t dims[MLC_MAX_RANK];
    size_t bytes;
    if (mlc_artifact_input(model, i, &port) != MLC_OK)
      return failed("input");
    bytes = mlc_dtype_size(port.type);
    for (d = 0; d < port.rank; ++d) {
      dims[d] = port.dims[d] < 0 ? 1 : port.dims[d]; /* an open dim: choose 1 */
      bytes *= (size_t)dims[d];
    }
    /* Data at a multiple of 64 bytes is used in place, other data is copied;
     * aligned_alloc wants a multiple of the alignment. */
    inputs[i] = aligned_alloc(64, (bytes + 63) / 64 * 64 + 64);
    if (!inputs[i])
      return MLC_RESOURCES;
    memset(inputs[i], 0, bytes);
    if (mlc_session_bind_input(session, i, port.type, port.rank, dims,
                               inputs[i], MLC_SPACE_HOST) != MLC_OK)
      return failed("bind");
  }

  if (mlc_session_run(session) != MLC_OK)
    return failed("run");

  for (i = 0; i < mlc_artifact_output_count(model); ++i) {
    mlc_port port;
    mlc_tensor tensor;
    if (mlc_artifact_output(model, i, &port) != MLC_OK ||
        mlc_session_output(session, i, &tensor) != MLC_OK)
      return failed("output");
    printf("%s: %s", port.name, mlc_dtype_name(tensor.type));
    for (d = 0; d < tensor.rank; ++d)
      printf("%s%lld", d ? "x" : " ", (long long)tensor.dims[d]);
    if (tensor.type == MLC_F32 && tensor.bytes)
      printf(", first value %g", ((const float *)tensor.data)[0]);
    printf("\n");
  }
  for (i = 0; i < mlc_artifact_input_count(model); ++i)
    free(inputs[i]);
  free(inputs);
  mlc_session_destroy(session);
  mlc_artifact_close(model);
  return 0;
}
