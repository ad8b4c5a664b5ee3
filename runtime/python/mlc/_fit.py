"""Training to the end: steps, held-out loss, checkpoints, callbacks."""

import ctypes
import dataclasses
import math
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from . import _check as check
from ._errors import Error, UsageError
from ._library import call, library, path_of


@dataclasses.dataclass(frozen=True)
class Progress:
    """What a step has come to."""

    step: int  # from 1
    loss: float
    learning_rate: float
    samples_per_second: float
    seconds_left: float | None
    held_out_loss: float | None = None


def _check(name: str, value: Any, least: int) -> None:
    if value is not None:
        check.whole(name, value, least)


def check_seed(seed: Any) -> None:
    if check.whole("seed", seed, 0) >= 2**64:
        raise UsageError(f"seed: expected a whole number below 2**64, not {seed!r}")


def _check_apart(read: Mapping[str, Any], written: Mapping[str, Any]) -> None:
    """What is written is no file that is read, nor another one that is written."""
    known: dict[str, str] = {}
    for names, is_written in ((read, False), (written, True)):
        for name, path in names.items():
            if not isinstance(path, (str, os.PathLike)) or not os.fspath(path):
                continue
            place = os.path.realpath(check.path(name, path))
            if is_written and place in known:
                raise UsageError(f"{name}: '{os.fspath(path)}' is {known[place]}, too; give each another name")
            known.setdefault(place, f"the file of {name}")


def _check_output(name: str, path: Any) -> None:
    """Before anything is trained: whether a file can be written there."""
    if path is None:
        return
    path = check.path(name, path)
    folder = os.path.dirname(path) or "."
    if not path or os.path.isdir(path):
        raise UsageError(f"{name}: '{path}' names no file")
    if not os.path.isdir(folder):
        raise UsageError(f"{name}: there is no folder '{folder}'")
    if not os.access(folder, os.W_OK):
        raise UsageError(f"{name}: nothing can be written into the folder '{folder}'")


def check_batches(name: str, data: Any) -> Any:
    if not isinstance(data, Iterable) or isinstance(data, bytes):
        raise UsageError(f"{name}: expected a .npz file, {{name: array}}, samples or an iterable of batches, not {data!r}")
    return data


class _Batches:
    """The steps' batches of an iterable, which is begun again when it ends."""

    def __init__(self, trainer: Any, data: Iterable):
        check_batches("data", data)
        self._trainer, self._data = trainer, data
        self._iterator: Iterator | None = None

    def _next(self) -> Any:
        for _ in range(2):
            if self._iterator is None:
                self._iterator = iter(self._data)
            try:
                return next(self._iterator)
            except StopIteration:
                self._iterator = None
        raise UsageError("the data have no batch; an iterator that has ended cannot be begun again: give a list, a "
                         "DataLoader or another iterable")

    def skip(self, steps: int) -> None:
        for _ in range(steps * self._trainer.accumulate):
            self._next()

    def step(self) -> float:
        count = self._trainer.accumulate
        batch = self._next() if count == 1 else [self._next() for _ in range(count)]
        try:
            return self._trainer.step(batch)
        except UsageError as error:
            if "of which the first dim is the sample" not in str(error):
                raise
            raise UsageError(f"{error}; where the last batch of the data is short, leave it out (a DataLoader does with drop_last=True)") from None


class _Fit:
    def __init__(self, trainer: Any, data: Any, steps: int, seed: int, checkpoint: Any):
        self.trainer, self.steps, self.checkpoint = trainer, steps, checkpoint
        self.saved = trainer.steps  # at this step all is kept, or nothing was done
        self.samples = None
        if isinstance(data, (str, os.PathLike, Mapping)) or hasattr(data, "_trainer"):
            self.samples, self.seed = trainer.samples(data), seed
        else:
            self.batches = _Batches(trainer, data)

    def resume(self) -> None:
        if self.checkpoint is None:
            raise UsageError("resume needs a checkpoint")
        if not os.path.exists(self.checkpoint):
            return
        self.load(self.checkpoint)
        self.saved = self.trainer.steps
        if self.samples is None:
            self.batches.skip(self.trainer.steps)
        if self.trainer.steps > self.steps:
            raise UsageError(f"{os.fspath(self.checkpoint)}: was written after step {self.trainer.steps}, and {self.steps} "
                             "steps end before; give at least as many")

    def load(self, path: Any) -> None:
        self.trainer.load(path, self.samples, self.seed if self.samples is not None else 0)

    def save(self) -> None:
        """Keeps what was not kept yet."""
        if self.checkpoint is not None and self.trainer.steps != self.saved:
            self.trainer.save(self.checkpoint)
            self.saved = self.trainer.steps

    def step(self) -> float:
        return self.trainer.step_samples(self.samples, self.seed) if self.samples is not None else self.batches.step()


class _Log:
    """A row for each step, on the first rank; none without a place."""

    def __init__(self, trainer: Any, place: str | os.PathLike | None):
        self._trainer, self._handle = trainer, ctypes.c_void_p()
        if place is not None and trainer.is_first:
            call("mlc_training_log_open", trainer._handle, path_of("log", place), ctypes.byref(self._handle))

    def __del__(self):
        if getattr(self, "_handle", None):
            library().mlc_training_log_close(self._handle)

    def write(self, now: Progress) -> None:
        if self._handle:
            held_out = None if now.held_out_loss is None else ctypes.byref(ctypes.c_double(now.held_out_loss))
            call("mlc_training_log_write", self._handle, self._trainer._handle, now.loss, now.learning_rate,
                 now.samples_per_second, held_out)


