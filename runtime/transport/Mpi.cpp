//===- Mpi.cpp - The engine MPI, a plugin ---------------------------------===//
//
// Built against the installed MPI, if any. Ranks publish in a window of memory
// that those of one machine share.
//
//===----------------------------------------------------------------------===//

#include "runtime/transport/EngineTable.h"
#include "runtime/transport/Heartbeat.h"

#include <mpi.h>

#include <chrono>
#include <climits>
#include <cstdio>
#include <cstring>
#include <memory>
#include <new>
#include <sched.h>
#include <string>
#include <thread>
#include <vector>

using namespace mlc::runtime::transport;

struct mlc_request {
  MPI_Request handle = MPI_REQUEST_NULL;
  /// Temporary memory that MPI uses instead of the caller's, and the place to
  /// copy it to at the end.
  std::vector<char> aside;
  char *to = nullptr;
  /// Arguments of the collective, which MPI reads until it is done.
  std::vector<int> counts, places, receiveCounts, receivePlaces;
};

struct mlc_comm : EngineEnd {
  MPI_Comm all = MPI_COMM_WORLD;
  MPI_Comm machine = MPI_COMM_NULL;
  MPI_Win window = MPI_WIN_NULL;
  /// Indexed by rank; nullptr for ranks of other machines.
  std::vector<HeartbeatCell *> heartbeats;
};

namespace {

mlc_status failed(mlc_comm *comm, int code, const char *what) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  return comm->failed(MLC_DEVICE, std::string(what) + ": " + text);
}

/// Opens the heartbeats of this machine; all ranks call it.
void openBoard(mlc_comm *comm) {
  comm->heartbeats.assign(comm->size, nullptr);
  MPI_Comm_split_type(comm->all, MPI_COMM_TYPE_SHARED, comm->rank,
                      MPI_INFO_NULL, &comm->machine);
  void *own = nullptr;
  MPI_Win_allocate_shared(sizeof(HeartbeatCell), 1, MPI_INFO_NULL,
                          comm->machine, &own, &comm->window);
  new (own) HeartbeatCell();
  MPI_Barrier(comm->machine);
  int local = 0;
  MPI_Comm_size(comm->machine, &local);
  std::vector<int> here(local), ranks(local);
  for (int i = 0; i < local; ++i)
    here[i] = i;
  MPI_Group machine, world;
  MPI_Comm_group(comm->machine, &machine);
  MPI_Comm_group(comm->all, &world);
  MPI_Group_translate_ranks(machine, local, here.data(), world, ranks.data());
  MPI_Group_free(&machine);
  MPI_Group_free(&world);
  for (int i = 0; i < local; ++i) {
    MPI_Aint bytes = 0;
    int unit = 0;
    void *cell = nullptr;
    MPI_Win_shared_query(comm->window, i, &bytes, &unit, &cell);
    comm->heartbeats[ranks[i]] = static_cast<HeartbeatCell *>(cell);
  }
}

mlc_status open(const mlc_world *world, mlc_comm **comm, char *text,
                size_t size) {
  int begun = 0;
  MPI_Initialized(&begun);
  if (begun) {
    snprintf(text, size, "MPI is in use in this process already; open it once");
    return MLC_USAGE;
  }
  int level = 0;
  if (int code =
          MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &level);
      code != MPI_SUCCESS) {
    snprintf(text, size, "MPI_Init fails with code %d", code);
    return MLC_DEVICE;
  }
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  auto *result = new mlc_comm;
  MPI_Comm_rank(MPI_COMM_WORLD, &result->rank);
  MPI_Comm_size(MPI_COMM_WORLD, &result->size);
  // If the size is wrong the caller fails; opening the heartbeats needs all
  // ranks.
  if (world->size < 0 || world->size == result->size)
    openBoard(result);
  *comm = result;
  return MLC_OK;
}

mlc_status split(mlc_comm *comm, int color, int64_t, int *members,
                 mlc_comm **group) {
  std::vector<int> colors(comm->size);
  MPI_Allgather(&color, 1, MPI_INT, colors.data(), 1, MPI_INT, comm->all);
  for (int other = 0; other < comm->size; ++other)
    if (colors[other] == color)
      *members++ = other;
  auto result = std::make_unique<mlc_comm>();
  int code = MPI_Comm_split(comm->all, color < 0 ? MPI_UNDEFINED : color,
                            comm->rank, &result->all);
  if (code != MPI_SUCCESS)
    return failed(comm, code, "MPI_Comm_split");
  *group = nullptr;
  if (color < 0)
    return MLC_OK;
  MPI_Comm_set_errhandler(result->all, MPI_ERRORS_RETURN);
  MPI_Comm_rank(result->all, &result->rank);
  MPI_Comm_size(result->all, &result->size);
  openBoard(result.get());
  *group = result.release();
  return MLC_OK;
}

