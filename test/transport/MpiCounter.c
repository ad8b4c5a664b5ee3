/*===- MpiCounter.c - Counts what a rank sends, from outside of it --------===*
 *
 * MPI's profiling interface: a program's calls of MPI_Isend and MPI_Send come
 * here first when this library is preloaded. At the end each rank writes the
 * bytes and messages that it sent to $MPI_COUNTER_FOLDER/RANK.
 *
 *===----------------------------------------------------------------------===*/

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static long long bytes, messages;

static void count(int elements, MPI_Datatype type) {
  int size = 0;
  PMPI_Type_size(type, &size);
  bytes += (long long)elements * size;
  ++messages;
}

int MPI_Isend(const void *data, int elements, MPI_Datatype type, int to,
              int tag, MPI_Comm comm, MPI_Request *request) {
  count(elements, type);
  return PMPI_Isend(data, elements, type, to, tag, comm, request);
}

int MPI_Send(const void *data, int elements, MPI_Datatype type, int to, int tag,
             MPI_Comm comm) {
  count(elements, type);
  return PMPI_Send(data, elements, type, to, tag, comm);
}

int MPI_Finalize(void) {
  const char *folder = getenv("MPI_COUNTER_FOLDER");
  char path[4096];
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  snprintf(path, sizeof(path), "%s/%d", folder ? folder : ".", rank);
  FILE *file = fopen(path, "w");
  if (file) {
    fprintf(file, "%lld %lld\n", bytes, messages);
    fclose(file);
  }
  return PMPI_Finalize();
}
