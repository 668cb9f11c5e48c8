"""Model files from strangers: what is no model file at all, or one that claims too much."""

import io
import pickle
import zipfile

import numpy as np
import pytest

from helpers.model_files import (
    Bomb,
    array_bytes,
    coder_of,
    contents,
    forge,
    pickled_array,
    refused,
    write,
    write_honest,
)
from kernelcoding.persistence import load


@pytest.fixture(scope="module")
def honest(tmp_path_factory):
    return write_honest(tmp_path_factory.mktemp("honest") / "model.kc")


@pytest.fixture
def forged(tmp_path):
    return tmp_path / "forged.kc"


def test_a_bomb_that_is_unpickled_goes_off(monkeypatch):
    """Or the tests below would see nothing."""
    monkeypatch.setattr(Bomb, "exploded", False)
    pickle.loads(pickle.dumps(Bomb()))
    assert Bomb.exploded


def test_files_of_another_kind_are_refused(honest, forged):
    whole = honest.read_bytes()
    bare = io.BytesIO()
    np.save(bare, np.arange(3))
    others = [b"", b"PK", b"not a model", bare.getvalue(), pickle.dumps(Bomb()), whole[1:]]
    for content in others:
        forged.write_bytes(content)
        refused(forged, "is not a model file of kernelcoding")
    assert not Bomb.exploded


@pytest.mark.parametrize("part", [*(part / 7 for part in range(1, 7)), 0.999])
def test_a_truncated_file_is_said_to_be_cut_off(honest, forged, part):
    whole = honest.read_bytes()
    forged.write_bytes(whole[: int(part * len(whole))])
    refused(forged, "begins like a model file and has no end: perhaps it was cut off")


def test_archives_with_other_members_are_refused(honest, forged):
    arrays, description = contents(honest)
    tree = description["model"]
    pickled = pickled_array(Bomb())
    for name, content, sentence in (
        ("description.npy", pickled, "a type or a shape that no model has"),
        ("description.npy", array_bytes(np.arange(3)), "its description is no text"),
        ("description.npy", b"text", "is not a model file"),
        ("other.txt", b"x", "members that no model has"),
        ("array_0.npy", pickled, "is not a model file"),
    ):
        with zipfile.ZipFile(forged, "w") as archive:
            archive.writestr(name, content)
        refused(forged, sentence)
    others = "does not have the arrays that its description names"
    refused(forge(forged, tree, {**arrays, "extra": np.arange(3)}), others)
    one_less = dict(list(arrays.items())[1:])
    refused(forge(forged, tree, one_less), others)
    with zipfile.ZipFile(forge(forged, tree, one_less), "a") as archive:
        archive.writestr(next(iter(arrays)) + ".npy", pickled)
    refused(forged, "a type or a shape that no model has")
    with zipfile.ZipFile(forge(forged, tree, one_less), "a") as archive:
        archive.writestr(next(iter(arrays)), b"raw bytes")
    refused(forged, "damaged")
    assert not Bomb.exploded


def test_words_that_are_no_text_are_refused(forged):
    for order in "<>":
        word = np.array([97, 2**31], f"{order}u4").view(f"{order}U2")
        forge(forged, coder_of(alpha={"array": "word"}), {"word": word})
        refused(forged, "words of the array 'word' are no text")


def test_formats_of_the_future_are_named(forged):
    refused(
        forge(forged, coder_of(), format=4, version="9.1"),
        r"format 4, written by kernelcoding 9\.1; this version reads formats 1 to 3",
    )
    for version in (0, -1, None, "1", "2", [1], 1.5, 2.0, True):
        refused(forge(forged, coder_of(), format=version), "this version reads")


def test_huge_declared_arrays_are_refused(forged):
    for shape in ((10**15,), (10**30,), (2**40, 2**40), (-1,), (10**9, 0, 10**9)):
        header = {"descr": "<f8", "fortran_order": False, "shape": shape}
        file = io.BytesIO()
        np.lib.format.write_array_header_1_0(file, header)
        forge(forged, coder_of(groups={"array": "big"}))
        with zipfile.ZipFile(forged, "a") as archive:
            archive.writestr("big.npy", file.getvalue() + b"12345678" * (0 not in shape))
        if 0 in shape:
            assert load(forged).groups.size == 0
        elif -1 in shape:
            refused(forged, "a type or a shape that no model has")
        else:
            refused(forged, r"'big' is announced with \d+ bytes and has 136: the file is damaged")


def test_very_deep_descriptions_are_refused(forged):
    for start, end in (('{"list":[', "]}"), ("[", "]")):
        text = start * 200_000 + end * 200_000
        for version in (1, 2):
            whole = f'{{"format": {version}, "model": {text}}}'
            refused(write(forged, whole, {}), "is not a model file")
