"""The packages and versions of a build: exactly those of Tests/Live/dependencies.txt, and one version of each direct
dependency. The package manager chooses the indirect dependencies, so a new version of one of them first appears
here, as a failure."""
import json
import pathlib
import re
import subprocess

from server import BINARY, ROOT
from waiting import PATIENCE

LIST = pathlib.Path(__file__).with_name("dependencies.txt")


def resolved():
    """The lines `package version` of all packages in the graph, sorted."""
    said = subprocess.run(
        ["swift", "package", "show-dependencies", "--format", "json"],
        cwd=ROOT, capture_output=True, text=True, timeout=600, check=True)
    # The package manager may print progress before the JSON text.
    graph = json.loads(said.stdout[said.stdout.index("{"):])
    found = set()
    rest = graph["dependencies"]
    while rest:
        package = rest.pop()
        found.add(f"{package['identity']} {package['version']}")
        rest.extend(package["dependencies"])
    return sorted(found)


def test_resolved_versions_are_those_of_the_list():
    lines = LIST.read_text().splitlines()
    listed = [line for line in lines if line and not line.startswith("#")]
    found = resolved()
    assert listed == found, "the list should be:\n" + "\n".join(found)


def test_direct_dependencies_name_one_version_each():
    manifest = (ROOT / "Package.swift").read_text()
    packages = re.findall(r"\.package\(\s*url: \"([^\"]+)\",\s*(\w+)", manifest)
    assert len(packages) > 10
    assert [url for url, rule in packages if rule != "exact"] == []


def test_nothing_needs_all_of_foundation():
    """Foundation would bring its own ICU, and the image would be half as large again (Scripts/image)."""
    said = subprocess.run(["ldd", BINARY], capture_output=True, text=True, timeout=PATIENCE, check=True).stdout
    assert "libFoundation.so" not in said and "libFoundationInternationalization.so" not in said
