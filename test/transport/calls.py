"""What ranks called of MPI and of NCCL, in one form, so that the two can be compared.

The records are those of MpiCounter.c ($MPI_CALLS_FOLDER) and of nccl/Nccl.cpp ($MLC_NCCL_RECORD): a file C.R of the
process of rank R for its communicator C, which begins with that one's size and the rank in it. As a program: calls.py MPI_FOLDER NCCL_FOLDER tells where they differ."""

import pathlib
import sys


def files(folder):
    """Of each communicator and rank: size, the rank in it, and the lines, split into words."""
    found = {}
    for path in pathlib.Path(folder).iterdir():
        communicator, rank = map(int, path.name.split("."))
        first, *lines = [[word for word in line.split() if "=" not in word] for line in path.read_text().splitlines()]
        assert first[0] == "communicator"
        found[communicator, rank] = (int(first[1]), int(first[2]), lines)
    return found


def of_mpi(words, size):
    name, *rest = words
    whole = {"MPI_Iallreduce": "all_reduce", "MPI_Ibcast": "broadcast", "MPI_Isend": "send", "MPI_Irecv": "receive"}
    if name in whole:
        return (whole[name], rest[1], (int(rest[0]),), rest[2])
    if name == "MPI_Ireduce_scatter_block":
        return ("reduce_scatter", rest[1], (int(rest[0]),) * size, rest[2])
    if name == "MPI_Iallgather":
        return ("all_gather", rest[1], (int(rest[0]),) * size, "-")
    if name == "MPI_Ialltoall":
        return ("all_to_all", rest[1], (int(rest[0]),) * (2 * size), "-")
    counted = {"MPI_Ireduce_scatter": "reduce_scatter", "MPI_Iallgatherv": "all_gather", "MPI_Ialltoallv": "all_to_all"}
    return (counted[name], rest[0], tuple(map(int, rest[2:])), rest[1])


def by_rank(calls, size, at):
    """The number of elements for each rank, of calls whose word `at` is the rank."""
    counts = [0] * size
    for words in calls:
        counts[int(words[at])] = int(words[1])
    return tuple(counts)


def of_group(calls, size, rank):
    """What NCCL carries out together: unequal parts, an all-to-all, or the transfers of a step."""
    names = {words[0] for words in calls}
    kind = calls[0][2]
    if names == {"ncclReduce"}:
        return [("reduce_scatter", kind, by_rank(calls, size, 4), calls[0][3])]
    if names == {"ncclBroadcast"}:
        return [("all_gather", kind, by_rank(calls, size, 3), "-")]
    assert names <= {"ncclSend", "ncclRecv"}, names
    if any(int(words[3]) == rank for words in calls):
        sent, received = ([c for c in calls if c[0] == name] for name in ("ncclSend", "ncclRecv"))
        return [("all_to_all", kind, by_rank(sent, size, 3) + by_rank(received, size, 3), "-")]
    return [("send" if words[0] == "ncclSend" else "receive", words[2], (int(words[1]),), words[3]) for words in calls]


def of_nccl(lines, size, rank):
    calls, group = [], []
    for words in lines:
        name = words[0]
        if words[-1] == "grouped":
            group.append(words[:-1])
        elif name == "ncclGroupEnd":
            calls += of_group(group, size, rank)
            group = []
        elif name == "ncclAllReduce":
            calls.append(("all_reduce", words[2], (int(words[1]),), words[3]))
        elif name == "ncclReduceScatter":
            calls.append(("reduce_scatter", words[2], (int(words[1]),) * size, words[3]))
        elif name == "ncclAllGather":
            calls.append(("all_gather", words[2], (int(words[1]),) * size, "-"))
        elif name == "ncclBroadcast":
            calls.append(("broadcast", words[2], (int(words[1]),), words[3]))
        else:
            raise ValueError(f"{name} outside of a group")
    assert not group
    return calls


def read_mpi(folder):
    return {key: [of_mpi(words, size) for words in lines] for key, (size, _, lines) in files(folder).items()}


def read_nccl(folder):
    return {key: of_nccl(lines, size, rank) for key, (size, rank, lines) in files(folder).items()}


def differences(mpi, nccl):
    """A line for each rank whose calls differ, with the first that does."""
    told = []
    for key in sorted(mpi.keys() | nccl.keys()):
        a, b = mpi.get(key, []), nccl.get(key, [])
        where = f"communicator {key[0]}, rank {key[1]}"
        for i, (one, other) in enumerate(zip(a, b)):
            if one != other:
                told.append(f"{where}, call {i}: {one} of MPI, {other} of NCCL")
                break
        else:
            if len(a) != len(b):
                told.append(f"{where}: {len(a)} calls of MPI, {len(b)} of NCCL")
    return told


if __name__ == "__main__":
    found = differences(read_mpi(sys.argv[1]), read_nccl(sys.argv[2]))
    print("\n".join(found) or "the calls are the same")
    sys.exit(bool(found))
