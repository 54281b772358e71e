#!/bin/bash
# Portions Copyright (c) 2026, the neardup developers
set -euo pipefail
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
browser=$(command -v chromium || command -v google-chrome) || { echo "there is no chromium"; exit 77; }
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q --disable-pip-version-check axe-playwright-python==0.1.8 playwright==1.65.2

# axe-core 4.12.1 takes the background of a page with `color-scheme: light dark` and no background for white in dark mode, too,
# where the browser paints it black: light letters are a fault of contrast, until the body says `background: Canvas`.
"$work/venv/bin/python" - "$browser" <<'PYTHON'
import pathlib
import sys

import axe_playwright_python
from playwright.sync_api import sync_playwright

axe = pathlib.Path(axe_playwright_python.__file__).with_name("axe.min.js").read_text(encoding="utf-8")
PAGE = """<!DOCTYPE html><html lang="en"><head><title>dark</title><style>:root { color-scheme: light dark } %s</style></head>
<body><main><h1>Dark</h1><p style="color: #ff8a7a">light letters</p></main></body></html>"""
found = []
with sync_playwright() as playwright:
    chromium = playwright.chromium.launch(executable_path=sys.argv[1], args=["--no-sandbox"])
    for rule in ("", "body { background: Canvas }"):
        page = chromium.new_page(color_scheme="dark")
        page.set_content(PAGE % rule)
        page.evaluate(axe)
        faults = page.evaluate("axe.run()")["violations"]
        found.append([(fault["id"], fault["nodes"][0]["any"][0]["data"]["bgColor"]) for fault in faults])
        print(page.evaluate("axe.version"), "with", repr(rule), found[-1])
    chromium.close()
assert found == [[("color-contrast", "#ffffff")], []]
PYTHON
