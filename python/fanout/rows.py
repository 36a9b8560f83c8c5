"""Results: tables with units, and pages."""

import html
from typing import Any, Dict, List, Optional


class Rows(List[Dict[str, Any]]):
    """Rows of a report as dicts, with `units` by column and the whole `report`. Without pandas it is what verbs give."""

    def __init__(self, rows: List[Dict[str, Any]], units: Dict[str, str], report: Dict[str, Any]) -> None:
        super().__init__(rows)
        self.units = units
        self.report = report

    def frame(self) -> Any:
        """The same as a pandas DataFrame, whose attrs have units and the report's facts."""
        import pandas  # asked for by name, so that what is missing is said by pandas's own words
        frame = pandas.DataFrame(list(self))
        frame.attrs["units"] = self.units
        frame.attrs["report"] = {key: value for key, value in self.report.items()
                                 if not isinstance(value, (list, dict))}
        return frame

    def parquet(self, path: str) -> None:
        """Writes the rows as Parquet, with each column's unit in its metadata. Needs pyarrow."""
        import pyarrow
        import pyarrow.parquet
        table = pyarrow.Table.from_pylist(list(self))
        fields = [field.with_metadata({"unit": self.units.get(field.name, "")}) for field in table.schema]
        pyarrow.parquet.write_table(pyarrow.Table.from_arrays(table.columns, schema=pyarrow.schema(fields)), path)

    def _columns(self) -> List[str]:
        return list(dict.fromkeys(key for row in self for key in row))

    def __str__(self) -> str:
        """A table, as a DataFrame prints one: names of columns, which have their units, and rows."""
        lines = [self._columns()] + [[_cell(row.get(c)) for c in self._columns()] for row in self]
        widths = [max(map(len, cells)) for cells in zip(*lines)]
        return "\n".join("  ".join(cell.rjust(width) for cell, width in zip(line, widths)) for line in lines)

    def _repr_html_(self) -> str:
        columns = self._columns()
        head = "".join(f"<th>{html.escape(c)}<br><small>{html.escape(self.units.get(c, ''))}</small></th>"
                       for c in columns)
        body = "".join("<tr>" + "".join(f"<td>{html.escape(_cell(row.get(c)))}</td>" for c in columns) + "</tr>"
                       for row in self)
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cell(value: Optional[Any]) -> str:
    return "" if value is None else str(value)


def table(rows: List[Dict[str, Any]], units: Dict[str, str], report: Dict[str, Any]) -> Any:
    """A DataFrame where pandas is there, else Rows."""
    made = Rows(rows, units, report)
    try:
        return made.frame()
    except ImportError:
        return made


class Page:
    """A page that the command wrote, shown inline by a notebook: pictures of the system, charts, animations."""

    def __init__(self, text: str, height: int = 600) -> None:
        self.text = text
        self.height = height

    def save(self, path: str) -> None:
        with open(path, "w", encoding="utf-8") as out:
            out.write(self.text)

    def _repr_html_(self) -> str:
        return (f'<iframe srcdoc="{html.escape(self.text, quote=True)}" width="100%" height="{self.height}" '
                'style="border:0"></iframe>')
