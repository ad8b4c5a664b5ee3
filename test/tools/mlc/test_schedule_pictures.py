"""mlc schedule: tables are checked, and drawn as text, SVG and trace events."""

import json
import xml.etree.ElementTree as xml

import pytest

SVG = "{http://www.w3.org/2000/svg}"
GRID = """\
rank 0 | 0F0 0F1 0F2 .   .   .   .   .   .   .   0B0==== .   0B1==== .   0B2====
rank 1 | .   1F0 1F1 1F2 .   .   .   .   1B0==== .   1B1==== .   1B2==== .   .
rank 2 | .   .   2F0 2F1 .   .   2B0==== 2F2 2B1==== .   2B2==== .   .   .   .
rank 3 | .   .   .   3F0 3B0==== 3F1 3B1==== 3F2 3B2==== .   .   .   .   .   .
time 18, idle 1/2 = 50.0 %
activations in flight by rank: 3 3 2 1
"""


def test_grid(tools):
    done = tools.mlc("schedule", "1f1b", "--stages=4", "--micro-batches=3")
    assert (done.returncode, done.stdout) == (0, GRID)
    page = (tools.source / "docs/Simulator.md").read_text()
    assert GRID in page


@pytest.mark.parametrize("name", ["1f1b", "chimera", "zbv", "terapipe", "pipedream"])
def test_pictures(tools, tmp_path, name):
    arguments = ["schedule", name, "--ranks=4", "--micro-batches=8", "--transfers", "--updates", "--times=1,1.5,0.5,0.25",
                 "--transfer-time=0.2", *(["--slices=2"] if name == "terapipe" else [])]
    files = tmp_path / "t.svg", tmp_path / "t.json", tmp_path / "t.csv"
    done = tools.mlc(*arguments, f"--svg={files[0]}", f"--trace={files[1]}", "-o", files[2])
    assert (done.returncode, done.stderr, done.stdout) == (0, "", "")
    cells = files[2].read_text().replace("\n", ",").split(",")
    computed = [cell for cell in cells if cell and not any(part in cell for part in ("SEND", "RECV", "REDUCE"))]
    svg = xml.parse(files[0]).getroot()
    titles = [title.text for title in svg.iter(f"{SVG}title")]
    assert len(titles) == len(computed)
    assert sum(line.get("class") == "send" for line in svg.iter(f"{SVG}line")) == sum("SEND" in cell for cell in cells)
    assert sum(path.get("class") == "kept" for path in svg.iter(f"{SVG}path")) == 4
    events = json.loads(files[1].read_text())["traceEvents"]
    spans = [event["name"] for event in events if event["ph"] == "X"]
    assert sorted(spans) == sorted(cell for cell in cells if cell)
    starts, ends = ({event["id"]: event for event in events if event["ph"] == phase} for phase in "sf")
    assert len(starts) == sum("SEND" in cell for cell in cells) and starts.keys() == ends.keys()
    assert all(starts[one]["pid"] != ends[one]["pid"] and starts[one]["ts"] <= ends[one]["ts"] for one in starts)
    # The same bytes again.
    before = [file.read_bytes() for file in files]
    assert tools.mlc(*arguments, f"--svg={files[0]}", f"--trace={files[1]}", "-o", files[2]).returncode == 0
    assert before == [file.read_bytes() for file in files]


def test_tables_are_checked(tools, tmp_path):
    table = tmp_path / "t.csv"
    table.write_text("0F0,0F1,0B1,0B0\n1F1,1F0,1B1\n")
    svg = tmp_path / "t.svg"
    done = tools.mlc("schedule", f"--table={table}", f"--svg={svg}")
    assert done.returncode == 3 and f"{table}: rank 1: 1B0 is missing" in done.stderr and not svg.exists()
    table.write_text("0F0@0,0F1@0,0B0@0,0STEP1,0B1@0,0STEP2\n")
    done = tools.mlc("schedule", f"--table={table}")
    assert done.returncode == 3 and "rank 0, cell 5, 0B1@0: it comes after the update" in done.stderr
    stashed = tools.mlc("schedule", f"--table={table}", "--promise=stashing", "--csv")
    assert stashed.returncode == 3 and "2 versions of the weights are needed, promised are 1" in stashed.stderr
    assert tools.mlc("schedule", f"--table={table}", "--promise=none", "--csv").stdout == table.read_text()
    done = tools.mlc("schedule", "gpipe", "--stages=2", "--micro-batches=4", "--slots=3")
    assert done.returncode == 3 and "0F3: it writes a slot that is needed until rank 0, cell 5, 0B0" in done.stderr
    # One that waits for itself has no times.
    table.write_text("0B0,0F0\n")
    done = tools.mlc("schedule", f"--table={table}", "--promise=none")
    assert done.returncode == 3 and "waits for what waits for it" in done.stderr


@pytest.mark.parametrize("flag, message", [
    ("--promise=all", "--promise=all: there are synchronous"), ("--slots=0", "--slots=0 counts from 1"),
    ("--times=1,2", "--times has 2 times"), ("--times=1,-2,3", "a time is from 0 to 1000000"),
    ("--times=1e-9,1,1", "--times: a time is a multiple of 0.000001, not 1e-09"),
    ("--transfer-time=0.1234567", "--transfer-time: a time is a multiple of 0.000001, not 0.1234567"),
    ("--transfer-time=nan", "--transfer-time: a time is from 0 to 1000000")])
def test_wrong_flags(tools, flag, message):
    done = tools.mlc("schedule", "gpipe", "--stages=2", "--micro-batches=4", flag)
    assert done.returncode == 2 and message in done.stderr


def test_outputs_are_apart(tools, tmp_path):
    same = tmp_path / "same.x"
    for first, second, message in [
            (f"--svg={same}", f"--trace={same}", "is both the picture (--svg) and the trace (--trace); give two files"),
            (f"--svg={same}", f"-o={tmp_path}/./same.x", "is both the picture (--svg) and the table (-o)"),
            (f"--trace={same}", f"-o={same}", "is both the trace (--trace) and the table (-o)")]:
        done = tools.mlc("schedule", "gpipe", "--stages=2", "--micro-batches=4", first, second)
        assert done.returncode == 2 and f"{same}: {message}" in done.stderr and not same.exists()
    # Times with six digits are exact.
    done = tools.mlc("schedule", "gpipe", "--stages=1", "--micro-batches=1", "--times=0.1,999999.999999,0.000001")
    assert (done.returncode, done.stderr) == (0, "")
    # So it is in other commands; before the model is read.
    same = tmp_path / "same.svg"
    for arguments in (["compile", "-o", same, f"--explain={same}"], ["optimize", "-o", same, f"--explain={same}"],
                      ["simulate", f"--svg={same}", f"--trace={same}"]):
        done = tools.mlc(*arguments, tmp_path / "none.onnx")
        assert done.returncode == 2 and f"{same}: is both the " in done.stderr
