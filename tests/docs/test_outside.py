"""Parts of one's own, written outside of the package: each page's file runs by itself."""

from __future__ import annotations

import runpy
from pathlib import Path

import numpy as np
import pytest

FOLDER = Path(__file__).parents[2] / "docs" / "howto" / "outside"


@pytest.fixture(name="run")
def _run():
    return lambda name: runpy.run_path(str(FOLDER / f"own_{name}.py"))


def test_a_kernel_has_a_width_from_the_data(run):
    names = run("kernel")
    distances = names["edit_distances"](names["words"], names["words"])
    assert distances[0, 1] == 3.0  # kitten, sitting
    median = np.median(distances[np.triu_indices(len(distances), 1)])
    np.testing.assert_allclose(names["coder"].kernel_.gamma, 1.0 / median)
    assert names["learned"].dictionary_.n_atoms == 3


def test_a_prior_has_the_proximal_map_of_its_value(run):
    names = run("prior")
    prior, points = names["Smooth"](), np.random.default_rng(0).normal(size=(3, 6))
    nearest = prior.prox(points, 0.7)
    steps = 1e-6 * np.eye(6)

    def objective(codes):
        return 0.5 * np.square(codes - points).sum(axis=1) + 0.7 * prior.value(codes)

    slopes = [objective(nearest + step) - objective(nearest - step) for step in steps]
    np.testing.assert_allclose(np.array(slopes) / 2e-6, 0.0, atol=1e-8)
    assert names["codes"].min() >= 0


def test_a_coder_solves_its_own_problem(run):
    names = run("coder")
    coder = names["rule"].coder_
    codes = coder.transform(names["X"][200:])
    gram, cross = coder.dictionary_.gram, coder.dictionary_.cross(names["X"][200:])
    np.testing.assert_allclose(codes @ gram + coder.alpha * codes, cross, atol=1e-10)
    assert names["rule"].score(names["X"][200:], names["y"][200:]) > 0.9
