"""Languages other than English, one file each: `DECIMAL`, the decimal mark, and `WORDS`, by English template."""
