//===- Mpi.cpp - The engine MPI, a plugin ---------------------------------===//
//
// Built where an MPI is installed, against that one. Ranks publish in a window
// of memory that those of one machine share.
//
//===----------------------------------------------------------------------===//

#include "runtime/transport/Board.h"

#include <mpi.h>

#include <chrono>
#include <climits>
#include <cstdio>
#include <new>
#include <sched.h>
#include <string>
#include <vector>

using mlc::runtime::transport::BoardCell;

struct mlc_request {
  MPI_Request handle = MPI_REQUEST_NULL;
};

struct mlc_comm {
  int rank = 0, size = 0;
  mlc_counters counts{};
  std::string text;
  MPI_Comm machine = MPI_COMM_NULL;
  MPI_Win window = MPI_WIN_NULL;
  /// By rank; nullptr for those of other machines.
  std::vector<BoardCell *> board;
};

namespace {

mlc_status failed(mlc_comm *comm, int code, const char *what) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  comm->text = std::string(what) + ": " + text;
  return MLC_DEVICE;
}

/// The board of this machine; collective.
void openBoard(mlc_comm *comm) {
  comm->board.assign(comm->size, nullptr);
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, comm->rank,
                      MPI_INFO_NULL, &comm->machine);
  void *own = nullptr;
  MPI_Win_allocate_shared(sizeof(BoardCell), 1, MPI_INFO_NULL, comm->machine,
                          &own, &comm->window);
  new (own) BoardCell();
  MPI_Barrier(comm->machine);
  int local = 0;
  MPI_Comm_size(comm->machine, &local);
  std::vector<int> here(local), ranks(local);
  for (int i = 0; i < local; ++i)
    here[i] = i;
  MPI_Group machine, world;
  MPI_Comm_group(comm->machine, &machine);
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_translate_ranks(machine, local, here.data(), world, ranks.data());
  MPI_Group_free(&machine);
  MPI_Group_free(&world);
  for (int i = 0; i < local; ++i) {
    MPI_Aint bytes = 0;
    int unit = 0;
    void *cell = nullptr;
    MPI_Win_shared_query(comm->window, i, &bytes, &unit, &cell);
    comm->board[ranks[i]] = static_cast<BoardCell *>(cell);
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
  if (int code = MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &level);
      code != MPI_SUCCESS) {
    snprintf(text, size, "MPI_Init fails with code %d", code);
    return MLC_DEVICE;
  }
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  auto *result = new mlc_comm;
  MPI_Comm_rank(MPI_COMM_WORLD, &result->rank);
  MPI_Comm_size(MPI_COMM_WORLD, &result->size);
  // With too few the caller says so; all that follows is for all.
  if (world->size < 0 || world->size == result->size)
    openBoard(result);
  *comm = result;
  return MLC_OK;
}

void close(mlc_comm *comm) {
  if (comm->window != MPI_WIN_NULL)
    MPI_Win_free(&comm->window);
  if (comm->machine != MPI_COMM_NULL)
    MPI_Comm_free(&comm->machine);
  MPI_Finalize();
  delete comm;
}

void abort(mlc_comm *, int code) { MPI_Abort(MPI_COMM_WORLD, code); }

int rank(mlc_comm *comm) { return comm->rank; }
int size(mlc_comm *comm) { return comm->size; }
const char *error(mlc_comm *comm) { return comm->text.c_str(); }

bool tooLarge(mlc_comm *comm, size_t count) {
  if (count <= INT_MAX)
    return false;
  comm->text = "more than 2147483647 elements of one message; use shorter ones";
  return true;
}

mlc_status send(mlc_comm *comm, int peer, const void *data, size_t bytes,
                mlc_request **request) {
  if (tooLarge(comm, bytes))
    return MLC_UNSUPPORTED;
  auto *result = new mlc_request;
  int code = MPI_Isend(data, static_cast<int>(bytes), MPI_BYTE, peer, 0,
                       MPI_COMM_WORLD, &result->handle);
  if (code != MPI_SUCCESS) {
    delete result;
    return failed(comm, code, "MPI_Isend");
  }
  comm->counts.sent_bytes += bytes;
  ++comm->counts.sent_messages;
  *request = result;
  return MLC_OK;
}

mlc_status receive(mlc_comm *comm, int peer, void *data, size_t bytes,
                   mlc_request **request) {
  if (tooLarge(comm, bytes))
    return MLC_UNSUPPORTED;
  auto *result = new mlc_request;
  int code = MPI_Irecv(data, static_cast<int>(bytes), MPI_BYTE, peer, 0,
                       MPI_COMM_WORLD, &result->handle);
  if (code != MPI_SUCCESS) {
    delete result;
    return failed(comm, code, "MPI_Irecv");
  }
  comm->counts.received_bytes += bytes;
  ++comm->counts.received_messages;
  *request = result;
  return MLC_OK;
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

mlc_status allReduce(mlc_comm *comm, void *data, size_t elements,
                     mlc_dtype type, mlc_request **request) {
  if (tooLarge(comm, elements))
    return MLC_UNSUPPORTED;
  MPI_Datatype datatype = typeOf(type);
  if (datatype == MPI_DATATYPE_NULL) {
    comm->text = "MPI has no sum of this type; take another algorithm than own";
    return MLC_UNSUPPORTED;
  }
  auto *result = new mlc_request;
  int code = MPI_Iallreduce(MPI_IN_PLACE, data, static_cast<int>(elements),
                            datatype, MPI_SUM, MPI_COMM_WORLD, &result->handle);
  if (code != MPI_SUCCESS) {
    delete result;
    return failed(comm, code, "MPI_Iallreduce");
  }
  *request = result;
  return MLC_OK;
}

/// MPI waits spinning; ranks may be more than cores.
mlc_status test(mlc_comm *comm, mlc_request *request, int64_t nanoseconds,
                int *done) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point end =
      nanoseconds > 0 ? Clock::now() + std::chrono::nanoseconds(nanoseconds)
                      : Clock::time_point::min();
  for (;;) {
    int code = MPI_Test(&request->handle, done, MPI_STATUS_IGNORE);
    if (code != MPI_SUCCESS || *done) {
      delete request;
      return code == MPI_SUCCESS ? MLC_OK : failed(comm, code, "MPI_Test");
    }
    if (nanoseconds <= 0 || Clock::now() >= end)
      return MLC_OK;
    sched_yield();
  }
}

void publish(mlc_comm *comm, const mlc_notice *notice) {
  if (!comm->board.empty())
    comm->board[comm->rank]->write(*notice);
}

int look(mlc_comm *comm, int rank, mlc_notice *notice) {
  return !comm->board.empty() && comm->board[rank] &&
         comm->board[rank]->read(*notice);
}

void counters(mlc_comm *comm, mlc_counters *counters) {
  *counters = comm->counts;
}

} // namespace

extern "C" __attribute__((visibility("default"))) const mlc_engine *
mlc_engine_v1(void) {
  static const mlc_engine engine = {MLC_ENGINE_VERSION,
                                    "mpi",
                                    open,
                                    close,
                                    abort,
                                    rank,
                                    size,
                                    error,
                                    send,
                                    receive,
                                    allReduce,
                                    test,
                                    publish,
                                    look,
                                    counters};
  return &engine;
}
