"""The files for GitHub Actions and GitLab CI of the documentation are valid, and their commands run."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml

PAGE = (Path(__file__).parents[2] / "docs/howto/ci-gate.md").read_text(encoding="utf-8")
GITHUB, GITLAB = (yaml.safe_load(text) for text in re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL))
(PLAN,) = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
(ACCEPTED,) = re.findall(r"(?:^    .*\n)*^    \[\[accepted\]\]\n(?:^    .*\n)*", PAGE, re.MULTILINE)
STEPS = GITHUB["jobs"]["gate"]["steps"]
SCRIPTS = {
    "github": [step["run"] for step in STEPS if "run" in step],
    "gitlab": GITLAB["gate"]["script"],
}
INSTALLATION = re.compile(r"^\s*pipx install .*$", re.MULTILINE)
"""The one command that is not run: what is tested is installed already."""


def test_the_files_have_the_keys_of_the_services() -> None:
    """YAML 1.1, which GitHub does not use, reads its key `on` as true."""
    head: dict[Any, Any] = GITHUB
    assert head.get("on", head.get(True)) == ["pull_request"]
    assert {"runs-on", "steps"} <= GITHUB["jobs"]["gate"].keys()
    assert all(("run" in step) != ("uses" in step) for step in STEPS)
    assert {"script", "artifacts"} <= GITLAB["gate"].keys()
    assert GITLAB["gate"]["artifacts"]["reports"] == {"junit": "gate.xml"}


@pytest.mark.thorough
@pytest.mark.parametrize("service", ["github", "gitlab"])
def test_the_commands_of_a_file_run(home: Path, tmp_path: Path, service: str) -> None:
    """Either library may be faster: the gate itself ends with 0 or 1."""
    (tmp_path / "plan.toml").write_text(PLAN)
    (tmp_path / "accepted.toml").write_text(re.sub("^    ", "", ACCEPTED, flags=re.MULTILINE))
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "RANKBENCH_HOME": str(home),
        "GITHUB_STEP_SUMMARY": str(tmp_path / "gate.md"),
    }
    for number, script in enumerate(SCRIPTS[service], 1):
        text = INSTALLATION.sub("true", script)
        ran = subprocess.run(["bash", "-e", "-o", "pipefail", "-c", text], cwd=tmp_path, env=environment,
                             capture_output=True, text=True, check=False)  # fmt: skip
        allowed = {0, 1} if number == len(SCRIPTS[service]) else {0}
        assert ran.returncode in allowed, (script, ran.stderr)
    summary = (tmp_path / "gate.md").read_text()
    assert re.match(r"\*\*Gate (passed|failed)\*\*: dev against base, 4 checks: ", summary)
    suites = ElementTree.parse(tmp_path / "gate.xml").getroot()
    assert (suites.tag, suites.get("tests")) == ("testsuites", "4")
