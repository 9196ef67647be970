"""The files of a report."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from umg_search.errors import ConfigurationError
from umg_search.evaluation.report import pages

NAMES = ("report.html", "report.md", "report.json")


def write_report(folder: Path, result: Mapping[str, Any]) -> list[Path]:
    """Write a report in all formats and return the paths; ConfigurationError where the folder cannot be written to."""
    texts = (pages.html(result), pages.markdown(result), json.dumps(result, ensure_ascii=False, indent=1) + "\n")
    paths = [folder / name for name in NAMES]
    with _writing(folder):
        for path, text in zip(paths, texts, strict=True):
            path.write_text(text, encoding="utf-8", newline="\n")
    return paths


def make_folder(folder: Path) -> None:
    """Make the folder, before anything is measured for it; ConfigurationError where that cannot be."""
    with _writing(folder):
        folder.mkdir(parents=True, exist_ok=True)


@contextmanager
def _writing(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise ConfigurationError(
            f"The report cannot be written to {str(folder)!r} ({error.strerror}): choose another folder."
        ) from error
