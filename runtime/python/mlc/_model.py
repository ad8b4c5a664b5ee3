"""Artifacts and the sessions that run them."""

import contextlib
import ctypes
import dataclasses
import io
import json
import os
import pathlib
import threading
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from . import _arrays, _check as check, _device, _pipeline, _ranks, _states
from ._errors import ResourceError, UnsupportedError, UsageError
from ._library import DEVICE, HOST, CCost, CMemory, COptions, CPort, CStep, CTensor, DTYPES, call, library, path_of
from ._run import Owner, Run
from ._turn import Turn, taking_turns

_FLUSH_DENORMALS, _PROFILE = 1, 4


@dataclasses.dataclass(frozen=True)
class Port:
    """An input, output, parameter or state. `dims` has an int for a fixed dim and its
    expression ("N", "2*W + 1") for an open one."""

    name: str
    dtype: str
    dims: tuple[int | str, ...]


@dataclasses.dataclass(frozen=True)
class Memory:
    """Bytes of a session for the dims of the last run."""

    arena_bytes: int
    lower_bound_bytes: int
    scratch_bytes: int
    allocated_bytes: int


@dataclasses.dataclass(frozen=True)
class StepCost:
    """What a step does at the least: bytes of its tensors, and operations (0 where
    nobody has counted them), those of contractions among them."""

    bytes_read: int
    bytes_written: int
    operations: int
    contraction_operations: int


