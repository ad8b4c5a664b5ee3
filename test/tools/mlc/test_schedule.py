"""mlc schedule: tables of actions, beside those that PyTorch publishes and makes."""

import json
import pathlib
import re
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
PUBLISHED = ROOT / "test/unit/schedule/pytorch_schedules.txt"
TORCH = ROOT / ".torch/bin/python"
NAMES = {"GPipe": "gpipe", "1F1B": "1f1b", "Interleaved1F1B": "interleaved-1f1b", "LoopedBFS": "breadth-first",
         "InterleavedZeroBubble": "zero-bubble", "ZBVZeroBubble": "zbv"}


def published():
    tables, key = {}, None
    for line in PUBLISHED.read_text().splitlines():
        head = re.fullmatch(r"# (\S+) ranks=(\d+) micro_batches=(\d+) chunks=(\d+)", line)
        if head:
            key = (head[1], *map(int, head.groups()[1:]))
            tables[key] = ""
        elif not line.startswith("#"):
            tables[key] += line + "\n"
    return tables


def make(tools, name, *arguments):
    done = tools.mlc("schedule", name, "--csv", *arguments)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def sizes(schedule, ranks, micro_batches, chunks):
    # Chunks are said where there may be several.
    return [f"--stages={ranks * chunks}", f"--ranks={ranks}", f"--micro-batches={micro_batches}"]


@pytest.mark.parametrize("schedule", NAMES)
def test_tables_are_pytorchs(tools, schedule):
    tables = {key: csv for key, csv in published().items() if key[0] == schedule}
    assert len(tables) >= 7
    for key, csv in list(tables.items())[::3]:  # All are compared in test/unit/schedule.
        assert make(tools, NAMES[schedule], *sizes(*key)) == csv


def test_tables_are_read(tools, tmp_path):
    path = tmp_path / "table.csv"
    for csv in list(published().values())[::9]:
        path.write_text(csv.replace("\n", "\r\n"))  # as PyTorch's _dump_csv ends lines
        done = tools.mlc("schedule", f"--table={path}", "--csv")
        assert (done.returncode, done.stdout) == (0, csv)


def test_a_table_is_completed_and_written(tools, tmp_path):
    path = tmp_path / "table.csv"
    make(tools, "1f1b", "--stages=2", "--micro-batches=1", "--unshard=1", "--transfers", "--updates", "-o", path)
    assert path.read_text() == ("0UNSHARD,0F0,0SEND_F0,0RECV_B0,0B0,0RESHARD,0STEP\n"
                                "1UNSHARD,1RECV_F0,1F0,1B0,1SEND_B0,1RESHARD,1STEP\n")
    done = tools.mlc("schedule", f"--table={path}", "--transfers")
    assert done.returncode == 3
    assert f"{path}: rank 0, 0SEND_F0: the table has transfers already" in done.stderr
    assert make(tools, "chimera", "--stages=2", "--micro-batches=2", "--inference") == "0F0,1F1\n0F1,1F0\n"
    assert "0SEND_F0>2" in make(tools, "gpipe", "--stages=3", "--micro-batches=2", "--transfers", "--reads=0:2")


