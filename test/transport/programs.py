"""Programs of one rank among several, written by hand, and their artifacts."""

import numpy as np

TYPES = {"f32": np.float32, "f16": np.float16, "i32": np.int32, "f64": np.float64, "i64": np.int64}


def size_of(extent, ranks, axis="data"):
    """A part's dim, as text of an IntExpr."""
    return str(extent // ranks) if extent % ranks == 0 else f"floordiv({extent + ranks - 1} - rank.{axis}, {ranks})"


def type_of(dims, element="f32"):
    """Of dims that are numbers or texts."""
    dims = [str(dim) for dim in dims]
    shape = "x".join([*(dim if dim.isdigit() else "?" for dim in dims), element])
    return f"tensor<{shape}>" if all(map(str.isdigit, dims)) else f"tensor<{shape}, #mlc.dims<[{', '.join(dims)}]>>"


def sharding(*axes):
    return "dist.sharding = #dist.sharding<[" + ", ".join(f'"{axis}"' for axis in axes) + "]>"


def module(mesh, arguments, results, body):
    """`arguments` and `results` are {name: (type, sharding, ...)}; the body's last line returns."""
    axes = ", ".join(f'#dist.axis<"{name}", {size}>' for name, size in mesh.items())

    def port(name, attributes):
        named = [] if any(a.startswith("mlc.state") for a in attributes) else [f'mlc.name = "{name}"']
        return "{" + ", ".join([*named, *attributes]) + "}"
    given = ", ".join(f"%{name}: {kind} {port(name, attributes)}" for name, (kind, *attributes) in arguments.items())
    taken = ", ".join(f"{kind} {port(name, attributes)}" for name, (kind, *attributes) in results.items())
    lines = "\n".join(f"    {line}" for line in body)
    return f"module attributes {{dist.mesh = [{axes}]}} {{\n  func.func @main({given}) -> ({taken}) {{\n{lines}\n  }}\n}}\n"


def compile(tools, folder, text, name="program", target=None):
    """The artifact of a module, for the CPU unless a target is given."""
    plain, kernels, artifact = folder / f"{name}.mlir", folder / f"{name}.kernels.mlir", folder / f"{name}.mlca"
    plain.write_text(text)
    done = tools.run("mlc-opt", plain, "--mlc-lower-collectives", "--mlc-lower-to-linalg",
                     f"--mlc-fuse=target={target}" if target else "--mlc-fuse", "-o", kernels)
    assert done.returncode == 0, done.stderr
    done = tools.run("mlc-translate", kernels, *([f"--target={target}"] if target else []), "-o", artifact)
    assert done.returncode == 0, done.stderr
    return artifact


def command(tools, folder, artifact, inputs, *options):
    """mlc run on whole inputs, with its output at folder/outputs.npz."""
    np.savez(folder / "inputs.npz", **inputs)
    return [tools.build / "bin/mlc", "run", artifact, "--input", folder / "inputs.npz",
            "--output-npz", folder / "outputs.npz", *options]


def run(tools, folder, artifact, inputs, launch=(), options=("--engine=inproc",)):
    """Whole outputs of a run on whole inputs."""
    import ranks
    done = ranks.output([*launch, *command(tools, folder, artifact, inputs, *options)])
    assert done.returncode == 0, done.stderr
    return dict(np.load(folder / "outputs.npz"))


def each(ranks, dims, element="f32"):
    """A tensor of its own for each rank: the type of [ranks, dims...] and its sharding."""
    return type_of([1, *dims], element), sharding("data", *[""] * len(dims))


def reshape(name, operand, from_, to, element="f32"):
    dims = ", ".join(map(str, to))
    return (f"%{name} = mlc.reshape %{operand} {{dims = #mlc.dims<[{dims}]>}} : ({type_of(from_, element)}) -> "
            f"{type_of(to, element)}")


def parts(array, ranks, axis=0, unit=1):
    """As runtime/transport/Schedule.h's partOf has them."""
    things = array.shape[axis] // unit
    ends = [0]
    for rank in range(ranks):
        ends.append(ends[-1] + (things // ranks + (rank < things % ranks)) * unit)
    return [np.take(array, range(ends[r], ends[r + 1]), axis) for r in range(ranks)]
