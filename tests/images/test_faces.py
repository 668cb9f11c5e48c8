"""Random faces: the projection, its inputs, and what it refuses."""

import os
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

from kernelcoding import KernelSparseCoder, ResidualClassifier
from kernelcoding.images import RandomFaces

DATA_HOME = Path(os.environ.get("KERNELCODING_DATA", Path(__file__).parents[3] / "shared" / "data"))


@pytest.fixture
def faces(rng):
    return rng.integers(0, 256, (6, 14, 11), dtype=np.uint8)


def test_unit_rows_project_the_pixels(faces):
    model = RandomFaces(n_components=30, normalize=False).fit(faces)
    assert_allclose(np.linalg.norm(model.components_, axis=1), 1)
    pixels = faces.reshape(6, -1) / 255
    expected = [[row @ face for row in model.components_] for face in pixels]
    assert_allclose(model.transform(faces), expected)
    unit = clone(model).set_params(normalize=True).fit_transform(faces)
    assert_allclose(unit, expected / np.linalg.norm(expected, axis=1)[:, None])


def test_rows_are_gaussian_directions():
    R = RandomFaces(n_components=4000).fit(np.zeros((1, 25, 1), np.uint8)).components_
    # uniform on the sphere of 25 dimensions: mean 0, covariance I / 25, fourth moment 3 / (25 * 27)
    assert_allclose(R.mean(axis=0), 0, atol=0.02)
    assert_allclose(R.T @ R / 4000, np.eye(25) / 25, atol=0.005)
    assert_allclose((R**4).mean(), 3 / (25 * 27), rtol=0.03)


def test_distances_survive(rng):
    X = rng.normal(size=(5, 3000))
    features = RandomFaces(n_components=2500, normalize=False).fit_transform(X)
    scale = np.sqrt(3000 / 2500)  # E |Rx|^2 = |x|^2 n_components / n_pixels
    assert_allclose(scale * np.linalg.norm(features, axis=1), np.linalg.norm(X, axis=1), rtol=0.05)


def test_seed_decides(faces):
    first, again, other = (
        RandomFaces(8, random_state=seed).fit_transform(faces) for seed in (3, 3, 4)
    )
    assert_array_equal(first, again)
    assert not np.allclose(first, other)


def test_files_stacks_and_rows_agree(faces, tmp_path):
    cv2 = pytest.importorskip("cv2")
    paths = [tmp_path / f"{i}.png" for i in range(len(faces))]
    for path, face in zip(paths, faces, strict=True):
        cv2.imwrite(str(path), face)
    model = RandomFaces(20).fit(faces)
    expected = model.transform(faces)
    assert_allclose(model.transform(paths), expected)
    assert_allclose(model.transform(faces.astype(np.uint16) * 257), expected)
    assert_allclose(model.transform(faces.reshape(6, -1) / 255), expected)
    assert_allclose(RandomFaces(20).fit_transform(list(faces)), expected)
    assert model.shape_ == (14, 11)


def test_size_resizes_by_averaging(faces):
    pytest.importorskip("cv2")
    halves = faces[:, :, :10].reshape(6, 7, 2, 5, 2).mean(axis=(2, 4)) / 255
    model = RandomFaces(9, size=(7, 5)).fit(faces[:, :, :10])
    assert_allclose(model.transform(faces[:, :, :10]), model.transform(halves), atol=1e-12)
    mixed = [faces[0], faces[1, :9], faces[2, :, :8]]
    assert model.transform(mixed).shape == (3, 9)


def test_black_image_stays_zero(faces):
    features = RandomFaces(5).fit(faces).transform(np.zeros((1, 14, 11), np.uint8))
    assert_array_equal(features, 0)


def test_names_and_pandas(faces):
    pytest.importorskip("pandas")
    frame = RandomFaces(3).set_output(transform="pandas").fit_transform(faces)
    assert list(frame.columns) == ["randomfaces0", "randomfaces1", "randomfaces2"]


def test_skipped_faces(faces, tmp_path):
    pytest.importorskip("cv2")
    model = RandomFaces(5, on_error="skip").fit(faces)
    with pytest.warns(UserWarning, match=r"(?s)Skipped 1 of 3.*missing.png"):
        features = model.transform([faces[0], tmp_path / "missing.png", faces[1]])
    assert model.skipped_ == [1]
    assert_array_equal(features, model.transform(faces[:2]))


BAD_INPUT = {
    "sizes": ({}, lambda f: [f[0], f[1][:9]], r"Image 1: expected 14 x 11 pixels .*got 9 x 11"),
    "NaN": ({}, lambda f: [f[0], np.full((14, 11), np.nan)], "Image 1: pixels are NaN"),
    "NaN rows": ({}, lambda f: np.full((3, 8), np.nan), "NaN"),
    "components": (
        {"n_components": 0},
        lambda f: f,
        "n_components must be an integer of at least 1",
    ),
    "size": ({"size": 7}, lambda f: f, r"size must be \(height, width\) in pixels, got 7"),
    "path": ({}, lambda f: "a.png", "wrap it in a list"),
}


def test_powers_of_pixels_are_projected(faces):
    model = RandomFaces(n_components=30, normalize=False, power=0.5).fit(faces)
    expected = np.sqrt(faces.reshape(6, -1) / 255) @ model.components_.T
    assert_allclose(model.transform(faces), expected)
    assert_array_equal(model.components_, RandomFaces(n_components=30).fit(faces).components_)
    for power in (0, -1.0, "half"):
        with pytest.raises(ValueError, match="power must be a positive number"):
            RandomFaces(power=power).fit_transform(faces)
    with pytest.raises(ValueError, match="Negative pixels have no powers"):
        RandomFaces(power=0.5).fit_transform(faces.reshape(6, -1) - 300.0)


@pytest.mark.parametrize("case", BAD_INPUT)
def test_bad_input_is_refused(faces, case):
    parameters, images, message = BAD_INPUT[case]
    with pytest.raises(ValueError, match=message):
        RandomFaces(**parameters).fit_transform(images(faces))


def test_other_sizes_are_refused_after_fit(faces):
    model = RandomFaces(5).fit(faces)
    with pytest.raises(ValueError, match=r"Image 0: expected 14 x 11 pixels"):
        model.transform(faces[:, :9])
    with pytest.raises(ValueError, match="Expected images of 154 pixels as in fit, got 10"):
        model.transform(np.zeros((2, 10)))


def test_faces_to_names():
    path = DATA_HOME / "yaleb" / "faces_48x42.npz"
    if not path.exists():
        pytest.skip(f"Extended YaleB is not in {path}; set KERNELCODING_DATA")
    data = np.load(path)
    chosen = data["y"] < np.unique(data["y"])[8]
    X, y = data["X"][chosen], data["y"][chosen]
    pipeline = make_pipeline(
        RandomFaces(n_components=200),
        ResidualClassifier(KernelSparseCoder("linear", alpha=0.001)),
    )
    assert pipeline.fit(X[::2], y[::2]).score(X[1::2], y[1::2]) > 0.93
