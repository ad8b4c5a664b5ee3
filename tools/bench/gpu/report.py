"""Results as they come, a line of JSON each, and as tables."""

import json
import os

from failure import Failure

# Dense rates of tensor cores and float32, by the GPU's name: NVIDIA's data sheets.
PEAKS = {"H100": {"f16": 989.4, "bf16": 989.4, "tf32": 494.7, "f32": 66.9},
         "H200": {"f16": 989.4, "bf16": 989.4, "tf32": 494.7, "f32": 66.9},
         "A100": {"f16": 312, "bf16": 312, "tf32": 156, "f32": 19.5}}
SLOWER = 1.02
BAD = ("wrong", "hung", "crashed", "failed")


class Results:
    """The file of results. The first line says what was measured where."""

    def __init__(self, path, is_resumed):
        self.path, self.rows = path, []
        try:
            if path.is_file() and path.stat().st_size:
                if not is_resumed:
                    raise Failure(f"{path} has results; go on behind them by --resume, or remove it")
                self.read()
            # Unbuffered: what a failed write leaves would be written again later.
            self.file = open(path, "ab", buffering=0)
        except OSError as error:
            raise Failure(f"{path}: {error.strerror}; results cannot be written", 9) from None

    def read(self):
        text = self.path.read_text(encoding="utf-8")
        lines = text.splitlines(keepends=True)
        if lines and not lines[-1].endswith("\n"):  # a run was ended while it wrote
            lines.pop()
            os.truncate(self.path, len("".join(lines).encode()))
        for number, line in enumerate(lines, 1):
            try:
                self.rows.append(json.loads(line))
            except ValueError:
                raise Failure(f"{self.path}: line {number} is damaged; remove that line to keep the others", 3) from None

    def add(self, row):
        self.rows.append(row)
        try:
            self.file.write(json.dumps(row).encode() + b"\n")
        except OSError as error:
            raise Failure(f"{self.path}: {error.strerror}; results cannot be written", 9) from None

    def of(self, phase):
        """The last row of each case."""
        return {row["case"]: row for row in self.rows if row.get("phase") == phase}

    def is_done(self, phase, case):
        return case in self.of(phase)

    def machine(self):
        return next((row for row in self.rows if row.get("phase") == "machine"), {})

    def bad(self):
        return [row for phase in {row["phase"] for row in self.rows} for row in self.of(phase).values()
                if row.get("status") in BAD]

    def write_tables(self, entries):
        path = self.path.with_suffix(".md")
        try:
            part = path.with_name(path.name + ".part")
            part.write_text(tables(self, entries), encoding="utf-8")
            os.replace(part, path)
        except OSError as error:
            raise Failure(f"{path}: {error.strerror}; the tables cannot be written", 9) from None
        return path


def peak_of(machine, kind):
    return next((rates[kind] for name, rates in PEAKS.items() if name in machine.get("gpu", "")), None)


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return lines + ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows] + [""]


def number(value, form):
    return "" if value is None else format(value, form)


def share_of(row, entry, results):
    """Of the peak for products, of the copy on the device for what only moves data."""
    if entry["kind"] == "memory":
        copied = results.of("times").get("copy", {}).get("tbs")
        return f"{row['tbs'] / copied:.0%} of the copy" if copied else ""
    peak = peak_of(results.machine(), entry["type"])
    return f"{row['tflops'] / peak:.0%}" if peak else ""


def kernel_tables(results, entries):
    times, compiled, right = results.of("times"), results.of("compiled"), results.of("right")
    for kind in "products", "convolutions", "memory":
        rows = []
        for name, entry in entries.items():
            row = times.get(name)
            if entry.get("kind") != kind or not row or row["status"] != "done":
                continue
            other = compiled.get(name, {})
            rate = f"{row['tbs']:.2f}" if kind == "memory" else f"{row['tflops']:.0f}"
            rows.append([name, number(right.get(name, {}).get("error"), ".1e"), f"{row['us']:.1f}", f"{row['peer_us']:.1f}",
                         f"{row['ratio']:.2f}", number(other.get("ratio"), ".2f"), f"{row['aa']:.2f}, {row['spread']:.0%}", rate,
                         share_of(row, entry, results), f"{row['launches']:g} {', '.join(row['skeletons'])}"])
        if rows:
            unit = "TB/s" if kind == "memory" else "TFLOP/s"
            yield from [f"## {kind.capitalize()}", ""]
            yield from table(["case", "error", "mlc, us", "PyTorch, us", "ratio", "to torch.compile", "A/A, spread", unit,
                              "share", "launches"], rows)


def network_table(results, entries):
    alone, compiled, rows = results.of("networks"), results.of("compiled"), []
    for name, row in alone.items():
        if name not in entries or "error" not in row:
            continue
        other = compiled.get(name, {})
        flag = " **slower**" if row.get("rewrites", 0) > SLOWER else ""
        rows.append([name, f"{row['error']:.1e}", number(row.get("us"), ".1f"), number(other.get("peer_us"), ".1f"),
                     number(other.get("ratio"), ".2f"), number(row.get("rewrites"), ".2f") + flag, number(row.get("aa"), ".2f"),
                     row.get("launches", ""), other.get("peer", "")])
    if rows:
        yield from ["## Networks", ""]
        yield from table(["network", "error", "mlc, us", "peer, us", "ratio", "rewrites", "A/A", "launches", "peer"], rows)


def tables(results, entries):
    machine = results.machine()
    lines = ["# mlc on " + (machine.get("gpu") or machine.get("device", "?")), "",
             ", ".join(f"{key} {value}" for key, value in machine.items() if value and key not in ("phase", "case")), ""]
    right = results.of("right")
    if right:
        count = sum(row["status"] == "right" for row in right.values())
        lines += [f"Right: {count} of {len(right)} kernels.", ""]
    notes = [[row["phase"], row["case"], row["status"], row.get("reason", "")]
             for phase in ("right", "sanitize", "times", "networks", "compiled") for row in results.of(phase).values()
             if row["status"] in (*BAD, "skipped", "out of time")]
    if notes:
        lines += ["## Not as it should be, or left out", "", *table(["phase", "case", "", "reason"], notes)]
    lines += [*kernel_tables(results, entries), *network_table(results, entries)]
    return "\n".join(lines).rstrip() + "\n"
