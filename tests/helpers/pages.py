"""What the pages of the tests are made of, and what a picture of one shows."""

import itertools
import struct
import zlib
from contextlib import contextmanager

import numpy as np

from helpers import records

GAPS = {"SRC": 2e-3, "kSC": 3e-10, "kLLC": 5e-7, "SVC": None, "hard": 0.0}


def letters():
    """Certificates, classes of one letter, and a curve with its control."""
    for rank, (method, gap) in enumerate(GAPS.items()):
        given = {"classes": ["a", "b"], "confusion": [[3, 1], [0, 4]]}
        if gap is not None:
            given["certificate"] = {"gap": gap, "error": 0.1 * (1 + rank)}
        for split in range(2):
            value = 90.0 + rank + split
            yield records.result(
                "letters", "codes", method, split, value, paper=91.0, artifacts=given
            )
    for method, size in itertools.product(("l-SkSC", "l-SkSC, control", "kSC"), (10, 20)):
        yield records.result("letters", "curve", method, 0, 80.0 + size, size=size)


def some_of(lines):
    """Fewer splits and numbers of atoms: what every test waits for is the loading of the page."""
    sizes = (None, 50, 200, 500, 570)
    return [line for line in lines if line.get("split", 0) < 3 and line.get("size") in sizes]


def pixels(png):
    """Grey levels of an 8-bit PNG without interlacing, by the definition of the format."""
    data, place = b"", 8
    while place < len(png):
        (length,) = struct.unpack(">I", png[place : place + 4])
        kind = png[place + 4 : place + 8]
        body = png[place + 8 : place + 8 + length]
        if kind == b"IHDR":
            width, height, depth, colour = struct.unpack(">IIBB", body[:10])
            assert depth == 8
        data += body if kind == b"IDAT" else b""
        place += 12 + length
    channels = {2: 3, 6: 4}[colour]
    raw = np.frombuffer(zlib.decompress(data), np.uint8).reshape(height, -1)
    return raw[:, 1:].reshape(height, width, channels)


@contextmanager
def watched_pages(browser, address):
    """Opens the page and, at the end, asserts that it neither complained nor fetched anything."""
    contexts, complaints, requests = [], [], []

    def open_page(width=1280, height=800, scheme="light", fragment=""):
        context = browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme=scheme,
            reduced_motion="reduce",
        )
        context.set_default_timeout(10_000)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda request: requests.append(request.url))
        page.goto(address + fragment)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert complaints == []
    assert {url.partition("#")[0] for url in requests if not url.startswith("data:")} == {address}
