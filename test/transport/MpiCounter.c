/*===- MpiCounter.c - What a rank calls of MPI, from outside of it --------===*
 *
 * MPI's profiling interface: a program's calls come here first when this
 * library is preloaded. At the end each rank writes the bytes and messages that
 * it sent to $MPI_COUNTER_FOLDER/RANK. With $MPI_CALLS_FOLDER each call is a
 * line of the file C.R there, C the number of the communicator in its process,
 * MPI_COMM_WORLD being 0, R the process's rank; the first line has the
 * communicator's size and the rank in it (calls.py reads them).
 *
 *===----------------------------------------------------------------------===*/

#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static long long bytes, messages;
static MPI_Comm groups[256];
static int group_count;

static const char *type_name(MPI_Datatype type) {
  static const struct {
    MPI_Datatype type;
    const char *name;
  } names[] = {
      {MPI_FLOAT, "f32"},    {MPI_DOUBLE, "f64"},   {MPI_INT8_T, "i8"},
      {MPI_INT16_T, "i16"},  {MPI_INT32_T, "i32"},  {MPI_INT64_T, "i64"},
      {MPI_UINT8_T, "u8"},   {MPI_UINT16_T, "u16"}, {MPI_UINT32_T, "u32"},
      {MPI_UINT64_T, "u64"}, {MPI_BYTE, "u8"}};
  for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); ++i)
    if (names[i].type == type)
      return names[i].name;
  return "?";
}

static const char *op_name(MPI_Op op) {
  return op == MPI_SUM    ? "sum"
         : op == MPI_MAX  ? "max"
         : op == MPI_MIN  ? "min"
         : op == MPI_PROD ? "prod"
                          : "?";
}

/* The file for a communicator's next line; NULL without a folder. */
static FILE *record(MPI_Comm comm) {
  const char *folder = getenv("MPI_CALLS_FOLDER");
  char path[4096];
  int world = 0, rank = 0, size = 0, number = 0;
  if (!folder)
    return NULL;
  for (int i = 0; i < group_count; ++i)
    if (groups[i] == comm)
      number = i + 1;
  PMPI_Comm_rank(MPI_COMM_WORLD, &world);
  snprintf(path, sizeof(path), "%s/%d.%d", folder, number, world);
  FILE *file = fopen(path, "a");
  if (file && ftell(file) == 0) {
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &size);
    fprintf(file, "communicator %d %d\n", size, rank);
  }
  return file;
}

static void line(MPI_Comm comm, const char *format, ...) {
  FILE *file = record(comm);
  va_list values;
  if (!file)
    return;
  va_start(values, format);
  vfprintf(file, format, values);
  va_end(values);
  fputc('\n', file);
  fclose(file);
}

/* A call with a number for each rank, of one or two kinds. */
static void counts_line(MPI_Comm comm, const char *name, MPI_Datatype type,
                        const char *op, const int *first, const int *second) {
  FILE *file = record(comm);
  int size = 0;
  if (!file)
    return;
  PMPI_Comm_size(comm, &size);
  fprintf(file, "%s %s %s", name, type_name(type), op);
  for (int i = 0; i < size; ++i)
    fprintf(file, " %d", first[i]);
  for (int i = 0; second && i < size; ++i)
    fprintf(file, " %d", second[i]);
  fputc('\n', file);
  fclose(file);
}

static void count(int elements, MPI_Datatype type) {
  int size = 0;
  PMPI_Type_size(type, &size);
  bytes += (long long)elements * size;
  ++messages;
}

int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm *group) {
  int code = PMPI_Comm_split(comm, color, key, group);
  if (code == MPI_SUCCESS && *group != MPI_COMM_NULL && group_count < 256)
    groups[group_count++] = *group;
  return code;
}

int MPI_Isend(const void *data, int elements, MPI_Datatype type, int to,
              int tag, MPI_Comm comm, MPI_Request *request) {
  count(elements, type);
  line(comm, "MPI_Isend %d %s %d", elements, type_name(type), to);
  return PMPI_Isend(data, elements, type, to, tag, comm, request);
}

