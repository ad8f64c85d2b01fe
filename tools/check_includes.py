#!/usr/bin/env python3
"""Checks #includes of pax/ against the table of folders in docs/design.md: each folder includes only what its row names."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def allowed_includes():
    rows = {}
    for line in (ROOT / "docs/design.md").read_text().splitlines():
        match = re.match(r"\| `(\w+)` \|[^|]*\|([^|]*)\|", line)
        if match:
            rows[match[1]] = {name for name in re.split(r"[,\s]+", match[2]) if name}
    return rows


def main():
    rows = allowed_includes()
    problems = []
    for path in sorted((ROOT / "pax").rglob("*")):
        if path.suffix not in (".h", ".cc"):
            continue
        folder = path.relative_to(ROOT / "pax").parts[0]
        if folder not in rows:
            problems.append(f"{path.relative_to(ROOT)}: folder {folder} has no row in docs/design.md")
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            match = re.match(r'#include "(\w+)/(\w+)/', line)
            if not match:
                continue
            place = f"{path.relative_to(ROOT)}:{number}"
            if match[1] != "pax":
                problems.append(f"{place}: pax includes nothing from {match[1]}/")
            elif match[2] != folder and match[2] not in rows[folder]:
                problems.append(f"{place}: {folder} may not include {match[2]} (docs/design.md)")
    print("\n".join(problems) or f"{len(rows)} folders include only what docs/design.md lets them")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