void close(mlc_comm *comm) {
  if (comm->window != MPI_WIN_NULL)
    MPI_Win_free(&comm->window);
  if (comm->machine != MPI_COMM_NULL)
    MPI_Comm_free(&comm->machine);
  if (comm->all == MPI_COMM_WORLD)
    MPI_Finalize();
  else
    MPI_Comm_free(&comm->all);
  delete comm;
}

void abort(mlc_comm *, int code) { MPI_Abort(MPI_COMM_WORLD, code); }

bool tooLarge(mlc_comm *comm, size_t count) {
  if (count <= INT_MAX)
    return false;
  comm->text = "more than 2147483647 elements of one message; use shorter ones";
  return true;
}

/// Runs `call`, which begins an operation with the given request.
template <typename Call>
mlc_status start(mlc_comm *comm, const char *what,
                 std::unique_ptr<mlc_request> own, mlc_request **request,
                 Call call) {
  if (int code = call(own.get()); code != MPI_SUCCESS)
    return failed(comm, code, what);
  *request = own.release();
  return MLC_OK;
}

mlc_status send(mlc_comm *comm, int peer, const void *data, size_t bytes,
                mlc_request **request) {
  if (tooLarge(comm, bytes))
    return MLC_UNSUPPORTED;
  comm->count(true, bytes);
  return start(comm, "MPI_Isend", std::make_unique<mlc_request>(), request,
               [&](mlc_request *own) {
                 return MPI_Isend(data, static_cast<int>(bytes), MPI_BYTE, peer,
                                  0, comm->all, &own->handle);
               });
}

mlc_status receive(mlc_comm *comm, int peer, void *data, size_t bytes,
                   mlc_request **request) {
  if (tooLarge(comm, bytes))
    return MLC_UNSUPPORTED;
  comm->count(false, bytes);
  return start(comm, "MPI_Irecv", std::make_unique<mlc_request>(), request,
               [&](mlc_request *own) {
                 return MPI_Irecv(data, static_cast<int>(bytes), MPI_BYTE, peer,
                                  0, comm->all, &own->handle);
               });
}

MPI_Datatype typeOf(mlc_dtype type) {
  switch (type) {
  case MLC_F32:
    return MPI_FLOAT;
  case MLC_F64:
    return MPI_DOUBLE;
  case MLC_I8:
    return MPI_INT8_T;
  case MLC_I16:
    return MPI_INT16_T;
  case MLC_I32:
    return MPI_INT32_T;
  case MLC_I64:
    return MPI_INT64_T;
  case MLC_U8:
    return MPI_UINT8_T;
  case MLC_U16:
    return MPI_UINT16_T;
  case MLC_U32:
    return MPI_UINT32_T;
  case MLC_U64:
    return MPI_UINT64_T;
  default:
    return MPI_DATATYPE_NULL;
  }
}

constexpr auto soon = std::chrono::microseconds(20);

MPI_Op operatorOf(mlc_reduction reduction) {
  switch (reduction) {
  case MLC_MAX:
    return MPI_MAX;
  case MLC_MIN:
    return MPI_MIN;
  case MLC_PROD:
    return MPI_PROD;
  default:
    return MPI_SUM;
  }
}

std::vector<int> countsOf(const size_t *parts, int size) {
  return {parts, parts + size};
}

std::vector<int> placesOf(const size_t *parts, int size) {
  const std::vector<size_t> begins = beginsOf(parts, size);
  return {begins.begin(), begins.begin() + size};
}

/// A rank's part of the reduction goes to temporary memory, since MPI writes it
/// to the begin of its buffer and not to the part's place.
int reduceScatter(mlc_comm *comm, const mlc_operation &operation, char *data,
                  MPI_Datatype type, mlc_request *own) {
  const size_t size = operation.element_size;
  const MPI_Op reduction = operatorOf(operation.reduction);
  own->counts = countsOf(operation.parts, comm->size);
  own->to = data + placesOf(operation.parts, comm->size)[comm->rank] * size;
  own->aside.resize(operation.parts[comm->rank] * size);
  return areEqual(operation.parts, comm->size)
             ? MPI_Ireduce_scatter_block(data, own->aside.data(),
                                         own->counts[0], type, reduction,
                                         comm->all, &own->handle)
             : MPI_Ireduce_scatter(data, own->aside.data(), own->counts.data(),
                                   type, reduction, comm->all, &own->handle);
}

int allGather(mlc_comm *comm, const mlc_operation &operation, char *data,
              MPI_Datatype type, mlc_request *own) {
  own->counts = countsOf(operation.parts, comm->size);
  own->places = placesOf(operation.parts, comm->size);
  return areEqual(operation.parts, comm->size)
             ? MPI_Iallgather(MPI_IN_PLACE, 0, type, data, own->counts[0], type,
                              comm->all, &own->handle)
             : MPI_Iallgatherv(MPI_IN_PLACE, 0, type, data, own->counts.data(),
                               own->places.data(), type, comm->all,
                               &own->handle);
}