int MPI_Irecv(void *data, int elements, MPI_Datatype type, int from, int tag,
              MPI_Comm comm, MPI_Request *request) {
  line(comm, "MPI_Irecv %d %s %d", elements, type_name(type), from);
  return PMPI_Irecv(data, elements, type, from, tag, comm, request);
}

int MPI_Send(const void *data, int elements, MPI_Datatype type, int to, int tag,
             MPI_Comm comm) {
  count(elements, type);
  line(comm, "MPI_Send %d %s %d", elements, type_name(type), to);
  return PMPI_Send(data, elements, type, to, tag, comm);
}

int MPI_Iallreduce(const void *from, void *to, int elements, MPI_Datatype type,
                   MPI_Op op, MPI_Comm comm, MPI_Request *request) {
  line(comm, "MPI_Iallreduce %d %s %s", elements, type_name(type), op_name(op));
  return PMPI_Iallreduce(from, to, elements, type, op, comm, request);
}

int MPI_Ireduce_scatter_block(const void *from, void *to, int elements,
                              MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                              MPI_Request *request) {
  line(comm, "MPI_Ireduce_scatter_block %d %s %s", elements, type_name(type),
       op_name(op));
  return PMPI_Ireduce_scatter_block(from, to, elements, type, op, comm,
                                    request);
}

int MPI_Ireduce_scatter(const void *from, void *to, const int counts[],
                        MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                        MPI_Request *request) {
  counts_line(comm, "MPI_Ireduce_scatter", type, op_name(op), counts, NULL);
  return PMPI_Ireduce_scatter(from, to, counts, type, op, comm, request);
}

int MPI_Iallgather(const void *from, int sent, MPI_Datatype sent_type, void *to,
                   int elements, MPI_Datatype type, MPI_Comm comm,
                   MPI_Request *request) {
  line(comm, "MPI_Iallgather %d %s", elements, type_name(type));
  return PMPI_Iallgather(from, sent, sent_type, to, elements, type, comm,
                         request);
}

int MPI_Iallgatherv(const void *from, int sent, MPI_Datatype sent_type,
                    void *to, const int counts[], const int places[],
                    MPI_Datatype type, MPI_Comm comm, MPI_Request *request) {
  counts_line(comm, "MPI_Iallgatherv", type, "-", counts, NULL);
  return PMPI_Iallgatherv(from, sent, sent_type, to, counts, places, type, comm,
                          request);
}

int MPI_Ibcast(void *data, int elements, MPI_Datatype type, int root,
               MPI_Comm comm, MPI_Request *request) {
  line(comm, "MPI_Ibcast %d %s %d", elements, type_name(type), root);
  return PMPI_Ibcast(data, elements, type, root, comm, request);
}

int MPI_Ialltoall(const void *from, int sent, MPI_Datatype sent_type, void *to,
                  int elements, MPI_Datatype type, MPI_Comm comm,
                  MPI_Request *request) {
  line(comm, "MPI_Ialltoall %d %s", elements, type_name(type));
  return PMPI_Ialltoall(from, sent, sent_type, to, elements, type, comm,
                        request);
}

int MPI_Ialltoallv(const void *from, const int sent[], const int sent_places[],
                   MPI_Datatype sent_type, void *to, const int counts[],
                   const int places[], MPI_Datatype type, MPI_Comm comm,
                   MPI_Request *request) {
  counts_line(comm, "MPI_Ialltoallv", type, "-", sent, counts);
  return PMPI_Ialltoallv(from, sent, sent_places, sent_type, to, counts, places,
                         type, comm, request);
}

int MPI_Finalize(void) {
  const char *folder = getenv("MPI_COUNTER_FOLDER");
  char path[4096];
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  snprintf(path, sizeof(path), "%s/%d", folder ? folder : ".", rank);
  FILE *file = folder ? fopen(path, "w") : NULL;
  if (file) {
    fprintf(file, "%lld %lld\n", bytes, messages);
    fclose(file);
  }
  return PMPI_Finalize();
}
