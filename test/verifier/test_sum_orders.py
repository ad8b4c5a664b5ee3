"""Sums of tensors are alike in any order, as real numbers: long ones, read by what does not pass sums on, and wrong ones."""

import json
import random

import pytest

VECTOR = "tensor<?xf32, #mlc.dims<[n]>>"


def program(addends, order, inputs, kind=VECTOR, last="mlc.tanh"):
    """Adds inputs as a tree: `order` says which two of those that are left are added next."""
    lines, left = [], [f"%a{i}" for i in addends]
    for n, (i, j) in enumerate(order):
        x, y = left.pop(max(i, j)), left.pop(min(i, j))
        lines.append(f"  %s{n} = mlc.add {x}, {y} : ({kind}, {kind}) -> {kind}")
        left.append(f"%s{n}")
    assert len(left) == 1
    arguments = ", ".join(f"%a{i}: {kind}" for i in range(inputs))
    return (f"func.func @main({arguments}) -> {kind} {{\n" + "\n".join(lines)
            + f"\n  %r = {last} {left[0]} : ({kind}) -> {kind}\n  return %r : {kind}\n}}\n")


def in_order(count, seed=None):
    """From the first on, or at random."""
    generator = random.Random(seed)
    return [tuple(generator.sample(range(left), 2)) if seed else (0, left - 1) for left in range(count, 1, -1)]


def judge(tools, folder, before, after):
    (folder / "before.mlir").write_text(before)
    (folder / "after.mlir").write_text(after)
    done = tools.run("mlc-verify", folder / "before.mlir", folder / "after.mlir", "--json", timeout=60)
    assert done.returncode in (0, 5, 6), done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("count", [3, 17, 300])
@pytest.mark.parametrize("kind", [VECTOR, "tensor<4x5xf16>"])
def test_any_order_is_proved(tools, tmp_path, count, kind):
    addends = [i % 7 for i in range(count)]
    answer = judge(tools, tmp_path, program(addends, in_order(count), 7, kind), program(addends, in_order(count, 5), 7, kind))
    assert answer["verdict"] == "proved" and answer["float_class"] == "reassociating", answer


@pytest.mark.parametrize("count", [3, 17])
def test_other_addends_are_refuted(tools, tmp_path, count):
    """One of them another one, or as often as another one should be."""
    addends = [i % 7 for i in range(count)]
    for place, instead in ((0, addends[1]), (count - 1, 6), (1, 5)):
        wrong = addends.copy()
        wrong[place] = instead
        answer = judge(tools, tmp_path, program(addends, in_order(count), 7), program(wrong, in_order(count, 5), 7))
        assert answer["verdict"] == "refuted", answer


def test_the_order_counts_for_bits(tools, tmp_path):
    """The same order is the same bits, and another one is not said to be."""
    addends = list(range(5))
    one = program(addends, in_order(5), 7)
    assert judge(tools, tmp_path, one, one)["float_class"] == "bit-exact"
    assert judge(tools, tmp_path, one, program(addends, in_order(5, 3), 7))["float_class"] != "bit-exact"


def test_doubling_has_an_end(tools, tmp_path):
    """2^60 addends: such sums are compared as they are written."""
    lines = "\n".join(f"  %{i + 1} = mlc.add %{i}, %{i} : ({VECTOR}, {VECTOR}) -> {VECTOR}" for i in range(60))
    text = f"func.func @main(%a: {VECTOR}) -> {VECTOR} {{\n  %0 = mlc.tanh %a : ({VECTOR}) -> {VECTOR}\n{lines}\n  return %60 : {VECTOR}\n}}\n"
    answer = judge(tools, tmp_path, text, text.replace("tanh %a", "exp %a"))
    assert answer["verdict"] != "proved"
    assert judge(tools, tmp_path, text, text + "\n")["verdict"] == "proved"


COMPUTE = ('%s = mlc.compute %a, %b {{definition = "(x, y; k) Y[i] = {}", dims = #mlc.dims<[n]>, integers = #mlc.dims<[1]>, reals = [], '
           'type = f32}} : (!v, !v) -> !v')