/// Sends from temporary memory.
int allToAll(mlc_comm *comm, const mlc_operation &operation, char *data,
             MPI_Datatype type, mlc_request *own) {
  own->counts = countsOf(operation.parts, comm->size);
  own->places = placesOf(operation.parts, comm->size);
  own->receiveCounts = countsOf(operation.receives, comm->size);
  own->receivePlaces = placesOf(operation.receives, comm->size);
  own->aside.assign(data, data + beginsOf(operation.parts, comm->size).back() *
                                     operation.element_size);
  return areEqual(operation.parts, comm->size) &&
                 own->counts == own->receiveCounts
             ? MPI_Ialltoall(own->aside.data(), own->counts[0], type, data,
                             own->counts[0], type, comm->all, &own->handle)
             : MPI_Ialltoallv(
                   own->aside.data(), own->counts.data(), own->places.data(),
                   type, data, own->receiveCounts.data(),
                   own->receivePlaces.data(), type, comm->all, &own->handle);
}

mlc_status collective(mlc_comm *comm, const mlc_operation *operation,
                      void *data, mlc_request **request) {
  if (tooLarge(comm, operation->elements))
    return MLC_UNSUPPORTED;
  MPI_Datatype type = typeOf(operation->type);
  if (type == MPI_DATATYPE_NULL && reduces(operation->kind))
    return comm->failed(
        MLC_UNSUPPORTED,
        "MPI has no sum of this type; take another algorithm than own");
  if (type == MPI_DATATYPE_NULL) // types of one or two bytes
    type = operation->element_size == 1 ? MPI_UINT8_T : MPI_UINT16_T;
  auto *at = static_cast<char *>(data);
  const int elements = static_cast<int>(operation->elements);
  static const char *const names[] = {"MPI_Iallreduce", "MPI_Ireduce_scatter",
                                      "MPI_Iallgather", "MPI_Ibcast",
                                      "MPI_Ialltoall"};
  return start(comm, names[operation->kind], std::make_unique<mlc_request>(),
               request, [&](mlc_request *own) {
                 switch (operation->kind) {
                 case MLC_ALL_REDUCE:
                   return MPI_Iallreduce(MPI_IN_PLACE, data, elements, type,
                                         operatorOf(operation->reduction),
                                         comm->all, &own->handle);
                 case MLC_REDUCE_SCATTER:
                   return reduceScatter(comm, *operation, at, type, own);
                 case MLC_ALL_GATHER:
                   return allGather(comm, *operation, at, type, own);
                 case MLC_BROADCAST:
                   return MPI_Ibcast(data, elements, type, operation->root,
                                     comm->all, &own->handle);
                 case MLC_ALL_TO_ALL:
                   return allToAll(comm, *operation, at, type, own);
                 }
                 return MPI_ERR_ARG;
               });
}

/// MPI spins while it waits, but there may be more ranks than cores, and ranks
/// compute meanwhile. So poll with pauses after a short spin.
mlc_status test(mlc_comm *comm, mlc_request *request, int64_t nanoseconds,
                int *done) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point begin =
      nanoseconds > 0 ? Clock::now() : Clock::time_point();
  const Clock::time_point end = begin + std::chrono::nanoseconds(nanoseconds);
  for (;;) {
    int code = MPI_Test(&request->handle, done, MPI_STATUS_IGNORE);
    if (code != MPI_SUCCESS || *done) {
      if (code == MPI_SUCCESS && request->to && !request->aside.empty())
        std::memcpy(request->to, request->aside.data(), request->aside.size());
      delete request;
      return code == MPI_SUCCESS ? MLC_OK : failed(comm, code, "MPI_Test");
    }
    if (nanoseconds <= 0)
      return MLC_OK;
    const Clock::time_point now = Clock::now();
    if (now >= end)
      return MLC_OK;
    if (now - begin < soon)
      sched_yield();
    else
      std::this_thread::sleep_for(soon);
  }
}

void publish(mlc_comm *comm, const mlc_notice *notice) {
  if (!comm->heartbeats.empty())
    comm->heartbeats[comm->rank]->write(*notice);
}

int look(mlc_comm *comm, int rank, mlc_notice *notice) {
  return !comm->heartbeats.empty() && comm->heartbeats[rank] &&
         comm->heartbeats[rank]->read(*notice);
}

} // namespace

extern "C" __attribute__((visibility("default"))) const mlc_engine *
mlc_engine_v4(void) {
  static const mlc_engine engine = [] {
    mlc_engine table{};
    table.name = "mpi";
    table.open = open;
    table.close = close;
    table.abort = abort;
    table.split = split;
    table.send = send;
    table.receive = receive;
    table.collective = collective;
    table.test = test;
    table.publish = publish;
    table.look = look;
    return makeTable<mlc_comm>(table);
  }();
  return &engine;
}
