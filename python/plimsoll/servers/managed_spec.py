"""What kind of managed server is wanted, and what machine its production profile is sized to.

Deliberately not here: how a user writes it down (package `spec`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from plimsoll.errors import SpecError
from plimsoll.servers.facts import usable_memory_bytes
from plimsoll.servers.option_file import MachineSizes, Profile
from plimsoll.servers.placement import InstancePlacement
from plimsoll.servers.storage import FlushTimes, measure_flush, storage_facts
from plimsoll.spec.paths import Role, StartState
from plimsoll.spec.server_options import OptionValue


@dataclass(frozen=True, slots=True, kw_only=True)
class ManagedSpec:
    """What kind of server is wanted.

    Attributes:
        server: `"mariadb"`, `"mysql"`, or the full command of a server as text or words.
        profile: Base of its options: `production`, `server-defaults` or `bare`.
        buffer_pool_bytes: None lets the profile choose.
        options: The user's server options; they win.
        derived: Options that follow from other keys of a study file; over those of the profile, below the user's.
        start: `cold` drops its files from the page cache before each start; `warm` waits after it until the buffer pool
            holds what it held when the server was stopped. None does neither.
        data_dir: Folder below which the instance's directory is made; None for the default.
        role_dirs: The same for what does not lie with the data.
        allow_tmpfs: Data in memory is wanted, though durability then means nothing.
        placement: What of the machine it may use.
        is_copy: Its data will be a copy of another server's (`instance_data.seed`), so none is initialised.
    """

    server: str | Sequence[str] = "mariadb"
    profile: str = Profile.PRODUCTION
    buffer_pool_bytes: int | None = None
    options: Mapping[str, OptionValue] = field(default_factory=dict)
    derived: Mapping[str, OptionValue] = field(default_factory=dict)
    start: StartState | None = None
    data_dir: Path | None = None
    role_dirs: Mapping[Role, Path] = field(default_factory=dict)
    allow_tmpfs: bool = False
    placement: InstancePlacement = field(default_factory=InstancePlacement)
    is_copy: bool = False

    def checked_profile(self) -> Profile:
        """The profile.

        Raises:
            SpecError: There is none of this name.
        """
        try:
            return Profile(self.profile)
        except ValueError:
            known = ", ".join(profile.value for profile in Profile)
            raise SpecError(f"profile: must be one of {known}, is {self.profile!r}") from None


def measure_machine(directory: Path, flush: FlushTimes | None = None) -> MachineSizes:
    """Measures what the production profile is sized to. Takes up to a second.

    Args:
        directory: An existing folder on the device that will hold the data.
        flush: Its flush times when they are known; None measures them.

    Raises:
        HostError: The directory cannot be written to.
    """
    return MachineSizes(
        memory_bytes=usable_memory_bytes(),
        free_bytes=storage_facts(directory).free_bytes,
        flush_ms_min=(flush or measure_flush(directory)).ms_min,
    )
