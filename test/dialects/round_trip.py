"""usage: round_trip.py MLC_OPT FILE...: what mlc-opt prints of each file must be read, printed in the generic syntax,
read again, and printed as before."""

import pathlib
import subprocess
import sys


def printed(tool: str, text: str, *options: str) -> str:
    return subprocess.run([tool, "-", *options], input=text, capture_output=True, text=True, check=True).stdout


def main() -> int:
    tool, files = sys.argv[1], sys.argv[2:]
    wrong = 0
    for file in files:
        once = printed(tool, pathlib.Path(file).read_text())
        again = printed(tool, printed(tool, once, "--mlir-print-op-generic"))
        if once != again or not once.strip():
            wrong += 1
            print(f"{file}: is not printed as it is read")
    print(f"{len(files)} files, {wrong} wrong")
    return 0 if files and not wrong else 1


if __name__ == "__main__":
    sys.exit(main())
