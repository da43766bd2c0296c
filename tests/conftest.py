"""Its presence lets every test import `fakes`."""
