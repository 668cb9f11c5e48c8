"""Dense RootSIFT against OpenCV, against the formula written pixel by pixel, and on bad input."""

import numpy as np
import pytest
from joblib import Memory
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from kernelcoding.images import DenseRootSIFT, Masked

cv2 = pytest.importorskip("cv2")


@pytest.fixture
def texture(rng):
    """A smooth random image with some flat ground."""
    noise = cv2.GaussianBlur(rng.normal(size=(70, 90)), (0, 0), 1.5)
    image = np.uint8(255 * (noise - noise.min()) / np.ptp(noise))
    image[:25, :30] = 128
    return image


def raw_histogram(gray, row, column, width):
    """The definition, one pixel and one cell at a time."""
    answer = np.zeros((4, 4, 8))
    cell = width / 4
    reach = int(np.ceil(2.5 * cell))  # cells beyond have weight zero
    for p in range(max(1, int(row) - reach), min(gray.shape[0] - 1, int(row) + reach + 1)):
        for q in range(
            max(1, int(column) - reach), min(gray.shape[1] - 1, int(column) + reach + 1)
        ):
            right = (gray[p, q + 1] - gray[p, q - 1]) / 2
            up = (gray[p - 1, q] - gray[p + 1, q]) / 2
            down, across = (p - row) / cell, (q - column) / cell
            weight = np.hypot(right, up) * np.exp(-(down**2 + across**2) / 8)
            turn = np.arctan2(up, right) / (2 * np.pi) * 8 % 8
            for i in range(4):
                for j in range(4):
                    near = max(0, 1 - abs(down - i + 1.5)) * max(0, 1 - abs(across - j + 1.5))
                    for o in (0, 1):
                        share = 1 - abs(turn - int(turn) - o)
                        answer[i, j, (int(turn) + o) % 8] += weight * near * share
    return answer.ravel()


@pytest.mark.parametrize("width", [12, 18.5])
def test_equals_the_definition(texture, width):
    extractor = DenseRootSIFT(step=29, scales=[width], smoothing=0, contrast_threshold=0)
    (record,) = extractor.transform([texture])
    assert len(record) >= 6
    for values, (row, column) in zip(record.descriptors, record.positions, strict=True):
        raw = raw_histogram(texture / 255, row, column, width)
        raw = np.minimum(raw, 0.2 * np.linalg.norm(raw))
        assert_allclose(values, np.sqrt(raw / raw.sum()), atol=2e-3)


def test_opponent_colours_stand_beside_gray(texture):
    colors = np.stack([texture, np.roll(texture, 9, axis=1), texture[::-1]], axis=-1)
    extractor = DenseRootSIFT(step=29, scales=[12], contrast_threshold=0, color="opponent")
    (record,) = extractor.transform([colors])
    red, green, blue = np.moveaxis(colors / 255, -1, 0)
    gray = 0.299 * red + 0.587 * green + 0.114 * blue
    planes = [gray, (red - green) / np.sqrt(2), (red + green - 2 * blue) / np.sqrt(6)]
    for values, (row, column) in zip(record.descriptors, record.positions, strict=True):
        raw = np.concatenate([raw_histogram(plane, row, column, 12) for plane in planes])
        raw = np.minimum(raw, 0.2 * np.linalg.norm(raw))
        assert_allclose(values, np.sqrt(raw / raw.sum()), atol=2e-3)


def test_a_gray_image_has_zeros_for_its_colours(texture):
    extractor = DenseRootSIFT(step=8, scales=[12], color="opponent")
    (gray,) = clone(extractor).set_params(color="gray").transform([texture])
    for image in (texture, np.stack([texture] * 3, axis=-1)):
        (record,) = extractor.transform([image])
        assert_array_equal(record.positions, gray.positions)
        assert_allclose(record.descriptors[:, :128], gray.descriptors, atol=1e-6)
        assert_allclose(record.descriptors[:, 128:], 0, atol=1e-4)


