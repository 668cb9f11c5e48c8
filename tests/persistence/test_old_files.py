"""Files written by older versions still load and answer as they did."""

from pathlib import Path

import numpy as np
import pytest

from helpers.model_files import contents
from helpers.small_models import answers, written
from kernelcoding.persistence import load

FILES = {
    path: expected
    for folder in sorted(Path(__file__).parent.glob("files_of_format_*"))
    for path, expected in written(folder).items()
}


def test_there_are_old_files():
    assert len(FILES) >= 60


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name[-1]}-{path.stem}")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_old_files_answer_as_they_did(path):
    samples, expected = FILES[path]
    assert expected
    said = answers(load(path), samples)
    assert said.keys() >= expected.keys()
    for question, answer in expected.items():
        now = said[question]
        assert now.dtype == answer.dtype, question
        if answer.dtype.kind == "f":
            # Codes in single precision are themselves 1e-5 from those in double precision.
            single = np.float32 in (answer.dtype, getattr(samples, "dtype", None))
            precision = 1e-5 if single else 1e-9
            np.testing.assert_allclose(now, answer, rtol=precision, atol=precision)
        else:
            np.testing.assert_array_equal(now, answer)


def test_old_files_are_of_the_format_that_they_stand_for():
    """Or nothing would be tested."""
    for path in FILES:
        assert contents(path)[1]["format"] == int(path.parent.name.rpartition("_")[2])
