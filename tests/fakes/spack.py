"""A stand-in `spack` that answers `find` from recorded nodes, as Spack 0.23 and 1.x do."""

from __future__ import annotations

import sys
from pathlib import Path

SCRIPT = """#!{python} -IS
import json, sys
nodes = json.load(open({nodes!r}))
places = dict(line.split() for line in open({places!r}))
words = sys.argv[1:]
assert words[:3] == ["--color", "never", "find"], words
words = words[3:]
layout = words.pop(words.index("--format") + 1) if "--format" in words else None
specs = []
for word in [word for word in words if not word.startswith("--")]:
    if word[0].isalpha() and "=" not in word or word[0] == "/":
        specs.append([])
    specs[-1].append(word)

def fits(node, word):
    reported = node["parameters"]
    if word[0] == "/":
        return node["hash"].startswith(word[1:])
    if word[0] in "+~":
        return reported.get(word[1:]) is (word[0] == "+")
    if "=" in word:
        name, _, value = word.partition("=")
        return str(reported.get(name)) == value
    name, _, version = word.partition("@")
    return node["name"] == name and (not version or (node["version"] + ".").startswith(version + "."))

found = [node for node in nodes if node["hash"] in places
         and any(all(fits(node, word) for word in spec) for spec in specs)]
if not found:
    none = "No package matches the query: " + " ".join(word for spec in specs for word in spec)
    print("==> " + ("" if {old} else "Error: ") + none, file=sys.stdout if {old} else sys.stderr)
    sys.exit(1)
if layout:
    for node in found:
        print(layout.format(hash=node["hash"], prefix={root!r} + places[node["hash"]]))
else:
    assert "--json" in words and "--deps" in words, words
    known = {{node["hash"]: node for node in nodes}}
    reported = {{}}
    while found:
        node = found.pop(0)
        reported[node["hash"]] = node
        found += [known[edge["hash"]] for edge in node.get("dependencies", [])]
    print(json.dumps(list(reported.values())))
"""


def make(folder: Path, recorded: Path, root: str = "", *, old: bool = False) -> Path:
    """Put a `spack` with recorded packages into a folder; their prefixes are below the root."""
    folder.mkdir(parents=True, exist_ok=True)
    command = folder / "spack"
    files = {"nodes": str(recorded / "find.json"), "places": str(recorded / "prefixes.txt")}
    command.write_text(SCRIPT.format(python=sys.executable, root=root, old=old, **files), "utf-8")
    command.chmod(0o755)
    return command
