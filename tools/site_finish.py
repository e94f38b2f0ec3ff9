"""Finishes a built documentation site and checks it.

Adds the Markdown source beside each page, the files that pages link to, `llms.txt` and `index.html`. Then every link,
anchor, picture and script of every page must lead to something in the site, and nothing may be loaded from elsewhere.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

from site_navigation import HOME, PARTS, ROOT, Entry, pages

ELSEWHERE = re.compile(r"[a-z]+:|//")
PICTURE = re.compile(r"\]\(([^)\s#]+\.(?:png|svg|jpg))\)|(?:src|srcset)=\"([^\"]+)\"")


def main(site: Path) -> None:
    """Finishes the site; ends with a list of what is broken."""
    copy_sources(site)
    copy_linked_files(site)
    (site / "llms.txt").write_text(llms_text(), encoding="utf-8")
    shutil.copy(site / Path(HOME).with_suffix(".html"), site / "index.html")
    missing = [page for page in pages() if not (ROOT / page).exists()]
    faults = [f"{page} is in tools/site_navigation.py and not on disk" for page in missing]
    if faults := [*faults, *broken(site)]:
        sys.exit("\n".join(f"plimsoll: {fault}" for fault in faults))


def copy_sources(site: Path) -> None:
    """Each page's Markdown file beside it, with the pictures that it names."""
    for page in pages():
        if (source := ROOT / page).exists():
            shutil.copy(source, site / page)
            for names in PICTURE.findall(source.read_text(encoding="utf-8")):
                picture = (source.parent / "".join(names)).resolve()
                if picture.is_relative_to(ROOT) and picture.is_file():
                    copy_file(picture, site)


def copy_linked_files(site: Path) -> None:
    """Files of the repository that pages link to, such as schemas and examples."""
    for path, page in read_pages(site).items():
        for link in page.links:
            goal = _goal(path, link)
            if goal and not goal.exists() and goal.is_relative_to(site) and goal.suffix != ".html":
                source = ROOT / goal.relative_to(site)
                if source.is_file():
                    copy_file(source, site)


def copy_file(source: Path, site: Path) -> None:
    """A file of the repository at the same path in the site."""
    goal = site / source.relative_to(ROOT)
    goal.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(source, goal)


def llms_text() -> str:
    """The site for programs: what Plimsoll is, and the four parts with links to Markdown."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lines = ["# Plimsoll", "", f"> {project['description']}.", ""]
    for part, listed in PARTS.items():
        lines += [f"## {part}", "", *_lines(listed), ""]
    return "\n".join(lines)


def _lines(listed: tuple[Entry, ...], indent: str = "") -> Iterator[str]:
    for entry in listed:
        if (ROOT / entry.path).exists():
            yield f"{indent}- [{entry.title}]({entry.path})"
        yield from _lines(entry.below, indent + "  ")


@dataclass
class Page(HTMLParser):
    """What a page links to, loads, and can be linked at."""

    links: list[str] = field(default_factory=list)
    loads: list[str] = field(default_factory=list)
    anchors: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Takes links and anchors of an element."""
        named = {name: value or "" for name, value in attrs}
        self.anchors.update(named[name] for name in ("id", "name") if named.get(name))
        if tag == "a" and "href" in named:
            self.links.append(named["href"])
        elif tag == "link" and named.get("rel") not in ("canonical",):
            self.loads.append(named.get("href", ""))
        elif tag in ("img", "script", "source", "iframe") and (named.get("src") or named.get("srcset")):
            self.loads.append(named.get("src") or named["srcset"])


def read_pages(site: Path) -> dict[Path, Page]:
    """Every HTML page of the site."""
    found = {}
    for path in sorted(site.rglob("*.html")):
        found[path] = Page()
        found[path].feed(path.read_text(encoding="utf-8"))
    return found


def broken(site: Path) -> Iterator[str]:
    """A sentence for each link that leads nowhere, and for each file that is not loaded from the site."""
    found = read_pages(site)
    for path, page in found.items():
        name = path.relative_to(site)
        for link in page.links + page.loads:
            goal = _goal(path, link)
            anchor = unquote(link.partition("#")[2])
            if goal is None:
                if link in page.loads and not link.startswith("data:"):
                    yield f"{name}: loads {link} from elsewhere"
            elif not goal.is_relative_to(site) or not goal.is_file():
                yield f"{name}: {link}: no such file in the site"
            elif anchor and goal in found and anchor not in found[goal].anchors:
                yield f"{name}: {link}: no such heading"
    for style in site.rglob("*.css"):
        for link in re.findall(r"(?:url\(|@import )[\"']?((?:https?:)?//[^\"')]+)", style.read_text(encoding="utf-8")):
            yield f"{style.relative_to(site)}: loads {link} from elsewhere"


def _goal(path: Path, link: str) -> Path | None:
    """The file that a link of a page leads to; None if that is not in the site."""
    if ELSEWHERE.match(link):
        return None
    target = unquote(re.split(r"[#?]", link)[0])
    return Path(os.path.normpath(path.parent / target)) if target else path


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
