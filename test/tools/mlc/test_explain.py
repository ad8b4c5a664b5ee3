"""mlc optimize --explain: each rewrite in words, both graphs in a drawing."""

import json
import pathlib
import re
import sys
import xml.etree.ElementTree as xml

import onnx
import pytest

import graphs

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "tools" / "experiments"))
import models  # noqa: E402

SVG = "{http://www.w3.org/2000/svg}"


def explained(tools, folder, model, name="drawing.svg"):
    """What is printed, the drawing's text, and the steps of the trail."""
    path, result, drawing = folder / "m.onnx", folder / "o.onnx", folder / name
    graphs.save(path, model)
    done = tools.mlc("optimize", path, "-o", result, f"--explain={drawing}")
    assert done.returncode == 0, done.stderr
    (trail,) = [p.value for p in onnx.load(result).metadata_props if p.key == "mlc.trail"]
    return done.stdout, drawing.read_text(), json.loads(trail)[0]["steps"]


def boxes(drawing, kind):
    """The words in the boxes of that kind: gone, made or same."""
    found = []
    for group in xml.fromstring(drawing).iter(f"{SVG}g"):
        rect = group.find(f"{SVG}rect")
        if rect is not None and rect.get("class") == kind:
            found.append([text.text for text in group.findall(f"{SVG}text")])
    return found


def test_words_and_drawing(tools, tmp_path):
    """A small graph is drawn whole."""
    words, drawing, steps = explained(tools, tmp_path, graphs.small_network())
    for number, step in enumerate(steps, 1):
        place = ", ".join(step["places"])
        assert f"  {number}. {step['rule']} at {place} (" in words
    assert "condition: " in words and "eps2 = " in words and "saves " in words
    gone = [box[0].split()[0] for box in boxes(drawing, "gone")]
    assert "batch_norm" in gone and "relu" not in gone
    assert ["conv 8x3x3x3 pads 1", "Conv_0", "Nx8xHxW"] in boxes(drawing, "gone")
    assert any(box[0].startswith("conv ") for box in boxes(drawing, "made"))
    names = [box[1] for box in boxes(drawing, "same") if len(box) > 1]
    assert names.count("Softmax_6") <= 2 and names.count("Relu_2") == 2  # on either side


def test_nothing_rewritten(tools, tmp_path):
    model = graphs.model([("Relu", ["x"], ["y"], {})], [("x", [2, 3])], [("y", [2, 3])])
    words, drawing, steps = explained(tools, tmp_path, model)
    assert steps == [] and words.startswith("rewrites (0):\npredicted: ")
    assert "nothing was rewritten" in drawing and not boxes(drawing, "gone") and not boxes(drawing, "made")


def test_large_graph(tools, tmp_path):
    """Only what was rewritten is drawn, and what looks alike once."""
    words, drawing, steps = explained(tools, tmp_path, models.build("resnext50", small=True))
    assert f"rewrites ({len(steps)}):" in words and len(steps) >= 50
    assert "places more" in drawing
    drawn = sum(len(boxes(drawing, kind)) for kind in ("gone", "made", "same"))
    assert boxes(drawing, "gone") and drawn < 150
    again = tools.mlc("optimize", tmp_path / "m.onnx", "-o", tmp_path / "p.onnx",
                      f"--explain={tmp_path / 'again.svg'}")
    assert again.returncode == 0 and (tmp_path / "again.svg").read_text() == drawing


def test_what_does_not_pay(tools, tmp_path):
    """On a K80 neither enlarging a 1x1 kernel nor merging it with the 3x3 beside
    it pays; a rule by itself is judged as well."""
    path = tmp_path / "m.onnx"
    models.write("resnet18-parallel", path)
    done = tools.mlc("optimize", path, "-o", tmp_path / "o.onnx", "--target=gpu:k80", "--explain")
    assert done.returncode == 0, done.stderr
    taken, choices = done.stdout.split("possible, but slower on this target:\n")
    assert "conv_as_larger_conv" not in taken
    (line,) = [line for line in choices.splitlines()
               if "conv_as_larger_conv at" in line and ", then split_plain_conv_plain_conv_as_conv at" in line]
    assert "projection" in line and "first" in line
    assert "the best of 8 places" in line


