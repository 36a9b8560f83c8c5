"""notebook.py FILE [--write]: runs examples/fabric.ipynb and compares what its cells give with what it shows; --write
keeps what they give. Identifiers of cells and times of the host are left out, so that equal results are equal bytes."""

import sys

import nbformat
from nbclient import NotebookClient


def shown(book):
    """What each cell gives, as text: a page's own text would be long, and is checked elsewhere."""
    return [["".join(output.get("data", {}).get("text/plain", output.get("text", ""))) for output in cell.outputs]
            for cell in book.cells if cell.cell_type == "code"]


def main():
    path = sys.argv[1]
    book = nbformat.read(path, 4)
    before = shown(book)
    NotebookClient(book, timeout=120, kernel_name="python3").execute()
    if sys.argv[2:] == ["--write"]:
        for cell in book.cells:
            cell.metadata = {}
            for output in cell.get("outputs", []):
                output.pop("metadata", None) if output.output_type == "stream" else output.update(metadata={})
        book.metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"},
                         "language_info": {"name": "python"}}
        nbformat.write(book, path)
        return
    for number, (old, new) in enumerate(zip(before, shown(book))):
        if old != new:
            sys.exit(f"{path}: code cell {number} shows\n{old}\nand gives\n{new}\n(notebook.py --write, if it should)")
    print(f"{len(before)} cells give what they show")


if __name__ == "__main__":
    main()
