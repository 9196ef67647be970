import pytest
from rich.table import Table

from umg_search.cli.output import out


def test_a_table_is_as_wide_as_its_cells_where_a_pipe_counts_as_80_columns(capsys: pytest.CaptureFixture[str]) -> None:
    name, other = "spans[experts=dense+lexical]" * 4, "[+0.001, +0.106]" * 4
    table = Table("method", "difference", box=None)
    table.add_row(name.replace("[", "\\["), other.replace("[", "\\["))
    width = out.width
    out.print_table(table)
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if name in line and other in line]
    assert out.width == width
