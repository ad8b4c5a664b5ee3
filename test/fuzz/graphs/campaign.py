"""Many graphs: workers, failures, their reduction."""

import collections
import multiprocessing
import pathlib
import re
import time

import numpy as np
import onnx

import making
import modes
import report
from reduce import Reducer, failures_of
from worker import Worker


def cause(failure):
    """What two failures of one cause have in common, as far as their text says."""
    lines = failure.text.splitlines() or [""]
    first = lines[-1] if "split" in failure.kind else lines[0]
    if failure.kind == "wrong":
        first = "results of " + first.split(" of ", 1)[-1].split(":")[0]
    return failure.kind, failure.stage.split(" ")[0], re.sub(r"\bv?n?\d+\b|/\S+", "#", first)[:160]


class Campaign:
    def __init__(self, options):
        self.options = options
        self.folder = pathlib.Path(options.build) / "fuzz-graphs"
        self.records, self.seen = [], collections.Counter()
        self.spare = None

    def run(self):
        seeds = iter(range(self.options.seed, self.options.seed + self.options.number))
        workers = [Worker(self.options.build, self.options.targets)
                   for _ in range(self.options.jobs)]
        busy = {}
        try:
            for worker in workers:
                self._next(worker, seeds, busy)
            while busy:
                multiprocessing.connection.wait([w.connection for w in busy], timeout=1)
                for worker in list(busy):
                    answer = worker.answer()
                    if answer is not None:
                        seed = busy.pop(worker)
                        self._record(seed, answer)
                        self._next(worker, seeds, busy)
        finally:
            for worker in workers:
                worker.stop()
            if self.spare:
                self.spare.stop()
        return self.records

    def _next(self, worker, seeds, busy):
        seed = next(seeds, None)
        if seed is not None:
            worker.ask("seed", seed, self.options.modes, self.options.only)
            busy[worker] = seed

    def _record(self, seed, answer):
        found = failures_of(answer)
        known = [f for f in found if self._is_open(f)]
        record = report.Record(seed, [f for f in found if f not in known], known)
        if answer[0] == "done":
            record.outcome, record.nodes, record.seconds = answer[1:]
            record.outcome.failures = []
        elif answer[0] == "broken":
            record.broken = answer[1]
            report.say(f"seed {seed}: the harness itself failed\n{answer[1]}")
        self.records.append(record)
        if len(self.records) % 100 == 0:
            report.progress(self.records, self.options.number)
        for failure in record.failures:
            key = cause(failure)
            self.seen[key] += 1
            if self.seen[key] <= self.options.keep and not record.kept:
                record.kept = True
                report.say(f"seed {seed}: {failure.kind} in {failure.stage}: "
                           + failure.text[:300].replace("\n", "\n    "))
                self._keep(seed, failure)

    def _is_open(self, failure):
        text = ": ".join(cause(failure))
        return any(re.search(pattern, text) for pattern in self.options.open_causes)

    def _keep(self, seed, failure):
        """Writes the graph and a smaller one that fails alike."""
        folder = self.folder / str(seed)
        folder.mkdir(parents=True, exist_ok=True)
        model, feeds = making.generate(seed, self.options.only)
        write(folder, "model", model, feeds)
        small = None
        if self.options.reduce:
            if self.spare is None:
                self.spare = Worker(self.options.build, self.options.targets)
            started = time.monotonic()
            small = Reducer(self.spare, failure, modes.of(self.options.modes, seed)).reduce(
                model, feeds)
            if small:
                write(folder, "small", small[0], small[1])
                report.say(f"seed {seed}: reduced to {len(small[0].graph.node)} nodes in "
                           f"{time.monotonic() - started:.0f} s: "
                           + ", ".join(n.op_type for n in small[0].graph.node))
        report.explain(folder, seed, failure, small, self.options)


def write(folder, name, model, feeds):
    onnx.save(model, folder / f"{name}.onnx")
    for world, feed in enumerate(feeds):
        # numpy's files have no bfloat16.
        np.savez(folder / f"{name}-{world}.npz", **{
            n: a.astype(np.float32) if a.dtype.name == "bfloat16" else a for n, a in feed.items()})
