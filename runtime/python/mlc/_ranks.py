"""Ranks: processes, or threads, that run one model on parts of its tensors."""

import ctypes
from typing import Any

import numpy as np

from . import _check as check
from ._errors import UsageError
from ._library import CAxis, CRanksOptions, CSplit, call, library

_INPUT, _OUTPUT, _STATE = range(3)


class Ranks:
    """This process among the ranks that mpirun, `mlc launch`, torchrun or Slurm has
    started, joined when it is made. For `Session(model, ranks=...)`.

    engine: an engine's name ("mpi"; `mlc run --help` lists them) or path; as the
        launcher says unless given
    device: the sessions' device; of "cuda" and "cuda:N" an engine that can (nccl)
        works in the memory of that GPU, of "cuda" the one of LOCAL_RANK
    timeout: seconds of waiting for a rank without progress, after which a run
        fails, naming who is missing
    groups: of each axis, 1 to 64, alike on all ranks: collectives are given to them
        in turn, so that several are under way at once

    After a run that has failed because of the ranks the last of the objects that
    hold them ends all ranks, and may end the process.
    """

    def __init__(self, engine: str | None = None, *, device: str | None = None, timeout: float = 300.0, groups: int = 1):
        self._handle = ctypes.c_void_p()
        if engine is not None and (not isinstance(engine, str) or "\0" in engine):
            raise UsageError(f"engine: expected an engine's name or path, not {engine!r}")
        options = self._options(timeout, groups)
        self._groups = groups
        options.device = check.device(device)
        call("mlc_ranks_open", engine.encode() if engine is not None else None, ctypes.byref(options),
             ctypes.byref(self._handle))

    @staticmethod
    def _options(timeout: float, groups: int) -> CRanksOptions:
        timeout = check.number("timeout", timeout)
        if not isinstance(groups, int) or not 1 <= groups <= 64:
            raise UsageError(f"groups: expected 1 to 64, not {groups!r}")
        return CRanksOptions(ctypes.sizeof(CRanksOptions), timeout, None, None, groups)

    @classmethod
    def threads(cls, count: int, *, timeout: float = 300.0, groups: int = 1) -> "list[Ranks]":
        """So many ranks of this process, each for a thread of its own, to try a model
        out."""
        if not isinstance(count, int) or not 1 <= count <= 256:
            raise UsageError(f"ranks: expected 1 to 256, not {count!r}")
        handles = (ctypes.c_void_p * count)()
        options = cls._options(timeout, groups)
        call("mlc_ranks_open_threads", count, ctypes.byref(options), handles)
        ranks = []
        for handle in handles:
            ranks.append(cls.__new__(cls))
            ranks[-1]._handle = ctypes.c_void_p(handle)
            ranks[-1]._groups = groups
        return ranks

    def __del__(self):
        if getattr(self, "_handle", None):
            library().mlc_ranks_close(self._handle)

    def __reduce__(self):
        raise TypeError("an mlc.Ranks cannot be copied or pickled; open them in each process")

    @property
    def rank(self) -> int:
        """Which of them this is, from 0."""
        return library().mlc_ranks_rank(self._handle)

    @property
    def groups(self) -> int:
        """How many communicators take collectives in turn."""
        return self._groups

    @property
    def count(self) -> int:
        """How many there are."""
        return library().mlc_ranks_count(self._handle)

    def finish(self) -> None:
        """Waits for all ranks to have come here. Before a process ends, so that it is
        not taken for missing."""
        call("mlc_ranks_finish", self._handle)

    def abort(self, code: int = 1) -> None:
        """Ends all ranks, those that hang too, after an error of this one's own."""
        library().mlc_ranks_abort(self._handle, code)


def handle_of(ranks: Any) -> ctypes.c_void_p | None:
    """The C ABI's, for a session."""
    if ranks is None:
        return None
    if not isinstance(ranks, Ranks):
        raise UsageError(f"ranks: expected mlc.Ranks, not {type(ranks).__name__}")
    return ranks._handle


class Meshes:
    """What `mlc.Model` has of ranks."""

    @property
    def mesh(self) -> dict[str, int]:
        """The axes of the model's ranks and how many each has; empty: it runs on one.
        The last one's coordinate changes fastest with the rank."""
        axes = {}
        for index in range(library().mlc_artifact_axis_count(self._handle)):
            axis = CAxis()
            call("mlc_artifact_axis", self._handle, index, ctypes.byref(axis))
            axes[axis.name.decode()] = axis.ranks
        return axes

    def _splits(self, kind: int, index: int) -> list[tuple[int, int, int]]:
        splits, count = ctypes.POINTER(CSplit)(), ctypes.c_size_t()
        call("mlc_artifact_splits", self._handle, kind, index, ctypes.byref(splits), ctypes.byref(count))
        return [(splits[i].dim, splits[i].axis, splits[i].unit) for i in range(count.value)]

    def part(self, name: str, whole: Any, rank: int) -> np.ndarray:
        """What `rank` has of an input or a state, of which `whole` is all: a view."""
        check.text("name", name), check.whole("rank", rank)
        for kind, ports in ((_INPUT, self.inputs), (_STATE, self.states)):
            for index, port in enumerate(ports):
                if port.name == name:
                    return self._part(np.asarray(whole), self._splits(kind, index), rank)
        raise UsageError(f"there is no input or state '{name}'; the model has "
                         f"{', '.join(port.name for port in [*self.inputs, *self.states]) or 'none'}")

    def _part(self, whole: np.ndarray, splits: list[tuple[int, int, int]], rank: int) -> np.ndarray:
        sizes = list(self.mesh.values())
        if not 0 <= rank < np.prod(sizes, dtype=int):
            raise UsageError(f"there is no rank {rank}; the model has {np.prod(sizes, dtype=int)}")
        at = np.unravel_index(rank, sizes) if sizes else ()
        box = [slice(None)] * whole.ndim
        for dim, axis, unit in splits:
            if dim >= whole.ndim or whole.shape[dim] % unit:
                raise UsageError(f"an array of shape {whole.shape} is not split along dim {dim} in units of {unit}")
            first, last, _ = box[dim].indices(whole.shape[dim])  # what earlier axes leave
            each, more = divmod((last - first) // unit, sizes[axis])
            begin = first + (int(at[axis]) * each + min(int(at[axis]), more)) * unit
            box[dim] = slice(begin, begin + (each + int(at[axis] < more)) * unit)
        return whole[tuple(box)]
