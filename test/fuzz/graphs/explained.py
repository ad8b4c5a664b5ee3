"""Where the judges differ, and why: docs/Judges.md tells the same to people.

An entry is a function of (node, inputs by name, types by name, opset) that says whether this very
difference is the one explained. Keep each narrow."""

ENTRIES = []


def explains(*ops):
    def register(test):
        ENTRIES.append((ops, test))
        return test
    return register


def find(node, inputs, types, opset):
    for ops, test in ENTRIES:
        if node.op_type in ops and test(node, inputs, types, opset):
            return test.__name__
    return None
