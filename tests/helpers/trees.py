"""Small data sets in the official layouts, archives of them, and the folder of real ones."""

import io
import os
import struct
import tarfile
import zipfile
import zlib
from pathlib import Path

import numpy as np
import pytest

SHARED = Path(os.environ.get("KERNELCODING_DATA") or Path(__file__).parents[3] / "shared" / "data")
VOC_NAMES = [
    *("aeroplane", "bicycle", "bird", "boat", "bottle", "bus", "car", "cat", "chair", "cow"),
    *("diningtable", "dog", "horse", "motorbike", "person", "pottedplant", "sheep", "sofa"),
    *("train", "tvmonitor"),
]


def real(*parts):
    """Path to real data, or a skip that names what is missing."""
    path = SHARED.joinpath(*parts)
    if not path.exists():
        pytest.skip(f"real data not here: {path}")
    return path


def write(path, content=b""):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def pgm(pixels, comment=b""):
    height, width = pixels.shape
    return b"P5\n" + comment + b"%d %d\n255\n" % (width, height) + pixels.astype("u1").tobytes()


def png(pixels, stamp=b""):
    """Grey PNG of 8 or 16 bits, by the book, with an optional text chunk before the pixels."""
    height, width = pixels.shape
    bits = 8 * pixels.dtype.itemsize
    rows = pixels.astype(pixels.dtype.newbyteorder(">"))
    packed = zlib.compress(b"".join(b"\0" + row.tobytes() for row in rows))
    chunks = [(b"IHDR", struct.pack(">IIBBBBB", width, height, bits, 0, 0, 0, 0))]
    chunks += [(b"tEXt", stamp)] if stamp else []
    chunks += [(b"IDAT", packed), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
        for kind, body in chunks
    )


def cropped_yale(folder, rng, subjects=("yaleB01", "yaleB02", "yaleB13", "yaleB15")):
    """CroppedYale with what a real copy has beside the faces; returns the faces by file name."""
    faces = {}
    for subject in subjects:
        for light in ("A+000E+00", "A+000E+20", "A-005E+10"):
            name = f"{subject}_P00{light}.pgm"
            faces[name] = rng.integers(0, 256, (12, 10), dtype=np.uint8)
            write(folder / subject / name, pgm(faces[name]))
        ambient = pgm(rng.integers(0, 256, (48, 64)))
        write(folder / subject / f"{subject}_P00_Ambient.pgm", ambient)
        write(folder / subject / f"{subject}_P00A+050E-40.pgm.bad", b"spoilt")
        write(folder / subject / f"{subject}_P00.info", "names of files")
    return faces


def fmd(folder, classes=("fabric", "wood"), n_images=3):
    for name in classes:
        for number in range(n_images):
            for kind in ("image", "mask"):
                write(folder / kind / name / f"{name}_{number:03d}.jpg", f"{kind}{name}{number}")
    write(folder / "image" / "Thumbs.db", "not data")
    write(folder / "image" / classes[0] / "Thumbs.db", "not data")
    return folder


def scenes(folder, train, test):
    """MIT Indoor: lists as given, and an empty image for every name in them."""
    write(folder / "TrainImages.txt", "\n".join(train))  # as the original: no last line end
    write(folder / "TestImages.txt", "\n".join(test))
    for entry in (*train, *test):
        write(folder / "Images" / entry)
    return folder


def voc(folder, labels):
    """VOC2007 from ``{part: {image: {class: value}}}``; classes that are not named are absent."""
    lists = folder / "ImageSets" / "Main"
    for part, images in labels.items():
        write(lists / f"{part}.txt", "".join(f"{image}\n" for image in images))
        for name in VOC_NAMES:
            lines = [f"{image} {values.get(name, -1):2d}\n" for image, values in images.items()]
            write(lists / f"{name}_{part}.txt", "".join(lines))
        for image in images:
            write(folder / "JPEGImages" / f"{image}.jpg")
    return folder


def idx(values):
    """An array in MNIST's format."""
    head = bytes([0, 0, 8, values.ndim]) + np.array(values.shape, ">u4").tobytes()
    return head + values.tobytes()


def idx_files(folder, images, labels, pack=bytes, ending=""):
    """The files of MNIST; images and labels by part, "train" and "t10k"."""
    for part in images:
        write(folder / f"{part}-images-idx3-ubyte{ending}", pack(idx(images[part])))
        write(folder / f"{part}-labels-idx1-ubyte{ending}", pack(idx(labels[part])))


def pictures_of_prototypes(folder, rng, n_train=130, n_test=40, noise=60):
    """Files of MNIST with ten classes of 28 x 28 pixels that are easily told apart."""
    prototypes = rng.integers(0, 256, (10, 28, 28))
    images, labels = {}, {}
    for part, n in (("train", n_train), ("t10k", n_test)):
        labels[part] = np.arange(n, dtype=np.uint8) % 10
        found = prototypes[labels[part]] + rng.integers(-noise, noise, (n, 28, 28))
        images[part] = np.clip(found, 0, 255).astype(np.uint8)
    idx_files(folder, images, labels)


def zipped(folder):
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(folder.rglob("*")):
            archive.write(path, path.relative_to(folder))
    return content.getvalue()


def tarred(folder, mode="w"):
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode=mode) as archive:
        for path in sorted(folder.iterdir()):
            archive.add(path, path.name)
    return content.getvalue()
