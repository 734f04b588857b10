"""What documents name exists, and what they show is valid."""

import ast
import pathlib
import re
import tomllib

import pytest
import yaml

from tests.support import paths
from train.report import papers

DOCUMENTS = sorted(
  [
    *paths.ROOT.glob("docs/*.md"),
    *(paths.ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")),
  ]
)
every_document = pytest.mark.parametrize(
  "document", DOCUMENTS, ids=lambda path: path.name
)

# Documents that say what is in the tree now; a changelog also names what is gone.
CURRENT = [document for document in DOCUMENTS if document.name != "CHANGELOG.md"]
every_current_document = pytest.mark.parametrize(
  "document", CURRENT, ids=lambda path: path.name
)

ROOTS = ("jaxgames", "train", "tests", "docs", "examples", "configs", "results")

# Files that the reader makes while following `docs/extending.md`.
NOT_YET = set(
  re.findall(
    r"^# ([\w/]+\.(?:py|yaml))$",
    (paths.ROOT / "docs" / "extending.md").read_text(encoding="utf-8"),
    re.MULTILINE,
  )
)


def _prose(document: pathlib.Path) -> str:
  """Returns a document without its blocks of code."""
  return re.sub(r"```.*?```", "", document.read_text(encoding="utf-8"), flags=re.DOTALL)


def _blocks(document: pathlib.Path, language: str) -> list[str]:
  text = document.read_text(encoding="utf-8")
  return re.findall(rf"^```{language}\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


def _paths(document: pathlib.Path) -> set[str]:
  """Returns the paths from the root of the project that a document names."""
  roots = "|".join(ROOTS)
  found = re.findall(rf"(?<![\w/.])(?:{roots})/[\w./*-]+", _prose(document))
  return {path.rstrip("./") for path in found}


@every_current_document
def test_every_path_exists(document):
  missing = [
    path
    for path in sorted(_paths(document) - NOT_YET)
    if not any(paths.ROOT.glob(path))
  ]
  assert not missing


@every_document
def test_every_relative_link_resolves(document):
  links = re.findall(r"\]\(([^)\s]+)\)", _prose(document))
  for link in links:
    file, _, anchor = link.partition("#")
    if "://" in link:
      continue
    target = document.parent / file if file else document
    assert target.exists(), link
    if anchor and target.suffix == ".md":
      assert anchor in _anchors(target), link


def _anchors(document: pathlib.Path) -> set[str]:
  """Returns the anchors of a document's headings, as Git hosts make them."""
  headings = re.findall(r"^#+ (.*)$", _prose(document), re.MULTILINE)
  return {
    re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings
  }


@every_document
def test_code_is_valid(document):
  for block in _blocks(document, "python"):
    ast.parse(block)
  for block in _blocks(document, "yaml"):
    yaml.safe_load(block)


def test_the_citation_has_what_its_format_requires():
  text = (paths.ROOT / "CITATION.cff").read_text(encoding="utf-8")
  citation = yaml.safe_load(text)
  assert citation["cff-version"] == "1.2.0"
  assert {"message", "title", "authors", "type"} <= citation.keys()
  assert citation["type"] == "software"
  assert citation["license"] == "Apache-2.0"
  project = tomllib.loads((paths.ROOT / "pyproject.toml").read_text(encoding="utf-8"))
  assert citation["version"] == project["project"]["version"]
  assert len(citation["references"]) == 5
  for work in [citation, *citation["references"]]:
    assert work["title"]
    assert work["authors"]
    for author in work["authors"]:
      assert "name" in author or {"family-names", "given-names"} <= author.keys()
  for work in citation["references"]:
    assert work["type"] in {"article", "conference-paper", "report", "unpublished"}
    assert isinstance(work.get("year", 2000), int)


def test_the_citation_names_papers_as_reports_do():
  text = (paths.ROOT / "CITATION.cff").read_text(encoding="utf-8")
  cited = {work["title"]: work for work in yaml.safe_load(text)["references"]}
  for paper in map(papers.load, papers.names()):
    assert paper.title in cited
    if paper.doi is not None:
      assert cited[paper.title]["doi"] == paper.doi