@pytest.mark.parametrize("before, after, verdict", [
    ("x[i] + y[i]", "y[i] + x[i]", "proved"),
    ("x[i] + y[i]", "y[n - 1 - i] + x[i]", "refuted"),
    ("x[i] + y<0>[i + k]", "x[i] + y[i]", "refuted"),
    ("x[i] + y[i]", "x[i] + x[i]", "refuted"),
    ("x[i] + y[i]", "x[i] * y[i]", "refuted"),
    ("x[i] + y[i]", "x[i] - y[i]", "refuted"),
    ("max(x[i], y[i])", "x[i] + y[i]", "refuted"),
])
def test_what_is_no_sum_of_tensors(tools, tmp_path, before, after, verdict):
    def text(body):
        body = COMPUTE.format(body.replace("n - 1", "k - 1"))
        if "k - 1" in body:
            body = body.replace("integers = #mlc.dims<[1]>", "integers = #mlc.dims<[n]>")
        return (f"!v = {VECTOR}\nfunc.func @main(%a: !v, %b: !v) -> !v {{\n  {body}\n"
                "  %r = mlc.tanh %s : (!v) -> !v\n  return %r : !v\n}\n")
    assert judge(tools, tmp_path, text(before), text(after))["verdict"] == verdict


def test_two_addends_have_the_same_bits_in_both_orders(tools, tmp_path):
    def text(x, y):
        return (f"func.func @main(%a: {VECTOR}, %b: {VECTOR}) -> {VECTOR} {{\n  %s = mlc.add %{x}, %{y} : ({VECTOR}, {VECTOR}) -> {VECTOR}\n"
                f"  %r = mlc.tanh %s : ({VECTOR}) -> {VECTOR}\n  return %r : {VECTOR}\n}}\n")
    assert judge(tools, tmp_path, text("a", "b"), text("b", "a"))["float_class"] == "bit-exact"


def test_operators_round_16_bits_at_their_end(tools, tmp_path):
    """1 + 1 is rounded away from 2048 one by one, and counts in one operator."""
    def text(kind, body):
        kind = f"tensor<4x{kind}>"
        one = (f'  %r = mlc.compute %a, %b, %c {{definition = "(x, y, z) Y[i] = x[i] + y[i] + z[i]", dims = #mlc.dims<[4]>, integers = '
               f"#mlc.dims<[]>, reals = [], type = {kind[9:-1]}}} : ({kind}, {kind}, {kind}) -> {kind}\n")
        two = (f"  %s = mlc.add %a, %b : ({kind}, {kind}) -> {kind}\n  %r = mlc.add %s, %c : ({kind}, {kind}) -> {kind}\n")
        return (f"func.func @main(%a: {kind}, %b: {kind}, %c: {kind}) -> {kind} {{\n" + (one if body == 1 else two)
                + f"  return %r : {kind}\n}}\n")
    for kind, name in (("f16", "reassociating"), ("bf16", "reassociating"), ("f32", "bit-exact")):
        answer = judge(tools, tmp_path, text(kind, 1), text(kind, 2))
        assert answer["verdict"] == "proved" and answer["float_class"] == name, answer
        assert judge(tools, tmp_path, text(kind, 1), text(kind, 1))["float_class"] == "bit-exact"


@pytest.mark.parametrize("kind", ["max", "min"])
def test_zeros_of_two_signs_have_an_order(tools, tmp_path, kind):
    def text(x, y):
        return (f"func.func @main(%a: {VECTOR}, %b: {VECTOR}) -> {VECTOR} {{\n  %r = mlc.{kind} %{x}, %{y} : ({VECTOR}, {VECTOR}) -> {VECTOR}\n"
                f"  return %r : {VECTOR}\n}}\n")
    answer = judge(tools, tmp_path, text("a", "b"), text("b", "a"))
    assert answer["verdict"] == "proved" and answer["float_class"] != "bit-exact", answer
