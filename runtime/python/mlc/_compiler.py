"""The compiler, through the executable `mlc`."""

import dataclasses
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from . import _check as check
from ._errors import DeviceError, UsageError, error
from ._library import places
from ._model import Model
from ._spelling import in_python

# A path, the bytes of a file, or an onnx.ModelProto.
Source = Any


def _executable() -> str:
    for path in places("bin", "mlc"):
        if path.is_file() and os.access(path, os.X_OK):
            return str(path)
    if found := shutil.which("mlc"):
        return found
    raise DeviceError("the executable mlc, which compiles, is not here; build mlc and set MLC_BUILD to its build folder "
                      "or put it on PATH. Artifacts (mlc.load) run without it")


def _run(arguments: list[str], accepted: tuple[int, ...] = (0,), files: Mapping[str, str] = {}) -> subprocess.CompletedProcess:
    """Runs the tool; `files` says what errors call temporary files."""
    if holed := [text for text in arguments if "\0" in text]:
        raise UsageError(f"{holed[0].lstrip('-').partition('=')[0]}: a text cannot hold NUL")
    done = subprocess.run([_executable(), *arguments], capture_output=True, text=True, errors="replace",
                          env={**os.environ, "MLC_SPELLING": "keywords"})  # remedies name arguments, not flags
    if done.returncode not in accepted:
        lines = [line.removeprefix("mlc: error: ") for line in done.stderr.splitlines() if not
                 line.startswith("mlc: warning: ")]
        raise error(done.returncode if done.returncode > 0 else 1,
                    in_python("\n".join(lines), files) or f"mlc ended with {done.returncode}")
    return done


def _flags(*, target: str | os.PathLike | None, dims: Mapping[str, int | None] | None, parameters: Iterable[str],
           rules: Iterable[str | os.PathLike], rewrites: bool, timings: str | os.PathLike | None,
           assume: Mapping[str, int] | None = None, fp: str | None = None, precision: str | None = None) -> list[str]:
    flags = [f"--target={check.path('target', target)}"] if target is not None else []
    flags += [f"--{flag}={check.text(flag, value)}" for flag, value in (("fp", fp), ("precision", precision)) if value is not None]
    for name, size in check.table("dims", dims).items():
        if size is not None and size != "any" and (isinstance(size, bool) or not hasattr(size, "__index__")):
            raise UsageError(f"dims: expected a whole number or None for {name!r}, not {size!r}")
        flags.append(f"--dim={name}={'any' if size in (None, 'any') else size.__index__()}")
    flags += [f"--assume={name}={check.whole('assume', size)}" for name, size in check.table("assume", assume).items()]
    flags += [f"--parameter={name}" for name in check.items("parameters", parameters)]
    flags += [f"--rules={os.fspath(file)}" for file in check.items("rules", rules, (str, os.PathLike))]
    flags += [] if check.switch("rewrites", rewrites) else ["--no-rewrites"]
    return flags + ([f"--timings={check.path('timings', timings)}"] if timings is not None else [])


def _plan(plan: str | os.PathLike | Mapping[str, Any] | None, folder: pathlib.Path) -> list[str]:
    """The flag of a plan, which is a file or what one holds (docs/Plan.md)."""
    if plan is None:
        return []
    if isinstance(plan, (str, os.PathLike)):
        return [f"--plan={check.path('plan', plan)}"]
    if not isinstance(plan, Mapping):
        raise UsageError(f"plan: expected a file or a dict, not {plan!r}")

    def plain(value: Any) -> Any:
        if isinstance(value, Mapping):
            return dict(value)
        if not isinstance(value, bool) and hasattr(value, "__index__"):
            return value.__index__()
        raise UsageError(f"plan: {value!r} is nothing that a plan says")
    file = folder / "plan.json"
    try:
        file.write_text(json.dumps(dict(plan), default=plain, allow_nan=False))
    except (TypeError, ValueError, RecursionError) as failure:
        raise UsageError(f"plan: is nothing that JSON can say: {failure}") from None
    return [f"--plan={file}"]


def _mesh(mesh: Mapping[str, int] | None, shard: Mapping[str, str] | None, algorithm: str | None) -> list[str]:
    for name, axes in check.table("shard", shard).items():
        if not isinstance(name, str) or not isinstance(axes, str):
            raise UsageError(f"shard: expected names of tensors and texts, as 'data,-', not {name!r}: {axes!r}")
    for axis, ranks in check.table("mesh", mesh).items():
        if not str(axis).isidentifier() or isinstance(ranks, bool) or not hasattr(ranks, "__index__"):
            raise UsageError(f"mesh: expected names of axes and whole numbers of ranks, not {axis!r}: {ranks!r}")
    flags = [f"--mesh={','.join(f'{axis}={ranks.__index__()}' for axis, ranks in mesh.items())}"] if mesh else []
    flags += [f"--shard={name}={axes}" for name, axes in (shard or {}).items()]
    return flags + ([f"--algorithm={check.text('algorithm', algorithm)}"] if algorithm is not None else [])


