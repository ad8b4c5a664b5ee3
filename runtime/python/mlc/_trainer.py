"""Training: the trainer of the runtime over batches that the caller gives."""

import ctypes
import json
import numbers
import os
import pathlib
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from . import _arrays, _check as check, _fit
from ._compiler import Source, _flags, _Folder, _mesh, _plan, _run
from ._errors import UsageError
from ._library import (CPort, CTensor, CTrainedState, CTrainerOptions, DTYPES, call, library, path_of)
from ._model import Model, Port
from ._ranks import Ranks, handle_of
from ._turn import Turn, taking_turns

_SCHEDULES = {"constant": 0, "linear": 1, "cosine": 2}
# Keyword arguments that are flags of `mlc train`.
_TEXTS = ("loss_of", "target_input", "autocast", "algorithm", "batch_statistics", "fusion", "precision", "pipeline")
_WHOLE = ("class_axis", "stages", "update_every", "in_flight", "slices", "zero", "bucket_bytes", "first_bucket_bytes", "prefetch_limit")
_NUMBERS = ("momentum", "beta1", "beta2", "epsilon", "weight_decay", "clip_norm")
_SIZES = ("loss_scale", "memory_budget")  # numbers or texts
_SWITCHES = ("training_form", "nesterov", "keep_half", "recompute")
_LISTS = ("train", "freeze", "stage_ends", "keep_results")
_COUNTS = ("replicas",)  # whole numbers, of which one flag takes all
_MESH = ("mesh", "shard")  # as for mlc.compile
_KNOWN = _TEXTS + _WHOLE + _NUMBERS + _SIZES + _SWITCHES + _LISTS + _COUNTS + _MESH


def _training_flags(options: Mapping[str, Any]) -> list[str]:
    """The flags of keyword arguments."""
    flags = []
    for name, value in options.items():
        flag = "--" + name.replace("_", "-")
        if name not in _KNOWN:
            raise TypeError(f"mlc.Trainer has no argument '{name}'; beside those that help(mlc.Trainer) names it takes "
                            f"{', '.join(sorted(_KNOWN))}")
        if value is None or name in _MESH:
            continue
        if name in _SWITCHES:
            flags += [flag] if check.switch(name, value) else []
        elif name in _LISTS:
            flags += [f"{flag}={each}" for each in check.items(name, value)]
        elif name in _COUNTS:
            flags.append(f"{flag}={','.join(str(check.whole(name, each)) for each in check.items(name, value, object))}")
        elif name in _WHOLE:
            flags.append(f"{flag}={check.whole(name, value)}")
        elif name in _NUMBERS or not isinstance(value, str) and name in _SIZES:
            flags.append(f"{flag}={check.number(name, value)}")
        else:
            flags.append(f"{flag}={check.text(name, value)}")
    return flags + _mesh(options.get("mesh"), options.get("shard"), None)


class Samples:
    """Arrays of samples, for a trainer: `trainer.samples(...)` makes one. Batches are made of
    them in an order that a seed gives, as `mlc train` does."""

    def __init__(self, trainer: "Trainer", source: Any):
        self._handle = ctypes.c_void_p()
        self._trainer = trainer
        if isinstance(source, (str, os.PathLike)):
            call("mlc_samples_open", trainer._handle, path_of("samples", source), ctypes.byref(self._handle))
        else:
            tensors, _keep = trainer._tensors(source, "the samples")
            call("mlc_samples_copy", trainer._handle, tensors, ctypes.byref(self._handle))

    def __del__(self):
        if getattr(self, "_handle", None):
            library().mlc_samples_close(self._handle)

    def __reduce__(self):
        raise TypeError("mlc's samples cannot be copied or pickled; make others with trainer.samples()")

    def __len__(self) -> int:
        return library().mlc_samples_count(self._handle)


