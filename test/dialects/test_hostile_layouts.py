"""`mlc.laid_out` of every operator, with what it needs missing or too much of it."""

import re

X = "tensor<2x4xf32>"
LAYOUT = "#mlc.layout<[a div 4, a mod 4], a = 5>"


def text(op, operands, attributes):
    names, types = ", ".join(["%x"] * operands), ", ".join([X] * operands)
    layouts = ", ".join([LAYOUT] * (operands + 1))
    return (f"func.func @f(%x: {X}) {{\n  %r = mlc.laid_out {names} {{layouts = [{layouts}], "
            f'plain_attributes = {{{attributes}}}, plain_op = "{op}"}} : ({types}) -> {X}\n  return\n}}\n')


def test_nothing_crashes(tools, tmp_path):
    operators = re.findall(r"^## `(mlc\.\w+)`", (tools.source / "docs/Operators.md").read_text(), re.M)
    assert len(operators) > 60
    file = tmp_path / "f.mlir"
    for op in operators:
        file.write_text("// -----\n".join(
            text(op, operands, attributes)
            for operands in range(4)
            for attributes in ("", "axis = 0 : i64", 'dims = #mlc.dims<[5]>, type = f32, definition = "(x) Y[i] = x[i]"')))
        done = tools.run("mlc-opt", "--split-input-file", file)
        assert done.returncode in (0, 1), (op, done.returncode, done.stderr[-2000:])
        assert "PLEASE submit a bug report" not in done.stderr, op