class Model(Owner, _states.Entries, _ranks.Meshes):
    """A compiled model, as `mlc.compile` and `mlc.load` make it.

    May be shared by threads; `run` and calls take turns on one session, and
    `session()` makes others.
    """

    def __init__(self, source: str | os.PathLike | bytes):
        self._handle = ctypes.c_void_p()
        self._bytes: bytes | None = None
        self._file: io.BufferedReader | None = None
        self._whole: Model | None = None  # of which this is an entry
        if isinstance(source, (bytes, bytearray, memoryview)):
            # Weights are read from there, at whatever address: copied if need be.
            self._bytes = bytes(source)
            call("mlc_artifact_open_memory", self._bytes, len(self._bytes), 0, ctypes.byref(self._handle))
        else:
            path = path_of("an artifact", source)
            call("mlc_artifact_open", path, 0, ctypes.byref(self._handle))
            with contextlib.suppress(OSError):
                self._file = open(path, "rb")  # for `save`, whatever becomes of the path
        self._describe()

    def _describe(self) -> None:
        self.inputs = self._ports("input")
        self.outputs = self._ports("output")
        self.parameters = self._ports("parameter")
        self.states = self._ports("state")
        self.stages = None if self._whole else _pipeline.stages_of(self._handle)
        self._session: Session | None = None
        self._lock = threading.Lock()

    @classmethod
    def _of(cls, handle: ctypes.c_void_p, model: "Model") -> "Model":
        """Of another handle of the artifact of `model`."""
        other = cls.__new__(cls)
        other._handle, other._bytes, other._file, other._whole = handle, model._bytes, None, model
        other._describe()
        return other

    def __del__(self):
        if getattr(self, "_handle", None):
            library().mlc_artifact_close(self._handle)
        if getattr(self, "_file", None):
            self._file.close()

    def __repr__(self) -> str:
        def text(ports):
            return ", ".join(f"{p.name}: {p.dtype}[{', '.join(map(str, p.dims))}]" for p in ports)
        return f"<mlc.Model ({text(self.inputs)}) -> ({text(self.outputs)})>"

    def _ports(self, kind: str) -> tuple[Port, ...]:
        ports = []
        for index in range(getattr(library(), f"mlc_artifact_{kind}_count")(self._handle)):
            port = CPort()
            call(f"mlc_artifact_{kind}", self._handle, index, ctypes.byref(port))
            dims = tuple(port.dims[i] if port.dims[i] >= 0 else port.dim_texts[i].decode() for i in range(port.rank))
            ports.append(Port(port.name.decode(), DTYPES[port.type], dims))
        return tuple(ports)

    @property
    def manifest(self) -> dict[str, Any]:
        """What the artifact was made of: version, flags, target, trail, ..."""
        size = ctypes.c_size_t()
        text = library().mlc_artifact_manifest(self._handle, ctypes.byref(size))
        return json.loads(ctypes.string_at(text, size.value) or b"{}")

    @property
    def metadata(self) -> dict[str, str]:
        """The model's own metadata; of equal keys the first."""
        entries: dict[str, str] = {}
        for index in range(library().mlc_artifact_metadata_count(self._handle)):
            key, value = ctypes.c_char_p(), ctypes.c_char_p()
            call("mlc_artifact_metadata_at", self._handle, index, ctypes.byref(key), ctypes.byref(value))
            entries.setdefault(key.value.decode(), value.value.decode())
        return entries

    @property
    def steps(self) -> list[tuple[str, str]]:
        """(name, kind) of each step of the program."""
        steps = []
        for index in range(library().mlc_artifact_step_count(self._handle)):
            step = CStep()
            call("mlc_artifact_step", self._handle, index, ctypes.byref(step))
            steps.append((step.name.decode(), step.kind.decode()))
        return steps

    def save(self, path: str | os.PathLike) -> None:
        """Writes the artifact, whole or not at all."""
        target = pathlib.Path(os.fsdecode(path_of("a file", path)))
        partial = target.with_name(target.name + ".part")
        try:
            if self._whole:
                return self._whole.save(path)
            data = self._bytes
            if data is None:
                if self._file is None:
                    raise UsageError("the artifact's file could not be kept open; copy the file instead")
                self._file.seek(0)
                data = self._file.read()
            partial.write_bytes(data)
            os.replace(partial, target)
        except OSError as failure:
            raise ResourceError(f"{target}: {failure.strerror or failure}; cannot be written") from None
        finally:
            with contextlib.suppress(OSError):
                partial.unlink(missing_ok=True)

    def session(self, **options: Any) -> "Session | _pipeline.Pipeline":
        """A session of its own; options as for `Session`, or, of a model in stages,
        `Pipeline`."""
        return _pipeline.Pipeline(self, **options) if self.stages else Session(self, **options)

    def run(self, inputs: Mapping[str, Any] | Sequence[Any]) -> dict[str, np.ndarray]:
        """Runs on {name: array} or arrays in the order of `inputs`.

        >>> model.run({"x": pixels})["scores"]
        """
        if self._session and not self._session._turn.is_here():
            raise UsageError("the model was run before this process was forked, and its threads are not here; run a session "
                             "of this process, model.session(), or start processes by multiprocessing's \"spawn\"")
        with self._lock:
            self._session = self._session or self.session()
            return self._session.run(inputs)

    def __call__(self, /, *arrays: Any, **named: Any) -> np.ndarray | tuple[np.ndarray, ...]:
        """The output, or a tuple of several. Inputs by position, name or both."""
        names = [port.name for port in self.inputs]
        if len(arrays) > len(names):
            raise UsageError(f"{len(arrays)} inputs are given, the model has {len(names)}: {', '.join(names)}")
        inputs = dict(zip(names, arrays))
        if twice := sorted(inputs.keys() & named.keys()):
            raise UsageError(f"input '{twice[0]}' is given twice")
        outputs = tuple(self.run({**inputs, **named}).values())
        return outputs[0] if len(outputs) == 1 else outputs


