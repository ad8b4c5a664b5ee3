"""How much of the long sweeps a run of the tests does: a fixed sample, or all (`./dev test --full`)."""

import os

FULL = os.environ.get("MLC_TESTS") == "full"


def sample(items, every):
    """Every so many of them, in their order; all in a full run."""
    items = list(items)
    return items if FULL else items[::every]