def test_steps_that_pay_together_are_one(tools, tmp_path):
    """A convolution is made by one step and merged by another, which by itself costs what the first has saved too much."""
    path = tmp_path / "m.onnx"
    models.write("resnet18-parallel", path)
    done = tools.mlc("optimize", path, "-o", tmp_path / "o.onnx", "--target=gpu:v100", "--explain")
    assert done.returncode == 0, done.stderr
    taken = done.stdout.split("predicted: ")[0]
    assert "(costs " not in taken and "prepares another" not in taken
    assert re.search(r"^  \d+, \d+\. conv_batch_norm\S* at stage1.0.first\S*, \S+, then split_plain_conv\S+ at .*stage1.0.first.* "
                     r"\(saves [\d.]+ us together\)$", taken, re.M)
    (report,) = re.findall(r"gap 0.00 % \(optimal among (\d+) rewrites found\)", done.stdout)
    assert int(report) > 31


def test_page(tools, tmp_path):
    words, page, _ = explained(tools, tmp_path, graphs.small_network(), "page.html")
    assert page.startswith("<!doctype html>") and page.count("<svg ") == 1
    assert words.splitlines()[1].strip() in page


def test_hostile_names(tools, tmp_path):
    """Names may hold what XML does not."""
    model = graphs.small_network()
    for node in model.graph.node:
        node.name = f"<b>&'\"\x01{node.name}</svg>\u4e2d"
    _, drawing, _ = explained(tools, tmp_path, model)
    assert any("</svg>" in text for box in boxes(drawing, "same") for text in box)


@pytest.mark.parametrize("name", ["drawing.png", "drawing"])
def test_unknown_form(tools, tmp_path, name):
    path = graphs.save(tmp_path / "m.onnx", graphs.small_network())
    done = tools.mlc("optimize", path, "-o", tmp_path / "o.onnx", f"--explain={tmp_path / name}")
    assert done.returncode == 2 and "give FILE.svg or FILE.html" in done.stderr
    assert not (tmp_path / "o.onnx").exists()


def test_without_drawing(tools, tmp_path):
    path = graphs.save(tmp_path / "m.onnx", graphs.small_network())
    done = tools.mlc("optimize", path, "-o", "-", "--explain", text=False)
    assert done.returncode == 0 and b"rewrites (" in done.stderr
    onnx.checker.check_model(onnx.load_from_string(done.stdout))


def test_inspect_says_the_same(tools, tmp_path):
    path = graphs.save(tmp_path / "m.onnx", graphs.small_network())
    done = tools.mlc("optimize", path, "-o", tmp_path / "o.onnx", "--explain")
    assert tools.mlc("compile", path, "-o", tmp_path / "m.mlca").returncode == 0
    shown = tools.mlc("inspect", tmp_path / "m.mlca")
    steps = done.stdout.split("predicted: ")[0].split("possible, but")[0]
    assert shown.returncode == 0 and steps in shown.stdout


def test_compile_explains_as_optimize_does(tools, tmp_path):
    words, drawing, _ = explained(tools, tmp_path, graphs.small_network())
    model, picture = tmp_path / "m.onnx", tmp_path / "compiled.svg"
    done = tools.mlc("compile", model, "-o", tmp_path / "m.mlca", f"--explain={picture}")
    assert done.returncode == 0, done.stderr
    steps = words[words.index("rewrites ("):words.index("predicted:")]
    assert done.stdout.startswith(steps) and "predicted: " in done.stdout and picture.read_text() == drawing
    text = tools.mlc("compile", model, "--compile-to=optimize", "--explain")
    assert text.returncode == 0 and text.stderr.startswith(steps) and "mlc.trail" in text.stdout


def test_picture_of_no_kind(tools, tmp_path):
    """Refused before the model is read."""
    for command in ("optimize", "compile"):
        done = tools.mlc(command, tmp_path / "missing.onnx", "-o", tmp_path / "o", "--explain=a.png")
        assert done.returncode == 2 and done.stderr.startswith("mlc: error: --explain=a.png: draws SVG")
