"""A vault is of use without us: the example brings a table back with Python and pyarrow alone."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.command import call, tree
from tests.stories.small_lake import SmallLake, rows_at

EXAMPLE = Path(__file__).parents[2] / "examples" / "restore_without_bergung.py"
# Isolated from this checkout, and without the package even where it is installed.
ALONE = """
import sys, runpy
sys.modules["bergung"] = None
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


@pytest.fixture
def shop(lake: SmallLake) -> SmallLake:
    lake.make("sales", "orders", location=f"file://{lake.folder}/else where/orders 100%")
    lake.append(("sales", "orders"), range(10, 20))
    lake.catalog.load_table("sales.orders").delete("id < 5")
    assert call("backup", "lake.sales").code == 0
    return lake


def test_a_table_comes_back_to_its_place(shop: SmallLake) -> None:
    rows, pointer, before = shop.rows("sales", "orders"), shop.pointer("sales", "orders"), tree(shop.folder / "else where")
    shop.lose("sales", "orders")
    said = _run(shop, "lake.sales.orders")
    assert said.returncode == 0, said.stderr
    assert said.stdout.splitlines()[-1] == f"register: {pointer.removeprefix('file://')}"
    assert tree(shop.folder / "else where") == before
    assert rows_at(pointer) == rows
    assert _run(shop, "lake.sales.orders").stdout.startswith("point "), "a second run finds everything there"


def test_a_copy_below_a_folder_leaves_the_place_alone(shop: SmallLake) -> None:
    before = tree(shop.warehouse, shop.folder / "else where")
    assert _run(shop, "lake.sales.orders", "--to", str(shop.folder / "copy")).returncode == 0
    assert tree(shop.warehouse, shop.folder / "else where") == before
    copied = {path.removeprefix(f"{shop.folder}/copy"): digest for path, digest in tree(shop.folder / "copy").items()}
    assert copied.items() <= before.items()


def test_a_different_file_is_not_written_over(shop: SmallLake) -> None:
    data = shop.files("sales", "orders", kind="*.parquet")[0]
    data.write_bytes(b"other")
    said = _run(shop, "lake.sales.orders")
    assert said.returncode == 1 and "is there and is another file" in said.stderr
    assert data.read_bytes() == b"other"


def test_a_changed_blob_is_refused(shop: SmallLake) -> None:
    shop.lose("sales", "orders")
    next(shop.vault.glob("tables/*/files/data/*.parquet")).write_bytes(b"junk")
    said = _run(shop, "lake.sales.orders")
    assert said.returncode == 1 and "is not what it was" in said.stderr


def _run(lake: SmallLake, table: str, *words: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-I", "-c", ALONE, str(EXAMPLE), str(lake.vault), table, *words]
    return subprocess.run(command, capture_output=True, text=True, check=False)
