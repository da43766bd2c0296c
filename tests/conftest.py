"""Its presence lets every test import `fakes`; and what holds for all: no test knows the width of a terminal."""

import os

# pytest-xdist sets it in its processes, where tests that read what is printed expect none.
os.environ.pop("COLUMNS", None)
