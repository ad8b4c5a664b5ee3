"""When a result of a node case is right. Needs NumPy alone."""

import numpy as np

# Its results are written with four digits.
ROUNDED = {"test_averagepool_2d_ceil_last_window_starts_on_pad"}


def wrong(name, rtol, number, result, expected):
    """What is wrong with output `number` of case `name`, or None. `rtol` is the case's own."""
    if result.shape != expected.shape or result.dtype != expected.dtype:
        return f"output {number}: {result.dtype}{result.shape}, expected {expected.dtype}{expected.shape}"
    half = expected.dtype == np.float16
    relative = 1e-2 if half else max(rtol, 1e-3 if name in ROUNDED else 1e-4)
    try:
        np.testing.assert_allclose(result, expected, rtol=relative, atol=1e-3 if half else 1e-6)
    except (AssertionError, TypeError) as error:
        return f"output {number}: " + " ".join(str(error).split())[:300]
    return None