def _count_steps(trainer: Any, data: Any, steps: int | None, epochs: int | None) -> int:
    _check("steps", steps, 1)
    _check("epochs", epochs, 1)
    if (steps is None) == (epochs is None):
        raise UsageError("give either steps or epochs")
    if steps is not None:
        return steps
    if isinstance(data, (str, os.PathLike, Mapping)):
        data = trainer.samples(data)
    try:
        size = len(data)
    except TypeError:
        raise UsageError("epochs: the data do not tell how many batches they have; give steps") from None
    batches = size // trainer.batch if hasattr(data, "_trainer") else size
    count = epochs * batches // trainer.accumulate
    if count < 1:
        raise UsageError(f"epochs: {batches} batches are not enough for a step of {trainer.accumulate}")
    return count


def fit(trainer: Any, data: Any, *, steps: int | None = None, epochs: int | None = None, seed: int = 0,
        evaluate: Any = None, evaluate_every: int = 100, checkpoint: str | os.PathLike | None = None,
        checkpoint_every: int = 100, resume: bool = False, best: str | os.PathLike | None = None,
        log: str | os.PathLike | None = None, callbacks: Iterable[Callable[[Progress], Any]] = ()) -> list[Progress]:
    """As Trainer.fit says."""
    for name, value in (("evaluate_every", evaluate_every), ("checkpoint_every", checkpoint_every)):
        _check(name, value, 1)
    check_seed(seed)
    check.switch("resume", resume)
    if best is not None and evaluate is None:
        raise UsageError("best needs evaluate, the held-out data that decide which is best")
    for name, value in (("checkpoint", checkpoint), ("best", best)):
        _check_output(name, value)
    _check_apart({"the model": trainer._source, "data": data, "evaluate": evaluate},
                 {"checkpoint": checkpoint, "best": best, "log": log})
    last = _count_steps(trainer, data, steps, epochs)
    if not callable(callbacks) and not isinstance(callbacks, Iterable):
        raise UsageError(f"callbacks: expected functions, not {callbacks!r}")
    callbacks = [callbacks] if callable(callbacks) else list(callbacks)
    if wrong := [each for each in callbacks if not callable(each)]:
        raise UsageError(f"callbacks: expected functions, not {wrong[0]!r}")
    run = _Fit(trainer, data, last, seed, checkpoint)
    held_out = _HeldOut(run, evaluate, evaluate_every, best)
    trainer._steps_planned = last
    try:
        if resume:
            held_out.resume()
            run.resume()
        return _take_steps(run, held_out, _Log(trainer, log), checkpoint_every, callbacks)
    finally:
        trainer._steps_planned = 0


class _HeldOut:
    """Evaluates, and keeps the best."""

    def __init__(self, run: _Fit, data: Any, every: int, best: Any):
        self.run, self.every, self.best = run, every, best
        self.least: float | None = None
        if isinstance(data, (str, os.PathLike, Mapping)) or hasattr(data, "_trainer"):
            data = run.trainer.samples(data)
        elif isinstance(data, Iterator):
            raise UsageError("evaluate: an iterator can be read once, and is evaluated several times; give a list, a DataLoader or "
                             "another iterable")
        elif data is not None:
            check_batches("evaluate", data)
        self.data = data

    def resume(self) -> None:
        """What was the best before is held against what comes."""
        checkpoint = self.run.checkpoint
        if self.best is not None and os.path.exists(self.best) and checkpoint is not None and os.path.exists(checkpoint):
            self.run.load(self.best)
            self._take(self.run.trainer.evaluate(self.data))

    def _take(self, loss: float) -> bool:
        is_best = math.isfinite(loss) and (self.least is None or loss < self.least)
        if is_best:
            self.least = loss
        return is_best

    def after(self, step: int, is_last: bool) -> float | None:
        if self.data is None or (step % self.every and not is_last):
            return None
        loss = self.run.trainer.evaluate(self.data)
        if self._take(loss) and self.best is not None:
            self.run.trainer.save(self.best)
        return loss


def _take_steps(run: _Fit, held_out: _HeldOut, rows: _Log, checkpoint_every: int,
                callbacks: list[Callable]) -> list[Progress]:
    trainer, last = run.trainer, run.steps
    history: list[Progress] = []
    begin, first = time.monotonic(), trainer.steps
    try:
        while trainer.steps < last:
            rate = trainer.rate_at(trainer.steps, last)
            loss, step = run.step(), trainer.steps
            is_last = step == last
            evaluated = held_out.after(step, is_last)
            seconds = max(time.monotonic() - begin, 1e-9)
            speed = (step - first) * trainer.batch * trainer.accumulate / seconds
            history.append(Progress(step, loss, rate, speed, seconds / (step - first) * (last - step), evaluated))
            rows.write(history[-1])
            if step % checkpoint_every == 0 or is_last:
                run.save()
            # All are told, whatever one of them says.
            if False in [callback(history[-1]) for callback in callbacks]:
                break
    except BaseException as error:
        # Ctrl-C, and what a callback or an evaluation raises, lose no step. Of several ranks others may be elsewhere.
        if trainer.is_alone or isinstance(error, KeyboardInterrupt):
            try:
                run.save()
            except Error:
                pass  # what has happened before is what is told
        raise
    run.save()
    return history
