"""The first commands of the guide on imports do what it says."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from wording import WORDING, find_lines

GUIDE = Path(__file__).parents[3] / "docs" / "howto" / "import-old-results.md"


def test_the_first_commands_of_the_guide_import_two_files(tmp_path: Path) -> None:
    block = re.search(r"((?:^    .*\n)+)", GUIDE.read_text(encoding="utf-8"), re.MULTILINE)
    assert block
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "RANKBENCH_HOME": str(tmp_path / "home"),
    }
    ran = subprocess.run(["bash", "-e", "-c", block[1]], cwd=tmp_path, env=environment, capture_output=True, text=True,
                         check=False)  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    assert find_lines(ran.stdout, "2 files: 2 runs") == WORDING
    assert re.search(r"8 B +200 ns +310 ns", ran.stdout)
