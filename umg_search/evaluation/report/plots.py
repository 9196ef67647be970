"""Plots as SVG that stands inside a page: its colours are those of the page, whether that is dark or light."""

import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from umg_search.errors import MissingExtra

SIZE = (8.0, 4.2)
"""Inches; the page scales it."""

TEXT = "#010203"
"""Stands for the page's own colour of text."""

SERIES = tuple(f"#0a000{number}" for number in range(1, 10))
"""Stand for the page's colours of lines, `--series-1` and so on."""

MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*", "h")
DASHES = ("-", "--", "-.", ":")
"""Lines differ by marker and dash too, for those who see no colours."""

APART = 1.012
"""Factor between the places of neighbouring lines, so that no interval hides another."""

_EXTRA = "Reports need matplotlib and Jinja2: install them with `pip install 'umg-search[evaluation]'`."


@dataclass(frozen=True, slots=True)
class Point:
    """A point of a line, and the interval around it."""

    x: float
    y: float
    low: float
    high: float


def check_installed() -> None:
    """Raise MissingExtra where the libraries of reports are not installed."""
    try:
        import jinja2  # noqa: F401, PLC0415 - an optional package
        import matplotlib as mpl  # noqa: F401, PLC0415 - the same
    except ImportError as error:
        raise MissingExtra(_EXTRA) from error


def lines(series: Mapping[str, Sequence[Point]], *, x_label: str, y_label: str) -> str:
    """Return a plot of lines over a logarithmic axis, as one `svg` element; the same input gives the same text."""
    check_installed()
    from matplotlib import rc_context  # noqa: PLC0415 - an optional package
    from matplotlib.figure import Figure  # noqa: PLC0415 - the same
    from matplotlib.ticker import FixedLocator, NullLocator, StrMethodFormatter  # noqa: PLC0415 - the same

    with rc_context(
        {
            "axes.edgecolor": TEXT,
            "axes.labelcolor": TEXT,
            "text.color": TEXT,
            "xtick.color": TEXT,
            "ytick.color": TEXT,
            "font.family": "sans-serif",
            "svg.fonttype": "none",  # text as text, in the page's own letters
            "svg.hashsalt": "umg",
        }
    ):
        figure = Figure(figsize=SIZE, layout="constrained")
        axes = figure.subplots()
        for number, (name, points) in enumerate(series.items()):
            axes.errorbar(
                [point.x * APART ** (number - len(series) / 2) for point in points],
                [point.y for point in points],
                yerr=[[p.y - p.low for p in points], [p.high - p.y for p in points]],
                label=name.replace("$", r"\$"),
                color=SERIES[number % len(SERIES)],
                marker=MARKERS[number % len(MARKERS)],
                linestyle=DASHES[number % len(DASHES)],
                capsize=3,
            )
        ticks = sorted({point.x for points in series.values() for point in points})
        axes.set_xscale("log")
        axes.xaxis.set_major_locator(FixedLocator(ticks))
        axes.xaxis.set_minor_locator(NullLocator())
        axes.xaxis.set_major_formatter(StrMethodFormatter("{x:.0f}"))
        axes.set(xlabel=x_label, ylabel=y_label)
        axes.grid(visible=True, color=TEXT, alpha=0.15)
        axes.spines[["top", "right"]].set_visible(False)
        figure.legend(loc="outside right upper", frameon=False)
        file = io.StringIO()
        figure.savefig(file, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    return _themed(file.getvalue())


def _themed(svg: str) -> str:
    """Return the element alone, with the page's colours in place of those that stand for them."""
    found = re.sub(r"^.*?(?=<svg)", "", svg, count=1, flags=re.DOTALL).replace(TEXT, "currentColor")
    found = re.sub(r"\s*<metadata>.*?</metadata>", "", found, count=1, flags=re.DOTALL)
    for number, colour in enumerate(SERIES, start=1):
        found = found.replace(colour, f"var(--series-{number})")
    return found
