"""The theme of charts on paper, and in pictures."""

from __future__ import annotations

from rankbench.plots import forms

PAPER = {**forms.make_theme("#111111", "#555555", "#dddddd"), "background": "#ffffff"}
