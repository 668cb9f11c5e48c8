"""The parser: values in the promised form, and lines that come back as they were written."""

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import records
from kernelcoding.records import (
    Artifacts,
    Example,
    ExampleAtom,
    ExperimentRecord,
    ResultRecord,
)
from kernelcoding.records.forms import image, number
from kernelcoding.records.parsing import artifacts_of, parse_lines, record_of, result_of


@pytest.mark.parametrize("value", [None, True, "3", math.nan, math.inf, 10**400, [], {}])
def test_what_is_no_finite_number_is_absent(value):
    assert number(value) is None


@pytest.mark.parametrize(
    "uri",
    [
        "https://example.org/x.png",
        "data:image/svg+xml;base64,PHN2Zz4=",
        "data:text/html;base64,PHN2Zz4=",
        'data:image/png;base64,AAAA" onerror="x',
        "data:image/png;base64,AAAA\n",
        "data:image/png,AAAA",
        "javascript:alert(1)",
        5,
    ],
)
def test_only_pictures_within_the_text_are_admitted(uri):
    assert image(uri) is None
    assert artifacts_of({"atom_images": [uri]}).atom_images == ()


def test_png_and_jpeg_are_admitted():
    png = records.png(np.eye(3))
    assert image(png) == png
    assert image("data:image/jpeg;base64,/9j/4AA=") is not None


def test_parts_without_the_promised_form_are_absent():
    found = artifacts_of(
        {
            "objective_history": [1.0, "two"],
            "objective_steps": ["codes"],
            "kernel_history": [2.0, 1.0],
            "classes": ["a", "b"],
            "confusion": [[1, 0], [0]],
            "per_class": {"a": 1.0, "b": None},
            "examples": [{}, 5, {"atoms": [{"weight": "x"}, {"weight": 1}, {"weight": -2.0}]}],
        }
    )
    assert found.objective_history == found.objective_steps == found.confusion == ()
    assert found.kernel_history == (2.0, 1.0)
    assert found.per_class == (("a", 1.0),)
    assert [atom.weight for atom in found.examples[0].atoms] == [-2.0, 1.0]  # strongest first
    for count in (-1, 1e308, 2**54):
        assert artifacts_of({"classes": ["a"], "confusion": [[count]]}).confusion == ()
    assert artifacts_of({}).confusion == ()


def test_half_characters_do_not_reach_a_file():
    line = json.loads(json.dumps(records.result("x", "t", "a\ud800", 0, 1.0)))
    assert result_of(line, "").method == "a?"


# Lines


words = st.text(max_size=8)
finite = st.floats(allow_nan=False, allow_infinity=False)
weights = st.lists(finite, max_size=3).map(lambda found: sorted(found, key=lambda w: -abs(w)))
pictures = st.just(records.png(np.eye(2)))


@st.composite
def some_artifacts(draw):
    """Every part that a run may leave."""
    history = draw(st.lists(finite, max_size=4))
    classes = draw(st.lists(words, max_size=3, unique=True))
    counts = st.lists(st.integers(0, 9), min_size=len(classes), max_size=len(classes)).map(tuple)
    example = Example(
        draw(words),
        draw(words),
        draw(st.none() | pictures),
        tuple(ExampleAtom(w, draw(words), draw(st.none() | pictures)) for w in draw(weights)),
        tuple(draw(st.dictionaries(words, finite, max_size=2)).items()),
    )
    return Artifacts(
        objective_history=tuple(history),
        objective_steps=tuple(draw(words) for _ in history),
        kernel_history=tuple(draw(st.lists(finite, max_size=2))),
        classes=tuple(classes),
        confusion=tuple(draw(counts) for _ in classes) if draw(st.booleans()) else (),
        per_class=tuple(draw(st.dictionaries(words, finite, max_size=2)).items()),
        examples=(example,) if draw(st.booleans()) else (),
        atom_images=tuple(draw(st.lists(pictures, max_size=2))),
        gap=draw(st.none() | finite),
        error=draw(st.none() | finite),
        warnings=tuple(draw(st.lists(words, max_size=2))),
    )


results = st.builds(
    ResultRecord,
    experiment=words,
    key=words.filter(bool),
    table=words.filter(bool),
    method=words.filter(bool),
    control_of=st.none() | words.filter(bool),
    size=st.none() | st.integers(1, 900),
    split=st.integers(0, 9) | words,
    seed=st.integers(0, 9) | words,
    value=st.none() | finite,
    paper=st.none() | finite,
    seconds=st.none() | finite,
    memory=st.none() | finite,
    nonzeros=st.none() | finite,
    configuration=st.dictionaries(words, st.none() | finite | words).map(lambda d: (*d.items(),)),
    versions=st.dictionaries(words, words).map(lambda d: (*d.items(),)),
    finished=words,
    artifacts=some_artifacts(),
    source=st.just("x.jsonl, line 1"),
)
descriptions = st.builds(
    ExperimentRecord, words, words, words, words, words.filter(bool), st.booleans()
)


@given(descriptions | results)
def test_a_record_survives_its_line(record):
    line = json.dumps(record.as_line(), allow_nan=False).encode() + b"\n"
    (parsed,) = parse_lines(line, "x.jsonl")
    assert parsed.record == record
    assert parsed.ended


def test_lines_know_where_they_begin_and_whether_they_end():
    lines = [json.dumps(records.result("x", "t", "a", split, 1.0)).encode() for split in range(2)]
    first, second = parse_lines(b"\n" + lines[0] + b"\n\r\n" + lines[1], "x")
    assert (first.number, first.start, first.ended) == (2, 1, True)
    assert (second.number, second.start, second.ended) == (4, len(lines[0]) + 4, False)
    assert first.is_json
    assert second.is_json
    assert [line.record.split for line in (first, second)] == [0, 1]


# Controls


def test_controls_are_a_field():
    line = records.result("x", "t", "unsupervised twin", 0, 1.0, control_of="l-SkSC")
    assert record_of(line, "").control_of == "l-SkSC"
    assert record_of(records.result("x", "t", "l-SkSC", 0, 1.0), "").control_of is None


def test_controls_of_older_files_are_known_by_their_names():
    def control_of(method, **changes):
        return result_of(records.result("x", "t", method, 0, 1.0, **changes), "").control_of

    assert control_of("l-SkSC, control") == "l-SkSC"
    assert control_of("l-SkSC, control", control_of=None) is None  # the field says no
    assert control_of("l-SkSC, control", control_of="kSC") == "kSC"
    assert control_of("ridge control") is None
    assert control_of(", control") is None
