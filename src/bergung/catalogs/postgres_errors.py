"""What PostgreSQL and its drivers say, told as errors of ours; never with a password.

Once a connection stands, an error has a code. Before that there are words only, libpq's own and those of the server,
so they are recognised where they are English and passed on as they are where they are not.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from bergung.errors import BergungError, Busy, NotAllowed, UsageError


@dataclass(frozen=True)
class Place:
    """Who goes where, without the password."""

    host: str
    port: str
    database: str
    user: str

    @classmethod
    def of(cls, options: Mapping[str, str]) -> "Place":
        """From a driver's options; what is not there is libpq's own default."""
        host, port = options.get("host", "localhost"), options.get("port", "5432")
        return cls(host, port, options.get("dbname", ""), options.get("user", ""))

    def __str__(self) -> str:
        return f"{self.host}:{self.port}/{self.database}"

    def filled(self, text: str) -> str:
        """With what stands in braces put in."""
        return text.format(place=self, host=self.host, port=self.port, user=self.user)


_Telling = tuple[type[BergungError], str, str]
_DATABASE = "the catalog's database"
_URI = "look at the catalog's uri in the PyIceberg configuration"
_READY = "see whether it runs and can be reached: pg_isready -h {host} -p {port}"
_LOCKED: _Telling = (Busy, f"{_DATABASE} is locked: {{place}}", "another program writes to it; try again in a moment")
_CODES: dict[str, _Telling] = {
    "22001": (
        UsageError,
        "a text is too long for the catalog's database {place}",
        "its columns take 255 letters of a name and 1000 of a path; choose shorter ones",
    ),
    "23505": (Busy, "another program made the same entry at this moment: {place}", "run the same command again"),
    "25006": (
        NotAllowed,
        f"{_DATABASE} cannot be written: {{place}}",
        "it is read-only: name the primary server in the catalog's uri, not a standby",
    ),
    "40001": _LOCKED,
    "40P01": _LOCKED,
    "42501": (
        NotAllowed,
        f"{_DATABASE} {{place}} does not allow this to the user {{user}}",
        "it takes SELECT on iceberg_tables and iceberg_namespace_properties; to restore also INSERT and UPDATE,"
        " and CREATE on the schema where they are not there yet",
    ),
    "55P03": _LOCKED,
    "57014": (BergungError, f"{_DATABASE} did not answer in time: {{place}}", "see in pg_stat_activity what it is busy with"),
}
_WORDS: list[tuple[str, _Telling]] = [
    (
        r"database .* does not exist",
        (UsageError, "there is no such database: {place}", f"{_URI}; the databases: psql -h {{host}} -p {{port}} -l"),
    ),
    (
        r"password|authentication|pg_hba\.conf|role .* does not exist|permission denied|not permitted",
        (
            NotAllowed,
            f"{_DATABASE} does not let in the user {{user}}: {{place}}",
            f"{_URI}: user and password; without them PGUSER, ~/.pgpass",
        ),
    ),
    (
        r"starting up|shutting down|too many|slots are reserved|recovery",
        (Busy, f"{_DATABASE} takes nobody at this moment: {{place}}", "try again in a moment"),
    ),
    (r"invalid|SSL", (UsageError, f"{_DATABASE} cannot be opened with these settings: {{place}}", _URI)),
    (r"translate host name|resolve", (UsageError, "there is no such host: {place}", _URI)),
    (r"timeout|timed out", (BergungError, f"{_DATABASE} did not answer in time: {{place}}", _READY)),
    (r"refused|No such file|unreachable|No route", (BergungError, f"{_DATABASE} is not there: {{place}}", _READY)),
    (r"closed|terminat", (BergungError, f"{_DATABASE} went away: {{place}}", f"run the same command again; {_READY}")),
]


def told(error: Exception, place: Place) -> BergungError:
    """The error of ours for one of a driver's, with the first line of its own words."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    kind, fact, hint = _telling(error, lines[0])
    return kind(f"{place.filled(fact)} ({lines[0]})", place.filled(hint))


def _telling(error: Exception, words: str) -> _Telling:
    # psycopg2 and psycopg have different names for it; libpq's own errors have none.
    code = getattr(error, "pgcode", None) or getattr(error, "sqlstate", None)
    if code in _CODES:
        return _CODES[code]
    # Names stand in quotes, and may be any words.
    without_names = re.sub(r'"[^"]*"', '""', words)
    for form, telling in _WORDS:
        if re.search(form, without_names):
            return telling
    return BergungError, f"{_DATABASE} failed: {{place}}", _READY
