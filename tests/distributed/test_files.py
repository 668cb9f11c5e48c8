"""Folders of chunks: whole files, resumed where an interruption left them, read lazily."""

import json
import os

import dask
import dask.array as da
import numpy as np
import pytest
from scipy import sparse

import kernelcoding as kc
from helpers.lazy_models import LENGTHS, assert_same_bits, at_equal_blocks, fitted, lazy
from kernelcoding.distributed import load, save
from kernelcoding.distributed.files import FORMAT, INDEX


@pytest.fixture(autouse=True)
def _in_this_thread():
    with dask.config.set(scheduler="sync"):
        yield


def counted(made, fail_at=None):
    """Blocks that write down when they are made, and may stop the world."""

    def make(number):
        if number == fail_at:
            raise KeyboardInterrupt
        made.append(number)
        return np.full((2, 3), float(number))

    parts = [
        da.from_delayed(dask.delayed(make)(n, dask_key_name=f"part-{n}"), (2, 3), float)
        for n in range(4)
    ]
    return da.concatenate(parts)


@pytest.mark.parametrize("name", ["sparse", "CSR", "residual"])
def test_saved_answers_come_back_lazily_with_their_bits(name, tmp_path):
    model, Q = fitted("array")[name]
    method = model.predict if name == "residual" else model.transform
    save(method(lazy(Q)), tmp_path / "new" / "folder")
    found = load(tmp_path / "new" / "folder")
    assert found.chunks[0] == LENGTHS
    assert type(found._meta) is type(at_equal_blocks(method, Q))
    assert_same_bits(found.compute(), at_equal_blocks(method, Q))
    assert len(os.listdir(tmp_path / "new" / "folder")) == len(LENGTHS) + 1


def test_lengths_that_were_unknown_are_known_afterwards(tmp_path):
    model, Q = fitted("frame")["CSR"]
    save(model.transform(lazy(Q)), tmp_path)
    assert load(tmp_path).chunks[0] == LENGTHS


def test_finished_chunks_are_never_computed_again(tmp_path):
    made = []
    with pytest.raises(KeyboardInterrupt):
        save(counted(made, fail_at=2), tmp_path)
    done = len(made)
    assert 0 < done < 4
    assert not list(tmp_path.glob("writing-*"))
    with pytest.raises(ValueError, match=f"{4 - done} of 4 chunks are missing"):
        load(tmp_path)
    save(counted(made), tmp_path)
    assert sorted(made) == [0, 1, 2, 3]
    save(counted(made), tmp_path)
    assert len(made) == 4
    np.testing.assert_array_equal(
        load(tmp_path).compute(), np.repeat(np.arange(4.0), 2)[:, None] * np.ones(3)
    )


def test_chunks_that_are_half_written_do_not_count(tmp_path, monkeypatch):
    codes = da.ones((4, 2), chunks=(2, 2))
    from kernelcoding.distributed import files

    with monkeypatch.context() as patched:
        patched.setattr(files.np, "save", lambda stream, *_, **__: stream.write(b"half") and 1 / 0)
        with pytest.raises(ZeroDivisionError):
            save(codes, tmp_path)
    assert sorted(os.listdir(tmp_path)) == [INDEX]
    save(codes, tmp_path)
    np.testing.assert_array_equal(load(tmp_path).compute(), np.ones((4, 2)))


def test_a_folder_of_something_else_is_refused(tmp_path):
    model, Q = fitted("array")["sparse"]
    X = lazy(Q)
    save(model.transform(X), tmp_path)
    other = kc.KernelSparseCoder(alpha=0.3).fit(Q[:, :].repeat(2, axis=0))
    assert other.dictionary_.n_atoms == model.dictionary_.n_atoms
    with pytest.raises(ValueError, match=r"holds chunks of something else \(models is"):
        save(other.transform(X), tmp_path)
    with pytest.raises(ValueError, match=r"something else \(lengths is"):
        save(model.transform(lazy(Q, (5, 1, 1, 8))), tmp_path)
    with pytest.raises(ValueError, match=r"something else \(row_shape is"):
        save(model.reconstruction_error(X.rechunk({0: -1})), tmp_path)


def test_a_model_fitted_again_goes_on_where_it_was(tmp_path):
    rows = np.random.default_rng(0).normal(size=(30, 4))
    for _ in range(2):  # two runs of a program
        coder = kc.KernelDictionaryLearning(n_atoms=5, n_landmarks=10, max_iter=2).fit(rows)
        save(coder.transform(lazy(rows, (10, 20))), tmp_path)
        coder.transform(rows)
        coder.dictionary_.facts.spectrum  # noqa: B018  what is computed on demand changes no name


def test_what_cannot_be_saved_is_told(tmp_path):
    with pytest.raises(ValueError, match="chunks of whole rows"):
        save(np.ones((2, 2)), tmp_path)
    with pytest.raises(ValueError, match="chunks of whole rows"):
        save(da.ones((2, 2), chunks=(1, 1)), tmp_path)
    model, Q = fitted("others")["object labels"]
    with pytest.raises(ValueError, match="Python objects are not saved"):
        save(model.predict(lazy(Q)), tmp_path)
    (tmp_path / "chunk-000000.npy").write_bytes(b"")
    with pytest.raises(ValueError, match="chunks without an index"):
        save(da.ones((2, 2)), tmp_path)


def test_what_is_no_folder_of_chunks_is_told(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no index\.json"):
        load(tmp_path)
    for content in ("{", "[]", "{}", json.dumps({"format": FORMAT, "later": 1})):
        (tmp_path / INDEX).write_text(content)
        with pytest.raises(ValueError, match="is no index of chunks"):
            load(tmp_path)


def test_a_folder_that_only_workers_see_is_told(tmp_path, monkeypatch):
    from kernelcoding.distributed import files

    monkeypatch.setattr(files, "_write", lambda chunk, folder, file: len(chunk))
    with pytest.raises(OSError, match="choose a folder that all workers and this process see"):
        save(da.ones((2, 2)), tmp_path)


def test_loaded_codes_are_used_like_computed_ones(tmp_path):
    model, Q = fitted("array")["CSR"]
    X = lazy(Q)
    save(model.transform(X), tmp_path)
    codes = load(tmp_path)
    assert sparse.issparse(codes.blocks[0].compute())
    assert_same_bits(
        model.reconstruction_error(X, codes).compute(),
        at_equal_blocks(model.reconstruction_error, Q),
    )
