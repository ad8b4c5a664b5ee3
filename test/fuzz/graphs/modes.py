"""What is done with a graph. `quick` does a part of it with each, chosen by the seed."""

ALL = {
    "rewrites": "compile with rewrites",
    "plain": "compile without",
    "one-thread": "run with one thread",
    "two-threads": "run with two",
    "optimize": "mlc optimize, then check, run and compare what it wrote",
    "trail": "mlc-verify --trail on that",
    "ranks": "compile for the ranks of a random mesh, and run these",
    "evaluator": "mlc's evaluator on the graph as imported",
}


def of(preset, seed):
    """The modes of a seed's graph; `preset` is full, quick or a list of names."""
    if preset == "full":
        modes = set(ALL) - {"evaluator"}
        return modes | {"evaluator"} if seed % 10 == 0 else modes
    if preset == "quick":
        modes = {"rewrites" if seed % 2 else "plain",
                 "two-threads" if seed % 3 == 0 else "one-thread"}
        if seed % 6 == 1:
            modes |= {"optimize", "trail"}
        if seed % 3 == 1:
            modes.add("ranks")
        return modes
    modes = set(preset.split(","))
    if not modes <= set(ALL):
        raise ValueError(f"no modes {', '.join(sorted(modes - set(ALL)))}; there are "
                         f"{', '.join(ALL)}, and full and quick")
    return modes
