"""OnnxOperators.md: what of ONNX's operators mlc compiles.

Versions and types are those of the onnx package's schemas, which operators there are
those of the importer's table (passes/Import), what is missing in them what their code
refuses by name. The package's node cases, and one case of each operator with every
type of its first input, are given to `mlc check`.
"""

import collections
import copy
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, defs, helper, numpy_helper

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "test/passes/Import"))
from test_node_cases import cases, freeze  # noqa: E402

NAMES = {"FLOAT16": "f16", "BFLOAT16": "bf16", "FLOAT": "f32", "DOUBLE": "f64", "INT8": "i8", "INT16": "i16", "INT32": "i32",
         "INT64": "i64", "UINT8": "u8", "UINT16": "u16", "UINT32": "u32", "UINT64": "u64", "BOOL": "bool"}
GROUPS = {"floats": ["f16", "bf16", "f32", "f64"],
          "integers": ["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"]}
# Not in the table: the importer itself takes a branch that is known, and what is held.
ITSELF = {"If": ["a condition that is not known when compiling"], "Constant": []}
# The domains whose operators are written without it, and its opset in models that are made here.
PLAIN = ("", "ai.onnx")


def handlers():
    """{(domain, operator): (source, handler)} of the importer's table."""
    found, texts = {}, {path: path.read_text() for path in sorted((ROOT / "passes/Import").glob("*.cpp"))}
    for path, text in texts.items():
        for domain, name, function in re.findall(r'\{"([\w.]*)",\s*"(\w+)",\s*\w+,\s*\w+,\s*([\w:<>]+)\}', text):
            # Some handlers have a file of their own beside the family's.
            own = [other for other in texts if f"\nLogicalResult {function}(Node &n) {{" in texts[other]]
            found[domain, name] = (own or [path])[0], function
    functions = (ROOT / "dialects/Definition/ScalarFunctions.def").read_text()
    for name in re.findall(r'\.onnx = \{\.name = "(\w+)"', functions):
        found.setdefault(("", name), (ROOT / "passes/Import/Pointwise.cpp", "importFunction"))
    return found


def functions(text):
    """{name: body} of the functions of a source in LLVM's style."""
    found = {}
    for body in re.split(r"\n\}\n", text):
        # The last line that begins in the first column and has a parenthesis begins the function.
        starts = list(re.finditer(r"^(?!#|//|namespace)[\w:<>&*,\s]*?\b(\w+)\((?=[^;]*\{)", body, re.M))
        for start in starts[-1:]:
            found[start.group(1)] = body[start.start():]
    return found


def literal(argument):
    """The text of a C++ expression of literals and other things, which are dots."""
    parts = re.findall(r'"((?:[^"\\]|\\.)*)"|(\w[\w.:()<>\[\]*&\s]*)', argument)
    text = ""
    for quoted, other in parts:
        if quoted or not other:
            text += quoted
        elif other.strip() not in ("Twine", "std::to_string", "Twine("):
            text += "…"
    return re.sub(r"…+", "…", text).strip()


def refusals(path, handler):
    """What the handler, and the functions of its file that it calls, refuse."""
    known, todo, seen, found = functions(path.read_text()), [handler.split("<")[0]], set(), []
    while todo:
        name = todo.pop()
        if name in seen or name not in known:
            continue
        seen.add(name)
        for argument in re.findall(r"\bunsupported\((.*?)\);", known[name], re.S):
            text = literal(argument)
            if text and text not in found:
                found.append(text)
        todo += re.findall(r"\b(\w+)\s*[(<]", known[name])
    return sorted(found)


def type_name(proto_type):
    return NAMES.get(TensorProto.DataType.Name(proto_type))


def allowed(constraint):
    """Element types that a constraint of a schema has, by ONNX's names in capitals."""
    return [text[7:-1].upper() for text in constraint.allowed_type_strs if text.startswith("tensor(")]


def retyped(proto, schema, element):
    """The model of one node with another type for its first input and what has the same; None where that cannot be."""
    node, made = proto.graph.node[0], copy.deepcopy(proto)

    def named(formals, names):
        return {name for i, name in enumerate(names) if name
                and formals[min(i, len(formals) - 1)].type_str == schema.inputs[0].type_str}
    same = named(schema.inputs, node.input) | named(schema.outputs, node.output)
    for value in [*made.graph.input, *made.graph.output]:
        if value.name in same:
            value.type.tensor_type.elem_type = element
    for weight in made.graph.initializer:
        if weight.name in same:
            try:
                array = numpy_helper.to_array(weight).astype(helper.tensor_dtype_to_np_dtype(element))
            except (TypeError, ValueError):
                return None
            weight.CopyFrom(numpy_helper.from_array(array, weight.name))
    return made


def checked(mlc, models, folder):
    """Of each model whether it compiles."""
    files = []
    for number, proto in enumerate(models):
        files.append(folder / f"{number}.onnx")
        onnx.save(proto, files[-1])
    answers = []
    for start in range(0, len(files), 500):
        done = subprocess.run([mlc, "check", "--json", *files[start:start + 500]], capture_output=True, text=True)
        listed = json.loads(done.stdout)
        answers += listed if isinstance(listed, list) else [listed]
    return [answer["compiles"] for answer in answers]


