"""Random graphs: the same seed makes the same bytes."""

import onnx

import operators
from builder import Builder, Skip


def generate(seed, only=None):
    """(model, feeds) of seed `seed`: a feed of arrays by input for each world. `only` names
    operators of which one must be in the graph."""
    for attempt in range(50):
        b = Builder(seed * 50 + attempt)
        if only and not any(e.op in only for e in operators.entries(b.opset)):
            continue
        if not fill(b, only):
            continue
        model = b.model()
        try:
            onnx.checker.check_model(model, full_check=True)
        except Exception:  # ONNX's shape inference has errors of its own; docs/Judges.md
            continue
        return model, b.feeds
    raise RuntimeError(f"no graph for seed {seed}")


def fill(b, only):
    wanted = b.rng.choice([1, 1, 2, 2, 3, 3, 4, 5, 6, 7, 8, 9, 10, 12])
    menu = operators.entries(b.opset)
    weights = [entry.weight for entry in menu]
    must = b.rng.randrange(wanted) if only else -1
    for _ in range(6 * wanted):
        if sum(n.op_type != "Constant" for n in b.nodes) >= wanted:
            break
        before = b.checkpoint()
        try:
            if must >= 0 and len(b.nodes) >= must:
                chosen = b.pick([e for e in menu if e.op in only])
                chosen.make(b, chosen.op)
                must = -1
            elif b.chance(0.12):
                b.pick(operators.COMPOSITES)(b)
            else:
                chosen = b.rng.choices(menu, weights)[0]
                chosen.make(b, chosen.op)
        except Skip:
            b.restore(before)
    return must < 0 and any(v.origin == "node" for v in b.values)
