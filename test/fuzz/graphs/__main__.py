"""Random valid graphs through mlc, judged. See docs/FuzzGraphs.md."""

import argparse
import os
import pathlib
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path[:0] = [str(HERE), str(ROOT / "runtime/python")]


def machine_targets():
    """The targets that this machine can run, beside the one for it."""
    flags = pathlib.Path("/proc/cpuinfo").read_text()
    return ["cpu:x86-64-v3", "cpu:x86-64-v4"] if "avx512f" in flags else [""]


def parsed(arguments):
    import modes
    parser = argparse.ArgumentParser(prog="./dev fuzz-graphs", description=__doc__)
    parser.add_argument("number", type=int, nargs="?", default=300, help="graphs (300)")
    parser.add_argument("--seed", type=int, default=1, help="of the first graph (1)")
    parser.add_argument("--jobs", type=int, default=int(os.environ.get("JOBS", os.cpu_count())))
    parser.add_argument("--build", default=str(ROOT / "build"), help="build folder")
    parser.add_argument("--modes", default="full", help="full, quick, or of: " + "; ".join(
        f"{name}: {text}" for name, text in modes.ALL.items()))
    parser.add_argument("--quick", dest="modes", action="store_const", const="quick",
                        help="a part of all modes with each graph, by its seed")
    parser.add_argument("--targets", help="comma-separated targets of the compiler")
    parser.add_argument("--only", help="operators of which each graph has one")
    parser.add_argument("--keep", type=int, default=2, help="failures to keep of one cause (2)")
    parser.add_argument("--except", dest="open", metavar="FILE",
                        help="causes that are known and open: a regular expression per line")
    parser.add_argument("--no-reduce", dest="reduce", action="store_false",
                        help="keep failing graphs as they are")
    parser.add_argument("--replay", metavar="MODEL.onnx",
                        help="check this model with the arrays beside it (MODEL-0.npz, ...)")
    parser.add_argument("--print", action="store_true", help="print a seed's graph, run nothing")
    options = parser.parse_args(arguments)
    lines = pathlib.Path(options.open).read_text().splitlines() if options.open else []
    options.open_causes = [line for line in lines if line and not line.startswith("#")]
    options.only = options.only.split(",") if options.only else None
    options.targets = options.targets.split(",") if options.targets else machine_targets()
    modes.of(options.modes, 0)
    return options


def show(options):
    import onnx

    import making
    model, feeds = making.generate(options.seed, options.only)
    print(onnx.printer.to_text(model))
    for feed in feeds:
        print({name: (array.dtype.name, array.shape) for name, array in feed.items()})
    return 0


def replay(options):
    import numpy as np
    import onnx

    import elements
    import modes
    from subject import Subject
    path = pathlib.Path(options.replay)
    model = onnx.load(path)
    types = {v.name: elements.numpy_type(elements.name_of(v.type.tensor_type.elem_type))
             for v in model.graph.input}
    feeds = [{n: a.astype(types[n]) for n, a in np.load(file).items()}
             for file in sorted(path.parent.glob(path.stem + "-*.npz"))]
    chosen = set(modes.ALL) if options.modes == "full" else modes.of(options.modes, 1)
    with tempfile.TemporaryDirectory() as folder:
        outcome = Subject(options.build, folder, options.targets).check(model, feeds, chosen)
    for failure in outcome.failures:
        print(f"{failure.kind} in {failure.stage}, feed {failure.world}\n{failure.text}")
    if outcome.unsupported:
        print(outcome.unsupported)
    return 5 if outcome.failures else 0


def main(arguments):
    options = parsed(arguments)
    if options.print:
        return show(options)
    if options.replay:
        return replay(options)
    import campaign
    import report
    started = time.monotonic()
    records = campaign.Campaign(options).run()
    print(report.table(records))
    failing = sum(bool(r.failures or r.broken) for r in records)
    if failing:
        print("\nfailures:\n" + report.failures(records, campaign.cause))
    known = sum(len(r.known) for r in records)
    if known:
        print(f"\n{known} failures of causes that {options.open} lists as open")
    print(f"\n{len(records)} graphs, {failing} fail; "
          f"{sum(r.seconds for r in records) / len(records):.2f} s of CPU each, "
          f"{time.monotonic() - started:.0f} s in all")
    return 5 if failing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
