"""Keys of a managed server about its files: where they are, what caches hold when load begins, how tables are made.

Deliberately not here: the folders themselves (`servers.directory`), and whether two of them are on one device
(`run.server_faults`), which only the machine knows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from plimsoll.errors import Fault
from plimsoll.spec.fields import Place, Written
from plimsoll.spec.server_options import OptionValue

Role = Literal["redo", "binlog", "undo", "tmp"]
"""What may lie on another path than the data."""

ROLES: tuple[Role, ...] = ("redo", "binlog", "undo", "tmp")

StartState = Literal["cold", "warm"]

_Word = Annotated[str, Field(pattern=r"^[A-Za-z0-9_]{1,64}$")]


_CHARACTER_SET_WORDS = re.compile(r"CHARSET|CHARACTER\s+SET|COLLATE", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class TableOptions:
    """What a system adds to CREATE TABLE.

    Attributes:
        every: To every table.
        of_files: To tables of workload files besides. They are utf8mb4 by themselves, so that servers hold the same
            rows whatever their defaults are; where a study states another character set, they have that.
    """

    every: str = ""
    of_files: str = ""


AS_USUAL = TableOptions()
"""Nothing is added."""


class FileKeys(Written):
    """Keys of `server = {…}` about files.

    Attributes:
        redo_dir: Where a directory for the redo log is made. Default: with the data.
        binlog_dir: Where a directory for binary logs is made. Default: with the data.
        undo_dir: Where a directory for undo tablespaces is made. Default: with the data.
        tmp_dir: Where a directory for temporary files is made. Default: with the data.
        distinct_devices: Refuse the study if two of these paths, `tmp_dir` excepted, are on one device.
        huge_pages: Put the buffer pool into huge pages, which must have been reserved.
        pool_ratio: Size of the buffer pool as a share of the size of the tables after loading, such as 0.05; excludes
            `buffer_pool`.
        start: What caches hold when the load begins. `cold`: nothing; the server is started again and its files are
            dropped from the page cache. `warm`: the pages that the buffer pool held when the server was stopped.
            Default: what the server's own options make of it.
        character_set: Character set of the server and of its tables; a column whose type names another one keeps it.
        collation: Collation of the server and of its tables.
        table_options: Further options of CREATE TABLE, for all tables.
        keep_data: Folder in which the data is kept at the end of the study, for `aged_data`.
        aged_data: Folder of kept data: the study begins with a copy of it and loads nothing.
    """

    redo_dir: Place | None = None
    binlog_dir: Place | None = None
    undo_dir: Place | None = None
    tmp_dir: Place | None = None
    distinct_devices: bool = False
    huge_pages: bool = False
    pool_ratio: Annotated[float, Field(gt=0, le=100, allow_inf_nan=False)] | None = None
    start: StartState | None = None
    character_set: _Word | None = None
    collation: _Word | None = None
    table_options: Annotated[str, Field(max_length=1000, pattern=r"^[^\x00-\x1f\x7f;]*$")] = ""
    keep_data: Place | None = None
    aged_data: Place | None = None

    @property
    def role_dirs(self) -> dict[Role, str]:
        """The folders that are given, by what they are for."""
        written: dict[Role, str | None] = {role: getattr(self, f"{role}_dir") for role in ROLES}
        return {role: folder for role, folder in written.items() if folder is not None}

    @property
    def effective_character_set(self) -> str | None:
        """The character set, which a collation names too: `utf8mb4_bin` is one of `utf8mb4`."""
        if self.character_set is not None or self.collation is None:
            return self.character_set
        return self.collation.partition("_")[0].lower()

    def made_with(self, options: Mapping[str, OptionValue]) -> TableOptions:
        """What tables are made with.

        Args:
            options: The user's options of the server, names in one spelling; they may name a character set too.
        """
        character_set = self.effective_character_set or options.get("character_set_server")
        collation = self.collation or options.get("collation_server")
        if _CHARACTER_SET_WORDS.search(self.table_options):
            return TableOptions(self.table_options)
        words = [f"CHARACTER SET {character_set}"] if character_set else []
        words += [f"COLLATE {collation}"] if collation else []
        return TableOptions(self.table_options, " ".join(words))

    @property
    def file_factors(self) -> dict[str, str]:
        """What tells systems apart, as text; only what was written."""
        values = {name: getattr(self, name) for name in _FACTORS}
        usual = FileKeys.model_fields
        return {name: _text(value) for name, value in values.items() if value != usual[name].default}

    @property
    def options_that_follow(self) -> dict[str, OptionValue]:
        """Server options that these keys stand for; paths and the size of the pool are not among them."""
        options: dict[str, OptionValue] = {}
        if self.huge_pages:
            options["large_pages"] = True
        if self.pool_ratio is not None:
            options["innodb_flush_method"] = "O_DIRECT"  # the page cache must not stand in for the device
        if (name := self.effective_character_set) is not None:
            options["character_set_server"] = name
        if self.collation is not None:
            options["collation_server"] = self.collation
        if self.start is not None:
            is_warm = self.start == "warm"
            options |= {"innodb_buffer_pool_dump_at_shutdown": is_warm, "innodb_buffer_pool_load_at_startup": is_warm}
            options |= {"innodb_buffer_pool_dump_pct": 100} if is_warm else {}
        return options


_FACTORS = (
    *(f"{role}_dir" for role in ROLES),
    "huge_pages",
    "pool_ratio",
    "start",
    "character_set",
    "collation",
    "table_options",
    "aged_data",
)

NO_INPUTS = ("distinct_devices", "keep_data")
"""Keys that do not change what is measured."""


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def path_faults(
    keys: FileKeys,
    *,
    profile: str,
    buffer_pool: int | None,
    options: Mapping[str, OptionValue],
    flavour: str,
) -> Iterator[Fault]:
    """What is wrong with the keys about files.

    Args:
        keys: What was written.
        profile: Base of the server's options.
        buffer_pool: Its size, where that is given.
        options: The user's, names in one spelling.
        flavour: `mariadb` or `mysql`.
    """
    if keys.pool_ratio is not None and buffer_pool is not None:
        yield Fault(("pool_ratio",), "buffer_pool says the size already; keep one of them")
    if keys.pool_ratio is not None and "innodb_buffer_pool_size" in options:
        yield Fault(("pool_ratio",), "options.innodb_buffer_pool_size says the size already; keep one of them")
    for name in keys.options_that_follow:
        if name in options and name != "innodb_flush_method":
            yield Fault(("options", name), "follows from a key beside options; keep one of them")
    if keys.binlog_dir is not None and not has_binary_log(profile, options, flavour):
        yield Fault(
            ("binlog_dir",),
            "this server writes no binary log; add options = { log_bin = true }, or leave binlog_dir out",
        )
    if keys.distinct_devices and not keys.role_dirs:
        roles = ", ".join(f"{role}_dir" for role in ROLES)
        yield Fault(("distinct_devices",), f"there is one path only; give at least one of {roles}")
    if re.search(r"\b(COMMENT|(STORAGE\s+)?ENGINE)\b", keys.table_options, re.IGNORECASE):
        yield Fault(
            ("table_options",),
            "must not hold COMMENT, where Plimsoll marks its tables, nor ENGINE; say the engine"
            " with the workload's storage_engine",
        )
    if keys.collation is not None and "_" not in keys.collation and keys.character_set is None:
        yield Fault(("collation",), f"{keys.collation!r} names no character set; say character_set too")


def has_binary_log(profile: str, options: Mapping[str, OptionValue], flavour: str) -> bool:
    """Whether a server writes binary logs; arguments as for `path_faults`."""
    if options.get("skip_log_bin") in {True} or options.get("log_bin") is False:
        return False
    if "log_bin" in options:
        return True
    return profile == "production" or (profile == "server-defaults" and flavour == "mysql")