@pytest.mark.parametrize("width", [16, 24, 48])
def test_equals_opencv_up_to_its_eight_bits(texture, width):
    extractor = DenseRootSIFT(
        step=5, scales=[width], smoothing=1.6 / (width / 4), contrast_threshold=0.002
    )
    (record,) = extractor.transform([texture])
    keypoints = [cv2.KeyPoint(float(c), float(r), width / 6, 0.0) for r, c in record.positions]
    _, theirs = cv2.SIFT_create().compute(texture, keypoints)
    theirs = np.sqrt(theirs / theirs.sum(axis=1, keepdims=True))
    distances = np.linalg.norm(record.descriptors - theirs, axis=1)
    # an entry rounded to a whole number of 512 parts moves its square root by 1/64 at most
    assert np.median(distances) < 0.05
    assert distances.max() < 0.15
    other = np.linalg.norm(record.descriptors - theirs[::-1], axis=1)
    assert np.median(other) > 0.3  # different patches are far apart


def test_unit_vectors_of_float32(texture):
    (record,) = DenseRootSIFT().transform([texture])
    assert record.descriptors.dtype == np.float32
    assert_allclose(np.linalg.norm(record.descriptors, axis=1), 1, rtol=1e-5)
    assert record.descriptors.min() >= 0


def test_grid_is_regular_centred_and_inside(texture):
    (record,) = DenseRootSIFT(step=6, scales=[16, 32], contrast_threshold=0).transform(
        [np.where(texture == 128, texture + np.arange(90, dtype=np.uint8), texture)]
    )
    assert record.shape == (70, 90)
    for width, (rows, columns) in {16: (10, 13), 32: (7, 10)}.items():
        positions = record.positions[record.scales == width]
        for axis, count in enumerate((rows, columns)):
            places = np.unique(positions[:, axis])
            assert len(places) == count
            assert_array_equal(np.diff(places), 6)
            margins = places[0] - width / 2 + 0.5, record.shape[axis] - 0.5 - places[-1] - width / 2
            assert min(margins) >= -0.5  # centres are whole pixels
            assert max(margins) < 6
        assert len(positions) == rows * columns


def test_low_contrast_patches_are_left_out(texture):
    ramp = np.tile(np.arange(64) * 0.004, (64, 1))  # gradient 0.004 everywhere
    assert len(DenseRootSIFT(contrast_threshold=0.0039).transform([ramp])[0]) > 0
    assert len(DenseRootSIFT(contrast_threshold=0.0041).transform([ramp])[0]) == 0
    (record,) = DenseRootSIFT(scales=[16], smoothing=0).transform([texture])
    flat = (record.positions[:, 0] < 14) & (record.positions[:, 1] < 19)
    assert not flat.any()


def test_a_ramp_has_one_orientation():
    ramp = np.tile(np.linspace(0, 1, 40), (40, 1))  # brighter to the right: orientation 0
    (record,) = DenseRootSIFT(step=100, scales=[24]).transform([ramp])
    cells = record.descriptors.reshape(4, 4, 8)
    assert_allclose(cells[..., 1:], 0, atol=1e-6)
    assert (cells[..., 0] > 0).all()


def test_constant_images_have_no_descriptors():
    (record,) = DenseRootSIFT(contrast_threshold=0).transform([np.full((40, 40), 7, np.uint8)])
    assert record.descriptors.shape == (0, 128)
    assert record.positions.shape == (0, 2)


def test_depths_and_channels_agree(texture):
    wide = texture.astype(np.uint16) * 257
    colour = np.repeat(texture[..., None], 3, axis=2)
    sources = [texture, wide, texture / 255, colour, texture[..., None]]
    first, *others = DenseRootSIFT().transform(sources)
    for other in others:
        assert_allclose(other.descriptors, first.descriptors, atol=2e-3)


def test_sixteen_bits_are_not_rounded_to_eight(rng):
    faint = (30000 + 500 * rng.random((40, 40))).astype(np.uint16)  # two steps of eight bits
    (record,) = DenseRootSIFT(scales=[16], contrast_threshold=0).transform([faint])
    (same,) = DenseRootSIFT(scales=[16], contrast_threshold=0).transform([(faint - 30000.0) / 500])
    assert_allclose(record.descriptors, same.descriptors, atol=5e-3)


def test_mask_keeps_patches_whose_centre_is_inside(texture):
    mask = np.zeros(texture.shape, np.uint8)
    mask[30:60, 10:50] = 255
    extractor = DenseRootSIFT()
    whole, part = extractor.transform([texture, Masked(texture, mask)])
    rows, columns = whole.positions.T
    expected = (rows >= 30) & (rows < 60) & (columns >= 10) & (columns < 50)
    assert 0 < expected.sum() < len(whole)
    assert_array_equal(part.positions, whole.positions[expected])
    assert_array_equal(part.descriptors, whole.descriptors[expected])
    with pytest.raises(ValueError, match=r"Image 0: expected a mask as large as the image"):
        extractor.transform([Masked(texture, mask[1:])])


