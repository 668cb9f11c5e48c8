"""Where data live, and what the command line will say of them."""

import os
import sys
from pathlib import Path

import pytest

from helpers import trees
from kernelcoding import datasets
from kernelcoding.datasets.registry import REGISTRY


def states(home):
    return {(state.name, state.form): state for state in datasets.describe(home)}


def test_home_by_argument_variable_and_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("KERNELCODING_DATA", str(tmp_path / "variable"))
    assert datasets.get_data_home(tmp_path / "argument") == str(tmp_path / "argument")
    assert datasets.get_data_home() == str(tmp_path / "variable")
    assert (tmp_path / "variable").is_dir()
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    assert datasets.get_data_home("~/mine") == str(tmp_path / "mine")


@pytest.mark.parametrize(
    ("platform", "variables", "expected"),
    [
        ("linux", {"XDG_CACHE_HOME": "{}/xdg"}, "xdg/kernelcoding"),
        ("linux", {}, ".cache/kernelcoding"),
        ("darwin", {}, "Library/Caches/kernelcoding"),
        ("win32", {"LOCALAPPDATA": "{}/local"}, "local/kernelcoding"),
    ],
)
def test_user_cache_folder(monkeypatch, tmp_path, platform, variables, expected):
    for name in ("KERNELCODING_DATA", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    for name, value in variables.items():
        monkeypatch.setenv(name, value.format(tmp_path))
    monkeypatch.setattr(sys, "platform", platform)
    assert datasets.get_data_home() == str(tmp_path / expected)


def test_fetchers_use_the_variable(monkeypatch, tmp_path):
    trees.fmd(tmp_path / "fmd")
    monkeypatch.setenv("KERNELCODING_DATA", str(tmp_path))
    assert len(datasets.fetch_fmd().data) == 6
    assert states(None)["fmd", "images"].present


def test_describe_tells_present_broken_and_missing(tmp_path):
    folder = trees.fmd(tmp_path / "fmd")
    trees.write(tmp_path / "mit_indoor" / "Images" / "bar" / "a.jpg")
    trees.write(tmp_path / "fmd" / "my thesis.pdf", bytes(10_000))
    found = states(tmp_path)
    fmd = found["fmd", "images"]
    expected = sum(
        os.path.getsize(path)
        for kind in ("image", "mask")
        for path in (folder / kind).rglob("*")
        if path.is_file()
    )
    assert (fmd.present, fmd.path, fmd.size) == (True, folder, expected)
    indoor = found["mit_indoor", "images"]
    assert not indoor.present
    assert "incomplete: TrainImages.txt, TestImages.txt is missing" in indoor.problem
    voc = found["voc2007", "images"]
    assert (voc.present, voc.path, voc.size, voc.problem) == (False, None, None, None)
    assert voc.can_download
    assert voc.download_size == pytest.approx(911e6, rel=0.01)
    assert "VOCtest_06-Nov-2007.tar" in voc.how_to_get
    assert str(tmp_path / "voc2007" / "VOCdevkit") in voc.how_to_get
    assert not found["virus", "8bit"].can_download


def test_describe_makes_nothing(tmp_path):
    assert not any(state.present for state in datasets.describe(tmp_path / "none"))
    assert not (tmp_path / "none").exists()


def test_describe_real_data():
    trees.real("README.md")
    present = {key for key, state in states(trees.SHARED).items() if state.present}
    with_images = {(name, "images") for name in ("yaleb", "fmd", "scene15")}
    with_lists = {(name, "lists") for name in ("mit_indoor", "voc2007")}
    assert with_images | with_lists | {("yaleb", "random_faces"), ("virus", "8bit")} <= present
    assert ("mit_indoor", "images") not in present


@pytest.mark.parametrize("name", list(REGISTRY))
def test_every_set_says_source_terms_citation_protocol(name):
    info = REGISTRY[name]
    fetch = getattr(datasets, f"fetch_{name}")
    assert info.name == name
    assert fetch.__doc__.startswith("Load ")
    text = (Path(datasets.__file__).parent / "descriptions" / f"{name}.md").read_text("utf-8")
    for heading in ("**Source.**", "**Terms.**", "**Cite.**", "**Protocol", "**Layout.**"):
        assert heading in text
    assert info.page in text


@pytest.mark.parametrize("name", list(REGISTRY))
def test_every_missing_set_explains_itself(name, tmp_path):
    by_hand = ("scene15", "mnist", "fashion_mnist")
    options = {} if name in by_hand else {"download_if_missing": False}
    with pytest.raises(FileNotFoundError) as caught:
        getattr(datasets, f"fetch_{name}")(tmp_path, **options)
    message = str(caught.value)
    assert REGISTRY[name].page in message
    assert f"expected: {tmp_path / name}" in message


def test_checksums_and_addresses_are_well_formed():
    lengths = {"md5": 32, "sha1": 40, "sha256": 64}
    remotes = [
        remote
        for info in REGISTRY.values()
        for form in info.forms.values()
        for remote in form.remotes
    ]
    assert remotes
    for remote in remotes:
        assert remote.url.startswith(("http://", "https://"))
        assert remote.url.endswith("/" + remote.file)
        if remote.checksum:
            algorithm, digest = remote.checksum.split(":")
            assert len(bytes.fromhex(digest)) * 2 == lengths[algorithm]


def test_known_checksums_of_lists_are_those_of_the_real_lists():
    import hashlib

    for remote in REGISTRY["mit_indoor"].forms["images"].remotes[1:]:
        content = trees.real("mit_indoor", remote.file).read_bytes()
        assert remote.checksum == f"sha256:{hashlib.sha256(content).hexdigest()}"
