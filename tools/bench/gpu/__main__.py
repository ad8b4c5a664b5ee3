"""Measures mlc on a machine with a GPU.

    python tools/bench/gpu pack FOLDER        where mlc was built; needs no GPU
    python FOLDER/gpu run FOLDER              where the GPU is: Python, NumPy, PyTorch, no network

`pack` compiles kernels and networks and puts all that `run` needs into FOLDER, some
40 MB; it takes minutes. `run` works through phases, in order of worth, each with a share of
the time:

    right      outputs against float64, computed on the GPU, on fresh data
    sanitize   compute-sanitizer on small sizes, where that program exists
    times      kernels beside PyTorch's, in turns
    networks   whole networks against float64, and their times with and without rewrites
    compiled   networks, and kernels with steps around them, beside torch.compile

Each case runs in a process that is ended if it hangs. FOLDER/results.jsonl gets a
line for each result at once, FOLDER/results.md the tables after each phase.
docs/Measurements/gpu.md says what the numbers mean.
"""

import argparse
import pathlib
import re
import sys


def pattern(text):
    try:
        return re.compile(text)
    except re.error as error:
        raise argparse.ArgumentTypeError(f"'{text}' is no regular expression: {error}") from None


def number(kind, least):
    def parse(text):
        try:
            value = kind(text)
        except ValueError:
            value = -1
        if not least <= value < 1e9:
            raise argparse.ArgumentTypeError(f"'{text}' is not a {'' if kind is float else 'whole '}number from {least} on")
        return value
    return parse


def parser():
    main = argparse.ArgumentParser(prog="gpu", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = main.add_subparsers(dest="command", required=True, metavar="pack|run")

    packing = commands.add_parser("pack", help="compile the cases into a folder; needs no GPU")
    packing.add_argument("folder", type=pathlib.Path, help="a new or empty folder, or one that an earlier pack made")
    packing.add_argument("--arch", default="sm_90a", help="what GPUs are compiled for (sm_90a)")
    packing.add_argument("--build", type=pathlib.Path, help="the build of mlc (build)")
    packing.add_argument("--only", metavar="PATTERN", type=pattern, default="", help="only cases whose name has this regular expression")
    packing.add_argument("--small", action="store_true", help="only the small sizes, for the emulator and compute-sanitizer")
    packing.add_argument("--compiler", action="store_true",
                         help="also pack the compiler with its libraries (50 MB; the first time takes minutes)")

    running = commands.add_parser("run", help="check and time a packed folder")
    running.add_argument("folder", type=pathlib.Path)
    running.add_argument("--budget", type=number(float, 0), default=540, metavar="SECONDS", help="for all phases together (540)")
    running.add_argument("--only", metavar="PATTERN", type=pattern, default="", help="only cases whose name has this regular expression")
    running.add_argument("--phases", default="", metavar="NAME,...", help="only these phases: right,sanitize,times,networks,compiled")
    running.add_argument("--resume", action="store_true", help="keep what results.jsonl has, and go on behind it")
    running.add_argument("--device", default="cuda:0", help="cuda:N, or emulator: small sizes, right or not, no times")
    running.add_argument("--rounds", type=number(int, 1), default=20, help="rounds of timing, in which sides take turns (20)")
    running.add_argument("--case-limit", type=number(float, 1), default=60, metavar="SECONDS", help="a case that takes longer hangs (60)")
    running.add_argument("--results", type=pathlib.Path, help="where results go (FOLDER/results.jsonl)")

    # What `run` starts for itself.
    working = commands.add_parser("worker")
    working.add_argument("folder", type=pathlib.Path)
    working.add_argument("device")
    checking = commands.add_parser("sanitized")
    checking.add_argument("folder", type=pathlib.Path)
    checking.add_argument("device")
    checking.add_argument("cases", nargs="+")
    return main


def run_command(options):
    # Each command imports what it needs: `run` has no onnx, `sanitized` no PyTorch.
    if options.command == "pack":
        import pack as command
    elif options.command == "run":
        import run as command
    elif options.command == "worker":
        import worker as command
    else:
        import sanitize as command
    import failure
    try:
        return command.main(options)
    except failure.Failure as error:
        print(f"gpu: {error}", file=sys.stderr)
        return error.code


def main():
    options = parser().parse_args()
    try:
        return run_command(options)
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
