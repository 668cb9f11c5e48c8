"""Model files from strangers: small files do not take much memory or time."""

import io
import json
import struct
import subprocess
import sys
import tracemalloc
import warnings
import zipfile

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

import kernelcoding as kc
from helpers.model_files import (
    array_bytes,
    coder_of,
    contents,
    forge,
    refused,
    there_and_back,
    write,
)
from kernelcoding.persistence import FORMAT, ModelFileError, archive, files, load, save
from kernelcoding.persistence.reading import arrays_named_in

MB = 10**6


@pytest.fixture
def path(tmp_path):
    return tmp_path / "forged.kc"


@pytest.fixture
def peak():
    """The most memory that was held since the last call, in bytes."""

    def since():
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.reset_peak()
        return found

    tracemalloc.start()
    yield since
    tracemalloc.stop()


def bomb(path, array, method=zipfile.ZIP_DEFLATED, named=True):
    """A file with an array of much air, named in its description or not."""
    forge(path, coder_of(groups={"array": "big"} if named else None))
    with zipfile.ZipFile(path, "a", method) as members:
        members.writestr("big.npy", array_bytes(array))
    return path


@pytest.mark.parametrize("named", [True, False])
def test_bombs_are_refused_before_anything_is_expanded(path, peak, monkeypatch, named):
    bomb(path, np.zeros(6 * MB), named=named)
    monkeypatch.setattr(archive, "FREE_BYTES", 20 * MB)
    peak()
    refused(path, r"its arrays take 48\.0 MB or more, and a file of 0\.0 MB may have 20\.0 MB. If")
    with pytest.raises(ModelFileError, match=r"48\.0 MB .*max_bytes is 30\.0 MB.*larger max_bytes"):
        load(path, max_bytes=30 * MB)
    assert peak() < MB


def test_members_that_are_not_named_are_not_expanded(path, peak):
    bomb(path, np.zeros(6 * MB), named=False)
    peak()
    refused(path, "does not have the arrays that its description names")
    assert peak() < MB


def test_half_of_the_free_memory_is_a_limit(path, monkeypatch):
    bomb(path, np.zeros(6 * MB))
    monkeypatch.setattr("kernelcoding.memory.available_memory", lambda: 50 * MB)
    refused(path, r"48\.0 MB or more, and half of the free memory is 25\.0 MB")
    monkeypatch.setattr("kernelcoding.memory.available_memory", lambda: None)
    assert load(path).groups.size == 6 * MB
    assert load(path, max_bytes=np.int64(49 * MB)).groups.size == 6 * MB


@pytest.mark.parametrize(
    "points", [np.zeros((4000, 1000)), np.eye(2000), np.eye(1000)[np.arange(4000) % 1000]]
)
def test_honest_models_of_much_air_load(points, tmp_path):
    coder = kc.KernelSparseCoder(groups=points)
    again = there_and_back(coder, tmp_path)
    assert points.nbytes > 700 * (tmp_path / "model").stat().st_size
    np.testing.assert_array_equal(again.groups, points)


def test_large_files_may_have_a_hundred_times_their_size(path, monkeypatch):
    monkeypatch.setattr(archive, "FREE_BYTES", 1)
    groups = np.zeros(200_000)
    groups[::40] = np.random.default_rng(0).normal(size=5000)
    save(kc.KernelSparseCoder(groups=groups), path)
    assert 10 < groups.nbytes / path.stat().st_size < archive.MAX_RATIO
    np.testing.assert_array_equal(load(path).groups, groups)


def test_long_descriptions_need_to_be_asked_for(path, monkeypatch):
    monkeypatch.setattr(archive, "MAX_DESCRIPTION", MB)
    forge(path, coder_of(groups="long" * MB))
    refused(path, r"its description takes 16\.0 MB, more than the 1\.0 MB that are read")
    assert load(path, max_bytes=20 * MB).groups == "long" * MB


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_compressions_that_are_not_written_are_not_read(path, method):
    refused(bomb(path, np.arange(9), method), "members that no model has")


def test_members_of_one_name_are_refused(path):
    bomb(path, np.arange(9))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with zipfile.ZipFile(path, "a") as members:
            members.writestr("big.npy", array_bytes(np.arange(9)))
    refused(path, "members that no model has")


def directory_entry(content, name):
    """Where the entry of a member is in the directory of an archive."""
    place = content.rindex(name) - 46
    assert content[place : place + 4] == b"PK\x01\x02"
    return place


def test_members_are_not_read_beyond_their_size(path, peak):
    """Header and directory say the same, and far more comes."""
    told = array_bytes(np.zeros(9))
    forge(path, coder_of(groups={"array": "big"}))
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as members:
        members.writestr("big.npy", told + bytes(40 * MB))
    content = bytearray(path.read_bytes())
    place = directory_entry(content, b"big.npy") + 24
    content[place : place + 4] = struct.pack("<I", len(told))
    path.write_bytes(content)
    peak()
    refused(path, "is not a model file")
    assert peak() < MB


