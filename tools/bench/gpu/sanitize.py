"""Small sizes of all kernels under compute-sanitizer, each of its tools once.

The process that is watched runs the artifacts on copies of NumPy's arrays; it needs
no PyTorch, whose own kernels would be watched too.
"""

import re
import shutil
import subprocess
import sys
import time

import checks
import places
import workers

TOOLS = ["memcheck", "racecheck", "initcheck", "synccheck"]
MARK = "gpu case: "


def program_of_sanitizer():
    return shutil.which("compute-sanitizer") or shutil.which("compute-sanitizer", path="/usr/local/cuda/bin")


def main(options):
    """`sanitized`: what a tool watches."""
    sys.path.insert(0, str(options.folder))
    entries = {entry["name"]: entry for entry in places.read_pack(options.folder)["entries"]}
    place = places.Host(options.device, options.folder)
    for name in options.cases:
        print(MARK + name, flush=True)
        program = checks.Program(place, entries[name]["small"])
        program.fill(0)
        program.poison()
        program.run()
    print(MARK, flush=True)
    return 0


def reports(output):
    """{case: its first report}, and the case that was under way at the end, "" if none was."""
    found, case = {}, ""
    for line in output.splitlines():
        if MARK in line:
            case = line.split(MARK, 1)[1].strip()
        elif case and re.search(r"=========\s+(Error|ERROR|Invalid|Uninitialized|Race|Barrier|Warning|Program hit)", line) \
                and "ERROR SUMMARY" not in line:
            found.setdefault(case, line.replace("=", "").strip()[:300])
    return found, case


def sanitize(folder, device, tool, names, limit):
    """A row for each case that a tool has reported, and one for the tool."""
    command = [program_of_sanitizer(), "--tool", tool, "--error-exitcode", "99", "--print-limit", "20",
               sys.executable, workers.HERE, "sanitized", folder, device, *names]
    begin = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                               env=workers.environment(), start_new_session=True)
    is_over = False
    try:
        output, _ = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        is_over = True
        workers.end(process)
        output, _ = process.communicate()
    found, last = reports(output)
    rows = [{"case": f"{name} ({tool})", "status": "wrong", "reason": report} for name, report in found.items()]
    row = {"case": tool, "status": "done", "cases": len(names), "seconds": round(time.monotonic() - begin, 1)}
    if is_over:
        row |= {"status": "hung", "reason": f"ended after {limit:.0f} s, at {last or 'its start'}"}
    elif process.returncode not in (0, 99) or last:
        said = (output.strip().splitlines() or ["no message"])[-1]
        row |= {"status": "crashed", "reason": f"ended with {process.returncode} at {last or 'its end'}: {said[:300]}"}
    elif found or process.returncode:
        row |= {"status": "wrong", "reason": f"{len(found)} cases are reported"}
    return [*rows, row]
