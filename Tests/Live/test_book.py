"""Files and pages that the book names exist, and its programs for beginners run."""
import json
import re
import subprocess
import sys

import pytest
import yaml

from server import BINARY, ROOT
from waiting import PATIENCE

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
    functions = {"sum", "max", "time", "rate", "increase", "changes", "histogram_quantile", "label_replace", "predict_linear", "or"}
    assert {re.sub("_bucket$", "", name) for name in names} - functions - known == set()
    # Nobody is woken for what was asked for in vain: flights of the travel-sample, or more than a person's quota.
    [expression] = [rule["expr"] for rule in rules if rule["alert"] == "HotelBookmarksErrors"]
    meant, left_out = re.search(r'status=~"(.*?)", status!~"(.*?)"', expression).groups()
    counted = {status for status in map(str, range(400, 600)) if re.fullmatch(meant, status) and not re.fullmatch(left_out, status)}
    assert counted >= {"500", "502", "503", "504"} and not counted & {"429", "499", "501", "507"}


def first_steps(language):
    """The program of a language on the book's page for beginners."""
    [text] = re.findall(rf"```{language}\n(.*?)```", (BOOK / "GettingStarted.md").read_text(), re.S)
    return text


@pytest.mark.parametrize("language, command", [
    ("sh", ["bash", "-e"]), ("js", ["node", "--input-type=module", "-"]), ("python", [sys.executable, "-"])])
def test_first_steps_run_as_they_are(shared, language, command):
    program = first_steps(language).replace("http://127.0.0.1:8080", shared.url)
    done = subprocess.run(command, input=program, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0 and "hotel_25510" in done.stdout.splitlines()[-1], done


@pytest.mark.nightly
def test_first_steps_run_in_swift(shared, tmp_path):
    (tmp_path / "main.swift").write_text(first_steps("swift").replace("http://127.0.0.1:8080", shared.url))
    built = subprocess.run(["swiftc", "main.swift", "-o", "steps"], cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE)
    assert built.returncode == 0, built.stderr
    done = subprocess.run([tmp_path / "steps"], capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0 and "hotel_25510" in done.stdout, done


def test_pages_beside_the_reference_are_those_that_the_book_lists():
    first = (BOOK / "HotelBookmarks.md").read_text()
    listed = [re.findall(r"<doc:(\w+)>", first.split(f"### {title}")[1].split("###")[0]) for title in ("What it does", "Running it")]
    script = (SOURCES / "Page" / "Files" / "docs-book.js").read_text()
    sections = script.split("const sections = {")[1].split("\n}")[0]
    assert re.findall(r'"(\w+)"', re.sub(r'"[^"]*":', "", sections)) == [page for section in listed for page in section]
