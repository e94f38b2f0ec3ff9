"""Distribution functions and their inverses: scipy's compiled functions, without the rest of `scipy.special`.

Importing that package takes a fifth of what a command takes to answer: it imports all of numpy, its Fortran compiler
included, to support arrays of other libraries. The functions here are the same objects. Deliberately not here: what
they are used for.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any

_PACKAGE = "scipy.special"


def _compiled() -> Any:
    """The module that holds the functions.

    It can only be imported below its package, so a package without content stands in for that meanwhile. Whoever
    imports `scipy.special` later gets the real one.
    """
    spec = None if _PACKAGE in sys.modules else find_spec(_PACKAGE)
    if spec is None or spec.submodule_search_locations is None:
        return import_module(_PACKAGE)
    package = sys.modules[_PACKAGE] = ModuleType(_PACKAGE)
    package.__path__ = list(spec.submodule_search_locations)
    try:
        return import_module(f"{_PACKAGE}._ufuncs")
    except ImportError:  # scipy keeps them elsewhere
        del sys.modules[_PACKAGE]
        return import_module(_PACKAGE)
    finally:
        if sys.modules.get(_PACKAGE) is package:
            del sys.modules[_PACKAGE]


_functions = _compiled()

betaincinv, gammainc, gammaincc = _functions.betaincinv, _functions.gammainc, _functions.gammaincc
chdtri, fdtrc, fdtri = _functions.chdtri, _functions.fdtrc, _functions.fdtri
ndtr, ndtri, nctdtrinc = _functions.ndtr, _functions.ndtri, _functions.nctdtrinc
stdtr, stdtrit = _functions.stdtr, _functions.stdtrit