class Cases:
    """The node cases: how many of each operator compile, and one that does."""

    def __init__(self, mlc, folder):
        models, owners = [], []
        for case in cases():
            graph = case.model.graph
            if len(graph.node) != 1:
                continue
            forms = [case.model]
            if len(case.data_sets) == 1:
                frozen, kept = freeze(case.model, case.data_sets[0][0])
                forms += [frozen] if len(kept) < len(case.data_sets[0][0]) else []
            models += forms
            owners += [(graph.node[0].domain, graph.node[0].op_type, case.name)] * len(forms)
        compiles, self.example = {}, {}
        for owner, proto, good in zip(owners, models, checked(mlc, models, folder)):
            compiles[owner] = compiles.get(owner, False) or good
            if good:
                self.example.setdefault(owner[:2], proto)
        self.counts = collections.defaultdict(lambda: [0, 0])
        for (domain, name, _), good in compiles.items():
            self.counts[domain, name][0] += good
            self.counts[domain, name][1] += 1


def accepted_types(mlc, examples, folder):
    """{operator: {type: whether it compiles}} for the types that ONNX has for its first input."""
    models, owners, found = [], [], collections.defaultdict(dict)
    for key, proto in examples.items():
        version = next(o.version for o in proto.opset_import if (o.domain in PLAIN) == (key[0] in PLAIN))
        schema = defs.get_schema(key[1], version, key[0])
        constraint = next((c for c in schema.type_constraints if schema.inputs and
                           c.type_param_str == schema.inputs[0].type_str), None)
        for name in allowed(constraint) if constraint else []:
            element = TensorProto.DataType.Value(name) if name in TensorProto.DataType.keys() else None
            made = retyped(proto, schema, element) if name in NAMES else None
            if made is None:
                found[key][NAMES.get(name, name.lower())] = False
            else:
                models.append(made)
                owners.append((key, NAMES[name]))
    for (key, name), good in zip(owners, checked(mlc, models, folder)):
        found[key][name] = good
    return found


def listed(names):
    """Names of types, whole groups as one."""
    names = set(names)
    parts = []
    for group, members in GROUPS.items():
        parts += [group] if names >= set(members) else [name for name in members if name in names]
        names -= set(members)
    return ", ".join(parts + (["bool"] if "bool" in names else []) + sorted(names - {"bool"}))


def page(build):
    mlc, table = build / "bin/mlc", handlers()
    versions, latest = collections.defaultdict(list), {}
    for schema in defs.get_all_schemas_with_history():
        key = schema.domain, schema.name
        versions[key].append(schema.since_version)
        if schema.name not in latest or schema.since_version >= latest.get(key, schema).since_version:
            latest[key] = schema
    with tempfile.TemporaryDirectory() as folder:
        found = Cases(mlc, pathlib.Path(folder))
        types = accepted_types(mlc, found.example, pathlib.Path(folder))
    rows, counts = [], collections.Counter()
    for key in sorted(versions, key=lambda key: (key[0], key[1].lower())):
        domain, name = key
        good, all_cases = found.counts.get(key, (0, 0))
        itself = ITSELF.get(name) if domain in PLAIN else None
        is_known = key in table or itself is not None
        missing = list(itself or (refusals(*table[key]) if key in table else []))
        refused = listed(t for t, fine in types.get(key, {}).items() if not fine)
        if refused and is_known:
            missing.append(f"types {refused}")
        if not is_known:
            missing = ["only where everything is known when compiling"] if good else ["all of it"]
        kind = "yes" if is_known else "constants" if good else "no"
        counts[kind] += 1
        shown = f"{domain}.{name}" if domain else name
        rows.append(f"| {shown} | {', '.join(map(str, sorted(versions[key])))} | {kind} | "
                    f"{listed(t for t, fine in types.get(key, {}).items() if fine)} | "
                    f"{f'{good} of {all_cases}' if all_cases else ''} | {'; '.join(missing)} |")
    others = sorted(name for domain, name in handlers() if domain == "com.microsoft")
    return ("# ONNX's operators\n\n"
            f"Of the {sum(counts.values())} operators that version {onnx.__version__} of the onnx package knows {counts['yes']} "
            f"are compiled, {counts['constants']} more where all\ntheir inputs are known when compiling. What is compiled is "
            "compiled for CPUs and for CUDA alike: both make their code from one\ndefinition of each operator (Operators.md), "
            "and run the same node cases (test/end-to-end, test/cuda). `mlc check MODEL` lists what\nof a model is not. "
            f"Of com.microsoft's, which ONNX Runtime's optimizer writes, there are {', '.join(others)}.\n\n"
            "*Opsets* are those in which ONNX has changed the operator; a model of any opset is read, unless the last column "
            "says otherwise. *Types*\nare those of the first input that one case of the operator compiles with. *Cases* of the "
            "onnx package's are right, the others refused.\n\n"
            "| operator | opsets | CPU, CUDA | types | cases | missing |\n|---|---|---|---|---|---|\n" + "\n".join(rows) + "\n")
