import logging
import os

import pytest

from helpers import trees
from helpers.website import Website


@pytest.fixture
def _quiet_pooch():
    import pooch

    level = pooch.get_logger().level
    pooch.get_logger().setLevel(logging.ERROR)
    yield
    pooch.get_logger().setLevel(level)


@pytest.fixture
def site(monkeypatch, _quiet_pooch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with Website() as site:
        yield site


@pytest.fixture
def home(tmp_path):
    return tmp_path / "home"  # does not exist yet


@pytest.fixture
def materials(tmp_path):
    """FMD as an archive that does not compress, so that a cut is a cut."""
    source = trees.fmd(tmp_path / "source")
    trees.write(source / "image" / "wood" / "large.jpg", os.urandom(900_000))
    trees.write(source / "mask" / "wood" / "large.jpg")
    return trees.zipped(source)
