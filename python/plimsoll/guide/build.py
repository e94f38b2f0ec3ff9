"""From a study's folder to its guide: read the recordings, analyse them, write the files."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from plimsoll.analyse.durability_classes import with_durability_classes
from plimsoll.analyse.model import Analysis
from plimsoll.analyse.storage_use import with_storage
from plimsoll.analyse.study import analyse
from plimsoll.errors import RecordError
from plimsoll.guide.chosen import of_plan, searches_of_plan
from plimsoll.importers.skipped_logs import missing_logs
from plimsoll.record.durability import DURABILITY_FILE, DURABILITY_FORMAT, DurabilityRecord
from plimsoll.record.model import price_of
from plimsoll.record.price import Price, priced
from plimsoll.record.storage import StorageRecord
from plimsoll.record.store import Recording
from plimsoll.record.store import read_study as read_study_recordings
from plimsoll.run.folder import read_kept, read_plan
from plimsoll.run.searching import read_searches
from plimsoll.run.storage import read_storages
from plimsoll.run.users_file import current_spec
from plimsoll.spec.prices import UTILISATION, PriceFile, check_systems, read_prices
from plimsoll.spec.study import StudySpec

_LOG = logging.getLogger(__name__)


def analyse_folder(folder: Path, price_file: Path | None = None) -> Analysis:
    """Analyses all recordings of a study as it is now.

    A trial that its plan does not hold was made before the study was changed, under other conditions, and would pass
    for one more repetition: it is left out. Planned trials that have not run are listed as missing. Costs are those
    that the study states now, or the file of prices.

    Args:
        folder: The study's folder.
        price_file: Prices kept apart, see `spec.prices`; None for none.

    Raises:
        SpecError: The file of prices cannot be read, is wrong, or has a price of a system that the study lacks.
        RecordError: There is no study, or nothing in it can be read.
    """
    plan = read_plan(folder)
    found = of_plan(plan, read_study_recordings(folder))
    if not found.recordings:
        reason = found.damaged[0].reason if found.damaged else "no trial has been recorded yet; run the study first"
        raise RecordError(f"{folder}: {reason}")
    spec, note = current_spec(folder)
    if note is not None:
        _LOG.warning("%s", note)
    prices = PriceFile() if price_file is None else read_prices(price_file)
    if price_file is not None:
        check_systems(prices, price_file, _names(spec, found.recordings))
    name = found.recordings[0].trial.study
    if spec is None:
        recordings = list(_priced({}, prices, found.recordings))
        share = prices.utilisation or UTILISATION
        imported = analyse(
            name,
            recordings,
            (*found.damaged, *missing_logs(folder)),
            searches=read_searches(folder),
            utilisation=share,
        )
        return with_durability_classes(imported, _durability(folder))
    order = [system.name for system in spec.system]
    objective_s = spec.study.objective.response_p99
    stated = {system.name: system.price for system in spec.system}
    analysis = analyse(
        name,
        sorted(_priced(stated, prices, found.recordings), key=lambda one: _place(order, one.trial.system.name)),
        found.damaged,
        planned=None if plan is None else plan.trials,
        objective_ms_p99=None if objective_s is None else objective_s * 1000,
        equal_within=spec.study.equal_within,
        at_any_look=spec.study.is_until_decided,
        utilisation=prices.utilisation or spec.study.utilisation,
        claims=spec.claim,
        searches=searches_of_plan(plan, read_searches(folder)),
        fitted=None if plan is None else plan.fitted,
    )
    analysis = with_storage(analysis, _of_study(spec, read_storages(folder)))
    return with_durability_classes(analysis, _durability(folder))


def _durability(folder: Path) -> DurabilityRecord | None:
    """What a test of durability found, where the study's folder holds it."""
    cure = "write what plimsoll durability --json prints into it again, or remove it"
    version = ("durability_format", DURABILITY_FORMAT)
    return read_kept(folder / DURABILITY_FILE, DurabilityRecord, version=version, cure=cure)


def _of_study(spec: StudySpec, found: Iterable[StorageRecord]) -> tuple[StorageRecord, ...]:
    """The storages that the study names now."""
    names = {one.label for one in spec.storage}
    return tuple(one for one in found if one.name in names)


def _names(spec: StudySpec | None, recordings: Iterable[Recording]) -> list[str]:
    """The systems that the study states or has recorded."""
    stated = [] if spec is None else [one.name for one in spec.system]
    return list(dict.fromkeys([*stated, *(one.trial.system.name for one in recordings)]))


def _place(order: list[str], name: str) -> int:
    """Systems come in the order in which the user wrote them; those that an edited file lacks come last."""
    return order.index(name) if name in order else len(order)


def _priced(
    stated: Mapping[str, Price | None], prices: PriceFile, recordings: Iterable[Recording]
) -> Iterator[Recording]:
    """The recordings with the prices of the file, else of the study: no condition of a trial, and may change later."""
    for one in recordings:
        system = one.trial.system
        price = prices.price_of(system.name) or stated.get(system.name) or price_of(system)
        yield replace(one, trial=one.trial.model_copy(update={"system": system.model_copy(update=priced(price))}))


def build_guide(
    folder: Path, to: Path | None = None, price_file: Path | None = None
) -> tuple[Analysis, tuple[Path, ...]]:
    """Analyses a study and writes its guide, the HTML file first.

    Args:
        folder: The study's folder.
        to: Where the files are written; the study's folder when None.
        price_file: Prices kept apart; None for none.

    Raises:
        RecordError: There is no study, or nothing in it can be read.
        HostError: The files cannot be written.
    """
    from plimsoll.guide.files import write_guide  # draws charts, which an analysis needs none of

    analysis = analyse_folder(folder, price_file)
    return analysis, tuple(write_guide(analysis, to or folder, folder))
