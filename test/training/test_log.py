"""--log, --metric, --best, and what a terminal shows of `mlc train`."""

import csv
import json
import os
import re
import shutil
import signal
import subprocess

import event_files
import numpy as np
import onnx
import pytest
from graphs import model

RNG = np.random.default_rng(23)
FEATURES, CLASSES, BATCH = 5, 4, 6
WEIGHTS = {"w": RNG.normal(size=(FEATURES, CLASSES)).astype(np.float32), "b": np.zeros(CLASSES, np.float32)}
COLUMNS = ["step", "loss", "learning_rate", "samples_per_second", "loss_scale", "skipped", "held_out_loss", "accuracy",
           "perplexity"]
LOGS = {"csv": "log.csv", "jsonl": "log.jsonl", "tensorboard": "tensorboard:events"}


def samples(count, seed):
    """Labels that follow from the numbers, but for noise; some do not count."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(count, FEATURES)).astype(np.float32)
    labels = (x @ np.linspace(-1, 1, FEATURES * CLASSES).reshape(FEATURES, CLASSES) + rng.gumbel(size=(count, CLASSES))).argmax(1)
    labels[rng.random(count) < 0.1] = -1
    return {"x": x, "target": labels}


def write(folder):
    net = model([("MatMul", ["x", "w"], ["p"], {}), ("Add", ["p", "b"], ["y"], {})], [("x", ["N", FEATURES])],
                [("y", ["N", CLASSES])], WEIGHTS)
    onnx.save(net, folder / "m.onnx")
    np.savez(folder / "d.npz", **samples(30, 1))
    np.savez(folder / "e.npz", **samples(24, 2))
    return ["m.onnx", "--loss=cross-entropy", "--data=d.npz", f"--batch={BATCH}", "--learning-rate=0.5", "--schedule=linear",
            "--checkpoint=c.npz", "--log-every=1", "--threads=1"]


def train(tools, folder, *arguments, code=0, **options):
    done = tools.mlc("train", *arguments, cwd=folder, **options)
    assert done.returncode == code, done.stderr
    return done


def rows(folder, kind):
    """[{column: value}], those that are there."""
    if kind == "tensorboard":
        return [{"step": step, **values} for step, values in event_files.read(folder / "events/events.out.tfevents.mlc")]
    if kind == "jsonl":
        return [json.loads(line, parse_constant=pytest.fail) for line in (folder / "log.jsonl").read_text().splitlines()]
    with open(folder / "log.csv", newline="") as file:
        assert next(csv.reader(file)) == COLUMNS
    with open(folder / "log.csv", newline="") as file:
        return [{k: float(v) for k, v in row.items() if v} for row in csv.DictReader(file)]


def without_speed(found):
    assert all(row.pop("samples_per_second") > 0 for row in found)
    return found


@pytest.mark.parametrize("kind", LOGS)
def test_each_step_has_a_row(tools, tmp_path, kind):
    done = train(tools, tmp_path, *write(tmp_path), "--steps=12", "--evaluate=e.npz", "--evaluate-every=5",
                 "--metric=perplexity", f"--log={LOGS[kind]}")
    found = without_speed(rows(tmp_path, kind))
    assert [row["step"] for row in found] == list(range(1, 13))
    losses = [float(x) for x in re.findall(r"^step \d+  loss (\S+)$", done.stdout, re.M)]
    assert [row["loss"] for row in found] == pytest.approx(losses, rel=1e-6)
    assert [row["learning_rate"] for row in found] == pytest.approx([0.5 * (1 - i / 12) for i in range(12)], rel=1e-6)
    told = re.findall(r"^step (\d+)  held-out loss (\S+)  perplexity (\S+)$", done.stdout, re.M)
    evaluated = [row for row in found if "held_out_loss" in row]
    assert [int(step) for step, _, _ in told] == [row["step"] for row in evaluated] == [5, 10, 12]
    for (_, loss, perplexity), row in zip(told, evaluated):
        assert row["held_out_loss"] == pytest.approx(float(loss), rel=1e-6)
        assert row["perplexity"] == pytest.approx(np.exp(float(loss)), rel=1e-6)
        assert float(perplexity) == pytest.approx(row["perplexity"], rel=1e-5)
    assert all(set(row) <= {"step", "loss", "learning_rate", "held_out_loss", "perplexity"} for row in found)


@pytest.mark.parametrize("kind", LOGS)
def test_a_resumed_log_has_each_step_once(tools, tmp_path, kind):
    """Cut in the middle of a row, behind the steps of the last checkpoint."""
    arguments = [*write(tmp_path), "--schedule=constant", "--evaluate=e.npz", "--evaluate-every=3", f"--log={LOGS[kind]}"]
    train(tools, tmp_path, *arguments, "--steps=10")
    want = without_speed(rows(tmp_path, kind))
    (tmp_path / "c.npz").unlink()
    train(tools, tmp_path, *arguments, "--steps=4", "--resume")  # nothing to go on from: anew
    assert without_speed(rows(tmp_path, kind)) == [*want[:3], {**want[3], "held_out_loss": rows(tmp_path, kind)[3]["held_out_loss"]}]
    shutil.copy(tmp_path / "c.npz", tmp_path / "four.npz")
    train(tools, tmp_path, *arguments, "--steps=8", "--resume")
    shutil.copy(tmp_path / "four.npz", tmp_path / "c.npz")
    log = tmp_path / ("events/events.out.tfevents.mlc" if kind == "tensorboard" else LOGS[kind])
    log.write_bytes(log.read_bytes()[:-5])
    done = train(tools, tmp_path, *arguments, "--steps=10", "--resume")
    assert "resumed: after step 4" in done.stdout
    found = without_speed(rows(tmp_path, kind))
    assert found[3].pop("held_out_loss") > 0  # the end of the run of four steps
    assert found == want
    train(tools, tmp_path, *arguments, "--steps=2")
    assert [row["step"] for row in rows(tmp_path, kind)] == [1, 2]


def test_events_behind_damage_are_not_dropped(tools, tmp_path):
    arguments = [*write(tmp_path), "--log=tensorboard:events"]
    train(tools, tmp_path, *arguments, "--steps=4")
    log = tmp_path / "events/events.out.tfevents.mlc"
    whole = log.read_bytes()
    for place in (0, 9, 14, 60, 66, 75, len(whole) // 2):
        log.write_bytes(whole[:place] + bytes([whole[place] ^ 255]) + whole[place + 1:])
        done = train(tools, tmp_path, *arguments, "--steps=6", "--resume", code=2)
        assert "is no log of mlc train to go on with" in done.stderr
        log.write_bytes(whole)
    train(tools, tmp_path, *arguments, "--steps=6", "--resume")
    assert [row["step"] for row in rows(tmp_path, "tensorboard")] == [1, 2, 3, 4, 5, 6]


def test_a_killed_run_leaves_whole_rows(tools, tmp_path):
    arguments = [*write(tmp_path), "--steps=100000", "--checkpoint-every=1000", "--log=log.csv"]
    run = subprocess.Popen([tools.build / "bin/mlc", "train", *arguments], cwd=tmp_path, stdout=subprocess.PIPE, text=True)
    while not run.stdout.readline().startswith("step 2000 "):
        assert run.poll() is None
    run.send_signal(signal.SIGKILL)
    run.communicate()
    assert run.returncode == -signal.SIGKILL
    assert (tmp_path / "log.csv").read_bytes().endswith(b"\n")
    steps = [row["step"] for row in rows(tmp_path, "csv")]
    # The row of a step follows what is printed of it: of an evaluation, too.
    assert len(steps) >= 1999 and steps == list(range(1, len(steps) + 1))
    train(tools, tmp_path, *arguments, f"--steps={len(steps) + 100}", "--resume", "--log-every=1000")
    assert [row["step"] for row in rows(tmp_path, "csv")] == list(range(1, len(steps) + 101))


def test_the_loss_scale_is_logged(tools, tmp_path):
    """Gradients overflow until it has been halved often enough."""
    arguments = [*write(tmp_path), "--loss-scale=dynamic", "--autocast=f16", "--learning-rate=1e-4"]
    data = samples(30, 1)
    np.savez(tmp_path / "d.npz", x=data["x"] * 1000, target=data["target"])
    done = train(tools, tmp_path, *arguments, "--steps=20", "--log=log.jsonl")
    found = rows(tmp_path, "jsonl")
    skipped = {int(step): float(scale) for step, scale in re.findall(r"^step (\d+)  skipped: .*loss scale (\S+)$", done.stdout, re.M)}
    assert skipped and len(skipped) < 20
    scale = 65536
    for row in found:
        scale = skipped.get(row["step"], scale)
        assert row["loss_scale"] == scale and row["skipped"] == (row["step"] in skipped)


def right(checkpoint, data):
    """The share of labels whose class has the largest output, and the mean loss, in double precision."""
    with np.load(checkpoint) as file:
        y = data["x"].astype(np.float64) @ file["weight/w"] + file["weight/b"]
    counted = data["target"] >= 0
    y, labels = y[counted], data["target"][counted]
    logs = y - np.log(np.exp(y).sum(1, keepdims=True))
    return (y.argmax(1) == labels).mean(), -logs[np.arange(len(labels)), labels].mean()


@pytest.mark.parametrize("ranks", [[], ["--ranks=2"], ["--ranks=2", "--zero=2"], ["--ranks=3", "--algorithm=server"]],
                         ids=lambda flags: "".join(flags) or "alone")
def test_accuracy_is_numpys(tools, tmp_path, ranks):
    done = train(tools, tmp_path, *write(tmp_path), "--steps=7", "--evaluate=e.npz", "--evaluate-every=3", "--metric=accuracy",
                 "--log=log.csv", *ranks)
    want, loss = right(tmp_path / "c.npz", samples(24, 2))
    found = rows(tmp_path, "csv")
    assert [row["step"] for row in found] == list(range(1, 8))
    assert [row["step"] for row in found if "accuracy" in row] == [3, 6, 7]
    assert found[-1]["accuracy"] == pytest.approx(want, abs=1e-8) and found[-1]["held_out_loss"] == pytest.approx(loss, rel=1e-5)
    assert 0 < want < 1
    assert f"step 7  held-out loss {found[-1]['held_out_loss']:.9g}  accuracy {100 * want:.4g} %\n" in done.stdout


@pytest.mark.parametrize("axis", [1, -1])
def test_accuracy_takes_the_first_of_equal_outputs(tools, tmp_path, axis):
    """Of outputs that are small whole numbers, at several places of a sample."""
    rng = np.random.default_rng(3)
    shape = (8, 3, 5) if axis == 1 else (8, 5, 3)
    x = rng.integers(0, 3, shape).astype(np.float32)
    labels = rng.integers(-1, 3, (8, 5))
    onnx.save(model([("Mul", ["x", "w"], ["y"], {})], [("x", ["N", *shape[1:]])], [("y", ["N", *shape[1:]])],
                    {"w": np.ones(1, np.float32)}), tmp_path / "m.onnx")
    np.savez(tmp_path / "d.npz", x=x, target=labels)
    train(tools, tmp_path, "m.onnx", "--loss=cross-entropy", f"--class-axis={axis}", "--data=d.npz", "--evaluate=d.npz", "--batch=4",
          "--steps=1", "--learning-rate=1e-6", "--metric=accuracy", "--checkpoint=c.npz", "--log=log.csv")
    want = (x.argmax(axis) == labels).sum() / (labels >= 0).sum()
    assert rows(tmp_path, "csv")[0]["accuracy"] == pytest.approx(want, abs=1e-8)


def test_programs_count_only_if_they_are_asked(tools, tmp_path):
    def program(*more):
        return train(tools, tmp_path, *write(tmp_path), "--evaluate=e.npz", "--compile-to=fuse", *more).stdout

    plain = program()
    assert program("--metric=perplexity") == plain
    assert program("--metric=accuracy") != plain


def test_the_best_is_kept(tools, tmp_path):
    """By what the log says of all evaluations; a resumed run knows how good the best was."""
    arguments = [*write(tmp_path), "--schedule=constant", "--learning-rate=3", "--evaluate=e.npz", "--evaluate-every=2",
                 "--log=log.csv", "--best=b.npz", "--metric=accuracy"]

    def best(of, found):
        values = [(row["step"], row[of]) for row in found if of in row]
        better = max if of == "accuracy" else min
        return better(values, key=lambda one: one[1])

    def check(of="accuracy"):
        with np.load(tmp_path / "b.npz") as file:
            step, value = best(of, rows(tmp_path, "csv"))
            assert file["step"] == step
            return int(step), value

    train(tools, tmp_path, *arguments, "--steps=30")
    step, value = check()
    assert 2 < step < 30, "the samples have the last evaluation the best; take others"
    assert right(tmp_path / "b.npz", samples(24, 2))[0] == pytest.approx(value, abs=1e-8)
    whole = (tmp_path / "b.npz").read_bytes()
    train(tools, tmp_path, *arguments, f"--steps={step}")
    train(tools, tmp_path, *arguments, "--steps=30", "--resume")
    check()
    with np.load(tmp_path / "b.npz") as file:
        assert file["best accuracy"] == pytest.approx(value)
    assert (tmp_path / "b.npz").read_bytes() == whole
    # It is a checkpoint, of which a model is made.
    train(tools, tmp_path, "m.onnx", "--export", "--checkpoint=b.npz", "-o", "o.onnx")
    # By the loss; on ranks that have parts of what is kept.
    train(tools, tmp_path, *arguments[:-1], "--steps=30", "--ranks=2", "--zero=3", "--optimizer=adam", "--learning-rate=0.3")
    check("held_out_loss")


def test_what_does_not_fit_is_named(tools, tmp_path):
    arguments = write(tmp_path)
    (tmp_path / "folder.csv").mkdir()
    (tmp_path / "file").write_text("")
    (tmp_path / "other.csv").write_text("a,b\n1,2\n")

    def error(*more, code=2):
        return train(tools, tmp_path, *arguments, *more, code=code).stderr

    for log in ("log.txt", "log", ".csv", "tensorboard:", "-"):
        assert f"--log={log}: is no log; give FILE.csv, FILE.jsonl or tensorboard:FOLDER" in error(f"--log={log}")
    assert "there is no folder 'nowhere'" in error("--log=nowhere/log.csv")
    assert "there is no folder 'nowhere'" in error("--log=tensorboard:nowhere/events")
    assert "there is no folder 'file'" in error("--log=tensorboard:file")
    assert "folder.csv: is a folder" in error("--log=folder.csv")
    assert "--best needs --evaluate=FILE.npz" in error("--best=b.npz")
    assert "--metric needs --evaluate=FILE.npz" in error("--metric=accuracy")
    assert "--metric is of classes; give --loss=cross-entropy" in error("--metric=accuracy", "--evaluate=e.npz", "--loss=mse")
    assert "--best is a file, not '-'" in error("--best=-", "--evaluate=e.npz")
    assert "is both the checkpoint and the best one" in error("--best=./c.npz", "--evaluate=e.npz")
    assert "is both the model to write and the log" in error("--log=log.csv", "-o", "log.csv")
    os.symlink("log.csv", tmp_path / "model.onnx")
    (tmp_path / "log.csv").write_text("")
    assert "is both the model to write and the log" in error("--log=log.csv", "-o", "model.onnx")
    shutil.copy(tmp_path / "d.npz", tmp_path / "d.csv")
    assert "d.csv" in error("--log=d.csv", "--data=d.csv")
    assert (tmp_path / "d.csv").read_bytes() == (tmp_path / "d.npz").read_bytes()
    assert "--log is for training, and --artifact trains nothing" in train(
        tools, tmp_path, *[a for a in arguments if "c.npz" not in a and "d.npz" not in a], "--artifact=a.mlca", "--log=l.csv", code=2).stderr
    train(tools, tmp_path, *arguments, "--steps=1")
    assert "other.csv: is no log of mlc train to go on with" in error("--log=other.csv", "--resume")
    assert (tmp_path / "other.csv").read_text() == "a,b\n1,2\n"


@pytest.mark.parametrize("name", ["log.csv", "log.jsonl"])
def test_a_full_disk_ends_training(tools, tmp_path, name):
    os.symlink("/dev/full", tmp_path / name)
    for ranks in ([], ["--ranks=2"]):
        done = train(tools, tmp_path, *write(tmp_path), "--steps=3", f"--log={name}", *ranks, code=9)
        assert f"{name}: cannot be written: No space left on device; make room" in done.stderr
        assert not (tmp_path / "c.npz").exists()
        # The first line of CSV is written before anything is trained.
        assert ("step 1 " in done.stdout) == (name == "log.jsonl")


def test_a_terminal_shows_how_fast_it_is(tools, tmp_path):
    """On a line of stderr that is gone at the end; a file has none of it."""
    arguments = [*write(tmp_path), "--steps=20"]
    ours, theirs = os.openpty()
    done = train(tools, tmp_path, *arguments, capture_output=False, stdout=subprocess.PIPE, stderr=theirs)
    os.close(theirs)
    shown = b""
    while True:
        try:
            shown += os.read(ours, 4096)
        except OSError:
            break
    os.close(ours)
    assert re.search(rb"\r\x1b\[Kstep 1 of 20  [\d.e+]+ samples/s  \d+:\d\d:\d\d left", shown), shown
    assert shown.split(b"left")[-1].startswith(b"\r\x1b[K")
    plain = train(tools, tmp_path, *arguments)
    assert plain.stdout == done.stdout and "\x1b" not in plain.stderr
    assert re.search(r"^20 steps in \S+ s, [\d.e+]+ samples/s$", plain.stderr, re.M)
