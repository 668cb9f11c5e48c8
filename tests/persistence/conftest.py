import pytest

from helpers import model_files


@pytest.fixture(params=[1, 2], ids=lambda version: f"format {version}")
def forge(request, tmp_path):
    """Writes a file of either format that says what it likes."""

    def forge(tree, arrays=(), **changes):
        given = {"format": request.param, **changes}
        return model_files.forge(tmp_path / "forged.kc", tree, arrays, **given)

    return forge
