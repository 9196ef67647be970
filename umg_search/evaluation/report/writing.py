"""The files of a report."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from umg_search.errors import ConfigurationError
from umg_search.evaluation.report import pages

NAMES = ("report.html", "report.md", "report.json")


def write_report(folder: Path, result: Mapping[str, Any]) -> list[Path]:
    """Write a report in all formats and return the paths; ConfigurationError where the folder cannot be written to."""
    texts = (pages.html(result), pages.markdown(result), json.dumps(result, ensure_ascii=False, indent=1) + "\n")
    paths = [folder / name for name in NAMES]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path, text in zip(paths, texts, strict=True):
            path.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise ConfigurationError(
            f"The report cannot be written to {str(folder)!r} ({error.strerror}): choose another folder."
        ) from error
    return paths


def check_writable(folder: Path) -> None:
    """Make the folder, before anything is measured for it; ConfigurationError where that cannot be."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigurationError(
            f"The report cannot be written to {str(folder)!r} ({error.strerror}): choose another folder."
        ) from error