def test_large_images_are_shrunk_and_positions_are_theirs(texture):
    large = cv2.resize(texture, (180, 140), interpolation=cv2.INTER_NEAREST)
    (record,) = DenseRootSIFT(max_side=90, contrast_threshold=0).transform([large])
    (small,) = DenseRootSIFT(contrast_threshold=0).transform([texture])
    assert record.shape == (140, 180)
    assert_allclose(record.descriptors, small.descriptors, atol=1e-5)
    assert_allclose((record.positions + 0.5) / 2 - 0.5, small.positions)
    assert_allclose(record.scales, 2 * small.scales)


def test_scales_wider_than_the_image_are_left_out(texture):
    (record,) = DenseRootSIFT(scales=[16, 80]).transform([texture])
    assert set(record.scales) == {16.0}


def test_too_small_images_are_named_or_skipped(texture):
    small = texture[40:46]
    extractor = DenseRootSIFT()
    with pytest.raises(ValueError, match=r"Image 1: .* patch of 8 pixels, got 6 x 90"):
        extractor.transform([texture, small])
    with pytest.warns(UserWarning, match=r"(?s)Skipped 1 of 3 images.*Image 1: "):
        records = extractor.set_params(on_error="skip").transform([texture, small, texture])
    assert len(records) == 2
    assert extractor.skipped_ == [1]
    with pytest.raises(ValueError, match=r"None of the 1 images can be used. Image 0: "), \
         pytest.warns(UserWarning, match="Skipped 1 of 1"):  # fmt: skip
        extractor.transform([small])


def test_float_images_must_be_in_the_unit_interval(texture):
    with pytest.raises(ValueError, match=r"Image 0: .*between 0 and 1, got 0 to 255"):
        DenseRootSIFT().transform([texture.astype(float)])


def test_threads_change_nothing(texture):
    images = [texture, texture[::-1], texture[:, ::-1]]
    one = DenseRootSIFT().transform(images)
    two = DenseRootSIFT(n_jobs=2).transform(images)
    for left, right in zip(one, two, strict=True):
        assert_array_equal(left.descriptors, right.descriptors)


def test_progress_is_shown_when_asked(texture, capfd):
    DenseRootSIFT(verbose=1).transform([texture])
    shown = capfd.readouterr()
    assert "1 out of   1" in shown.out + shown.err
    DenseRootSIFT().transform([texture])
    shown = capfd.readouterr()
    assert shown.out + shown.err == ""


def test_memory_keeps_descriptors_by_pixels(texture, tmp_path, monkeypatch):
    path = tmp_path / "a.png"
    cv2.imwrite(str(path), texture)
    extractor = DenseRootSIFT(memory=Memory(tmp_path / "cache", verbose=0))
    (first,) = extractor.transform([path])
    monkeypatch.setattr("kernelcoding.images.sift.describe_scales", None)  # no work is left
    (again,) = clone(extractor).transform([texture])
    assert_array_equal(first.descriptors, again.descriptors)
    monkeypatch.undo()
    cv2.imwrite(str(path), 255 - texture)  # another image under the same name
    (other,) = extractor.transform([path])
    assert not np.array_equal(first.descriptors, other.descriptors)
    assert len(DenseRootSIFT(step=8, memory=extractor.memory).transform([path])[0]) < len(other)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"step": 0}, "step must be an integer of at least 1, got 0"),
        ({"step": 1.5}, "step must be an integer"),
        ({"scales": []}, "scales must be widths"),
        ({"scales": [3]}, r"at least 4 pixels, got \[3\]"),
        ({"max_side": 0}, "max_side must be an integer of at least 1"),
        ({"smoothing": -1}, "smoothing must be a number of at least 0"),
        ({"contrast_threshold": np.nan}, "contrast_threshold must be a number"),
        ({"on_error": "hide"}, "on_error must be one of"),
        ({"color": "lab"}, "color must be 'gray' or 'opponent', got 'lab'"),
    ],
)
def test_parameters_are_checked(texture, parameters, message):
    with pytest.raises(ValueError, match=message):
        DenseRootSIFT(**parameters).fit_transform([texture])
