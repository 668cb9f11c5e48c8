"""Images from files and arrays: what is read, and how bad input is named."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from helpers.processes import loaded_modules
from kernelcoding.images import Masked, readable
from kernelcoding.images.extras import optional
from kernelcoding.images.mapping import map_images
from kernelcoding.images.reading import as_gray, read_image

cv2 = pytest.importorskip("cv2")
Image = pytest.importorskip("PIL.Image")


@pytest.fixture
def colour(rng):
    return rng.integers(0, 256, (24, 31, 3), dtype=np.uint8)


def read_all(sources, on_error="raise"):
    """Pixels of the images that can be read, and the indices of the others."""
    return map_images(lambda _, source: read_image(source), sources, on_error=on_error)


def save(path, pixels):
    """Write red-first pixels with OpenCV, which wants blue first."""
    assert cv2.imwrite(str(path), pixels[..., ::-1] if pixels.ndim == 3 else pixels)
    return path


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
@pytest.mark.parametrize("channels", [(), (3,)])
@pytest.mark.parametrize("suffix", ["png", "tiff"])
def test_lossless_files_come_back_as_they_were(tmp_path, rng, dtype, channels, suffix):
    pixels = rng.integers(0, np.iinfo(dtype).max, (9, 12, *channels), dtype=dtype)
    assert_array_equal(read_image(save(tmp_path / f"a.{suffix}", pixels)), pixels)


def test_colours_are_red_first(tmp_path, colour):
    path = tmp_path / "a.png"
    Image.fromarray(colour).save(path)
    assert_array_equal(read_image(str(path)), colour)


def test_opacity_is_dropped_in_files_and_arrays(tmp_path, rng):
    pixels = rng.integers(0, 256, (6, 5, 4), dtype=np.uint8)
    Image.fromarray(pixels).save(tmp_path / "a.png")
    assert_array_equal(read_image(tmp_path / "a.png"), pixels[..., :3])
    assert_array_equal(read_image(pixels), pixels[..., :3])


def test_exif_orientation_is_followed(tmp_path, colour):
    exif = Image.Exif()
    exif[0x0112] = 6  # to be turned by a quarter, clockwise
    Image.fromarray(colour).save(tmp_path / "a.jpg", exif=exif, quality=95)
    assert read_image(tmp_path / "a.jpg").shape == (31, 24, 3)


def test_gray_is_luma_in_the_unit_interval(colour):
    expected = 0.299 * colour[..., 0] + 0.587 * colour[..., 1] + 0.114 * colour[..., 2]
    assert_allclose(as_gray(colour), expected / 255)
    wide = colour.astype(np.uint16) * 257  # 255 * 257 = 65535
    assert_allclose(as_gray(wide), as_gray(colour))
    assert_allclose(as_gray(colour / 255.0), as_gray(colour))
    assert_allclose(as_gray(read_image(colour[..., :1])), colour[..., 0] / 255)
    assert as_gray(colour.astype(np.float32)).dtype == np.float64
    # the same weights as OpenCV, which rounds
    assert_allclose(as_gray(colour) * 255, cv2.cvtColor(colour, cv2.COLOR_RGB2GRAY), atol=0.51)


def test_floats_are_taken_as_they_are():
    image = np.array([[-3.0, 700.0]])
    assert_array_equal(as_gray(read_image(image)), image)


def test_booleans_are_black_and_white():
    assert_array_equal(as_gray(read_image(np.array([[True, False]]))), [[1.0, 0.0]])


def test_stack_is_a_list_of_images(rng):
    stack = rng.integers(0, 256, (4, 7, 5), dtype=np.uint8)
    images, skipped = read_all(stack)
    assert skipped == []
    assert_array_equal(np.stack(images), stack)


BAD_ARRAYS = {
    "NaN": (np.full((4, 4), np.nan), "NaN or infinite"),
    "infinite": (np.full((4, 4, 3), np.inf), "NaN or infinite"),
    "one dimension": (np.zeros(5), r"2 or 3 dimensions, got shape \(5,\)"),
    "four dimensions": (np.zeros((2, 4, 4, 3)), "2 or 3 dimensions"),
    "two channels": (np.zeros((4, 4, 2)), r"1, 3 or 4 channels last, got shape \(4, 4, 2\)"),
    "channels first": (np.zeros((3, 4, 5)), "1, 3 or 4 channels last"),
    "no pixels": (np.zeros((0, 4)), "expected pixels"),
    "type": (np.zeros((4, 4), dtype=np.int64), "uint8, uint16 or floating point, got int64"),
    "complex": (np.zeros((4, 4), dtype=complex), "got complex128"),
    "a mask": (Masked(np.zeros((4, 4)), np.zeros((4, 4))), "pass the image alone"),
}


@pytest.mark.parametrize("case", BAD_ARRAYS)
def test_bad_arrays_are_named_by_index(case):
    bad, message = BAD_ARRAYS[case]
    with pytest.raises(ValueError, match=f"(?s)Image 1: .*{message}"):
        read_all([np.zeros((4, 4)), bad])


def broken_files(folder, colour):
    """Files that are no image, or only the beginning of one."""
    for suffix in ("jpg", "png", "bmp", "tiff"):
        whole = save(folder / f"whole.{suffix}", np.tile(colour, (8, 8, 1)))
        content = whole.read_bytes()
        (folder / f"cut.{suffix}").write_bytes(content[: len(content) // 2])
        yield folder / f"cut.{suffix}"
    (folder / "text.jpg").write_text("not an image")
    (folder / "empty.png").touch()
    yield from (folder / "text.jpg", folder / "empty.png", folder / "missing.jpg", folder)


@pytest.mark.filterwarnings("ignore:Corrupt EXIF data")  # Pillow on the head of a TIFF file
def test_unreadable_and_truncated_files_are_named(tmp_path, colour):
    for path in broken_files(tmp_path, colour):
        with pytest.raises(ValueError, match=str(path)):
            read_all([colour, path])


def test_a_message_names_a_path_once(tmp_path, colour):
    path, *_ = broken_files(tmp_path, colour)
    with pytest.raises(ValueError) as caught:
        read_all([path])
    assert str(caught.value).count(str(path)) == 1


def test_skipping_keeps_the_rest_and_says_which(tmp_path, colour):
    cut = next(broken_files(tmp_path, colour))
    sources = [colour, cut, str(tmp_path / "missing.png"), colour[:5]]
    with pytest.warns(
        UserWarning, match=r"(?s)Skipped 2 of 4 .*1 \(.*cut.jpg.*missing.png"
    ) as seen:
        images, skipped = read_all(sources, on_error="skip")
    assert len(seen) == 1
    assert skipped == [1, 2]
    assert_array_equal(images[1], colour[:5])


def test_readable_keeps_labels_in_step(tmp_path, colour):
    sources = [colour, tmp_path / "missing.png", colour[:5]]
    with pytest.warns(UserWarning, match="missing.png"):
        images, labels, weights = readable(sources, ["a", "b", "c"], np.arange(3))
    assert images[0] is colour
    assert (labels, weights) == (["a", "c"], [0, 2])
    masked = [Masked(colour, colour[..., 0] > 9), Masked(colour, colour[:3]), Masked(colour, "no")]
    with pytest.warns(UserWarning, match=r"(?s)Skipped 2 of 3.*as large as the image.*file no"):
        assert readable(masked)[0] == masked[:1]
    with pytest.raises(ValueError, match="Expected 3 entries, one per image, got 2"):
        readable(sources, [1, 2])


def test_nothing_is_said_when_all_is_well(colour):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(read_all([colour], on_error="skip")[0]) == 1


@pytest.mark.parametrize(
    ("sources", "message"),
    [
        ("a.png", "got one path, 'a.png': wrap it in a list"),
        (np.zeros((4, 4)), "got one array of 2 dimensions"),
        ([], "got an empty one"),
    ],
)
def test_a_list_is_wanted(sources, message):
    with pytest.raises(ValueError, match=message):
        read_all(sources)


def test_a_folder_is_no_list_of_its_pictures(tmp_path):
    with pytest.raises(ValueError, match=r"got one path.*: list its pictures by .*load_folder"):
        read_all(tmp_path)


def test_on_error_is_checked(colour):
    with pytest.raises(ValueError, match=r"on_error must be one of .*got 'ignore'"):
        read_all([colour], on_error="ignore")


def test_missing_package_says_how_to_install():
    with pytest.raises(ImportError, match=r'no_such_package.*pip install "kernelcoding\[images\]"'):
        optional("no_such_package.part")


def test_importing_the_package_needs_no_extra():
    assert "kernelcoding.images" in loaded_modules()["images"]
    assert not {"cv2", "skimage", "PIL"} & loaded_modules()["images"]