class Trainer:
    """Trains the weights of an ONNX model.

    model: a path, an ONNX file's bytes, or an onnx.ModelProto; or an artifact that
        `mlc train --artifact` wrote, as mlc.Model, whose loss, optimizer and batch are
        decided
    loss: "output" (an output of the model, a single number), "mse" or "cross-entropy",
        between the model's output and a further input "target"
    optimizer: "sgd", "momentum", "adam" or "adamw"
    learning_rate: a number, or a function of the step, from 0; 0.01, of adam and adamw
        0.001
    schedule, warmup: how a number goes on over the steps of `fit`: "constant",
        "linear" or "cosine"; steps in which it grows from nothing. Steps outside of `fit`
        are at the number itself
    batch: samples of a batch, of all ranks, where the model leaves that open
    accumulate: batches of which a step takes the mean of the gradients
    ranks: mlc.Ranks: this process is one of several, each of which takes its part of
        each batch, and all of which make the same calls
    target, dims, rules, rewrites, timings, plan: as for mlc.compile; device, threads: as
        for sessions

    Further keyword arguments are the flags of `mlc train` (CommandLine.md): loss_of,
    target_input, class_axis, training_form, autocast, train, freeze, momentum, nesterov,
    beta1, beta2, epsilon, weight_decay, clip_norm, loss_scale, keep_half, zero,
    algorithm, batch_statistics, fusion, bucket_bytes, first_bucket_bytes, prefetch_limit,
    memory_budget, precision, stages, stage_ends, pipeline, update_every, in_flight,
    slices, replicas, recompute, keep_results, and mesh and shard, which are dicts as for mlc.compile.

    >>> trainer = mlc.Trainer("model.onnx", loss="cross-entropy", optimizer="adamw", batch=32)
    >>> for images, labels in loader:
    ...     loss = trainer.step((images, labels))
    >>> trainer.export("trained.onnx")
    """

    def __init__(self, model: Source | Model, *, loss: str = "output", optimizer: str = "sgd",
                 learning_rate: float | Callable[[int], float] | None = None, schedule: str = "constant",
                 warmup: int = 0, batch: int | None = None, accumulate: int = 1, ranks: Ranks | None = None,
                 target: str | os.PathLike | None = None, dims: Mapping[str, int | None] | None = None,
                 rules: Iterable[str | os.PathLike] = (), rewrites: bool = True,
                 timings: str | os.PathLike | None = None, plan: str | os.PathLike | Mapping[str, Any] | None = None,
                 device: str | None = None, threads: int = 0, **options: Any):
        if not isinstance(schedule, str) or schedule not in _SCHEDULES:
            raise UsageError(f"schedule: expected constant, linear or cosine, not {schedule!r}")
        handle_of(ranks)
        for name, value in (("loss", loss), ("optimizer", optimizer)):
            check.text(name, value)
        check.whole("warmup", warmup, 0)
        check.whole("accumulate", accumulate, 1)
        self._handle = ctypes.c_void_p()
        self._turn = Turn("trainer", "mlc.Trainer()")
        self._source = model
        self._schedule, self._warmup = schedule, warmup
        self._steps_planned = 0  # by `fit`, while it goes on
        self._last_rate: tuple[int, float] | None = None
        is_adam = optimizer in ("adam", "adamw")
        self.learning_rate = learning_rate if learning_rate is not None else 0.001 if is_adam else 0.01
        self._check_rate()
        self._ranks = ranks
        if isinstance(model, Model):
            decided = {"loss": loss != "output", "optimizer": optimizer != "sgd", "batch": batch is not None,
                       "accumulate": accumulate != 1, "plan": plan is not None, "target": target is not None,
                       "dims": bool(dims), "rules": bool(check.items("rules", rules, (str, os.PathLike))), "rewrites": not rewrites,
                       "timings": timings is not None, **dict.fromkeys(options, True)}
            if given := [name for name, is_given in decided.items() if is_given]:
                raise UsageError(f"{given[0]}: an artifact has its loss, optimizer and batch; give them when it is made")
            if learning_rate is None:
                raise UsageError("an artifact does not say how fast it learns; give learning_rate")
            self._model = model
        else:
            flags = [f"--loss={loss}", f"--optimizer={optimizer}", *_training_flags(options),
                     *_flags(target=target, dims=dims, parameters=(), rules=rules, rewrites=rewrites, timings=timings)]
            flags += [f"--batch={check.whole('batch', batch, 1)}"] if batch is not None else []
            flags += [f"--accumulate={accumulate}"] if accumulate != 1 else []
            flags += [f"--ranks={ranks.count}"] if ranks is not None and ranks.count > 1 else []
            self._model = _compile(model, flags, plan)
            _check_groups(plan, ranks)
        given = CTrainerOptions(ctypes.sizeof(CTrainerOptions), check.threads(threads), check.device(device),
                                handle_of(ranks), None)
        call("mlc_trainer_create", self._model._handle, ctypes.byref(given), ctypes.byref(self._handle))
        self.inputs = self._ports()
        self._samples: Samples | None = None
        self._seed = 0

    def __del__(self):
        if getattr(self, "_handle", None):
            library().mlc_trainer_destroy(self._handle)

    def __reduce__(self):
        raise TypeError("an mlc.Trainer cannot be copied or pickled; save() and load() keep where it stands")

    def __repr__(self) -> str:
        inputs = ", ".join(f"{p.name}: {p.dtype}[{', '.join(map(str, p.dims))}]" for p in self.inputs)
        return f"<mlc.Trainer ({inputs}), {self.steps} steps done>"

    def _check_rate(self) -> None:
        rate = self.learning_rate
        if not callable(rate) and (isinstance(rate, bool) or not isinstance(rate, numbers.Real) or
                                   not 0 < rate < float("inf")):
            raise UsageError(f"learning_rate: expected a positive number or a function of the step, not {rate!r}")

    def _ports(self) -> tuple[Port, ...]:
        ports = []
        for index in range(library().mlc_trainer_input_count(self._handle)):
            port = CPort()
            call("mlc_trainer_input", self._handle, index, ctypes.byref(port))
            dims = tuple(port.dims[i] if port.dims[i] >= 0 else port.dim_texts[i].decode() for i in range(port.rank))
            ports.append(Port(port.name.decode(), DTYPES[port.type], dims))
        return tuple(ports)

    @property
    def batch(self) -> int:
        """Samples of a batch, of all ranks."""
        return self.inputs[0].dims[0]

    @property
    def accumulate(self) -> int:
        """Batches of a step."""
        return library().mlc_trainer_batches_of_step(self._handle)

    @property
    def steps(self) -> int:
        """How many are done."""
        return library().mlc_trainer_steps(self._handle)

    @property
    def skipped(self) -> int:
        """How many steps changed nothing, because a gradient was not finite."""
        return library().mlc_trainer_skipped(self._handle)

    @property
    def loss_scale(self) -> float:
        """What the loss is scaled by; 1 where it is not."""
        return library().mlc_trainer_loss_scale(self._handle)

    @property
    def is_alone(self) -> bool:
        """Whether there are no other ranks."""
        return self._ranks is None or self._ranks.count == 1

    @property
    def is_first(self) -> bool:
        """Whether this rank is the one that prints and writes."""
        return self._ranks is None or self._ranks.rank == 0

    def rate_at(self, step: int, steps: int = 0) -> float:
        """The learning rate of step `step`, from 0, of `steps`; 0: `schedule` does not count."""
        for name, value in (("step", step), ("steps", steps)):
            check.whole(name, value, 0)
        if callable(self.learning_rate):
            # Asked once for each step.
            if self._last_rate is None or self._last_rate[0] != step:
                rate = float(self.learning_rate(step))
                if not 0 <= rate < float("inf"):
                    raise UsageError(f"learning_rate: the function gives {rate!r} for step {step}; expected a number from 0 on")
                self._last_rate = step, rate
            return self._last_rate[1]
        if steps == 0:
            return float(self.learning_rate)
        return library().mlc_learning_rate(_SCHEDULES[self._schedule], self.learning_rate, self._warmup, steps, step)

    def _arrays_of(self, batch: Any, what: str) -> list[np.ndarray]:
        """The arrays of a batch in the order of the inputs."""
        names = [port.name for port in self.inputs]
        if isinstance(batch, Mapping):
            if missing := [name for name in names if name not in batch]:
                raise UsageError(f"{what} has no '{missing[0]}'; it takes {', '.join(names)}")
            if further := [str(name) for name in batch if name not in names]:
                raise UsageError(f"{what} has '{further[0]}', which is no input; it takes {', '.join(names)}")
            values = [batch[name] for name in names]
        else:
            values = list(batch) if isinstance(batch, (tuple, list)) else [batch]
            if len(values) != len(names):
                raise UsageError(f"{what} has {len(values)} arrays, and takes {len(names)}: {', '.join(names)}")
        return [_arrays.as_array(f"'{port.name}' of {what}", value, port.dtype, len(port.dims))
                for port, value in zip(self.inputs, values)]

    def _tensors(self, batch: Any, what: str) -> tuple[ctypes.Array, list[np.ndarray]]:
        arrays = self._arrays_of(batch, what)
        tensors = (CTensor * max(1, len(arrays)))()
        for tensor, dense in zip(tensors, arrays):
            _fill(tensor, dense)
        return tensors, arrays

    @taking_turns
    def step(self, batch: Any) -> float:
        """A step on a batch: {name: array}, or a tuple of arrays in the order of `inputs`, of all
        ranks' samples; where the trainer accumulates, a list of so many batches. Returns the loss before it."""
        count, loss = self.accumulate, ctypes.c_double()
        batches = [batch] if count == 1 else list(batch) if isinstance(batch, Iterable) and not isinstance(batch, Mapping) else []
        if len(batches) != count:
            raise UsageError(f"a step takes a list of {count} batches, since the trainer accumulates; this is "
                             f"{'one batch' if isinstance(batch, (Mapping, tuple)) or not batches else f'a list of {len(batches)}'}")
        arrays = [one for each in batches for one in self._arrays_of(each, "the batch")]
        tensors = (CTensor * max(1, len(arrays)))()
        for tensor, dense in zip(tensors, arrays):
            _fill(tensor, dense)
        call("mlc_trainer_step", self._handle, tensors, self.rate_at(self.steps, self._steps_planned), ctypes.byref(loss))
        self._samples = None
        return loss.value

    def samples(self, source: Any) -> Samples:
        """Samples for `fit` and `evaluate`: a .npz file with an array for each input, or {name: array}."""
        if not isinstance(source, Samples):
            return Samples(self, source)
        if source._trainer is not self and source._trainer.inputs != self.inputs:
            raise UsageError(f"the samples were read for {source._trainer!r}, whose batches are others; read them for this one "
                             "with trainer.samples()")
        return source

    @taking_turns
    def step_samples(self, samples: Samples, seed: int = 0) -> float:
        """A step on the batches of `samples` that are next in the seed's order, as `mlc train` takes them."""
        loss = ctypes.c_double()
        _fit.check_seed(seed)
        call("mlc_trainer_step_samples", self._handle, self.samples(samples)._handle, seed,
             self.rate_at(self.steps, self._steps_planned), ctypes.byref(loss))
        self._samples, self._seed = samples, seed
        return loss.value

    @taking_turns
    def evaluate(self, data: Any) -> float:
        """The mean loss, over labels where there are some: of samples (a file, {name: array}, Samples), or of an
        iterable of batches."""
        if isinstance(data, (str, os.PathLike, Mapping, Samples)):
            samples, loss = self.samples(data), ctypes.c_double()  # which lives as long as the call
            call("mlc_trainer_evaluate_samples", self._handle, samples._handle, ctypes.byref(loss))
            return loss.value
        total = weight = 0.0
        for batch in _fit.check_batches("data", data):
            tensors, _keep = self._tensors(batch, "the batch")
            loss, count = ctypes.c_double(), ctypes.c_double()
            call("mlc_trainer_evaluate", self._handle, tensors, ctypes.byref(loss), ctypes.byref(count))
            total, weight = total + loss.value * count.value, weight + count.value
        if weight == 0:
            raise UsageError("there is nothing to evaluate: no batch, or no label that counts")
        return total / weight

    def _states(self) -> list[tuple[str, str, str]]:
        """(state, role, owner) of each."""
        states = []
        for index in range(library().mlc_trainer_state_count(self._handle)):
            state = CTrainedState()
            call("mlc_trainer_state", self._handle, index, ctypes.byref(state))
            states.append((state.port.name.decode(), state.role.decode(), state.owner.decode()))
        return states

    def _read(self, index: int) -> np.ndarray:
        tensor = CTensor()
        call("mlc_trainer_get_state", self._handle, index, ctypes.byref(tensor))
        return _arrays.view_of(tensor, self).copy()

    @taking_turns
    def state_dict(self) -> dict[str, np.ndarray]:
        """Weights and running statistics by their names, copied. All ranks call it together; what ranks have parts of
        is whole on the first alone."""
        return {owner: self._read(i) for i, (_, role, owner) in enumerate(self._states()) if role != "moment"}

    @taking_turns
    def load_state_dict(self, weights: Mapping[str, Any]) -> None:
        """Sets weights and running statistics, all or some; all ranks call it alike."""
        if not isinstance(weights, Mapping):
            raise UsageError(f"load_state_dict: expected a dict of arrays by the weights' names, not a {type(weights).__name__}")
        places = {owner: i for i, (_, role, owner) in enumerate(self._states()) if role != "moment"}
        arrays = {}
        for name, value in weights.items():
            if name not in places:
                raise UsageError(f"there is no weight '{name}' that is trained; state_dict() has them")
            state = CTrainedState()
            call("mlc_trainer_state", self._handle, places[name], ctypes.byref(state))
            arrays[name] = _arrays.as_array(f"'{name}'", value, DTYPES[state.port.type], state.port.rank)
            if arrays[name].shape != tuple(state.port.dims[: state.port.rank]):
                raise UsageError(f"'{name}' has the shape {arrays[name].shape}, the model's "
                                 f"{tuple(state.port.dims[: state.port.rank])}")
        for name, dense in arrays.items():
            tensor = CTensor()
            _fill(tensor, dense)
            call("mlc_trainer_set_state", self._handle, places[name], ctypes.byref(tensor))

    @taking_turns
    def save(self, path: str | os.PathLike) -> None:
        """Writes a checkpoint, whole or not at all, from which `load` and `mlc train --resume` go on. All ranks call it
        together, and the first writes."""
        call("mlc_trainer_save", self._handle, self._samples._handle if self._samples else None, self._seed,
             path_of("a checkpoint", path))

    @taking_turns
    def load(self, path: str | os.PathLike, samples: Any = None, seed: int = 0) -> None:
        """Goes on from a checkpoint of the same model, loss, optimizer and `samples`, which `fit` or `mlc train` had: as
        for `samples()`, or what that gave. None: batches of the caller's."""
        samples = self.samples(samples) if samples is not None else None
        _fit.check_seed(seed)
        call("mlc_trainer_load", self._handle, samples._handle if samples else None, seed, path_of("a checkpoint", path))
        self._samples, self._seed = samples, seed

    def export(self, path: str | os.PathLike) -> None:
        """Writes the ONNX model with the trained weights. All ranks call it together, and the first writes."""
        if isinstance(self._source, Model):
            raise UsageError("the trainer was made of an artifact, which has no ONNX model; save() a checkpoint, and give it "
                             "to mlc train MODEL --export")
        with tempfile.TemporaryDirectory(prefix="mlc-") as folder:
            checkpoint = pathlib.Path(folder) / "checkpoint.npz"
            self.save(checkpoint)
            if self.is_first:
                with (temporary := _Folder(self._source)) as (_, file):
                    _run(["train", file, "--export", f"--checkpoint={checkpoint}", "-o", check.path("a model", path)],
                         files={**temporary.told, str(checkpoint): "the trainer's weights"})

    def fit(self, data: Any, **options: Any) -> "list[_fit.Progress]":
        """Trains on `data`: samples (a .npz file, {name: array}, Samples), in an order that `seed` gives, or an iterable
        of batches, which is begun again when it ends. Returns what `callbacks` were given.

        steps or epochs: how far; those before a checkpoint among them
        seed: of the order of samples
        evaluate: held-out data, of which the loss is computed every `evaluate_every`
            steps and at the end
        checkpoint: a file, written every `checkpoint_every` steps, at the end, and when
            Ctrl-C or a callback's error ends it
        resume: go on from the checkpoint if there is one
        best: a file, written whenever the held-out loss is less than ever
        log: a row for each step, in FILE.csv, FILE.jsonl or "tensorboard:FOLDER", which goes
            on where the trainer has done steps
        callbacks: functions of an mlc.Progress, called after each step; one that returns
            False ends the training
        """
        return _fit.fit(self, data, **options)


def _fill(tensor: CTensor, dense: np.ndarray) -> None:
    tensor.type, tensor.rank = _arrays.number_of(dense.dtype), dense.ndim
    tensor.dims[: dense.ndim] = dense.shape
    tensor.data, tensor.bytes = _arrays.address_of(dense), dense.nbytes


def _check_groups(plan: Any, ranks: Ranks | None) -> None:
    """Refuses ranks with other groups than the plan's, which mlc has read before."""
    if plan is None or ranks is None or ranks.count == 1:
        return
    says = plan if isinstance(plan, Mapping) else json.loads(pathlib.Path(plan).read_text())
    if (wanted := says.get("groups", 1)) != ranks.groups:
        raise UsageError(f"plan: its collectives take {wanted} groups in turn, and the ranks have {ranks.groups}; "
                         f"open them with groups={wanted}")


def _compile(model: Source, flags: Sequence[str], plan: Any) -> Model:
    with (temporary := _Folder(model)) as (folder, file):
        artifact = folder / "trainer.mlca"
        _run(["train", file, f"--artifact={artifact}", *flags, *_plan(plan, folder)], files=temporary.told)
        return Model(artifact.read_bytes())
