"""What became of a trial's connections: those that did not come, and outages. Parts of `outcome.json`."""

from __future__ import annotations

from plimsoll.record.document import Document


class ConnectFailureRecord(Document):
    """Connections to one instance that could not be opened, for one reason.

    Attributes:
        role: Of the server, `source` or `replica`.
        code: MySQL's error number; None when no server answered with one.
        message: What was said to the first of them.
    """

    instance: str
    role: str = "source"
    code: int | None = None
    count: int
    message: str


class EncryptionRecord(Document):
    """How the connections to one server were encrypted.

    Attributes:
        role: What the server was used for, `source` or `replica`.
        agreed: Version and cipher suite, such as `TLSv1.3 TLS_AES_256_GCM_SHA384`; None for connections in plain.
    """

    instance: str
    role: str
    agreed: str | None


class ConnectionsRecord(Document):
    """How the connections of a trial came about.

    Attributes:
        opened_count: With how many the load began.
        connect_s: How long it took to open them, seconds.
        failures: Why the others did not come.
        encryptions: How those to each server were encrypted; empty in recordings from before this was kept.
    """

    wanted_count: int
    opened_count: int
    connect_s: float
    failures: tuple[ConnectFailureRecord, ...] = ()
    encryptions: tuple[EncryptionRecord, ...] = ()


class OutageRecord(Document):
    """From the first connection to an instance that was lost until they were back.

    Attributes:
        role: Of the server, `source` or `replica`.
        from_s: When the first was lost, or fell silent, seconds since interval 0 began.
        to_s: When they were back; None when they were not before the trial ended.
        connections_count: How many were lost.
        lost_count: Transactions that failed because their connection was lost.
    """

    instance: str
    role: str = "source"
    from_s: float
    to_s: float | None = None
    connections_count: int
    lost_count: int
