"""mlc under test: one graph compiled, run, optimized and verified in the ways asked for."""

import dataclasses
import os
import pathlib
import resource
import signal
import subprocess

import numpy as np
import onnx

import judges
import mlc
import on_ranks

UNSUPPORTED = 4
SECONDS = 20  # of CPU for one process; more is a hang

# Exit codes of mlc that say something about a valid graph.
MEANINGS = {1: "internal error", 3: "refused as a bad file", 7: "no code", 8: "device",
            9: "out of memory or time", 6: "unknown", 5: "refuted"}


@dataclasses.dataclass
class Failure:
    kind: str  # crash, internal error, refused ..., hang, wrong, split, ...
    stage: str  # which step, with its options
    text: str = ""
    world: int = 0
    output: str = ""

    def key(self):
        """What reduction keeps."""
        return self.kind, self.stage.split(" ")[0]


@dataclasses.dataclass
class Outcome:
    failures: list = dataclasses.field(default_factory=list)
    unsupported: str = ""
    judged: dict = dataclasses.field(default_factory=dict)  # judge -> elements compared
    undecided: int = 0
    explained: list = dataclasses.field(default_factory=list)  # entries used


class Subject:
    def __init__(self, build, folder, targets=("",), say=lambda stage: None):
        self.build, self.folder = pathlib.Path(build), pathlib.Path(folder)
        self.targets, self.say = targets, say
        os.environ["MLC_BUILD"] = str(build)

    def tool(self, name, *arguments):
        """(exit code, text); a negative code is a signal, None a hang."""
        command = [str(self.build / "bin" / name), *map(str, arguments)]
        def limit():
            resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
        try:
            done = subprocess.run(command, capture_output=True, timeout=30 * SECONDS,
                                  preexec_fn=limit, env={**os.environ, "TMPDIR": str(self.folder)})
        except subprocess.TimeoutExpired:
            return None, f"no answer within {30 * SECONDS} s"
        if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
            return None, f"no answer within {SECONDS} s of CPU"
        return done.returncode, (done.stderr + done.stdout).decode(errors="replace")

    def _failed(self, outcome, code, text, stage):
        """Notes what an exit code means for a valid graph. True when there is no result."""
        if code == 0:
            return False
        if code == UNSUPPORTED:
            outcome.unsupported = text
            return True
        kind = "hang" if code is None else f"crash (signal {-code})" if code < 0 \
            else MEANINGS.get(code, f"exit code {code}")
        outcome.failures.append(Failure(kind, stage, text[-2000:]))
        return True

    def check(self, model, feeds, modes):
        """Everything about one graph. `modes` is a set of names; see modes.py."""
        outcome = Outcome()
        path = self.folder / "model.onnx"
        onnx.save(model, path)
        self.say("judging")
        court = judges.Court(model, feeds)
        for target in self.targets:
            for rewrites in (True, False):
                if (("rewrites" if rewrites else "plain") in modes) and not outcome.unsupported:
                    self._compiled(outcome, court, path, target, rewrites, modes)
        if "optimize" in modes and not outcome.unsupported:
            self._optimized(outcome, court, model, path, "trail" in modes)
        if "ranks" in modes and not outcome.unsupported and on_ranks.has_array_files(model):
            self._on_ranks(outcome, court, path)
        if "evaluator" in modes and not outcome.unsupported:
            self._evaluated(outcome, court, path)
        return outcome

    def _compiled(self, outcome, court, path, target, rewrites, modes):
        artifact = self.folder / "model.mlca"
        artifact.unlink(missing_ok=True)
        options = ([] if rewrites else ["--no-rewrites"]) + \
            ([f"--target={target}"] if target else [])
        # Kernels for GPUs run on the emulator, and are judged as the CPU's are.
        is_gpu = target.startswith("cuda:")
        if is_gpu:
            options.append("--precision=ieee")
        stage = " ".join(["compile", *options])
        self.say(stage)
        code, text = self.tool("mlc", "compile", path, "-o", artifact, *options)
        if self._failed(outcome, code, text, stage):
            return
        threads = [n for n, name in ((1, "one-thread"), (2, "two-threads")) if name in modes]
        for number in threads:
            run = f"run{' --no-rewrites' if not rewrites else ''} threads={number} {target}".strip()
            self.say(run)
            try:
                session = mlc.Session(mlc.load(artifact), threads=number, device="emulator" if is_gpu else None)
                for world, feed in enumerate(court.feeds):
                    results = session.run(feed)
                    court.compare(outcome, results, world, "run", run)
            except mlc.Error as error:
                outcome.failures.append(Failure(f"status {error.code}", run, str(error)))

    def _on_ranks(self, outcome, court, path):
        """One world, as what is split has fixed dims."""
        world = len(path.read_bytes()) % len(court.feeds)
        options = on_ranks.flags(court.model, court.feeds[world])
        stage = " ".join(["ranks", *options])
        self.say(stage)
        results, code, text = on_ranks.run(self, path, court.feeds[world], options)
        if not self._failed(outcome, code, text, stage):
            court.compare(outcome, results, world, "ranks", stage)

    def _optimized(self, outcome, court, model, path, trail):
        result = self.folder / "optimized.onnx"
        result.unlink(missing_ok=True)
        self.say("optimize")
        code, text = self.tool("mlc", "optimize", path, "-o", result)
        if self._failed(outcome, code, text, "optimize"):
            return
        made = onnx.load(result)
        self._well_formed(outcome, model, made)
        if trail:
            self.say("trail")
            code, text = self.tool("mlc-verify", "--trail", path, result)
            self._failed(outcome, code, text, "trail")
        self.say("optimized")
        try:
            runner = judges.Runtime(made)
            results = [runner(feed) for feed in court.feeds]
        except judges.Cannot as error:
            if court.runtime_results is not None:
                outcome.failures.append(Failure("refused by ONNX Runtime", "optimized", str(error)))
            return
        for world, values in enumerate(results):
            court.compare(outcome, values, world, "optimized", "optimized")

    def _well_formed(self, outcome, model, made):
        def note(kind, text):
            outcome.failures.append(Failure(kind, "optimized", text))
        try:
            onnx.checker.check_model(made, full_check=True)
        except Exception as error:
            note("refused by the checker", str(error)[-1500:])
        for field in ("producer_name", "producer_version", "domain", "model_version", "doc_string"):
            before, after = getattr(model, field), getattr(made, field)
            if before != after:
                note(f"{field} not kept", f"{before!r} became {after!r}")
        if model.graph.doc_string != made.graph.doc_string:
            note("doc_string of the graph not kept", made.graph.doc_string)
        kept = {(p.key, p.value) for p in made.metadata_props}
        if not kept >= {(p.key, p.value) for p in model.metadata_props}:
            note("metadata not kept", str(sorted(kept)))
        opsets = [{o.domain: o.version for o in m.opset_import}.get("") for m in (model, made)]
        if opsets[0] != opsets[1]:
            note("opset changed", f"{opsets[0]} became {opsets[1]}")
        for port in ("input", "output"):
            names = [[v.name for v in getattr(m.graph, port)] for m in (model, made)]
            if names[0] != names[1]:
                note(f"{port}s changed", f"{names[0]} became {names[1]}")

    def _evaluated(self, outcome, court, path):
        """mlc's evaluator on the graph as imported: the third judge."""
        self.say("evaluator")
        text = self.folder / "imported.mlir"
        code, message = self.tool("mlc", "compile", path, "--no-rewrites", "--compile-to=import",
                                  "-o", text)
        if self._failed(outcome, code, message, "import"):
            return
        names = [v.name for v in court.model.graph.output]
        for world, feed in enumerate(court.feeds):
            inputs = []
            for value in court.model.graph.input:
                if feed[value.name].dtype.name == "bfloat16":
                    return
                inputs.append(f"--input={self.folder / (value.name + '.npy')}")
                np.save(self.folder / f"{value.name}.npy", feed[value.name])
            folder = self.folder / "evaluated"
            code, message = self.tool("mlc-eval", text, *inputs, f"--output-dir={folder}")
            if code == UNSUPPORTED or self._failed(outcome, code, message, "evaluate"):
                return
            results = {name: np.load(folder / f"{i}.npy") for i, name in enumerate(names)
                       if (folder / f"{i}.npy").exists()}
            court.compare(outcome, results, world, "evaluate", "evaluate")