def test_members_that_lie_on_each_other_are_refused(path):
    names = [f"array_{i}" for i in range(40)]
    tree = coder_of(groups={"list": [{"array": name} for name in names]})
    text = json.dumps({"format": FORMAT, "model": tree})
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w", zipfile.ZIP_DEFLATED) as members:
        members.writestr("description.npy", array_bytes(np.array(text)))
        for name in names:
            members.writestr(f"{name}.npy", array_bytes(np.random.default_rng(0).random(500)))
    content = whole.getvalue()
    first = content.index(b"array_0.npy") - 30
    second = content.index(b"array_1.npy") - 30
    start = content.index(b"PK\x01\x02")
    entries = bytearray(content[start:])
    for name in names:  # all of them have the bytes of the first
        place = directory_entry(entries, f"{name}.npy".encode()) + 42
        entries[place : place + 4] = struct.pack("<I", first)
    end = entries.rindex(b"PK\x05\x06") + 16
    entries[end : end + 4] = struct.pack("<I", second)
    path.write_bytes(content[:second] + entries)
    refused(path, "the members of the archive overlap")


def test_copies_of_one_array_are_counted(path):
    """Arrays of scikit-learn's objects are copied, so that nothing can change them."""
    shared = {"list": [{"array": "a"}] + [{"same": 2}] * 200}
    tree = {"class": "sklearn.OneHotEncoder", "state": {"categories_": shared}}
    forge(path, tree, {"a": np.arange(100_000.0)})
    with pytest.raises(ModelFileError, match=r"its arrays take 10\.\d MB or more, and max_bytes"):
        load(path, max_bytes=10 * MB)
    parts = [{"array": name} for name in ("data", "indices", "indptr")]
    again = [{"same": place} for place in (3, 4, 5)]
    matrices = [
        {"sparse": pieces, "as": "csr_array", "shape": [1, 10**6]}
        for pieces in (parts, *[again] * 50)
    ]
    ones = {"data": np.ones(100_000), "indices": np.arange(100_000), "indptr": np.array([0, 10**5])}
    forge(path, coder_of(groups={"list": matrices}), ones)
    with pytest.raises(ModelFileError, match=r"its arrays take 1\d\.\d MB or more, and max_bytes"):
        load(path, max_bytes=10 * MB)


NESTED = """
import sys
from kernelcoding.persistence import ModelFileError, load
for path in sys.argv[1:]:
    try:
        load(path)
    except ModelFileError:
        print("refused")
"""


def nested(place):
    """Tuples, each of which holds the next one twice: sixty of them have 2^60 parts."""
    tree = {"tuple": []}
    for depth in range(60):
        tree = {"tuple": [tree, {"same": place + 60 - depth}]}
    return tree


def forged_state(path, model, name):
    """The file of a fitted model with nested tuples in the place of an attribute."""
    save(model, path)
    arrays, description = contents(path)
    state = description["model"]["state"]
    taken = {state[name].get("array")} if isinstance(state[name], dict) else ()
    arrays = {key: array for key, array in arrays.items() if key not in taken}
    state = {name: nested(1)} | {key: item for key, item in state.items() if key != name}
    return forge(path, {**description["model"], "state": state}, arrays)


def test_tuples_of_tuples_do_not_take_for_ever(tmp_path):
    X, y = np.random.default_rng(0).random((8, 2)), np.arange(8) % 2
    paths = [forge(tmp_path / "dict.kc", coder_of(groups={"dict": [[nested(2), 1]]}))]
    for model, name in (
        (KNeighborsClassifier(2), "p"),
        (SVC(), "classes_"),
        (SVC(), "_probA"),
    ):
        paths.append(forged_state(tmp_path / f"{name}.kc", model.fit(X, y), name))
    encoder = {"categories_": {"list": [{"objects": [nested(3), 1], "shape": [2]}]}}
    encoder |= {"_n_features_outs": {"list": [2]}, "_drop_idx_after_grouping": None}
    encoder |= {"_infrequent_enabled": False, "n_features_in_": 1}
    paths.append(forge(tmp_path / "e.kc", {"class": "sklearn.OneHotEncoder", "state": encoder}))
    done = subprocess.run(
        [sys.executable, "-c", NESTED, *paths],
        env={"PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stdout.split() == ["refused"] * len(paths)


def test_arrays_are_found_where_they_are_read():
    assert arrays_named_in(coder_of(array="text", groups={"array": "a"})) == ["a"]
    assert arrays_named_in({"list": [{"float": "1", "array": "b"}, {"array": "c"}]}) == ["c"]
    assert arrays_named_in({"record": [{"array": "d"}], "of": "Points"}) == ["d"]


def test_attributes_may_be_called_array(path):
    text = json.dumps({"format": FORMAT, "model": coder_of(array="text")})
    assert load(write(path, text, {})).array == "text"


@pytest.mark.parametrize("max_bytes", [0, -1, 1.5, "1 GB"])
def test_max_bytes_is_a_number_of_bytes(path, max_bytes):
    with pytest.raises(ValueError, match="Expected a number of bytes or None as max_bytes, got"):
        load(path, max_bytes=max_bytes)


def test_models_that_do_not_fit_say_so(path, monkeypatch):
    def full(*arguments):
        raise MemoryError

    bomb(path, np.arange(9))
    monkeypatch.setattr(files, "Reader", full)
    with pytest.raises(MemoryError, match=r"forged\.kc holds a model that does not fit in the mem"):
        load(path)
