"""`make demo`: ingest the corpus in this folder into an embedded engine, ask three questions, and say what to try next.

Nothing leaves the machine: engine and model are those of umg.toml. Run it again and everything is unchanged.
"""

import os
import shlex
import sys
from pathlib import Path

from rich.console import Console

from umg_search.cli.main import run

ROOT = Path(__file__).resolve().parent.parent
CONFIG = "UMG_CONFIG=examples/umg.toml"

QUESTIONS = (
    ("One passage answers: the manual's limit.", "At what bearing temperature must the turbine stop?"),
    (
        "The answer lies in two documents: the incident report has the days, the contract the rate.",
        (
            "How many working days passed between order and arrival of the bearing, "
            "and what is the daily rate if the supplier did not announce the delay in writing?"
        ),
    ),
    ("A German question about a German document.", "Wie hoch ist die Pauschale für ein Wochenende?"),
)

NEXT = (
    ("Ask your own question", 'search --budget 100 --top-k 1 "What does error H7 mean?"'),
    ("See what each expert found, and how much it counted", 'search --explain "What is the hotel limit in June 2024?"'),
    ("Get JSON for a program", 'search --json --budget 60 "How long is the warranty on seals?"'),
    ("Add your own files (text, Markdown, HTML, PDF, Word, PowerPoint, .jsonl)", "ingest README.md docs"),
    ("See what is stored", "status"),
)

console = Console(highlight=False, soft_wrap=True)


def main() -> int:
    """Run the demonstration and return its exit code, that of the first command that fails."""
    os.chdir(ROOT)
    _use_own_settings()
    console.print("Fourteen documents of an invented wind cooperative: handbook, contract, manual, minutes and more.")
    console.print(
        "The first run encodes them, which takes up to a minute on two cores; later runs find them unchanged.\n"
    )
    code = _show("ingest", "examples/corpus")
    for remark, question in QUESTIONS:
        if code:
            return code
        console.print(f"\n[italic]{remark}[/italic]")
        code = _show("search", "--budget", "220", "--top-k", "2", "--min-sentences", "2", question)
    if not code:
        _print_next()
    return code


def _use_own_settings() -> None:
    """Leave the user's settings aside: the demonstration must not write to an engine that UMG_ENGINE names."""
    set_aside = sorted(name for name in os.environ if name.startswith("UMG_"))
    for name in set_aside:
        del os.environ[name]
    if set_aside:
        console.print(f"Set aside for this demonstration: {', '.join(set_aside)}.\n")
    os.environ.update([CONFIG.split("=", 1)])


def _show(*arguments: str) -> int:
    words = " ".join(f'"{word}"' if " " in word else shlex.quote(word) for word in arguments)
    console.print(f"[bold]$ {CONFIG} .venv/bin/umg {words}[/bold]")
    return run(list(arguments))


def _print_next() -> None:
    console.print("[bold]What next[/bold] (paste these here, in the repository's root)\n")
    for purpose, command in NEXT:
        console.print(f"{purpose}:\n  {CONFIG} .venv/bin/umg {command}\n", markup=False)
    console.print("The index is the folder demo-data; to start over: rm -r demo-data")


if __name__ == "__main__":
    sys.exit(main())