def test_norms_follow_sums(tools, tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("0F0,0B0,0NORM\n0F1,0B1,0NORM\n\n")
    arguments = [f"--table={path}", "--transfers", "--updates"]
    done = tools.mlc("schedule", *arguments, "--csv")
    assert done.stdout == "0F0,0B0,0REDUCE_GRAD,0NORM,0STEP\n0F1,0B1,0REDUCE_GRAD,0NORM,0STEP\n"
    # The time of STEP is that of both.
    assert "time 4, " in tools.mlc("schedule", *arguments, "--times=1,1,1,1").stdout


def test_schedules_are_listed(tools):
    done = tools.mlc("schedule", "--list")
    listed = [line.split()[0] for line in done.stdout.splitlines()]
    assert len(listed) == 12 and set(NAMES.values()) < set(listed)
    usage = tools.mlc("schedule", "--help").stdout
    page = (ROOT / "docs/Schedules.md").read_text()
    for name in listed:
        assert name in usage and f"`{name}`" in page


WRONG = [
    ([], "schedule: no schedule; give one of data-parallel, gpipe"),
    (["gipe"], "there is no schedule 'gipe'; there are data-parallel, gpipe"),
    (["gpipe", "--table=x"], "a name and --table; give one of them"),
    (["gpipe", "--stages=4"], "gpipe: give a number of micro-batches"),
    (["gpipe", "--stages=0", "--micro-batches=1"], "--stages=0 counts from 1"),
    (["gpipe", "--stages=4", "--micro-batches=1000000000"], "1 to 16777216 micro-batches, not 1000000000"),
    (["gpipe", "--stages=60000", "--micro-batches=16000000"], "too many for a table"),
    (["gpipe", "--stages=4", "--micro-batches=99999999999999999999"], "--micro-batches"),
    (["gpipe", "--stages=4", "--micro-batches=2", "--slices=2"], "gpipe has no slices"),
    (["chimera", "--stages=3", "--micro-batches=2"], "give 2 or 4 stages, not 3"),
    (["interleaved-1f1b", "--stages=8", "--ranks=4", "--micro-batches=9"], "give 8 or 10 micro-batches"),
    (["gpipe", "--stages=4", "--micro-batches=2", "--reads=0:2"], "--reads is of --transfers"),
    (["gpipe", "--stages=4", "--micro-batches=2", "--transfers", "--reads=0-2"], "expected FROM:TO, as 0:2"),
    (["gpipe", "--stages=4", "--micro-batches=2", "--transfers", "--reads=0:4"], "reads an earlier one of 4"),
    (["gpipe", "--stages=4", "--micro-batches=2", "--transfers", "--reads=0:1"], "every stage reads the one before"),
    (["gpipe", "--stages=4", "--micro-batches=2", "--unshard=0"], "--unshard=0 counts from 1"),
    (["gpipe", "--stages=4", "--micro-batches=2", "--inference", "--updates"], "--updates are of training"),
    (["--table=x", "--stages=4"], "--stages is of a schedule that is made"),
]


@pytest.mark.parametrize("arguments, message", WRONG, ids=lambda x: " ".join(x) if isinstance(x, list) else "")
def test_wrong_sizes(tools, arguments, message):
    done = tools.mlc("schedule", *arguments, timeout=10)
    assert done.returncode == 2 and done.stdout == ""
    assert message in done.stderr and done.stderr.startswith("mlc: error: ")


@pytest.mark.parametrize("text, message", [
    ("", "there is no rank"), ("0F0\n0X0\n", "line 2, cell 1: '0X0': there is no action 'X'"),
    ("0F0,0F1000000000\n", "line 1, cell 2: '0F1000000000': the micro-batch is too large"),
    ("0F0\n,\n", "line 2, the rank has no action"), ("0F0\n\n0F1\n", "line 2, the line is empty")])
def test_wrong_tables(tools, tmp_path, text, message):
    path = tmp_path / "t.csv"
    path.write_text(text)
    done = tools.mlc("schedule", f"--table={path}")
    assert (done.returncode, done.stdout) == (3, "")
    assert f"mlc: error: {path}: {message}" in done.stderr
    done = tools.mlc("schedule", f"--table={tmp_path}/none.csv")
    assert done.returncode == 3 and "none.csv: " in done.stderr


@pytest.mark.skipif(not TORCH.exists(), reason="no PyTorch in .torch/ (requirements-torch.txt)")
def test_pytorch_makes_and_takes_the_same(tools):
    """More sizes than those published: PyTorch's generators, and its judge of tables that were made elsewhere."""
    questions, expected = [], []

    def ask(question, answer, what):
        questions.append(question)
        expected.append((answer, what))

    for ranks, micro_batches, chunks in [(1, 3, 2), (2, 4, 3), (3, 2, 2), (4, 3, 2), (4, 10, 2), (4, 8, 4), (5, 15, 3),
                                         (6, 6, 2)]:
        for schedule in NAMES:
            single = schedule in ("GPipe", "1F1B")
            stages = 1 if single else 2 if schedule == "ZBVZeroBubble" else chunks
            key = (schedule, ranks, micro_batches, stages)
            csv = make(tools, NAMES[schedule], *sizes(*key))
            if schedule != "1F1B":  # whose list has wrong numbers
                ask({"schedule": schedule, "ranks": ranks, "micro_batches": micro_batches, "chunks": stages}, csv, key)
            ask({"csv": csv, "micro_batches": micro_batches}, "", key)
            ask({"csv": make(tools, NAMES[schedule], *sizes(*key), "--transfers"), "transfers": True}, "", key)
    ask({"csv": "1F0\n0F0\n", "micro_batches": 2}, None, "a judge that refuses")
    done = subprocess.run([TORCH, pathlib.Path(__file__).parent / "torch_schedules.py"], input=json.dumps(questions),
                          capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    answers = json.loads(done.stdout)
    assert answers.pop() != ""
    for answer, (wanted, what) in zip(answers, expected):
        assert answer == wanted, what


def test_slices_of_least_time(tools):
    """Of 12 tokens, by all ways to cut them."""
    def time(length, context):
        return 3 + length + 0.5 * (length * context + length * (length + 1) / 2)

    def total(cuts):
        ends = [0, *cuts, 12]
        times = [time(b - a, a) for a, b in zip(ends, ends[1:])]
        return 2 * sum(times) + 3 * max(times), [b - a for a, b in zip(ends, ends[1:])]

    least, lengths = min((total([i for i in range(1, 12) if bits >> i & 1]) for bits in range(0, 4096, 2)), key=lambda one: one[0])
    flags = ["terapipe", "--stages=4", "--micro-batches=2", "--tokens=12", "--slice-time=3,1,0.5"]
    done = tools.mlc("schedule", *flags)
    assert done.returncode == 0, done.stderr
    first, *grid = done.stdout.splitlines()
    parts = re.fullmatch(r"slices: (.*) tokens; forward (\S+)", first)
    found = [int(length) for part in parts[1].split(", ") for count, length in [part.split(" of ")] for _ in range(int(count))]
    assert found == lengths and float(parts[2]) == least and grid
    csv = tools.mlc("schedule", *flags, "--csv").stdout
    assert f"0F0.{len(lengths) - 1}" in csv and f"0F0.{len(lengths)}" not in csv and "slices" not in csv


@pytest.mark.parametrize("flags, problem", [
    (["gpipe", "--tokens=8", "--slice-time=1,1,1"], "--tokens are of terapipe"),
    (["terapipe", "--tokens=8", "--slice-time=1,1"], "--slice-time has 2 times"),
    (["terapipe", "--tokens=8", "--slices=2", "--slice-time=1,1,1"], "leave --slices out"),
    (["terapipe", "--slice-time=1,1,1"], "are of --tokens"),
    (["terapipe", "--tokens=8", "--slice-time=1,1,-1"], "a time is from 0"),
    (["terapipe", "--tokens=8", "--slice-granularity=9", "--slice-time=1,1,1"], "a granularity of 9 is more than the 8 tokens"),
])
def test_wrong_slices(tools, flags, problem):
    done = tools.mlc("schedule", *flags, "--stages=2", "--micro-batches=2")
    assert done.returncode == 2 and problem in done.stderr, done.stderr