def _stages(stages: int | None, ends: Iterable[str], micro_batches: int | None, pipeline: str | os.PathLike | None) -> list[str]:
    flags = [f"--{name}={check.whole(name.replace('-', '_'), value)}"
             for name, value in (("stages", stages), ("micro-batches", micro_batches)) if value is not None]
    flags += [f"--stage-ends={','.join(names)}"] if (names := check.items("stage_ends", ends)) else []
    return flags + ([f"--pipeline={check.path('pipeline', pipeline)}"] if pipeline is not None else [])


def _search(search: str | None, search_steps: float | None, time_limit: float | None) -> list[str]:
    flags = [f"--search={check.text('search', search)}"] if search is not None else []
    return flags + [f"--{name.replace('_', '-')}={check.number(name, value)}"
                    for name, value in (("search_steps", search_steps), ("time_limit", time_limit)) if value is not None]


class _Folder:
    """A temporary folder, with the model as a file in it unless it is one already."""

    def __init__(self, model: Source):
        self._model = model
        self.told: dict[str, str] = {}  # what errors call its files

    def __enter__(self) -> tuple[pathlib.Path, str]:
        self._folder = tempfile.TemporaryDirectory(prefix="mlc-")
        folder = pathlib.Path(self._folder.name)
        self.told |= {str(folder / "plan.json"): "the plan", str(folder / "model.onnx"): "the model"}
        if isinstance(self._model, (str, os.PathLike)):
            return folder, check.path("a model", self._model)
        if not isinstance(self._model, bytes) and not hasattr(self._model, "SerializeToString"):
            raise UsageError(f"a model is a path, bytes or an onnx.ModelProto, not {type(self._model).__name__}")
        data = self._model if isinstance(self._model, bytes) else self._model.SerializeToString()
        file = folder / "model.onnx"
        file.write_bytes(data)
        return folder, str(file)

    def __exit__(self, *_: Any) -> None:
        self._folder.cleanup()


def compile(model: Source, *, target: str | os.PathLike | None = None, dims: Mapping[str, int | None] | None = None,
            parameters: Iterable[str] = (), rules: Iterable[str | os.PathLike] = (), rewrites: bool = True,
            timings: str | os.PathLike | None = None, search: str | None = None,
            search_steps: float | None = None, time_limit: float | None = None,
            assume: Mapping[str, int] | None = None, fp: str | None = None, precision: str | None = None,
            checked: bool = False, memory_budget: int | str | None = None, mesh: Mapping[str, int] | None = None,
            shard: Mapping[str, str] | None = None, algorithm: str | None = None,
            stages: int | None = None, stage_ends: Iterable[str] = (), micro_batches: int | None = None,
            pipeline: str | os.PathLike | None = None,
            plan: str | os.PathLike | Mapping[str, Any] | None = None) -> Model:
    """Compiles a model: a path, an ONNX file's bytes, or an onnx.ModelProto.

    target: cpu (this machine), cpu:x86-64-v3, cpu:x86-64-v4, or a target file
    dims: {name: size}; None leaves a dim open, as it is by default
    parameters: weights that `Session.set_parameter` may change
    rules: files of further rewrites, each proved before it is used
    rewrites: False applies none
    timings: measured times of operators (mlc calibrate)
    search, search_steps: how rewrites are searched, and how many times the usual steps it may take (0.1: a tenth)
    time_limit: seconds; a search that takes longer raises ResourceError
    assume: {name: size} of open dims, to predict and choose rewrites for
    fp: rewrites of floats that are taken: "strict", "reassociate" or "fast"
    precision: of matrix products and convolutions on GPUs: "tf32" or "ieee"
    checked: a run fails, with the node's name, where an index is out of range
    memory_budget: bytes (or "1.5GiB") that intermediate results may take
    mesh, shard: {axis: ranks}, and {name: axes of its dims} as `--shard` has them, "data+fsdp,-": a
        program for ranks (Partitioning.md), for sessions with `ranks`; algorithm: how they add
    stages, stage_ends: into how many stages the model is cut, or the nodes that they end with, for a
        pipeline on several ranks (Pipelines.md); micro_batches: parts of a batch; pipeline: by which
        schedule or table of your own they run
    plan: the same as one file or dict (Plan.md)

    >>> mlc.compile("model.onnx", dims={"batch": 1}).save("model.mlca")
    """
    with (temporary := _Folder(model)) as (folder, file):
        artifact = folder / "model.mlca"
        _run(["compile", file, "-o", str(artifact), *_search(search, search_steps, time_limit),
              *_flags(target=target, dims=dims, parameters=parameters, rules=rules, rewrites=rewrites,
                      timings=timings, assume=assume, fp=fp, precision=precision),
              *(["--checked"] if check.switch("checked", checked) else []),
              *([f"--memory-budget={memory_budget}"] if memory_budget is not None else []),
              *_mesh(mesh, shard, algorithm), *_stages(stages, stage_ends, micro_batches, pipeline),
              *_plan(plan, folder)], files=temporary.told)
        return Model(artifact.read_bytes())


