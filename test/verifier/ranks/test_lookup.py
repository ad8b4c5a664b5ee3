"""Lookups in a table whose rows are split, and what is added to its rows: each rank looks at its part, by indices of the
whole, of which some count from the end and some are no rows at all."""

import re

import numpy as np
import pytest

import sweep

COUNT = 12


def functions(rows, ranks=None):
    """A lookup, and its gradient: what is added to the rows that it read."""
    table, indices, picked = f"tensor<{rows}x2xf32>", f"tensor<{COUNT}xi64>", f"tensor<{COUNT}x2xf32>"
    mesh = f' attributes {{dist.mesh = [#dist.axis<"a", {ranks}>]}}' if ranks else ""
    split = ' {dist.sharding = #dist.sharding<["a", ""]>}' if ranks else ""
    return {
        "lookup": f"module{mesh} {{\nfunc.func @main(%x: {table}{split}, %i: {indices}) -> {picked} {{\n"
                  f"  %y = mlc.gather %x, %i {{axis = 0 : i64}} : ({table}, {indices}) -> {picked}\n"
                  f"  return %y : {picked}\n}}\n}}\n",
        "gradient": f"module{mesh} {{\nfunc.func @main(%u: {picked}, %i: {indices}) -> ({table}{split}) {{\n"
                    f"  %z = mlc.fill {{dims = #mlc.dims<[{rows}, 2]>, value = #mlc.real<0.0>, type = f32}} : () -> {table}\n"
                    f"  %y = mlc.scatter_add %z, %i, %u {{axis = 0 : i64}} : ({table}, {indices}, {picked}) -> {table}\n"
                    f"  return %y : {table}\n}}\n}}\n"}


