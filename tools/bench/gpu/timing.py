"""Times on a GPU: sides take turns in one process.

A sample is one replay of a CUDA graph (of ten launches, or of a network) between
two events. Before it the GPU spins, so that the host is ahead and no time of the
host's is in the sample.
"""

import math
import statistics

import checks
import graph as graphs
import peers

# Cycles that the GPU spins before a sample: 0.2 ms for graphs, 2 ms for what Python hands over piece by piece.
SPIN, LONG_SPIN = 400_000, 4_000_000
MOST_SETS = 8


def turns(place, sides, rounds, spin):
    """{side: times in ms of its first and of its second turn in each round}"""
    torch = place.torch
    times = {name: ([], []) for name in sides}
    order = list(sides)
    for round_ in range(rounds + 2):
        order = order[1:] + order[:1]
        pending = []
        for turn, names in enumerate((order, order[::-1])):
            for name in names:
                start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
                torch.cuda._sleep(spin)
                start.record()
                sides[name]()
                end.record()
                pending.append((name, turn, start, end))
        torch.cuda.synchronize()
        for name, turn, start, end in pending if round_ >= 2 else []:
            times[name][turn].append(start.elapsed_time(end))
    return times


def summary(times, launches):
    """Medians in us of a launch, the second turns by the first (A/A), and the middle half by the median."""
    found = {}
    for name, (first, second) in times.items():
        low, middle, high = statistics.quantiles(first + second, n=4)
        found[name] = {"us": middle * 1e3 / launches, "aa": statistics.median(second) / statistics.median(first),
                       "spread": (high - low) / middle}
    return found


def in_turn(calls):
    """One call after the other, so that each finds its memory out of the caches."""
    state = [0]

    def call():
        state[0] = (state[0] + 1) % len(calls)
        calls[state[0]]()
    return call


def copy(place, rounds):
    """The bandwidth of a copy on the device: the reference for kernels that only move data."""
    source, target = (place.empty([1 << 28], "f32") for _ in range(2))
    times = turns(place, {"copy": lambda: target.copy_(source)}, rounds, SPIN)
    found = summary(times, 1)["copy"]
    return {"status": "done", **found, "tbs": 2 * source.nbytes / found["us"] / 1e6}


def sets_of(place, made):
    """How many copies of all memory are more than twice the L2."""
    per_set = made["instances"] * made["bytes"]
    return max(1, min(MOST_SETS, math.ceil(2 * place.describe()["l2"] / per_set)))


def written(place, program):
    """Whether the program, as it was timed, still writes all outputs."""
    program.poison()
    program.run()
    return not any(bool(array.isnan().any()) for array in program.outs().values())


def beside(found, peer):
    """What a row says of a peer."""
    return {"status": "done", "peer": peer, "peer_us": found[peer]["us"], "ratio": found["mlc"]["us"] / found[peer]["us"]}


def kernel(place, entry, rounds, is_compiled=False):
    made = entry["full"]
    place.allow(entry["type"])
    programs = [checks.Program(place, made) for _ in range(sets_of(place, made))]
    for index, program in enumerate(programs):
        program.fill(index)
        for _ in range(checks.RUNS):
            program.run()
    sides = {"mlc": in_turn([program.session.enqueue for program in programs])}
    name = "torch.compile" if is_compiled else "PyTorch"
    compiled = peers.compiled_kernel(place, made["graph"]) if is_compiled else None
    recorded = [peers.recorded(place, peers.calls(place, program, compiled)) for program in programs]
    sides[name] = in_turn([graph.replay for graph, _ in recorded])
    found = summary(turns(place, sides, rounds, SPIN), made["instances"])
    if not written(place, programs[0]):
        return {"status": "wrong", "reason": "outputs were not written by a run that was timed"}
    own = found["mlc"]
    return {**beside(found, name), **own, "tflops": made["flops"] / own["us"] / 1e6, "tbs": made["bytes"] / own["us"] / 1e6,
            "launches": made["launches"] / made["instances"], "skeletons": made["skeletons"], "sets": len(programs)}


def network(place, entry, rounds, is_compiled=False):
    made = entry["full"]
    place.allow(entry["type"])
    row = {} if is_compiled else checks.check(place, entry, "full")
    if row.get("status") == "wrong":
        return row
    programs = {"mlc": checks.Program(place, made), "plain": checks.Program(place, made, made["plain"])}
    sides = {}
    for name, program in programs.items():
        program.fill(0)
        for _ in range(checks.RUNS):
            program.run()
        sides[name] = program.session.enqueue
    peer = peers.network_name(made["graph"]) if is_compiled else None
    if peer:
        sides[peer] = peers.network(place, made["graph"], programs["mlc"].inputs[0])
    found = summary(turns(place, sides, rounds, LONG_SPIN), 1)
    if not written(place, programs["mlc"]):
        return {"status": "wrong", "reason": "outputs were not written by a run that was timed"}
    row |= {**found["mlc"], "plain_us": found["plain"]["us"], "rewrites": found["mlc"]["us"] / found["plain"]["us"],
            "launches": made["launches"], "plain_launches": made["plain_launches"]}
    return {**row, **beside(found, peer)} if peer else row
