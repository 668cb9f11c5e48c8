"""Records that go to extremes: numbers of any size, characters that no page should have."""

import re
import unicodedata
from html.parser import HTMLParser

import pytest

from helpers import records
from kernelcoding.report import write_report

pytest.importorskip("jinja2")
LARGEST = 1.7976931348623157e308
CONTROLS = "".join(map(chr, [*range(9), *range(11, 32), *range(127, 160), 0x202E, 0x2066, 0xFEFF]))


class Attributes(HTMLParser):
    """Every attribute of a page, and its words."""

    def __init__(self, text):
        super().__init__()
        self.found, self.words = [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.found += [(tag, name, value) for name, value in attributes]

    def handle_data(self, data):
        self.words.append(data)


def body(tmp_path, lines):
    """The page without its style and script."""
    records.write(tmp_path / "x.jsonl", lines)
    text = write_report(tmp_path / "x.jsonl", tmp_path / "out.html").read_text("utf-8")
    return text.split("</style>")[1].split("<script>")[0]


def extreme(split, number, size):
    """A result that has this number wherever one may be."""
    artifacts = {
        "objective_history": [number, 1.0, -number, 1e-320],
        "objective_steps": ["codes", "atoms", "codes", "atoms"],
        "kernel_history": [abs(number), 1e-308],
        "classes": ["a", "b"],
        "confusion": [[2**53, 2**53], [0, 1]],
        "per_class": {"a": number, "b": -number},
        "certificate": {"gap": number, "error": number},
        "examples": [
            {
                "query": {"label": "a", "predicted": "b"},
                "atoms": [{"weight": number, "label": "a"}, {"weight": -1.0, "label": "b"}],
                "residuals": {"a": number, "b": -number},
            }
        ],
    }
    changes = {"seconds": number, "peak_memory_mb": number, "nonzeros": number, "paper": -number}
    configuration = {"alpha": number, "varies": split}
    return records.result(
        *("x", "t", "m", split, number),
        **{**changes, "size": size, "artifacts": artifacts, "configuration": configuration},
    )


@pytest.mark.parametrize("sizes", [(None,), (1, 1e308), (5e-324, 10)])
@pytest.mark.parametrize("number", [1e308, LARGEST, -LARGEST, 5e-324])
def test_numbers_of_any_size_are_drawn(tmp_path, number, sizes):
    lines = [
        extreme(split, number if split else number / 2, size)
        for split in range(3)
        for size in sizes
    ]
    lines += [records.result("x", "t", "other", s, -number, size=sizes[0]) for s in range(2)]
    page = Attributes(body(tmp_path, lines))
    for tag, name, value in page.found:
        assert not re.search(r"\b(inf|nan)\b", value or ""), (tag, name, value)
        if name in ("d", "transform", "x", "y", "x1", "x2", "y1", "y2", "cx", "cy", "width"):
            for found in re.findall(r"-?[0-9.]+", value):
                assert abs(float(found)) <= 2000, (tag, name, value)
    words = " ".join(page.words)
    assert not re.search(r"\b(inf|nan)\b", words)
    assert max(len(word) for word in words.split()) < 60


def test_control_characters_are_left_out(tmp_path):
    evil = f"a{CONTROLS}b"
    line = records.result(
        evil,
        evil,
        evil,
        0,
        50.0,
        seed=evil,
        finished=evil,
        configuration={evil: evil, "deep": [evil, {evil: evil}]},
        versions={evil: evil},
        artifacts={
            "objective_history": [2.0, 1.0],
            "classes": [evil],
            "confusion": [[1]],
            "per_class": {evil: 1.0},
            "warnings": [evil],
            "examples": [
                {
                    "query": {"label": evil, "predicted": evil},
                    "atoms": [{"weight": 1.0, "label": evil}],
                    "residuals": {evil: 1.0},
                }
            ],
        },
    )
    line["split"] = evil
    head = records.header(evil, title=evil, protocol=evil, paper=evil, metric=evil)
    records.write(tmp_path / "x.jsonl", [head, line])
    text = write_report(tmp_path, tmp_path / "out.html", title=evil).read_text("utf-8")
    found = {letter for letter in text if unicodedata.category(letter) in ("Cc", "Cf", "Cn")}
    assert found <= {"\n", "\t"}
    assert text.count("ab") > 20


def test_tabs_and_line_ends_stay(tmp_path):
    lines = [records.header("x", protocol="one\ttwo\nthree"), records.result("x", "t", "a", 0, 1.0)]
    assert "one\ttwo\nthree" in body(tmp_path, lines)
