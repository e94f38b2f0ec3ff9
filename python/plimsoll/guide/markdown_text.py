"""Text that Markdown shows as it is: names come from files of others, and must not become mark-up.

It stands alone because the guide's charts take long to import, and text needs none.
"""

from __future__ import annotations

import re

_SPECIAL = re.compile(r"([\\`*\[\]|~]|(?<!\w)_|_(?!\w)|^[#+=-]+(?=\s|$)|^\d+(?=[.)](?:\s|$)))")


def escape_markdown(text: str) -> str:
    r"""Text that Markdown shows as it is, in one line.

    >>> escape_markdown("a|b <c> innodb_flush *d*")
    'a\\|b &lt;c&gt; innodb_flush \\*d\\*'
    """
    text = " ".join(text.split()).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _SPECIAL.sub(r"\\\1", text)
