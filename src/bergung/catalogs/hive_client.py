"""The way to a Hive Metastore: PyIceberg's own thrift client, without the catalog that it builds on it.

The metastore's limits are told here too: what goes wrong on the way, and what it says itself.
"""

import logging
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from urllib.parse import urlsplit

from hive_metastore.ThriftHiveMetastore import Client
from hive_metastore.ttypes import InvalidObjectException, MetaException
from thrift.protocol.TBinaryProtocol import TBinaryProtocolAccelerated
from thrift.protocol.TProtocol import TProtocolException
from thrift.Thrift import TApplicationException, TException
from thrift.transport.TSocket import TSocket
from thrift.transport.TTransport import TBufferedTransport, TSaslClientTransport, TTransportException

from bergung.catalogs.declaration import is_true
from bergung.errors import BergungError, NotAllowed, UsageError

_FORM = "write thrift://host:9083; several hosts with commas between them"
_PORT = 9083
_KNOWN = "look at the catalog's uri; versions 2.3 to 3.1 of Hive Metastore are known"
_DENIED = ("permission denied", "accesscontrol", "not authorized", "unauthorized", "no privilege", "insufficient privileges")
_SIZES = (TTransportException.NEGATIVE_SIZE, TTransportException.SIZE_LIMIT)
"""So the words of another protocol look like when they are taken for a length."""

# What it logs is raised as well; without this it would stand on the user's terminal.
logging.getLogger("thrift").addHandler(logging.NullHandler())


@dataclass(frozen=True)
class Metastore:
    """One or more servers over one database; the first that answers is asked."""

    hosts: tuple[tuple[str, int], ...]
    user: tuple[str, ...] = ()
    """A user and their groups, as PyIceberg's property `ugi` has them."""
    kerberos_service: str = ""
    """Empty without Kerberos."""
    patience_seconds: float = 60

    @contextmanager
    def asked(self) -> Iterator[Client]:
        """A connection; what goes wrong on it is told as an error of ours."""
        try:
            transport = self._opened()
            try:
                client = Client(TBinaryProtocolAccelerated(transport, fallback=True))
                if self.user:
                    client.set_ugi(self.user[0], list(self.user[1:]))
                yield client
            finally:
                transport.close()
        except (TException, OSError) as error:
            raise _told(error, str(self)) from error

    def _opened(self) -> TBufferedTransport:
        for number, (host, port) in enumerate(self.hosts, 1):
            transport = self._transport(host, port)
            try:
                transport.open()
                return transport
            except TTransportException:
                transport.close()
                if number == len(self.hosts):
                    raise
        raise UsageError("the catalog's uri names no host", _FORM)

    def _transport(self, host: str, port: int) -> TBufferedTransport:
        wire = TSocket(host, port)
        wire.setTimeout(self.patience_seconds * 1000)
        if not self.kerberos_service:
            return TBufferedTransport(wire)
        try:
            return TSaslClientTransport(wire, host=host, service=self.kerberos_service)
        except ImportError as error:
            install = "pip install 'pyiceberg[hive-kerberos]'"
            raise UsageError(f"Kerberos needs a package that is not installed: {error.name}", install) from error

    def __str__(self) -> str:
        return ",".join(f"thrift://{host}:{port}" for host, port in self.hosts)


def metastore(properties: Mapping[str, str]) -> Metastore:
    """By the properties that PyIceberg's Hive catalog has."""
    hosts = tuple(_host(part.strip()) for part in properties.get("uri", "").split(","))
    user = tuple(properties["ugi"].split(":")) if properties.get("ugi") else ()
    kerberos = is_true(properties.get("hive.kerberos-authentication", ""))
    service = properties.get("hive.kerberos-service-name", "hive") if kerberos else ""
    return Metastore(hosts, user, service)


def _host(part: str) -> tuple[str, int]:
    try:
        url = urlsplit(part if "://" in part else f"thrift://{part}")
        host, port = url.hostname, url.port
    except ValueError as error:
        raise UsageError("not the uri of a Hive Metastore", _FORM) from error
    if url.scheme != "thrift" or not host:
        raise UsageError("not the uri of a Hive Metastore", _FORM)
    return host, port or _PORT


def _told(error: Exception, where: str) -> BergungError:
    if _is_strange(error):
        return BergungError(f"what answers at {where} is no Hive Metastore that is known: {_words(error)}", _KNOWN)
    if isinstance(error, TTransportException):
        return _unreached(error, where)
    if isinstance(error, InvalidObjectException):
        return UsageError(f"the metastore cannot hold this: {_words(error)}", "names take letters, digits and _ only")
    if isinstance(error, MetaException) and any(word in _words(error).lower() for word in _DENIED):
        return NotAllowed(f"the metastore does not allow this: {_words(error)}", "look at the rights of this user there")
    return BergungError(f"the metastore {where} failed: {_words(error)}", "look into its log, then try again")


def _is_strange(error: Exception) -> bool:
    """Not an answer to what was asked; an error inside the metastore is one."""
    if isinstance(error, TApplicationException):
        return bool(error.type != TApplicationException.INTERNAL_ERROR)
    return isinstance(error, TProtocolException) or (isinstance(error, TTransportException) and error.type in _SIZES)


def _unreached(error: TTransportException, where: str) -> BergungError:
    if isinstance(error.inner, socket.gaierror):
        return UsageError(f"there is no such host: {where}", "look at the catalog's uri in the PyIceberg configuration")
    if error.type == TTransportException.TIMED_OUT or isinstance(error.inner, TimeoutError):
        return BergungError(f"the metastore did not answer in time: {where}", "look into its log, then try again")
    if error.type == TTransportException.NOT_OPEN:
        return BergungError(f"the metastore is not there: {where}", "see whether it runs, and the catalog's uri")
    return BergungError(f"the metastore went away: {where} ({_words(error)})", "look into its log, then run the same command again")


def _words(error: Exception) -> str:
    return str(getattr(error, "message", "") or error or type(error).__name__)
