"""What the table of scalar functions says of ONNX, held to ONNX's schemas."""

import re

import onnx
import pytest

EXPORTED = 7  # the oldest opset that is written


@pytest.fixture(scope="module")
def rows(tools):
    text = (tools.source / "dialects/Definition/ScalarFunctions.def").read_text()
    # A row ends where the next one begins.
    return {found["name"]: (row, found["more"]) for row in re.split(r"^(?=SCALAR_FUNCTION)", text, flags=re.M)
            if (found := re.search(r'\.onnx = \{\.name = "(?P<name>\w+)"(?P<more>[^}]*)\}', row))}


def test_onnx_has_the_functions(rows):
    schemas = {}
    for schema in onnx.defs.get_all_schemas_with_history():
        if schema.domain == "" and schema.name in rows:
            schemas.setdefault(schema.name, {})[schema.since_version] = schema
    assert len(rows) >= 14 and set(schemas) == set(rows)
    for name, (row, more) in rows.items():
        opset = re.search(r"\.opset = (\d+)", more)
        assert int(opset[1] if opset else EXPORTED) == max(EXPORTED, min(schemas[name])), name
        allowed = {text for schema in schemas[name].values() for constraint in schema.type_constraints
                   for text in constraint.allowed_type_strs}
        takes_integers = "tensor(int32)" in allowed
        is_of_numbers = "Takes::Numbers" in row
        assert takes_integers == (is_of_numbers or ".takesIntegers = true" in more), name
        assert ("tensor(bool)" in allowed) == ("Takes::Truths" in row), name
