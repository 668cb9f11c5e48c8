"""Region covariances against NumPy on channels computed one after the other."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import expm, logm
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from helpers.trees import real
from kernelcoding import KernelSparseCoder, ResidualClassifier
from kernelcoding.images import Masked, RegionCovariance
from kernelcoding.images.channels import (
    Channel,
    Colour,
    Compressed,
    Derivatives,
    Intensity,
    Position,
)
from kernelcoding.images.gabor import Gabor
from kernelcoding.kernels import LogEuclideanGaussian
from reference.channels import naive_channels, texture

SHARES = (0.5, 0.3, 1.0, 1.0)  # of the pixels that masks keep


@pytest.fixture
def images(rng):
    """Two sizes, mixed."""
    return [texture(rng, *size) for size in ((12, 15), (10, 10), (12, 15), (12, 15))]


# Covariances ------------------------------------------------------------------------------------


def expected_covariances(all_channels, ridge=1e-4):
    """np.cov of channels divided by their deviation over all pixels, with the ridge."""
    deviations = np.concatenate([c.reshape(len(c), -1) for c in all_channels], axis=1).std(axis=1)
    matrices = [np.cov((c / deviations[:, None, None]).reshape(len(c), -1)) for c in all_channels]
    return np.stack([m + ridge * np.trace(m) / len(m) * np.eye(len(m)) for m in matrices])


def test_covariances_equal_numpy_on_naive_channels(images):
    expected = expected_covariances([naive_channels(image) for image in images])
    transformer = RegionCovariance("paper")
    matrices = transformer.fit_transform(images)
    assert matrices.shape == (4, 25, 25)
    assert matrices.dtype == np.float64
    assert_allclose(matrices, expected, rtol=1e-9, atol=1e-10)
    assert_allclose(transformer.transform(images), matrices, rtol=1e-12)
    assert_allclose(clone(transformer).fit(images).transform(images), matrices, rtol=1e-12)
    assert len(transformer.channel_names_) == 25


def test_without_standardisation(images):
    transformer = RegionCovariance(["intensity", "first"], standardize=False, ridge=0.1)
    matrices = transformer.fit_transform(images)
    expected = np.cov(naive_channels(images[1])[:3].reshape(3, -1))
    expected += 0.1 * np.trace(expected) / 3 * np.eye(3)
    assert_allclose(matrices[1], expected, rtol=1e-12)
    assert_allclose(transformer.deviations_, 1.0)


def test_training_deviations_are_used_later(images, rng):
    transformer = RegionCovariance(["intensity", "second"], ridge=1e-9).fit(images)
    other = 0.1 * texture(rng, 15, 12)
    pixels = np.concatenate([naive_channels(i)[[0, 3, 4]].reshape(3, -1) for i in images], axis=1)
    scaled = naive_channels(other)[[0, 3, 4]].reshape(3, -1) / pixels.std(axis=1)[:, None]
    assert_allclose(transformer.transform([other])[0], np.cov(scaled), rtol=1e-6)


def test_embedding_is_the_second_moment_with_a_constant_channel(images):
    channels = ["intensity", "first", "gabor"]
    transformer = RegionCovariance(channels, embed_mean=True)
    embedded = transformer.fit_transform(images)
    plain = RegionCovariance(channels).fit_transform(images)
    kept = [0, 1, 2, *range(5, 25)]
    pixels = [naive_channels(image)[kept].reshape(23, -1) for image in images]
    together = np.concatenate(pixels, axis=1)
    for matrix, covariance, own in zip(embedded, plain, pixels, strict=True):
        scaled = (own - together.mean(axis=1)[:, None]) / together.std(axis=1)[:, None]
        mean = scaled.mean(axis=1)
        assert_allclose(matrix[:-1, -1], mean, atol=1e-10)
        assert_allclose(matrix[:-1, :-1] - np.outer(mean, mean), covariance, atol=1e-10)
        assert matrix[-1, -1] == 1.0
        assert np.linalg.eigvalsh(matrix)[0] > 0


def test_invariances(images):
    transformer = RegionCovariance("paper").fit(images)
    matrices = transformer.transform(images)
    brighter = transformer.transform([image + 0.3 for image in images])
    assert_allclose(brighter, matrices, rtol=1e-9, atol=1e-10)
    stronger = transformer.transform([3.0 * image for image in images])
    assert_allclose(stronger, 9.0 * matrices, rtol=1e-9, atol=1e-9)


def test_a_quarter_turn_permutes_the_channels(rng):
    image = texture(rng, 18, 25)
    transformer = RegionCovariance(standardize=False).fit([image])
    turned = [0, 2, 1, 4, 3] + [5 + 4 * s + o for s in range(5) for o in (2, 3, 0, 1)]
    straight = transformer.transform([image])[0]
    rotated = transformer.transform([np.rot90(image)])[0]
    assert_allclose(rotated, straight[np.ix_(turned, turned)], rtol=1e-9, atol=1e-14)


@pytest.mark.parametrize("masked", [False, True])
def test_symmetric_matrices_are_means_of_logarithms_over_eight_positions(images, rng, masked):
    masks = [rng.random(image.shape) < share for image, share in zip(images, SHARES, strict=True)]
    sources = [Masked(*pair) for pair in zip(images, masks, strict=True)] if masked else images

    def positions(index):
        for image in (images[index], images[index][:, ::-1]):
            mask = masks[index] if image is images[index] else masks[index][:, ::-1]
            for k in range(4):
                turned = np.rot90(image, k)
                yield Masked(turned, np.rot90(mask, k)) if masked else turned

    symmetric = RegionCovariance(["intensity", "first"], embed_mean=True, symmetry="square")
    matrices = symmetric.fit_transform(sources)
    everything = [position for index in range(len(images)) for position in positions(index)]
    plain = RegionCovariance(["intensity", "first"], embed_mean=True).fit(everything)
    assert_allclose(symmetric.deviations_, plain.deviations_, rtol=1e-12)
    for index, matrix in enumerate(matrices):
        logarithms = [logm(own) for own in plain.transform(list(positions(index)))]
        assert_allclose(matrix, expm(np.mean(logarithms, axis=0)), rtol=1e-8, atol=1e-10)
        assert_allclose(symmetric.transform(list(positions(index))), [matrix] * 8, rtol=1e-9)
        assert_array_equal(matrix, matrix.T)


def test_depth_does_not_matter(rng):
    bytes_ = rng.integers(0, 256, (3, 12, 14), dtype=np.uint8)
    kinds = [bytes_, bytes_.astype(np.uint16) * 257, bytes_ / 255.0]
    kinds += [np.repeat(bytes_[..., None], 3, axis=3), bytes_[..., None]]
    answers = [RegionCovariance().fit_transform(list(kind)) for kind in kinds]
    for other in answers[1:]:
        assert_allclose(other, answers[0], rtol=1e-9, atol=1e-12)


def test_a_matrix_does_not_depend_on_its_batch(rng):
    images = [texture(rng, 10 + i % 3, 12) for i in range(150)]
    transformer = RegionCovariance(["intensity", "second", Gabor(n_scales=2)]).fit(images)
    together = transformer.transform(images)
    alone = np.concatenate([transformer.transform([image]) for image in images])
    assert_allclose(together, alone, rtol=1e-10, atol=1e-13)
    threads = clone(transformer).set_params(n_jobs=2).fit(images).transform(images)
    assert_allclose(threads, together, rtol=1e-12)


def test_only_pixels_of_the_mask_count(images, rng):
    masks = [rng.random(image.shape) < share for image, share in zip(images, SHARES, strict=True)]
    pairs = list(zip(images, masks, strict=True))
    sources = [Masked(image, mask) for image, mask in pairs[:3]] + images[3:]
    counted = [naive_channels(image)[:, mask][..., np.newaxis] for image, mask in pairs]
    expected = expected_covariances(counted)
    transformer = RegionCovariance("paper")
    assert_allclose(transformer.fit_transform(sources), expected, rtol=1e-9, atol=1e-10)
    alone = [transformer.transform([source])[0] for source in sources]
    assert_allclose(alone, expected, rtol=1e-9, atol=1e-10)


def test_large_images_are_shrunk_with_their_masks(rng):
    """Blocks of 2 x 2 equal pixels: half the side is the image without its copies."""
    small = rng.integers(0, 256, (12, 16, 3), dtype=np.uint8)
    mask = np.arange(12)[:, None] + np.arange(16) < 14
    large, its_mask = (np.repeat(np.repeat(part, 2, axis=0), 2, axis=1) for part in (small, mask))
    transformer = RegionCovariance(["colour", "first"], max_side=16).fit([small])
    expected = transformer.transform([small, Masked(small, mask)])
    found = transformer.transform([large, Masked(large, its_mask)])
    assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
    for side in (0, 2.5, "large"):
        with pytest.raises(ValueError, match="max_side must be an integer of at least 1"):
            clone(transformer).set_params(max_side=side).fit([small])


@pytest.mark.parametrize("channels", ["compressed", "paper"])
@pytest.mark.parametrize("embed_mean", [False, True])
@pytest.mark.parametrize("standardize", [False, True])
def test_flat_images_are_positive_definite(images, channels, standardize, embed_mean):
    flat = [np.full((20, 20), 0.5), np.zeros((9, 30)), np.full((12, 12), 255, np.uint8)]
    options = {"standardize": standardize, "embed_mean": embed_mean}
    for training in (images, flat, images + flat):
        transformer = RegionCovariance(channels, **options).fit(training)
        matrices = transformer.transform(flat + images)
        assert_allclose(matrices, matrices.transpose(0, 2, 1), rtol=1e-12)
        kernel = LogEuclideanGaussian(gamma="median").resolve(matrices)
        assert np.isfinite(kernel(matrices, matrices)).all()
        assert np.linalg.eigvalsh(matrices).min() > 0


# The set of channels ----------------------------------------------------------------------------


def test_own_channels(images):
    def squared(stack):
        return stack**2

    transformer = RegionCovariance(["intensity", squared, "position"], standardize=False)
    matrix = transformer.fit_transform(images)[0]
    image = images[0]
    x, y = Position()(image[None])[0]
    expected = np.cov(np.stack([image, image**2, x, y]).reshape(4, -1))
    expected += 1e-4 * np.trace(expected) / 4 * np.eye(4)
    assert_allclose(matrix, expected, rtol=1e-10, atol=1e-15)
    assert transformer.channel_names_ == ["intensity", "squared", "x", "y"]


def test_colours_and_gray_images_together(rng):
    picture, gray = rng.uniform(size=(8, 9, 3)), rng.uniform(size=(8, 9))
    transformer = RegionCovariance(["colour", "intensity"], standardize=False, ridge=1e-12)
    coloured, plain = transformer.fit_transform([picture, gray])
    luma = picture @ [0.299, 0.587, 0.114]
    expected = np.cov(np.stack([*np.moveaxis(picture, 2, 0), luma]).reshape(4, -1))
    assert_allclose(coloured, expected, rtol=1e-6)
    assert_allclose(plain, np.full((4, 4), gray.var(ddof=1)), rtol=1e-6)
    bits = (picture * 65535).astype(np.uint16)
    assert_allclose(transformer.transform([bits])[0], coloured, rtol=1e-3)


def test_compressed_channels(images):
    transformer = RegionCovariance([Compressed(Derivatives(1)), Compressed(Colour(), 2.0)])
    transformer.set_params(standardize=False, ridge=1e-12)
    image = images[0]
    values = [*np.sqrt(naive_channels(image)[1:3]), *(image**2,) * 3]
    expected = np.cov(np.stack(values).reshape(5, -1))
    assert_allclose(transformer.fit_transform(images)[0], expected, rtol=1e-8)
    assert transformer.channel_names_[:2] == ["|I_x|^0.5", "|I_y|^0.5"]


def test_default_takes_roots_of_magnitudes(images):
    roots = [naive_channels(image) ** np.array([1.0] + [0.5] * 24)[:, None, None]
             for image in images]  # fmt: skip
    matrices = RegionCovariance().fit_transform(images)
    assert_allclose(matrices, expected_covariances(roots), rtol=1e-9, atol=1e-9)


class TwoForOne(Channel):
    def names(self):
        return ["one"]

    def __call__(self, images):
        return np.stack([images, images], axis=1)


@pytest.mark.parametrize(
    ("channels", "message"),
    [
        (["intensty"], r"expected one of \('intensity', 'first'.*got 'intensty'"),
        ([3], "names of .* Channel objects or functions, got 3"),
        ([], "must not be empty"),
        ("gabor", r"must be one of \('compressed', 'paper'\) or a list, got 'gabor'"),
        (None, "or a list, got None"),
        (Gabor(), "or a list, got Gabor"),
        ([lambda stack: stack[:, 0]], "must return one number per pixel"),
        (
            [TwoForOne()],
            r"must return shape \(2, 1, 6, 6\), one channel per name, got \(2, 2, 6, 6\)",
        ),
        ([Gabor(n_scales=0)], "n_scales must be an integer of at least 1, got 0"),
        ([Gabor(sigma=-1.0)], "sigma must be a positive number, got -1"),
        ([Gabor(padding="wrap")], "padding must be one of .* got 'wrap'"),
        ([Derivatives(order=3)], r"order must be one of \(1, 2\), got 3"),
        ([Compressed("gabor")], "channel must be a Channel, got 'gabor'"),
        ([Compressed(Gabor(n_scales=0))], "n_scales must be an integer of at least 1"),
        ([Compressed(Gabor(), power=0)], "power must be a positive number, got 0"),
    ],
)
def test_bad_channels_are_refused(channels, message):
    with pytest.raises(ValueError, match=message):
        RegionCovariance(channels).fit(np.zeros((2, 6, 6)))


@pytest.mark.filterwarnings("ignore:divide by zero", "ignore:invalid value")
def test_channels_that_are_not_numbers_are_named():
    def logarithm(stack):
        return np.log(stack)

    with pytest.raises(ValueError, match=r"\['logarithm'\] are NaN or infinite at some pixels"):
        RegionCovariance(["intensity", logarithm]).fit(np.zeros((2, 6, 6)))


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ([], "got an empty one"),
        (np.zeros((6, 6)), "got one array of 2 dimensions: wrap it"),
        ([np.zeros((6, 6)), np.full((6, 6), np.nan)], "Image 1: pixels are NaN"),
        ([np.zeros((6, 6, 2))], "Image 0: expected 1, 3 or 4 channels"),
        ([np.zeros((1, 1))], "Image 0: expected at least 2 pixels"),
        ([Masked(np.zeros((6, 6)), np.zeros((6, 6)))], "Image 0: .* got 0: a covariance"),
        ([Masked(np.zeros((6, 6)), np.ones((6, 5)))], "Image 0: expected a mask as large"),
        (["nowhere.png"], r"Image 0 \(nowhere.png\): cannot read"),
    ],
)
def test_bad_images_are_refused(X, message):
    with pytest.raises(ValueError, match=message):
        RegionCovariance().fit(X)


def test_bad_images_are_skipped_when_asked(images):
    broken = [images[0], np.full((6, 6), np.inf), images[1], np.zeros((6, 6, 5))]
    transformer = RegionCovariance(on_error="skip")
    with pytest.warns(UserWarning, match=r"(?s)Skipped 2 of 4.*Image 1.*Image 3"):
        matrices = transformer.fit_transform(broken)
    assert transformer.skipped_ == [1, 3]
    assert_allclose(matrices, RegionCovariance().fit_transform(images[:2]), rtol=1e-12)
    with (
        pytest.warns(UserWarning, match="Skipped 1 of 1"),
        pytest.raises(ValueError, match="at least one image that can be used"),
    ):
        transformer.fit(broken[1:2])


@pytest.mark.parametrize("ridge", [0, -1.0, np.inf, "small"])
def test_bad_ridge_is_refused(ridge):
    with pytest.raises(ValueError, match="ridge must be a positive number"):
        RegionCovariance(ridge=ridge).fit(np.zeros((2, 6, 6)))


def test_an_unknown_symmetry_is_refused():
    with pytest.raises(ValueError, match=r"symmetry must be None or .square., got 'round'"):
        RegionCovariance(symmetry="round").fit(np.zeros((2, 6, 6)))


def test_transform_wants_fit():
    with pytest.raises(NotFittedError):
        RegionCovariance().transform(np.zeros((2, 6, 6)))


# Pipelines --------------------------------------------------------------------------------------


def pipeline():
    coder = KernelSparseCoder(kernel=LogEuclideanGaussian(gamma="median"), alpha=0.01)
    return make_pipeline(RegionCovariance(), ResidualClassifier(coder=coder))


@pytest.mark.filterwarnings("ignore:.*codes are all zero:UserWarning")
def test_pipeline_separates_stripes_by_direction(rng):
    y, x = np.mgrid[:16, :16]
    labels = np.arange(24) % 2
    waves = [np.cos(1.5 * (x if label else y) + rng.uniform(0, 6)) for label in labels]
    images = [wave + 0.3 * rng.normal(size=wave.shape) for wave in waves]
    model = pipeline().fit(images[:16], labels[:16])
    assert model.score(images[16:], labels[16:]) == 1.0
    # One of the two sets is poor on purpose: some of its queries lie far from every atom.
    sets = [["intensity"], [Intensity(), Gabor(n_scales=2)]]
    search = GridSearchCV(pipeline(), {"regioncovariance__channels": sets}, cv=2)
    search.fit(images, labels)
    assert search.best_params_["regioncovariance__channels"] is not sets[0]
    assert search.best_score_ == 1.0


def test_virus_from_files_to_labels():
    pytest.importorskip("cv2")
    folder = real("virus", "images")
    names = [(c, s) for c in (1, 3, 5) for s in range(1, 61)]
    paths = [folder / f"class-{c:03d}-sample-{s:03d}-8bit.png" for c, s in names]
    labels = np.array([c for c, _ in names])
    test = np.array([s % 3 == 0 for _, s in names])
    train_paths = [p for p, t in zip(paths, test, strict=True) if not t]
    test_paths = [p for p, t in zip(paths, test, strict=True) if t]
    model = pipeline().fit(train_paths, labels[~test])
    assert model.score(test_paths, labels[test]) > 0.85
