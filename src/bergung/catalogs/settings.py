"""The user's catalogs, as PyIceberg's own configuration declares them.

PyIceberg's reader of its configuration is used and not its `load_catalog`: importing that costs ten times more,
and it would make an empty database where it finds none.
"""

import re
from importlib import import_module
from types import ModuleType
from typing import cast

from pyiceberg.typedef import RecursiveDict
from pyiceberg.utils.config import Config
from strictyaml import YAMLError  # type: ignore[import-untyped]

from bergung.catalogs.base import Catalog
from bergung.catalogs.declaration import Declaration
from bergung.clock import Clock, SystemClock
from bergung.errors import UsageError
from bergung.stores.base import OpenStore
from bergung.stores.open import open_store

_CLOCK = SystemClock()
_KIND_OF_SCHEME = {"http": "rest", "https": "rest", "thrift": "hive", "sqlite": "sql", "postgresql": "sql"}
_MODULES = {
    "glue": "bergung.catalogs.glue",
    "hadoop": "bergung.catalogs.hadoop",
    "hive": "bergung.catalogs.hive",
    "rest": "bergung.catalogs.rest.catalog",
    "sql on postgresql": "bergung.catalogs.postgres",
    "sql on sqlite": "bergung.catalogs.sqlite",
}
"""Where the `open_declared` of each kind is. Imported only when one of that kind is opened: some cost a second."""
_EXTRAS = {"hive": "bergung[hive]"}
_KNOWN = "docs/catalogs.md names those that it knows; a table can be named by its location or metadata file as well"


def open_catalog(name: str, clock: Clock = _CLOCK, open_store: OpenStore = open_store) -> Catalog:
    """The catalog of that name; it is asked for the first time when something is asked of it, and never created."""
    declared = _properties(name)
    sections = {key: value for key, value in declared.items() if isinstance(value, dict)}
    declaration = Declaration(name, _texts(declared), clock, open_store, sections)
    module = _MODULES.get(_kind(declaration))
    if module is None:
        raise _not_known(declaration)
    return cast(Catalog, _imported(module, declaration).open_declared(declaration))


def _imported(module: str, declaration: Declaration) -> ModuleType:
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        extra = _EXTRAS.get(_kind(declaration))
        if extra is None:
            raise
        raise UsageError(
            f"the catalog {declaration.name} needs a package that is not installed: {error.name}", f"pip install '{extra}'"
        ) from error


def _kind(declaration: Declaration) -> str:
    scheme = _scheme(declaration)
    kind = declaration.properties.get("type", "").lower() or _KIND_OF_SCHEME.get(scheme, scheme)
    if not kind or (kind == "sql" and not scheme):
        raise UsageError(f"the catalog {declaration.name} is declared without a uri", _declaration(declaration.name))
    return f"sql on {scheme}" if kind == "sql" else kind


def _scheme(declaration: Declaration) -> str:
    return re.split("[+:]", declaration.uri, maxsplit=1)[0]


def _not_known(declaration: Declaration) -> UsageError:
    # Of the uri only its scheme: the rest may hold a password.
    kept, _, scheme = _kind(declaration).partition(" on ")
    how = f"kept in {scheme}" if scheme else f"of type {kept}"
    return UsageError(f"the catalog {declaration.name} is {how}, which this version does not know yet", _KNOWN)


def catalog_names() -> list[str]:
    """Every catalog that the configuration declares, sorted."""
    return sorted(_declared())


def _properties(name: str) -> RecursiveDict:
    declared = _declared()
    # As PyIceberg does: declarations are found in lower case, and entries are kept under the name as given.
    if name.lower() not in declared:
        known = f"declared are: {', '.join(sorted(declared))}" if declared else "none is declared"
        raise UsageError(f"no catalog {name} in the PyIceberg configuration; {known}", _declaration(name))
    return declared[name.lower()]


def _declared() -> dict[str, RecursiveDict]:
    try:
        config = Config()
        return {name: config.get_catalog_config(name) or {} for name in config.get_known_catalogs()}
    except YAMLError as error:
        raise _unreadable(_without_content(error)) from error
    except (OSError, ValueError) as error:
        # PyIceberg prints a value that does not fit, which may be a secret.
        raise _unreadable(str(error).split(", value:")[0]) from error
    except AttributeError as error:
        # PyIceberg's answer to a file without a mapping, an empty one for example.
        raise _unreadable("it is empty or no mapping") from error


def _texts(properties: RecursiveDict) -> dict[str, str]:
    return {key: value for key, value in properties.items() if isinstance(value, str)}


def _without_content(error: YAMLError) -> str:
    """The parser prints the lines around its problem; there may be secrets in them."""
    line = f" in line {error.problem_mark.line + 1}" if getattr(error, "problem_mark", None) else ""
    return f"no YAML that PyIceberg accepts{line}"


def _unreadable(why: str) -> UsageError:
    return UsageError(
        f"the PyIceberg configuration cannot be read: {why}",
        "look at .pyiceberg.yaml in PYICEBERG_HOME, your home or this folder, and at the PYICEBERG_ variables",
    )


def _declaration(name: str) -> str:
    variable = f"PYICEBERG_CATALOG__{name.upper().replace('-', '_')}__URI"
    return f"declare it in ~/.pyiceberg.yaml, or: export {variable}=sqlite:////path/to/{name}.db"
