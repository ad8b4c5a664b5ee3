"""Outputs of programs against the same graphs in double precision."""

import graph as graphs

# The first run launches step by step, the second records, the third replays.
RUNS = 3
NHWC, BACK = (0, 2, 3, 1), (0, 3, 1, 2)


class Program:
    """An artifact with memory for its inputs and outputs."""

    def __init__(self, place, made, file=None):
        self.place, self.made = place, made
        self.graph = made["graph"]
        self.session = place.open(file or made["file"])
        self.parts = graphs.instances(self.graph, made["instances"]) if made["instances"] > 1 else [self.graph]
        self.inputs = [[self.empty(dims) for dims in part["inputs"].values()] for part in self.parts]
        self.outputs = [[self.empty(self.graph["dims"][name]) for name in self.graph["outputs"]] for _ in self.parts]

    def empty(self, dims):
        if self.made["layout"] == "nhwc":
            dims = [dims[i] for i in NHWC]
        return self.place.empty(dims, self.graph["dtype"])

    def arrays(self):
        return [array for part in self.inputs for array in part]

    def outs(self):
        arrays = [array for part in self.outputs for array in part]
        return dict(zip((port.name for port in self.session.model.outputs), arrays))

    def fill(self, seed):
        for index, array in enumerate(self.arrays()):
            self.place.fill(array, 1000 * seed + index)

    def poison(self):
        for array in self.outs().values():
            self.place.poison(array)

    def run(self):
        self.place.run(self.session, self.arrays(), self.outs())

    def in_order(self, value):
        """A tensor of the program as the graph has it."""
        return self.place.permuted(value, BACK) if self.made["layout"] == "nhwc" else value

    def wanted(self, index):
        """The outputs of an instance in double precision, of inputs and weights as they are."""
        part, place = self.parts[index], self.place
        values = graphs.values_of(part["constants"], self.graph["dtype"], place.repeated)
        for name, array in zip(part["inputs"], self.inputs[index]):
            values[name] = self.in_order(place.double(array))
        with place.exactly():
            wanted = graphs.evaluate(part, values, place.ops)
        return [place.permuted(want, NHWC) if self.made["layout"] == "nhwc" else want for want in wanted]

    def differences(self):
        found = [self.place.difference(got, want) for index, outputs in enumerate(self.outputs)
                 for got, want in zip(outputs, self.wanted(index))]
        return max(f[0] for f in found), max(f[1] for f in found), sum(f[2] for f in found)


def check(place, entry, size):
    """A row for the tables: the errors of all runs, outputs poisoned before each."""
    program = Program(place, entry[size])
    worst, by_norm, bad = 0.0, 0.0, 0
    for run in range(RUNS):
        program.fill(run)
        program.poison()
        program.run()
        error, norm, numbers = program.differences()
        worst, by_norm, bad = max(worst, error), max(by_norm, norm), bad + numbers
    is_right = worst <= entry["tolerance"] and not bad
    row = {"status": "right" if is_right else "wrong", "error": float(worst), "norm": float(by_norm),
           "tolerance": entry["tolerance"]}
    if bad:
        row["reason"] = f"{bad} elements are no numbers, or were not written"
    return row
