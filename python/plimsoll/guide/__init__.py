"""Analysis → guide: HTML, Markdown, terminal, JSON. Everything returns values; printing is left to `plimsoll.cli`."""
