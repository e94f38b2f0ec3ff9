"""How Sphinx builds the documentation site: `make site`. The navigation is in tools/site_navigation.py."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "tools"))

from site_navigation import HOME, pages

project = "Plimsoll"
html_title = "Plimsoll"
html_copyright = False
html_show_copyright = False
html_show_sphinx = False
root_doc = HOME.removesuffix(".md")
include_patterns = pages()
exclude_patterns = [".*", "bench", "build", "crates", "fuzz", "python", "target", "tests", "tools", "workloads"]

extensions = ["myst_parser", "site_sphinx"]
source_suffix = {".md": "markdown"}
myst_gfm_only = True  # Markdown as GitHub reads it
myst_heading_anchors = 6
suppress_warnings = ["myst.header", "misc.highlighting_failure"]
smartquotes = False
highlight_language = "text"

html_theme = "furo"
html_static_path = ["../tools/site/static"]
templates_path = ["../tools/site/templates"]
html_additional_pages = {"search": "search.html"}
html_css_files = ["site.css"]
html_sidebars = {
    "**": ["sidebar/brand.html", "sidebar/search.html", "sidebar/scroll-start.html", "sidebar/navigation.html"]
    + ["sidebar/scroll-end.html"]
}
html_copy_source = False
html_show_sourcelink = False
html_use_index = False
