"""The cache on disk: kept between processes, given up when any compiled source changes."""

import importlib.util
import pickle

import pytest

from kernelcoding._compiled import jit

SOURCE = """
from kernelcoding._compiled.jit import compiled

@compiled
def double(x):
    return 2 * x
"""


@pytest.fixture
def fresh(tmp_path):
    """A function that imports the same file as a new process would."""
    path = tmp_path / "cached_module.py"
    path.write_text(SOURCE)

    def load():
        spec = importlib.util.spec_from_file_location("cached_module", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module.double

    return load


def hits(function):
    assert function(21) == 42
    return sum(function.stats.cache_hits.values())


def test_the_cache_is_used_again(fresh, tmp_path):
    assert hits(fresh()) == 0
    assert hits(fresh()) == 1
    (index,) = tmp_path.rglob("*.nbi")
    with index.open("rb") as file:
        assert pickle.load(file).endswith(jit.source_digest())
    assert jit.source_digest()


def test_other_sources_are_compiled_anew(fresh, monkeypatch):
    hits(fresh())
    monkeypatch.setattr(jit, "source_digest", lambda: "other sources")
    assert hits(fresh()) == 0
    assert hits(fresh()) == 1


def test_records_that_are_gone_do_no_harm(fresh, tmp_path, monkeypatch):
    """An old index may name classes that no longer exist: it is not read so far."""
    hits(fresh())
    (index,) = tmp_path.rglob("*.nbi")
    with index.open("rb") as file:
        version = pickle.load(file)
    index.write_bytes(pickle.dumps(version) + b"cno_such_module\nNoSuchRecord\n.")
    with pytest.raises(ModuleNotFoundError):
        hits(fresh())
    monkeypatch.setattr(jit, "source_digest", lambda: "an upgrade")
    assert hits(fresh()) == 0
