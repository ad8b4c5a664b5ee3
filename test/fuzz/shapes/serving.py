"""What a process of the campaign does."""

import os
import tempfile


def generate(kind, seed):
    import arithmetic
    import pairs
    return (pairs if kind == "pairs" else arithmetic).generate(seed)


def serve(connection, build, kind, seeds):
    """Sends each seed before it is checked, then what came of it."""
    os.environ["MLC_BUILD"] = build
    import judging
    with tempfile.TemporaryDirectory(prefix="fuzz-shapes-") as folder:
        for seed in seeds:
            connection.send((seed, None, None))
            connection.send((seed, *judging.check(build, folder, *generate(kind, seed))))
