"""Faults that are written by hand name texts that stand once in the sources, so that none is left out unseen."""

import definedness_fault_list
import pytest
import rewriting_fault_list

LISTS = {f"{module.__name__}.{name}": faults for module in (definedness_fault_list, rewriting_fault_list)
         for name, faults in vars(module).items()
         if isinstance(faults, (list, tuple)) and faults and isinstance(faults[0], tuple) and len(faults[0]) == 4}


def stale(source, faults):
    """Faults whose text is not there, or is there more than once."""
    found = []
    for name, old, *_ in faults:
        file = next(path for path in (source / name, source / "rewrites" / name) if path.is_file())
        if file.read_text().count(old) != 1:
            found.append((name, old))
    return found


@pytest.mark.parametrize("name", LISTS)
def test_each_text_stands_once(tools, name):
    assert stale(tools.source, LISTS[name]) == []


def test_there_are_as_many_faults_as_the_pages_tell():
    assert sum(map(len, LISTS.values())) > 200


def test_what_is_gone_is_seen(tools):
    name, old, *rest = definedness_fault_list.KERNEL[0]
    assert stale(tools.source, [(name, old + " /* gone */", *rest)])