def inputs(rows):
    """Rows of the table with what is no number, and indices from below all rows to behind them."""
    table = np.arange(1.0, 2 * rows + 1, dtype=np.float32).reshape(rows, 2)
    table[0, 0], table[1, 1], table[2, 0], table[rows - 1, 1] = np.inf, np.nan, -0.0, -np.inf
    indices = np.array([0, rows - 1, -1, -rows, rows, -rows - 1, 1, 2, 3, -2, rows // 2, 0], dtype=np.int64)
    return table, indices


def wrapped(indices, rows):
    """By ONNX: rows, and whether there is one."""
    rows_of = np.where(indices < 0, indices + rows, indices)
    return rows_of, (0 <= rows_of) & (rows_of < rows)


def ran(tools, folder, program, *arrays):
    rank = folder / "run.mlir"
    rank.write_text(program)
    for n, array in enumerate(arrays):
        np.save(folder / f"x{n}.npy", array)
    return sweep.evaluate(tools, folder, rank, [f"--input={folder / f'x{n}.npy'}" for n in range(len(arrays))], "--ranks")[0]


def expected_lookup(table, indices):
    rows, is_there = wrapped(indices, len(table))
    return np.where(is_there[:, None], table[np.where(is_there, rows, 0)], 0)


@pytest.mark.parametrize("rows", (4, 5, 7, 41))
@pytest.mark.parametrize("ranks", (2, 3, 4))
def test_a_lookup_is_that_in_the_whole_table(tools, tmp_path, rows, ranks):
    text = functions(rows, ranks)["lookup"]
    program = sweep.partitioned(tools, tmp_path, text).read_text()
    # Where the table is small, that is less than what is looked up.
    assert re.findall(r"= dist\.(\w+)", program) == ["all_reduce" if rows > 2 * COUNT else "all_gather"]
    table, indices = inputs(rows)
    assert np.array_equal(ran(tools, tmp_path, program, table, indices), expected_lookup(table, indices), equal_nan=True)


@pytest.mark.parametrize("ranks", (2, 3, 4))
def test_parts_of_few_rows(tools, tmp_path, ranks):
    """One index at a time, which is less than any table."""
    for rows in (4, 5, 7):
        text = functions(rows, ranks)["lookup"].replace(f"{COUNT}x", "1x")
        program = sweep.partitioned(tools, tmp_path, text).read_text()
        assert re.findall(r"= dist\.(\w+)", program) == ["all_reduce"]
        table, indices = inputs(rows)
        for one in indices.reshape(-1, 1):
            assert np.array_equal(ran(tools, tmp_path, program, table, one), expected_lookup(table, one), equal_nan=True)


@pytest.mark.parametrize("rows", (4, 5, 7))
@pytest.mark.parametrize("ranks", (2, 3, 4))
def test_its_gradient_stays_split(tools, tmp_path, rows, ranks):
    program = sweep.partitioned(tools, tmp_path, functions(rows, ranks)["gradient"]).read_text()
    assert "= dist." not in program and f"tensor<{rows}x2xf32>" not in program
    assert "mlc.scatter_add" in program  # and its kernels, whose work grows with what is added
    _, indices = inputs(rows)
    updates = np.arange(2.0 * COUNT, dtype=np.float32).reshape(COUNT, 2)
    rows_of, is_there = wrapped(indices, rows)
    expected = np.zeros((rows, 2), dtype=np.float32)
    np.add.at(expected, rows_of[is_there], updates[is_there])
    assert np.array_equal(ran(tools, tmp_path, program, updates, indices), expected)


@pytest.mark.parametrize("name, rows", [("lookup", 41), ("gradient", 7)])
def test_compiled_ranks(tools, tmp_path, name, rows):
    """Of three ranks, as threads: kernels, a library's call that begins where a rank's part does, a sum over ranks."""
    text = functions(rows, 3)[name]
    for argument in ("x", "i", "u"):  # named arguments and a named result, as an artifact needs
        text = re.sub(rf"%{argument}: (tensor<[^>]*>)( \{{)?", lambda found: f"%{argument}: {found.group(1)} {{mlc.name = "
                      f'"{argument}"' + (", " if found.group(2) else "}"), text, count=1)
    plan, artifact = tmp_path / "plan.mlir", tmp_path / "ranks.mlca"
    (tmp_path / "ranks.mlir").write_text(text)
    for command in (("mlc-opt", tmp_path / "ranks.mlir", "--mlc-partition", "--mlc-lower-collectives", "--mlc-lower-to-linalg",
                     "--mlc-fuse=target=cpu", "-o", plan), ("mlc-translate", plan, "--target=cpu", "-o", artifact)):
        done = tools.run(*command)
        assert done.returncode == 0, done.stderr
    table, indices = inputs(rows)
    updates = np.arange(2.0 * COUNT, dtype=np.float32).reshape(COUNT, 2)
    for argument, array in (("x", table), ("i", indices), ("u", updates)):
        np.save(tmp_path / f"{argument}.npy", array)
    first = "x" if name == "lookup" else "u"
    done = tools.run("mlc-run", artifact, "--engine=inproc", "--input", f"{first}={tmp_path / first}.npy", "--input",
                     f"i={tmp_path / 'i.npy'}", "--output-dir", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    expected = expected_lookup(table, indices)
    if name == "gradient":
        rows_of, is_there = wrapped(indices, rows)
        expected = np.zeros((rows, 2), dtype=np.float32)
        np.add.at(expected, rows_of[is_there], updates[is_there])
        assert "scatter_add" in plan.read_text()
    assert np.array_equal(np.load(tmp_path / "out" / "0.npy"), expected, equal_nan=True)


MISTAKES = [
    ("integers = #mlc.dims<[N, a, rank.a]>", "integers = #mlc.dims<[1, a, rank.a]>"),  # -1 is a part's last row
    ("integers = #mlc.dims<[N, a, rank.a]>", "integers = #mlc.dims<[N, a, 0]>"),       # all look at the first part
    ("index(x1[i]) - n3 * n4", "min(index(x1[i]) - n3 * n4, n3 - 1)"),                 # those behind have the last row
    ('reduction = "sum"', 'reduction = "max"'),                                        # rows below 0 are lost
    ('reduction = "sum"', 'reduction = "prod"'),
]


@pytest.mark.parametrize("text, instead", [("begin = #mlc.int<a * rank.a>, ", ""), (", whole = #mlc.int<N * a>", ""),
                                           ("begin = #mlc.int<a * rank.a>", "begin = #mlc.int<rank.a>")])
def test_mistakes_in_what_is_added_are_refuted(tools, tmp_path, text, instead):
    scatter = sweep.splits.functions()["scatter_add"]
    program, exchanges, least = sweep.made(tools, tmp_path, scatter, "a")
    assert exchanges == "nothing" and text in program
    answer = sweep.judge(tools, tmp_path, scatter, "a", least, program.replace(text, instead))
    assert answer["verdict"] == "refuted", answer


@pytest.mark.parametrize("text, instead", MISTAKES)
def test_mistakes_are_refuted(tools, tmp_path, text, instead):
    gather = sweep.splits.functions()["gather"]
    program, exchanges, least = sweep.made(tools, tmp_path, gather, "a")
    assert exchanges == "all_reduce" and text in program
    answer = sweep.judge(tools, tmp_path, gather, "a", least, program.replace(text, instead))
    assert answer["verdict"] == "refuted", answer
