"""Special functions: the same as scipy's, and cheaper to import."""

from __future__ import annotations

import subprocess
import sys

import pytest

CODE = """
import sys
from plimsoll.stats import special
print(*sys.modules)
import scipy.special
import scipy.optimize, scipy.stats
assert special.nnls is scipy.optimize.nnls
names = [name for name in vars(special) if hasattr(scipy.special, name) and "__" not in name]
assert {"stdtrit", "ndtr", "fdtrc", "betaincinv"} <= set(names)
assert all(getattr(special, name) is getattr(scipy.special, name) for name in names)
assert abs(special.stdtrit(3, 0.975) - 3.1824463) < 1e-6
"""
BEFORE = "import scipy.special; from plimsoll.stats import special; assert special.ndtr is scipy.special.ndtr"
ELSEWHERE = """
import sys
sys.modules["scipy.special._ufuncs"] = None
from plimsoll.stats import special
"""


def test_they_are_those_of_scipy_and_leave_its_package_to_others() -> None:
    done = subprocess.run([sys.executable, "-c", CODE], check=True, capture_output=True, text=True)
    assert not {"scipy.special", "scipy.optimize", "numpy.f2py", "scipy._lib._array_api"} & set(done.stdout.split())


def test_a_package_that_was_imported_before_is_used() -> None:
    subprocess.run([sys.executable, "-c", BEFORE], check=True)


def test_without_the_module_of_functions_the_package_is_imported() -> None:
    """It needs them too, and its own error is what is seen."""
    with pytest.raises(subprocess.CalledProcessError) as failed:
        subprocess.run([sys.executable, "-c", ELSEWHERE], check=True, capture_output=True, text=True)
    assert "scipy/special/__init__.py" in failed.value.stderr
