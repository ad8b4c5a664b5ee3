"""Inputs as models see them in use, made here: pictures, text, sound, files.

Each function takes the wanted shape and a seed and returns an array in the
range that the models' own preprocessing gives.
"""

import pathlib
import string

import numpy as np


def picture(shape, seed=0):
    """NCHW: smooth coloured blobs with edges, in [0, 1] as a photograph is."""
    n, channels, height, width = shape
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[0:height, 0:width].astype(np.float64)
    image = np.zeros(shape)
    for i in range(n):
        for c in range(channels):
            plane = 0.5 * y / height + 0.3 * x / width
            for _ in range(6):
                cy, cx = rng.uniform(0, height), rng.uniform(0, width)
                radius = rng.uniform(0.05, 0.3) * min(height, width)
                inside = (y - cy) ** 2 + (x - cx) ** 2 < radius**2
                plane = np.where(inside, rng.uniform(0, 1), plane)
            image[i, c] = plane + rng.normal(0, 0.02, plane.shape)
    return np.clip(image, 0, 1).astype(np.float32)


def font(size):
    """The font that comes with Pillow, so that every machine draws alike."""
    from PIL import ImageFont

    return ImageFont.load_default(size)


def draw_line(text, height=48, margin=6):
    """An RGB picture of one line of dark text on a light ground."""
    from PIL import Image, ImageDraw

    face = font(height - 2 * margin - 2)
    left, top, right, bottom = face.getbbox(text)
    width = right - left + 2 * margin
    image = Image.new("RGB", (width, height), (250, 248, 240))
    ImageDraw.Draw(image).text(
        (margin - left, (height - (bottom - top)) / 2 - top), text, fill=(20, 20, 30), font=face
    )
    return image


def normalized(image):
    """HWC bytes to CHW in [-1, 1], as PP-OCR's preprocessing does."""
    array = np.asarray(image, np.float32)[:, :, ::-1].transpose(2, 0, 1)
    return array / 127.5 - 1


def words(rng, length):
    letters = np.array(list(string.ascii_letters + string.digits + "    "))
    return "".join(rng.choice(letters, length))


def text_line(shape, seed=0):
    """Lines of drawn text, cut or padded to the wanted width."""
    n, _, height, width = shape
    rng = np.random.default_rng(seed)
    lines = np.zeros(shape, np.float32)
    for i in range(n):
        line = normalized(draw_line(words(rng, max(2, width // 18)), height))[:, :, :width]
        lines[i, :, :, : line.shape[2]] = line
    return lines


def text_page(shape, seed=0):
    """Pages with a few lines of text, normalized by ImageNet's mean and deviation."""
    from PIL import Image, ImageDraw

    n, _, height, width = shape
    rng = np.random.default_rng(seed)
    mean = np.array([0.485, 0.456, 0.406], np.float32)
    deviation = np.array([0.229, 0.224, 0.225], np.float32)
    pages = np.zeros(shape, np.float32)
    for i in range(n):
        page = Image.new("RGB", (width, height), (235, 235, 228))
        draw = ImageDraw.Draw(page)
        for y in range(8, height - 20, 30):
            draw.text((8, y), words(rng, width // 12), fill=(25, 25, 25), font=font(18))
        array = (np.asarray(page, np.float32) / 255 - mean) / deviation
        pages[i] = array.transpose(2, 0, 1)
    return pages


MAGIKA_BLOCK = 1024
MAGIKA_PADDING = 256


def magika_features(data):
    """The 2,048 numbers that Magika reads: the stripped beginning and end of a
    file, padded with 256 (after its package's own feature extraction)."""
    beginning = data[:4096].lstrip()[:MAGIKA_BLOCK]
    end = data[-4096:].rstrip()[-MAGIKA_BLOCK:]
    features = np.full(2 * MAGIKA_BLOCK, MAGIKA_PADDING, np.int32)
    features[: len(beginning)] = list(beginning)
    features[2 * MAGIKA_BLOCK - len(end) :] = list(end)
    return features


def file_bytes(shape, seed=0):
    """Source files of this project, as Magika reads them.

    Long sources only, whose type is beyond doubt: on a file of a few lines the
    model hesitates between types, and then two float32 evaluations differ by
    more than 1e-4 (ONNX Runtime's own is up to 1.3e-3 from float64 there)."""
    root = pathlib.Path(__file__).resolve().parents[2]
    files = sorted(
        path
        for folder in ("dialects", "passes", "runtime", "verifier")
        for path in (root / folder).rglob("*.cpp")
        if path.stat().st_size >= 4096
    )
    rng = np.random.default_rng(seed)
    chosen = [files[i] for i in rng.integers(0, len(files), shape[0])]
    return np.stack([magika_features(path.read_bytes()) for path in chosen])


def sound(shape, seed=0):
    """16 kHz sound in the range of 16-bit samples: tones that rise, and noise."""
    rng = np.random.default_rng(seed)
    t = np.arange(shape[1]) / 16000
    rows = []
    for _ in range(shape[0]):
        low = rng.uniform(100, 400)
        tone = np.sin(2 * np.pi * (low * t + 300 * t**2)) + 0.3 * np.sin(2 * np.pi * 3 * low * t)
        rows.append(6000 * tone + rng.normal(0, 200, t.shape))
    return np.array(rows, np.float32)


def spectrogram(shape, seed=0):
    """Log-mel values as the openWakeWord front end makes them."""
    return np.random.default_rng(seed).normal(1.0, 1.0, shape).astype(np.float32)


def embedding(shape, seed=0):
    """Embeddings as the openWakeWord model makes them."""
    return np.random.default_rng(seed).normal(0, 12.0, shape).astype(np.float32)
