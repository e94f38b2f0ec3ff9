"""Writes the licences of everything that is linked into the engine, for a wheel: write_licenses.py FILE.

Deliberately not here: whether a licence may be used; deny.toml says so.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
NAMES = ("LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "NOTICE")
RULE = "=" * 78


def linked_packages() -> list[dict[str, object]]:
    """Packages of others that the engine is made of, by name; those for its build too, since one carries LuaJIT."""
    command = ["cargo", "metadata", "--locked", "--format-version=1"]
    metadata = json.loads(subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout)
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    packages = {package["id"]: package for package in metadata["packages"]}
    waiting = [key for key, package in packages.items() if package["name"] == "plimsoll-engine-cli"]
    found: dict[str, dict[str, object]] = {}
    while waiting:
        key = waiting.pop()
        found[key] = packages[key]
        linked = [d["pkg"] for d in nodes[key]["deps"] if any(kind["kind"] != "dev" for kind in d["dep_kinds"])]
        waiting += [dependency for dependency in linked if dependency not in found]
    of_others = [package for package in found.values() if package["source"]]
    return sorted(of_others, key=lambda package: str(package["name"]))


def license_texts(folder: Path) -> list[str]:
    """The licence files of a package, also those of sources in other languages that it carries."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file() and path.name.upper().startswith(NAMES))
    return [path.read_text(encoding="utf-8", errors="replace").strip() for path in paths]


def main() -> None:
    """Each text once, with the packages that it belongs to."""
    owners: dict[str, list[str]] = {}
    for package in linked_packages():
        title = f"{package['name']} {package['version']} ({package['license']})"
        for text in license_texts(Path(str(package["manifest_path"])).parent) or ["(the package carries no text)"]:
            owners.setdefault(text, []).append(title)
    parts = [f"{RULE}\n{', '.join(dict.fromkeys(titles))}\n{RULE}\n\n{text}\n" for text, titles in owners.items()]
    Path(sys.argv[1]).write_text("\n".join(parts), encoding="utf-8")


if __name__ == "__main__":
    main()