class Session(Owner, _states.States):
    """Memory and threads to run a model with; used by one thread at a time.

    threads: cores that work on a run (0: all that this process may use)
    device: one of `mlc.devices()`, "cuda", "cuda:N", "emulator" or "emulator:N"
    stream: the CUDA stream that all work is handed to, a handle or an object with
        `__cuda_stream__`; one of the session's own unless given
    flush_denormals: treat denormals as zero
    profile: measure each step (`step_times`)
    ranks: the `mlc.Ranks` that it is one of, as many as the model's mesh has
    """

    def __init__(self, model: Model, *, threads: int = 0, device: str | None = None, flush_denormals: bool = False,
                 profile: bool = False, stream: Any = None, ranks: _ranks.Ranks | None = None):
        self.model = model
        self._handle = ctypes.c_void_p()
        if not isinstance(model, Model):
            raise UsageError(f"a session is of an mlc.Model, not of a {type(model).__name__}")
        flags = _FLUSH_DENORMALS * check.switch("flush_denormals", flush_denormals) | _PROFILE * check.switch("profile", profile)
        options = COptions(ctypes.sizeof(COptions), check.threads(threads), flags, check.device(device),
                           _device.stream_of(stream), _ranks.handle_of(ranks))
        call("mlc_session_create", model._handle, ctypes.byref(options), ctypes.byref(self._handle))
        self._begin(stream)

    @classmethod
    def _of(cls, model: Model, handle: ctypes.c_void_p, stream: Any) -> "Session":
        """Of a handle of the library's."""
        session = cls.__new__(cls)
        session.model, session._handle = model, handle
        session._begin(stream)
        return session

    def _begin(self, stream: Any) -> None:
        self._turn = Turn()
        self._bound: list[np.ndarray | _device.DeviceArray] = []  # what the session reads
        self._out: dict[str, np.ndarray | _device.DeviceArray] = {}  # what it writes
        self._given_stream = stream  # lives as long
        self._pending: Callable[[], Run | None] = lambda: None  # the last run_async's handle, if it is still held
        self._is_pending = False
        self._views: list[weakref.ref] = []  # memory that was handed out without a copy
        self._shape: Any = None  # what the last bind was of

    def __del__(self):
        if getattr(self, "_handle", None):
            library().mlc_session_destroy(self._handle)

    def _settle(self) -> None:
        """Before the session is used: no run is under way, unless someone holds it."""
        if not self._is_pending:
            return
        run = self._pending()
        if run is None:  # nobody will ask
            library().mlc_session_wait(self._handle)
        elif run.done():
            run._finish()
        else:
            raise UsageError("a run of the session is under way; call its result() first")
        self._is_pending = False

    @taking_turns
    def bind(self, inputs: Mapping[str, Any] | Sequence[Any], out: Mapping[str, np.ndarray] | None = None) -> None:
        """Binds inputs, and arrays for outputs, for the runs to come. The session
        reads the arrays on every run and does not copy those at multiples of 64
        bytes; what it could only read a copy of (lists, arrays that are not dense
        and row-major) is refused. Arrays in the memory of the session's GPU, which
        have `__cuda_array_interface__`, are used where they are; what fills them
        must come before the run on the session's stream."""
        self._bind(inputs, out, may_copy=False)

    def _bind(self, inputs: Mapping[str, Any] | Sequence[Any], out: Mapping[str, np.ndarray] | None,
              may_copy: bool) -> None:
        self._settle()
        ports = self.model.inputs
        inputs = check.inputs(inputs, [port.name for port in ports])
        arrays = [self._as_array(f"input '{port.name}'", inputs[port.name], port, may_copy) for port in ports]
        shape = [array.shape for array in arrays], sorted(check.table("out", out), key=str)
        if shape != self._shape and any(view() is not None for view in self._views):
            raise UsageError("views of outputs (copy=False) are in use, whose memory a run on other dims may free; copy "
                             "or drop them first")
        self._views = [view for view in self._views if view() is not None]
        self._bind_outputs(out or {})
        for index, array in enumerate(arrays):
            call("mlc_session_bind_input", self._handle, index, _arrays.number_of(array.dtype), array.ndim,
                 _arrays.dims_of(array), *self._place_of(array))
        self._bound, self._shape = arrays, shape

    def _as_array(self, what: str, value: Any, port: Port, may_copy: bool) -> np.ndarray | _device.DeviceArray:
        # A session without a stream works in the host's memory.
        if _device.is_on_device(value) and self.stream is not None:
            return _device.as_device_array(what, value, port.dtype, len(port.dims))
        return _arrays.as_array(what, value, port.dtype, len(port.dims), may_copy)

    @staticmethod
    def _place_of(array: np.ndarray | _device.DeviceArray | None) -> tuple[int | None, int]:
        if isinstance(array, _device.DeviceArray):
            return array.address, DEVICE
        return None if array is None else _arrays.address_of(array), HOST

    def _bind_outputs(self, out: Mapping[str, Any]) -> None:
        ports = {port.name: (index, port) for index, port in enumerate(self.model.outputs)}
        out = dict(out)
        for name, array in out.items():
            what = f"output '{name}'"
            if name not in ports:
                raise UsageError(f"there is no {what}; the model has {', '.join(ports) or 'none'}")
            port = ports[name][1]
            if _device.is_on_device(array) and self.stream is not None:
                out[name] = _device.as_device_array(what, array, port.dtype, len(port.dims), is_written=True)
                continue
            dtype = _arrays.dtype_of(port.dtype)
            if not isinstance(array, np.ndarray) or array.dtype != dtype:
                raise UsageError(f"{what} needs a numpy array of {dtype.name} in this machine's byte order")
            if not array.flags.c_contiguous or not array.flags.writeable:
                raise UsageError(f"{what} needs an array that is dense, row-major and writable")
            self._check_shape(what, array, [None if isinstance(dim, str) else dim for dim in port.dims], port.dims)
        for name, (index, _) in ports.items():
            array = out.get(name)
            if array is None and name not in self._out:
                continue
            address, space = self._place_of(array)
            call("mlc_session_bind_output", self._handle, index, address, 0 if array is None else array.nbytes, space)
        self._out = out

    @staticmethod
    def _check_shape(what: str, array: np.ndarray, dims: Sequence[int | None], told: Sequence[int | str]) -> None:
        """The array may have more rows than the output; an open dim is None."""
        if array.ndim != len(dims) or any(dim is not None and (size < dim if axis == 0 else size != dim)
                                          for axis, (size, dim) in enumerate(zip(array.shape, dims))):
            raise UsageError(f"{what} is of dims [{', '.join(map(str, told))}], and the array given for it of "
                             f"[{', '.join(map(str, array.shape))}]")

    @taking_turns
    def invoke(self) -> None:
        """Runs on what is bound; `outputs` has the results."""
        self._settle()
        call("mlc_session_run", self._handle)

    @taking_turns
    def enqueue(self) -> None:
        """Hands a run on what is bound to the session's stream and returns: inputs
        are read after all that the stream was given before, outputs are there for
        all that it is given later. All that is bound must be in the GPU's memory."""
        self._settle()
        call("mlc_session_enqueue", self._handle)

    @taking_turns
    def wait(self) -> None:
        """Until all runs that were enqueued are done; raises what failed of them."""
        self._settle()
        call("mlc_session_wait", self._handle)

    @property
    def stream(self) -> int | None:
        """The handle of the CUDA stream that the session works on; None on the CPU."""
        handle = ctypes.c_void_p()
        try:
            call("mlc_session_stream", self._handle, ctypes.byref(handle))
        except UnsupportedError:
            return None
        return handle.value

    @taking_turns
    def outputs(self, *, copy: bool = True) -> dict[str, np.ndarray]:
        """Outputs of the last run. Without `copy` they are views of the session's
        memory, which can only be read and which the next run overwrites; while one
        is in use, dims cannot change. (Where sizes depend on values, they are
        copies.) An output that was bound is the caller's array, or a view of its
        first rows where it has more."""
        self._settle()
        return self._outputs(copy or any(kind == "bind" for _, kind in self.model.steps))

    def _outputs(self, copy: bool) -> dict[str, np.ndarray]:
        results = {}
        for index, port in enumerate(self.model.outputs):
            tensor = CTensor()
            call("mlc_session_output", self._handle, index, ctypes.byref(tensor))
            if isinstance(bound := self._out.get(port.name), _device.DeviceArray):
                shape = tuple(tensor.dims[: tensor.rank])
                results[port.name] = bound.owner if shape == bound.shape else _device.DeviceArray(
                    bound.address, shape, bound.dtype, bound.owner)
                continue
            view = _arrays.view_of(tensor, self)
            if not copy and port.name not in self._out:
                self._views.append(weakref.ref(_arrays.memory_of(view)))
            if port.name in self._out:
                array, shape = self._out[port.name], tuple(tensor.dims[: tensor.rank])
                self._check_shape(f"output '{port.name}'", array, shape, shape)
                results[port.name] = array if array.shape == shape else array[:shape[0]]
            else:
                results[port.name] = view.copy() if copy else view
        return results

    @taking_turns
    def run(self, inputs: Mapping[str, Any] | Sequence[Any], *, out: Mapping[str, np.ndarray] | None = None,
            copy: bool = True) -> dict[str, np.ndarray]:
        """Binds, runs and returns {name: array}; `out` has arrays to leave outputs
        in, `copy` is as for `outputs`."""
        self._bind(inputs, out, may_copy=True)
        self.invoke()
        return self.outputs(copy=copy)

    @taking_turns
    def run_async(self, inputs: Mapping[str, Any] | Sequence[Any], *,
                  out: Mapping[str, np.ndarray] | None = None) -> Run:
        """Begins a run beside the caller. The arrays must not change until `result`
        of what is returned was called."""
        self._bind(inputs, out, may_copy=True)
        call("mlc_session_run_async", self._handle)
        run = Run(self)
        self._pending, self._is_pending = weakref.ref(run), True
        return run

    @taking_turns
    def set_parameter(self, name: str, value: Any) -> None:
        """Changes a parameter (`mlc.compile(..., parameters=[name])`) for this
        session's later runs."""
        self._settle()
        index, port = self._parameter(name)
        array = _arrays.as_array(f"parameter '{name}'", value, port.dtype, len(port.dims))
        call("mlc_session_set_parameter", self._handle, index, _arrays.number_of(array.dtype), array.ndim,
             _arrays.dims_of(array), _arrays.address_of(array), HOST)

    def parameter(self, name: str) -> np.ndarray:
        """What a parameter holds now."""
        tensor = CTensor()
        call("mlc_session_parameter", self._handle, self._parameter(name)[0], ctypes.byref(tensor))
        return _arrays.view_of(tensor, self).copy()

    def _parameter(self, name: str) -> tuple[int, Port]:
        for index, port in enumerate(self.model.parameters):
            if port.name == name:
                return index, port
        names = ", ".join(port.name for port in self.model.parameters)
        raise UsageError(f"there is no parameter '{name}'; the model has {names or 'none'}")

    @property
    def memory(self) -> Memory:
        """Memory for the dims of the last run."""
        memory = CMemory()
        call("mlc_session_memory", self._handle, ctypes.byref(memory))
        return Memory(*(getattr(memory, field) for field, _ in CMemory._fields_))

    @property
    def allocations(self) -> int:
        """How often the session has allocated or planned; constant while dims repeat."""
        return library().mlc_session_allocation_count(self._handle)

    @property
    def step_costs(self) -> list[StepCost]:
        """What each step did in the last run."""
        costs = []
        for index in range(len(self.model.steps)):
            cost = CCost()
            call("mlc_session_step_cost", self._handle, index, ctypes.byref(cost))
            costs.append(StepCost(*(getattr(cost, field) for field, _ in CCost._fields_)))
        return costs

    @property
    def step_times(self) -> list[float]:
        """Seconds of each step in the last run; needs `profile`."""
        times = []
        for index in range(len(self.model.steps)):
            ns = ctypes.c_uint64()
            call("mlc_session_step_ns", self._handle, index, ctypes.byref(ns))
            times.append(ns.value * 1e-9)
        return times


def load(source: str | os.PathLike | bytes) -> Model:
    """Opens an artifact: a file that `mlc compile` or `Model.save` wrote, or its
    bytes. An artifact is native code: open only what you trust."""
    return Model(source)
