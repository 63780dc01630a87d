"""Files and pages that the book names exist."""
import json
import re
import subprocess

import yaml

from server import BINARY, ROOT

SOURCES = ROOT / "Sources"
BOOK = SOURCES / "HotelBookmarks" / "HotelBookmarks.docc"
PAGES = sorted(BOOK.rglob("*.md"))


def test_files_that_the_book_sends_readers_to_are_there():
    named = re.findall(r"`([\w+/]+\.swift|\w+/\w+)`", (BOOK / "WhereIsWhat.md").read_text())
    assert len(named) > 25
    assert [name for name in named if not (SOURCES / name).exists()] == []


def test_links_between_pages_lead_somewhere():
    known = {page.stem for page in PAGES}
    dead = [
        (page.name, link) for page in PAGES for link in re.findall(r"<doc:([\w-]+)>", page.read_text())
        if link not in known]
    assert dead == []


def test_every_setting_of_the_book_is_a_flag():
    named = set(re.findall(r"^\| `(--[\w-]+)` \|", (BOOK / "Operations.md").read_text(), re.M))
    text = subprocess.run([BINARY, "serve", "--help"], capture_output=True, text=True, check=True).stdout
    assert len(named) > 25
    assert named - set(re.findall(r"--[\w-]+", text)) == set()


def test_alerts_and_the_board_ask_for_metrics_that_the_server_has():
    registry = (SOURCES / "HotelBookmarks" / "Observability" / "PrometheusRegistry.swift").read_text()
    known = set(re.findall(r'^    "([a-z_]+)":', registry, re.M)) | {"up"}
    rules = yaml.safe_load((ROOT / "Deploy" / "alerts.yaml").read_text())["groups"][0]["rules"]
    panels = json.loads((ROOT / "Deploy" / "grafana.json").read_text())["panels"]
    asked = [rule["expr"] for rule in rules] + [each["expr"] for panel in panels for each in panel["targets"]]
    assert len(rules) > 10 and len(panels) > 10
    # Without strings, labels, ranges, and the words of PromQL.
    names = {name for text in asked
             for name in re.findall(r"[a-z_]{2,}", re.sub(r'"[^"]*"|\{[^}]*\}|\[[^]]*\]|by \([^)]*\)', "", text))}
    functions = {"sum", "max", "rate", "increase", "changes", "histogram_quantile", "label_replace", "predict_linear", "or"}
    assert {re.sub("_bucket$", "", name) for name in names} - functions - known == set()