@dataclasses.dataclass(frozen=True)
class Optimized:
    """A rewritten model, its trail in the metadata, and what the search came to."""

    onnx: bytes
    report: dict[str, Any]

    def save(self, path: str | os.PathLike) -> None:
        pathlib.Path(path).write_bytes(self.onnx)

    def proto(self) -> Any:
        """As an onnx.ModelProto."""
        import onnx
        return onnx.load_from_string(self.onnx)


def optimize(model: Source, *, target: str | os.PathLike | None = None, dims: Mapping[str, int | None] | None = None,
             parameters: Iterable[str] = (), rules: Iterable[str | os.PathLike] = (), rewrites: bool = True,
             timings: str | os.PathLike | None = None, search: str | None = None,
             search_steps: float | None = None, time_limit: float | None = None,
             assume: Mapping[str, int] | None = None, fp: str | None = None, precision: str | None = None) -> Optimized:
    """Rewrites an ONNX model by proved rules, for any runtime; arguments as for
    `compile`. `mlc-verify --trail` proves the result."""
    with (temporary := _Folder(model)) as (folder, file):
        output = folder / "optimized.onnx"
        done = _run(["optimize", file, "-o", str(output), "--json", *_search(search, search_steps, time_limit),
                     *_flags(target=target, dims=dims, parameters=parameters, rules=rules, rewrites=rewrites,
                             timings=timings, assume=assume, fp=fp, precision=precision)], files=temporary.told)
        return Optimized(output.read_bytes(), json.loads(done.stdout or "{}"))


@dataclasses.dataclass(frozen=True)
class Comparison:
    """Whether all outputs agree with the reference; `outputs` has an entry for each,
    with name, error and tolerance."""

    agrees: bool
    reference: str
    outputs: list[dict[str, Any]]

    def __bool__(self) -> bool:
        return self.agrees


def compare(model: Source, inputs: Mapping[str, np.ndarray] | None = None, *,
            target: str | os.PathLike | None = None, dims: Mapping[str, int | None] | None = None,
            parameters: Iterable[str] = (), rules: Iterable[str | os.PathLike] = (), rewrites: bool = True,
            timings: str | os.PathLike | None = None, tolerance: float | None = None, seed: int = 0,
            threads: int = 0) -> Comparison:
    """Compiles, runs and compares with ONNX Runtime, on `inputs` or at random.

    >>> assert mlc.compare("model.onnx", dims={"batch": 2})
    """
    with (temporary := _Folder(model)) as (folder, file):
        flags = _flags(target=target, dims=dims, parameters=parameters, rules=rules, rewrites=rewrites,
                       timings=timings)
        for number, (name, array) in enumerate(check.table("inputs", inputs).items()):
            place = folder / f"{number}.npy"
            try:
                np.save(place, array, allow_pickle=False)
            except ValueError as failure:
                raise UsageError(f"inputs: {name!r} is no array of numbers: {failure}") from None
            temporary.told[str(place)] = f"the array of {name!r}"
            flags.append(f"--input={name}={place}")
        if tolerance is not None and not check.number("tolerance", tolerance) >= 0:
            raise UsageError(f"tolerance: expected a number that is not negative, not {tolerance!r}")
        flags += [f"--tolerance={tolerance}"] if tolerance is not None else []
        for name, value in (("seed", seed), ("threads", threads)):
            check.whole(name, value, 0)
        flags += [f"--seed={seed}", *([f"--threads={threads}"] if threads else [])]
        done = _run(["compare", file, "--json", *flags], accepted=(0, 5), files=temporary.told)
        report = json.loads(done.stdout)
        return Comparison(report["agrees"], report["reference"], report["outputs"])
