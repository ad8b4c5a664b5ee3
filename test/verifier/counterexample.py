"""Reads a refutation as JSON: it has every element of every argument."""

import json
import math
import sys

arguments = json.load(sys.stdin)["counterexample"]["arguments"]
assert [argument["dims"] for argument in arguments] == [[5, 6], [2, 3]]
for argument in arguments:
    assert len(argument["elements"]) == math.prod(argument["dims"])
