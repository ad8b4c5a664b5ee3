"""Random models with open sizes beside ONNX Runtime. See docs/FuzzGraphs.md."""

import argparse
import collections
import multiprocessing
import os
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path[:0] = [str(HERE), str(ROOT / "runtime/python")]
KINDS = ["pairs", "arithmetic"]


def start(options, seeds):
    from serving import serve
    context = multiprocessing.get_context("spawn")
    connection, other = context.Pipe(duplex=False)
    process = context.Process(target=serve, args=(other, options.build, options.kind, seeds), daemon=True)
    process.start()
    other.close()
    return connection, process, seeds


def run(options):
    """What came of each seed; a crash is its seed's, and another process goes on behind it."""
    seeds = list(range(options.seed, options.seed + options.number))
    parts = [seeds[i::options.jobs] for i in range(options.jobs)]
    running = [start(options, part) for part in parts if part]
    current, totals, failed = {}, collections.Counter(), {}
    while running:
        multiprocessing.connection.wait([connection for connection, _, _ in running])
        for entry in list(running):
            connection, process, part = entry
            try:
                while connection.poll():
                    seed, counts, wrong = connection.recv()
                    current[connection] = seed if counts is None else None
                    totals.update(counts or {})
                    if wrong:
                        failed[seed] = wrong
                        print(f"seed {seed}: {wrong}", flush=True)
            except EOFError:
                process.join()
                running.remove(entry)
                seed = current.get(connection)
                if seed is not None or process.exitcode != 0:
                    failed[seed] = f"exit code {process.exitcode}"
                    print(f"seed {seed}: the process ended with {process.exitcode}", flush=True)
                rest = part[part.index(seed) + 1:] if seed is not None else []
                if rest:
                    running.append(start(options, rest))
    return totals, failed


def main(arguments):
    parser = argparse.ArgumentParser(prog="./dev fuzz-shapes", description=__doc__)
    parser.add_argument("number", type=int, nargs="?", default=300, help="models (300)")
    parser.add_argument("--kind", choices=KINDS, default="pairs", help="pairs of tensors with open rows, or shape arithmetic")
    parser.add_argument("--seed", type=int, default=1, help="of the first model (1)")
    parser.add_argument("--jobs", type=int, default=int(os.environ.get("JOBS", os.cpu_count())))
    parser.add_argument("--build", default=str(ROOT / "build"), help="build folder")
    parser.add_argument("--print", metavar="MODEL.onnx", help="write a seed's model there, run nothing")
    options = parser.parse_args(arguments)
    if options.print:
        import onnx
        from serving import generate
        model, feeds = generate(options.kind, options.seed)
        onnx.save(model, options.print)
        print(onnx.printer.to_text(model))
        print([{name: array.shape for name, array in feed.items()} for feed in feeds])
        return 0
    totals, failed = run(options)
    print(f"{options.number} models of {options.kind}, {len(failed)} fail; sizes tried: "
          + ", ".join(f"{count} {what}" for what, count in totals.items()))
    return 5 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
