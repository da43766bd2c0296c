"""Formats: every module here is one, and is found by walking the folder."""
