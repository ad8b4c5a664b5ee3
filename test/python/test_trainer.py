"""mlc.Trainer: the command line's training bit for bit, batches of the caller's, what ends it, what it refuses."""

import copy
import ctypes
import functools
import os
import pathlib
import subprocess
import sys
import threading

import mlc
import numpy as np
import onnx
import onnxruntime
import pytest
from mlc import _library
from onnx import TensorProto, helper, numpy_helper

ROOT = pathlib.Path(__file__).resolve().parents[2]
RNG = np.random.default_rng(7)
WEIGHTS = {"w1": RNG.normal(0, .3, (8, 16)), "b1": np.zeros(16), "w2": RNG.normal(0, .3, (16, 4))}
WEIGHTS = {name: value.astype(np.float32) for name, value in WEIGHTS.items()}
GRAPH = helper.make_graph(
    [helper.make_node("MatMul", ["x", "w1"], ["a"]), helper.make_node("Add", ["a", "b1"], ["c"]),
     helper.make_node("Relu", ["c"], ["d"]), helper.make_node("MatMul", ["d", "w2"], ["y"])], "dense",
    [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 8])],
    [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", 4])],
    [numpy_helper.from_array(value, name) for name, value in WEIGHTS.items()])
MODEL = helper.make_model(GRAPH, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
X = RNG.normal(size=(60, 8)).astype(np.float32)
DATA = {"x": X, "target": (X[:, 0] > 0).astype(np.int64) + 2 * (X[:, 1] > 0)}
LOSS = {"loss": "cross-entropy", "batch": 12}


@pytest.fixture
def folder(tmp_path):
    onnx.save(MODEL, tmp_path / "m.onnx")
    np.savez(tmp_path / "d.npz", **DATA)
    np.savez(tmp_path / "e.npz", **{name: value[:24] for name, value in DATA.items()})
    return tmp_path


def batches(size=12):
    return [{name: value[i:i + size] for name, value in DATA.items()} for i in range(0, 60, size)]


@functools.cache
def artifact(**options):
    return mlc.Trainer(MODEL, **{**LOSS, **options})._model


def trainer(**options):
    """A new one, of a model that is compiled once."""
    own = {name: options.pop(name) for name in ("learning_rate", "schedule", "warmup") if name in options}
    return mlc.Trainer(artifact(**options), **{"learning_rate": 0.01, **own})


def flags(options):
    texts = []
    for name, value in options.items():
        texts.append("--" + name.replace("_", "-") + ("" if value is True else f"={value}"))
    return texts


def command_line(tools, folder, options, steps):
    done = tools.mlc("train", folder / "m.onnx", f"--data={folder / 'd.npz'}", "--loss=cross-entropy", "--batch=12",
                     f"--steps={steps}", f"--checkpoint={folder / 'cli.npz'}", "-o", folder / "cli.onnx", *flags(options))
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("options", [
    {"optimizer": "sgd"}, {"optimizer": "adamw", "clip_norm": 1.0, "weight_decay": 0.1},
    {"optimizer": "momentum", "nesterov": True, "learning_rate": 0.05, "accumulate": 2},
    {"optimizer": "adam", "accumulate": 3, "loss_scale": "dynamic", "schedule": "cosine", "warmup": 3}])
def test_it_has_the_bits_of_the_command_line(tools, folder, options):
    command_line(tools, folder, options, steps=15)
    mine = mlc.Trainer(folder / "m.onnx", **LOSS, **options)
    mine.fit(folder / "d.npz", steps=15, checkpoint=folder / "mine.npz")
    mine.export(folder / "mine.onnx")
    for suffix in ("npz", "onnx"):
        assert (folder / f"mine.{suffix}").read_bytes() == (folder / f"cli.{suffix}").read_bytes()


RANKS = """
import sys
import mlc
ranks = mlc.Ranks()
trainer = mlc.Trainer(sys.argv[1] + "/m.onnx", loss="cross-entropy", batch=12, optimizer="adamw", zero=3, ranks=ranks)
trainer.fit(sys.argv[1] + "/d.npz", steps=15, checkpoint=sys.argv[1] + "/mine.npz")
trainer.export(sys.argv[1] + "/mine.onnx")
weights = trainer.state_dict()
if trainer.is_first:
    print({name: value.shape for name, value in weights.items()})
ranks.finish()
"""


def test_two_ranks_have_the_bits_of_the_command_line(tools, folder):
    command_line(tools, folder, {"optimizer": "adamw", "ranks": 2, "zero": 3}, steps=15)
    (folder / "ranks.py").write_text(RANKS)
    done = tools.mlc("launch", "-n", "2", sys.executable, folder / "ranks.py", folder,
                     env={**os.environ, "PYTHONPATH": str(ROOT / "runtime/python")})
    assert done.returncode == 0, done.stderr
    assert "'w1': (8, 16)" in done.stdout
    for suffix in ("npz", "onnx"):
        assert (folder / f"mine.{suffix}").read_bytes() == (folder / f"cli.{suffix}").read_bytes()


class Tensor:
    """What torch's tensors are to mlc."""

    def __init__(self, array):
        self._array = array

    def __dlpack__(self, **options):
        return self._array.__dlpack__()

    def __dlpack_device__(self):
        return self._array.__dlpack_device__()


def test_batches_are_whatever_the_caller_has():
    of_dicts, of_tuples, of_tensors = trainer(), trainer(), trainer()
    history = of_dicts.fit(batches(), epochs=2)
    of_tuples.fit([(b["x"], b["target"]) for b in batches()], steps=10)
    of_tensors.fit([[Tensor(b["x"]), Tensor(b["target"])] for b in batches()], epochs=2)
    assert [p.step for p in history] == list(range(1, 11)) and history[-1].loss < history[0].loss
    assert history[0].samples_per_second > 0 and history[-1].seconds_left == 0
    for other in (of_tuples, of_tensors):
        assert all(np.array_equal(value, other.state_dict()[name]) for name, value in of_dicts.state_dict().items())


def test_steps_by_hand_are_those_of_fit():
    by_hand, by_fit = trainer(optimizer="adam"), trainer(optimizer="adam")
    losses = [by_hand.step(b) for b in batches()]
    assert losses == [p.loss for p in by_fit.fit(batches(), epochs=1)]
    both = trainer(accumulate=5)
    assert both.step(batches()) == pytest.approx(trainer().evaluate(batches()), rel=1e-6)


def test_the_learning_rate_may_be_a_function():
    seen = []
    rates = trainer(learning_rate=lambda step: seen.append(step) or 0.1 / (1 + step))
    history = rates.fit(batches(), steps=3)
    assert [p.learning_rate for p in history] == [0.1, 0.05, 0.1 / 3] and set(seen) == {0, 1, 2}
    linear = trainer(learning_rate=0.5, schedule="linear", warmup=2).fit(batches(), steps=6)
    assert [p.learning_rate for p in linear] == [0.25, 0.5, 0.5, 0.375, 0.25, 0.125]


def test_held_out_loss_is_that_of_onnx_runtime(folder):
    mine = mlc.Trainer(MODEL, **LOSS)
    mine.fit(DATA, steps=7)
    mine.export(folder / "trained.onnx")
    logits = onnxruntime.InferenceSession(folder / "trained.onnx").run(None, {"x": X[:24]})[0].astype(np.float64)
    wanted = np.mean(np.log(np.exp(logits).sum(1)) - logits[np.arange(24), DATA["target"][:24]])
    for data in (folder / "e.npz", {n: v[:24] for n, v in DATA.items()}, batches()[:2]):
        assert mine.evaluate(data) == pytest.approx(wanted, rel=1e-5)
    # Labels that are negative do not count, and a batch may have none.
    hidden = {"x": X[12:24], "target": np.full(12, -1)}
    assert mine.evaluate([batches()[0], hidden]) == pytest.approx(mine.evaluate([batches()[0]]))


def test_weights_come_and_go():
    mine, other = trainer(), trainer()
    assert all(np.array_equal(value, WEIGHTS[name]) for name, value in mine.state_dict().items())
    mine.fit(batches(), steps=4)
    other.load_state_dict(mine.state_dict())
    assert mine.step(batches()[4]) == other.step(batches()[4])


def test_a_callback_ends_it(folder):
    mine = trainer()
    history = mine.fit(DATA, steps=30, checkpoint=folder / "c.npz", checkpoint_every=7, callbacks=lambda p: p.step < 5)
    assert len(history) == mine.steps == 5
    # The checkpoint is where it ended, and the rest has the bits of a run without an end.
    resumed, whole = trainer(), trainer()
    assert resumed.fit(DATA, steps=30, checkpoint=folder / "c.npz", resume=True)[0].step == 6
    whole.fit(DATA, steps=30)
    assert all(np.array_equal(value, whole.state_dict()[name]) for name, value in resumed.state_dict().items())


def test_resumed_batches_go_on_where_they_were(folder):
    mine, whole = trainer(), trainer()
    mine.fit(batches(), steps=7, checkpoint=folder / "c.npz")
    mine = trainer()
    mine.fit(batches(), steps=12, checkpoint=folder / "c.npz", resume=True)
    whole.fit(batches(), steps=12)
    assert all(np.array_equal(value, whole.state_dict()[name]) for name, value in mine.state_dict().items())


INTERRUPTED = """
import os, signal, sys
import mlc
trainer = mlc.Trainer(mlc.load("t.mlca"), learning_rate=0.01)
signal.signal(signal.SIGINT, signal.default_int_handler)
try:
    trainer.fit("d.npz", steps=30, checkpoint="c.npz",
                callbacks=lambda now: os.kill(os.getpid(), signal.SIGINT) if now.step == 4 else None)
except KeyboardInterrupt:
    print("interrupted after", trainer.steps)
"""


def test_an_interrupt_leaves_a_checkpoint(folder):
    artifact().save(folder / "t.mlca")
    done = subprocess.run([sys.executable, "-c", INTERRUPTED], cwd=folder, capture_output=True, text=True,
                          env={**os.environ, "PYTHONPATH": str(ROOT / "runtime/python")})
    assert done.stdout == "interrupted after 4\n", done.stderr
    assert np.load(folder / "c.npz")["step"] == 4


def test_the_best_is_kept(folder):
    held_out = {name: value[:12] for name, value in DATA.items()}
    mine = trainer(learning_rate=2.0)
    history = mine.fit(DATA, steps=20, evaluate=held_out, evaluate_every=1, best=folder / "best.npz")
    best = min(history, key=lambda p: p.held_out_loss)
    assert np.load(folder / "best.npz")["step"] == best.step


def test_a_log_is_the_command_lines(tools, folder):
    """But for how fast it is; a second call goes on with it."""
    mine = trainer(optimizer="adam")
    mine.fit(folder / "d.npz", steps=4, evaluate=folder / "e.npz", evaluate_every=2, log=folder / "mine.csv")
    mine.fit(folder / "d.npz", steps=6, evaluate=folder / "e.npz", evaluate_every=2, log=folder / "mine.csv")
    done = tools.mlc("train", folder / "m.onnx", "--loss=cross-entropy", "--batch=12", "--optimizer=adam", "--steps=6", "--learning-rate=0.01",
                     f"--data={folder / 'd.npz'}", f"--evaluate={folder / 'e.npz'}", "--evaluate-every=2",
                     f"--checkpoint={folder / 'c.npz'}", f"--log={folder / 'theirs.csv'}")
    assert done.returncode == 0, done.stderr
    mine, theirs = ([line.split(",") for line in (folder / name).read_text().splitlines()] for name in ("mine.csv", "theirs.csv"))
    speed = theirs[0].index("samples_per_second")
    for one, other in zip(mine[1:], theirs[1:], strict=True):
        assert float(one.pop(speed)) > 0 and float(other.pop(speed)) > 0
    assert mine == theirs


def test_an_artifact_trains_by_itself(tools, folder):
    """Without the model: weights, loss and optimizer are in it."""
    done = tools.mlc("train", folder / "m.onnx", "--loss=cross-entropy", "--batch=12", "--optimizer=adam",
                     f"--artifact={folder / 't.mlca'}")
    assert done.returncode == 0, done.stderr
    loaded, model = mlc.Trainer(mlc.load(folder / "t.mlca"), learning_rate=0.01), trainer(optimizer="adam")
    assert [loaded.step(b) for b in batches()] == [model.step(b) for b in batches()]
    loaded.save(folder / "c.npz")
    done = tools.mlc("train", folder / "m.onnx", "--export", f"--checkpoint={folder / 'c.npz'}", "-o", folder / "o.onnx")
    assert done.returncode == 0, done.stderr
    weights = {w.name: numpy_helper.to_array(w) for w in onnx.load(folder / "o.onnx").graph.initializer}
    assert all(np.array_equal(value, weights[name]) for name, value in loaded.state_dict().items())
    with pytest.raises(mlc.UsageError, match="mlc train MODEL --export"):
        loaded.export(folder / "x.onnx")


UNKNOWN = {"x": np.where(np.arange(96).reshape(12, 8) == 27, np.nan, X[:12]), "target": DATA["target"][:12]}
REFUSED = {
    "other dims": (lambda t: t.step(DATA), mlc.UsageError, r"'x' is f32\[60, 8\]; a batch takes f32\[12, 8\]"),
    "an array missing": (lambda t: t.step({"x": X[:12]}), mlc.UsageError, "has no 'target'; it takes x, target"),
    "a further array": (lambda t: t.step({**batches()[0], "z": X}), mlc.UsageError, "has 'z', which is no input"),
    "too few arrays": (lambda t: t.step((X[:12],)), mlc.UsageError, "has 1 arrays, and takes 2"),
    "another type": (lambda t: t.step((X[:12].astype(np.float64), DATA["target"][:12])), mlc.UsageError, "float64"),
    "no class": (lambda t: t.step((X[:12], np.full(12, 4))), mlc.UsageError, "label 4 at place 0, but there are 4 classes"),
    "NaN": (lambda t: t.step({n: v.astype(DATA[n].dtype) for n, v in UNKNOWN.items()}), mlc.DifferenceError,
            "'x' of sample 3 of the batch is not finite"),
    "infinity": (lambda t: t.step((np.where(X[:12] == X[1, 1], np.inf, X[:12]).astype(np.float32), DATA["target"][:12])), mlc.DifferenceError,
                 "step 1 has not been done, and the weights are as before: 'x' of sample 1 of the batch is not finite"),
    "ranks that are none": (lambda t: mlc.Trainer(MODEL, **LOSS, ranks=2), mlc.UsageError, "ranks: expected mlc.Ranks, not int"),
    "a short last batch": (lambda t: t.fit(batches() + [{name: value[:5] for name, value in DATA.items()}], steps=6), mlc.UsageError,
                           r"'x' is f32\[5, 8\]; a batch takes f32\[12, 8\].*drop_last=True"),
    "no data": (lambda t: t.fit(None, steps=1), mlc.UsageError, "data: expected a .npz file"),
    "a negative warmup": (lambda t: trainer(warmup=-1), mlc.UsageError, "warmup: expected a whole number of at least 0"),
    "negative threads": (lambda t: mlc.Trainer(artifact(), learning_rate=1, threads=-1), mlc.UsageError, "threads: expected a whole number of at least 0"),
    "one batch of several": (lambda t: trainer(accumulate=3).step((X[:12], DATA["target"][:12])), mlc.UsageError,
                             "a step takes a list of 3 batches, since the trainer accumulates; this is one batch"),
    "classes along the samples": (lambda t: mlc.Trainer(MODEL, **LOSS, class_axis=0), mlc.UsageError,
                                  "'target' has 4 as its first dim, and a batch has 12 samples.*give another class_axis"),
    "no label": (lambda t: t.step((X[:12], np.full(12, -1))), mlc.DifferenceError, "all labels of its batch are negative"),
    "neither steps nor epochs": (lambda t: t.fit(DATA), mlc.UsageError, "give either steps or epochs"),
    "best of nothing": (lambda t: t.fit(DATA, steps=1, best="b"), mlc.UsageError, "best needs evaluate"),
    "no log": (lambda t: t.fit(DATA, steps=1, log="log.txt"), mlc.UsageError, "log=log.txt: is no log; give FILE.csv, FILE.jsonl"),
    "no folder for a log": (lambda t: t.fit(DATA, steps=1, log="/nowhere/l.csv"), mlc.UsageError, "there is no folder '/nowhere'"),
    "nothing to resume from": (lambda t: t.fit(DATA, steps=1, resume=True), mlc.UsageError, "resume needs a checkpoint"),
    "an ended iterator": (lambda t: t.fit(iter([]), steps=1), mlc.UsageError, "the data have no batch"),
    "no length": (lambda t: t.fit((b for b in batches()), epochs=1), mlc.UsageError, "give steps"),
    "no file": (lambda t: t.fit("nothing.npz", steps=1), mlc.BadFileError, "nothing.npz: cannot open"),
    "no checkpoint": (lambda t: t.load(ROOT / "README.md"), mlc.BadFileError, "README.md"),
    "no folder": (lambda t: t.save("/nowhere/c.npz"), mlc.UsageError, "cannot be written"),
    "no weight": (lambda t: t.load_state_dict({"q": X}), mlc.UsageError, "no weight 'q'"),
    "a weight of other dims": (lambda t: t.load_state_dict({"w1": X}), mlc.UsageError, "'w1' has the shape"),
    "nothing to evaluate": (lambda t: t.evaluate([]), mlc.UsageError, "nothing to evaluate"),
    "no loss": (lambda t: mlc.Trainer(MODEL, loss="norm"), mlc.UsageError, "norm"),
    "no schedule": (lambda t: trainer(schedule="step"), mlc.UsageError, "schedule: expected constant"),
    "a negative rate": (lambda t: trainer(learning_rate=-1), mlc.UsageError, "learning_rate: expected a positive number"),
    "an open batch": (lambda t: mlc.Trainer(MODEL, loss="mse"), mlc.UsageError, "give batch=NUMBER"),
    "an artifact that does not train": (lambda t: mlc.Trainer(mlc.compile(MODEL), learning_rate=1), mlc.UsageError, "does not train"),
    "an artifact without a rate": (lambda t: mlc.Trainer(artifact()), mlc.UsageError, "give learning_rate"),
    "an artifact with a batch": (lambda t: mlc.Trainer(artifact(), batch=3), mlc.UsageError, "has its loss, optimizer and batch"),
    "no argument": (lambda t: mlc.Trainer(MODEL, rate=1), TypeError, "has no argument 'rate'"),
    "a text for a list": (lambda t: mlc.Trainer(MODEL, train="w1"), mlc.UsageError, "train: expected a list"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_it_is_refused(what):
    act, error, message = REFUSED[what]
    with pytest.raises(error, match=message):
        act(trainer())


@pytest.mark.parametrize("optimizer", ["sgd", "adamw"])
def test_a_bad_batch_costs_nothing(optimizer):
    """The step after it is the one that would have been made without it."""
    one, other = trainer(optimizer=optimizer), trainer(optimizer=optimizer)
    for good in batches()[:2]:
        one.step(good), other.step(good)
    for spoilt in (np.nan, np.inf):
        x = X[:12].copy()
        x[3, 3] = spoilt
        with pytest.raises(mlc.DifferenceError, match="step 3 has not been done, and the weights are as before"):
            one.step((x, DATA["target"][:12]))
    with pytest.raises(mlc.DifferenceError, match="all labels of its batch are negative"):
        one.step((X[:12], np.full(12, -1)))
    assert one.steps == 2
    assert one.step(batches()[2]) == other.step(batches()[2])
    assert all(np.array_equal(value, other.state_dict()[name]) for name, value in one.state_dict().items())


def test_what_diverges_says_so_in_words_of_python():
    mine = mlc.Trainer(MODEL, loss="mse", batch=12, learning_rate=1e30)
    with pytest.raises(mlc.DifferenceError, match="lower learning_rate, or give clip_norm"):
        for _ in range(9):
            mine.step((X[:12], np.zeros((12, 4), np.float32)))


def test_other_settings_are_refused(folder):
    mine = trainer(optimizer="adam", beta1=0.8)
    mine.fit(batches(), steps=3, checkpoint=folder / "c.npz")
    with pytest.raises(mlc.UsageError, match="was made with beta1 0.8, not beta1 0.9"):
        trainer(optimizer="adam").load(folder / "c.npz")


def test_a_checkpoint_is_of_its_samples(folder):
    mine = trainer()
    mine.fit(DATA, steps=3, checkpoint=folder / "c.npz")
    with pytest.raises(mlc.UsageError, match=r"not data of the caller's; give load\(\) the samples that it was made with"):
        trainer().load(folder / "c.npz")
    again = trainer()
    again.load(folder / "c.npz", DATA)
    assert again.steps == 3


def test_samples_are_of_trainers_that_take_the_same():
    mine, samples = trainer(), trainer().samples(DATA)
    mine.step_samples(samples)  # of another, which takes the same
    wide = mlc.Trainer(MODEL, loss="cross-entropy", batch=20, learning_rate=0.01)
    for use in (wide.step_samples, wide.evaluate, lambda s: wide.fit(s, steps=1)):
        with pytest.raises(mlc.UsageError, match="the samples were read for .*; read them for this one"):
            use(samples)
    # Below Python, too.
    loss = ctypes.c_double()
    with pytest.raises(mlc.UsageError, match="read for batches of 12: 'x' .* this trainer takes batches of 20"):
        _library.call("mlc_trainer_step_samples", wide._handle, samples._handle, 0, 0.1, ctypes.byref(loss))
    with pytest.raises(mlc.UsageError, match="read for batches of 12"):
        _library.call("mlc_trainer_evaluate_samples", wide._handle, samples._handle, ctypes.byref(loss))
    with pytest.raises(TypeError, match="samples cannot be copied"):
        copy.copy(samples)


def test_steps_beyond_all_bounds_are_refused(folder):
    mine = trainer()
    mine.step(batches()[0])
    mine.save(folder / "c.npz")
    for step in (2**63 - 1, 2**62 + 5, 2**40 + 1, -1):
        arrays = dict(np.load(folder / "c.npz"))
        np.savez(folder / "forged.npz", **{**arrays, "step": np.int64(step)})
        with pytest.raises(mlc.BadFileError, match="'step' is negative, or more than 2"):
            trainer().load(folder / "forged.npz")


def test_an_interrupted_evaluation_keeps_the_step(folder):
    """Evaluations come before checkpoints of the same step."""
    class Interrupted(list):
        times = 0

        def __iter__(self):
            self.times += 1
            if self.times == 2:
                raise KeyboardInterrupt
            return super().__iter__()
    mine = trainer()
    with pytest.raises(KeyboardInterrupt):
        mine.fit(DATA, steps=30, evaluate=Interrupted(batches()), evaluate_every=10, checkpoint=folder / "c.npz", checkpoint_every=10)
    assert mine.steps == 20 and np.load(folder / "c.npz")["step"] == 20


def test_the_best_is_never_replaced_by_a_worse_one(folder):
    kept = {"evaluate": DATA, "evaluate_every": 5, "checkpoint": folder / "c.npz", "checkpoint_every": 5, "best": folder / "b.npz"}
    first = trainer(learning_rate=0.1)
    before = min(now.held_out_loss for now in first.fit(DATA, steps=20, **kept) if now.held_out_loss is not None)
    worse = trainer(learning_rate=50.0)
    after = worse.fit(DATA, steps=25, resume=True, **kept)
    assert after[-1].held_out_loss > before
    judge = trainer()
    judge.load(folder / "b.npz", DATA)
    assert judge.steps <= 20 and judge.evaluate(DATA) == pytest.approx(before)


def test_a_loss_that_is_none_is_not_the_best(folder, monkeypatch):
    mine, losses = trainer(), iter([float("nan"), 2.0, 3.0])
    monkeypatch.setattr(mlc.Trainer, "evaluate", lambda self, data: next(losses))
    mine.fit(DATA, steps=3, evaluate=DATA, evaluate_every=1, best=folder / "b.npz")
    assert np.load(folder / "b.npz")["step"] == 2


def test_rates_are_numbers_and_are_asked_for_once():
    asked = []
    mine = trainer(learning_rate=lambda step: asked.append(step) or 0.1)
    mine.fit(DATA, steps=4)
    assert asked == [0, 1, 2, 3]
    for bad in (float("nan"), float("inf"), -1.0):
        with pytest.raises(mlc.UsageError, match="the function gives .* for step 0"):
            trainer(learning_rate=lambda step: bad).step(batches()[0])
        loss, of_c = ctypes.c_double(), trainer()
        tensors, _keep = of_c._tensors(batches()[0], "the batch")
        with pytest.raises(mlc.UsageError, match="the learning rate is"):
            _library.call("mlc_trainer_step", of_c._handle, tensors, bad, ctypes.byref(loss))
    assert trainer(learning_rate=np.float32(0.1)).step(batches()[0]) > 0
    # A schedule is of `fit`: steps behind it learn, too.
    mine = trainer(learning_rate=0.1, schedule="linear")
    mine.fit(DATA, steps=np.int64(5))
    assert mine.step(batches()[0]) != mine.step(batches()[0])


def test_what_fit_refuses_before_it_trains(folder):
    mine = trainer()
    no_label = {**DATA, "target": np.full(60, -1)}
    for arguments, message in [
            ({"checkpoint": folder / "none/c.npz"}, "checkpoint: there is no folder"),
            ({"checkpoint": ""}, "checkpoint: '' names no file"),
            ({"best": folder / "none/b.npz", "evaluate": DATA}, "best: there is no folder"),
            ({"evaluate": iter(batches())}, "evaluate: an iterator can be read once"),
            ({"callbacks": [3]}, "callbacks: expected functions, not 3"),
            ({"seed": 2**64}, "seed: expected a whole number below"),
            ({"evaluate": no_label, "evaluate_every": 1}, "all labels of the samples are negative")]:
        with pytest.raises(mlc.UsageError, match=message):
            mine.fit(DATA, steps=1, **arguments)
    for arguments, message in [({"best": "d.npz", "evaluate": DATA}, "is the file of data, too"),
                               ({"checkpoint": "m.onnx"}, "is the file of the model, too"),
                               ({"checkpoint": "q.npz", "best": "./q.npz", "evaluate": DATA}, "is the file of checkpoint, too"),
                               ({"best": "q.csv", "log": "q.csv", "evaluate": DATA}, "is the file of best, too")]:
        of_file = mlc.Trainer(folder / "m.onnx", **LOSS)
        places = {name: folder / value if isinstance(value, str) else value for name, value in arguments.items()}
        with pytest.raises(mlc.UsageError, match=message):
            of_file.fit(folder / "d.npz", steps=1, **places)
    assert mine.steps == 1  # of the last one, whose labels are counted when they are evaluated
    with pytest.raises(mlc.UsageError, match="there are 5 samples, and a batch takes 12; give more samples"):
        mine.samples({name: value[:5] for name, value in DATA.items()})
    with pytest.raises(mlc.UsageError, match="expected a dict of arrays"):
        mine.load_state_dict([1, 2])
    model = artifact()
    for name, value in {"loss": "mse", "optimizer": "adam", "target": "cpu", "dims": {"n": 3}, "rules": ["a.mlir"], "rewrites": False,
                        "timings": "t.json", "plan": {}}.items():
        with pytest.raises(mlc.UsageError, match=f"{name}: an artifact has its loss"):
            mlc.Trainer(model, learning_rate=0.1, **{name: value})


def test_other_threads_are_told_of_the_trainer():
    mine, errors = trainer(), []
    with mine._turn:
        thread = threading.Thread(target=lambda: errors.append(pytest.raises(mlc.UsageError, mine.step, batches()[0])))
        thread.start()
        thread.join()
    assert "another thread is using the trainer; make one for each thread with mlc.Trainer()" in str(errors[0].value)


def test_ranks_save_together(folder):
    """No rank goes on before the file is there."""
    ranks, failures, steps = mlc.Ranks.threads(2), [], []

    def work(own):
        try:
            mine = mlc.Trainer(MODEL, **LOSS, zero=3, ranks=own, learning_rate=0.01)
            for _ in range(3):
                mine.step(batches()[0])
                mine.save(folder / "r.npz")
                mine.load(folder / "r.npz")
            steps.append(mine.steps)
            with pytest.raises(mlc.Error, match="there/r.npz|rank 0 has failed"):
                mine.save(folder / "not/there/r.npz")
            del mine
            own.finish()
        except BaseException as failure:
            failures.append(failure)
    threads = [threading.Thread(target=work, args=(own,)) for own in ranks]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures and steps == [3, 3]
