"""What commands say of themselves, and of the data sets there are."""

import pytest

from helpers.commands import cli, done, failed, testing


@pytest.mark.parametrize(
    ("command", "examples"),
    [
        ([], ["fit data.csv --target label --out model.kc", "predict model.kc new.csv"]),
        (["fit"], ["fit data.npz --out model.kc", "fit data.csv --target label --atoms 200"]),
        (["encode"], ["encode model.kc data.npz --out codes.npz"]),
        (["predict"], ["predict model.kc new.csv --out labels.csv"]),
        (["reproduce"], ["reproduce yaleb --data-home DIR --out runs/"]),
        (["report"], ["report runs/ --out report.html"]),
        (["datasets"], ["datasets --how fmd"]),
        (["warm-up"], ["warm-up"]),
    ],
)
def test_help_teaches_by_example(command, examples):
    said = done(*command, "--help")
    for example in examples:
        assert f"kernelcoding {example}" in said


MATERIALS = "fabric foliage glass leather metal paper plastic stone water wood"


def listed(home):
    """Lines of the list by set and form."""
    lines = done("datasets", "--data-home", home).splitlines()
    return {tuple(line.split()[:2]): line for line in lines}


def test_data_sets_there_and_missing(tmp_path):
    assert " no " in listed(tmp_path)["fmd", "images"]
    for kind in ("image", "mask"):
        for material in MATERIALS.split():
            folder = tmp_path / "fmd" / kind / material
            folder.mkdir(parents=True)
            (folder / f"{material}_object_001_new.jpg").write_bytes(b"\xff\xd8")
    lines = listed(tmp_path)
    assert " yes " in lines["fmd", "images"]
    assert str(tmp_path / "fmd") in lines["fmd", "images"]
    assert " no " in lines["virus", "8bit"]
    assert "datasets --how virus" in lines["virus", "8bit"]
    assert ("fashion_mnist", "files") in lines  # the longest name has its gap, too


def test_how_to_get_a_set(tmp_path):
    said = done("datasets", "--data-home", tmp_path, "--how", "fmd")
    assert "https://" in said
    assert str(tmp_path / "fmd") in said
    assert "No data set 'nothing'; there are yaleb, virus, fmd" in failed(
        "datasets", "--how", "nothing"
    )


@pytest.mark.parametrize(
    ("typed", "offered"),
    [("kernelcoding ev", ["evaluate"]), ("kernelcoding fit --sea", ["--search"])],
)
def test_shells_complete_commands_and_options(typed, offered):
    words = {"COMP_WORDS": typed, "COMP_CWORD": str(len(typed.split()) - 1)}
    asked = {"_KERNELCODING_COMPLETE": "complete_bash", "_TYPER_COMPLETE_ARGS": typed, **words}
    result = testing.CliRunner().invoke(cli.app, [], env=asked, prog_name="kernelcoding")
    assert result.stdout.split() == offered
