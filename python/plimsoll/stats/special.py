"""Distribution functions, their inverses and non-negative least squares: scipy's, without the packages around them.

Importing `scipy.special` or `scipy.optimize` takes a fifth of what a command takes to answer, each: to support arrays
of other libraries they import all of numpy, its Fortran compiler included. The functions here are the same objects.
Deliberately not here: what they are used for.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any


def _without_package(package: str, module: str) -> Any:
    """A module of a package, or the package where it has no such module.

    It can only be imported below its package, so a package without content stands in for that meanwhile. Whoever
    imports the package later gets the real one.
    """
    spec = None if package in sys.modules else find_spec(package)
    if spec is None or spec.submodule_search_locations is None:
        return import_module(package)
    empty = sys.modules[package] = ModuleType(package)
    empty.__path__ = list(spec.submodule_search_locations)
    try:
        return import_module(f"{package}.{module}")
    except ImportError:  # scipy keeps them elsewhere
        del sys.modules[package]
        return import_module(package)
    finally:
        if sys.modules.get(package) is empty:
            del sys.modules[package]


_functions = _without_package("scipy.special", "_ufuncs")

betaincinv, gammainc, gammaincc = _functions.betaincinv, _functions.gammainc, _functions.gammaincc
chdtri, fdtrc, fdtri = _functions.chdtri, _functions.fdtrc, _functions.fdtri
ndtr, ndtri, nctdtrinc = _functions.ndtr, _functions.ndtri, _functions.nctdtrinc
stdtr, stdtrit = _functions.stdtr, _functions.stdtrit

nnls = _without_package("scipy.optimize", "_nnls").nnls
