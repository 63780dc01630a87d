"""Which versions of which packages a build takes: those of Tests/Live/dependencies.txt and no others, and of direct
dependencies one each. What packages depend on themselves is chosen by the package manager, so a new version of
those shows here first, as a failure."""
import json
import pathlib
import re
import subprocess

from server import BINARY, ROOT

LIST = pathlib.Path(__file__).with_name("dependencies.txt")


def resolved():
    """Lines `package version`, sorted, of all packages in the graph."""
    said = subprocess.run(
        ["swift", "package", "show-dependencies", "--format", "json"],
        cwd=ROOT, capture_output=True, text=True, timeout=600, check=True)
    # What the package manager says of its work may stand before.
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
    """It would bring its own ICU into the image, which is then half as large again (Scripts/image)."""
    said = subprocess.run(["ldd", BINARY], capture_output=True, text=True, timeout=60, check=True).stdout
    assert "libFoundation.so" not in said and "libFoundationInternationalization.so" not in said
