"""The workflows are YAML, pin actions to commits, request few permissions, and name existing files and commands."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

yaml = pytest.importorskip("yaml")
tomllib = pytest.importorskip("tomllib")
ROOT = Path(__file__).resolve().parents[3]
FILES = [ROOT / ".github/workflows" / name for name in ("ci.yml", "release.yml")]


def read(name: str) -> dict[str, Any]:
    return yaml.safe_load((ROOT / ".github/workflows" / name).read_text())


def steps(workflow: dict[str, Any]) -> list[dict[str, Any]]:
    return [step for job in workflow["jobs"].values() for step in job["steps"]]


def test_there_are_workflows() -> None:
    assert all(path.is_file() for path in FILES)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_actions_are_pinned_and_rights_are_given_job_by_job(path: Path) -> None:
    workflow = read(path.name)
    assert workflow["permissions"] == {}
    for name, job in workflow["jobs"].items():
        assert "permissions" in job, name
        assert set(job.get("needs") if isinstance(job.get("needs"), list) else filter(None, [job.get("needs")])) <= set(
            workflow["jobs"]
        )
    for step in steps(workflow):
        if uses := step.get("uses"):
            assert re.fullmatch(r"[\w.-]+/[\w./-]+@[0-9a-f]{40}", uses), uses
        assert "${{ github.event" not in step.get("run", ""), "text of others stays out of the shell"
    pinned = {line.strip() for line in path.read_text().splitlines() if "uses:" in line}
    assert all(re.search(r"# v\d", line) for line in pinned), "each commit names its version"


def test_ci_runs_what_a_clone_runs() -> None:
    jobs = read("ci.yml")["jobs"]
    assert [step["run"] for step in jobs.pop("run")["steps"] if "run" in step] == ["bash .ci/run"]
    assert (ROOT / ".ci/run").is_file()
    # Beside it only what one toolchain cannot do: a check with the oldest compiler that the crates promise.
    assert list(jobs) == ["msrv"]
    (check,) = [step["run"] for step in jobs["msrv"]["steps"] if "run" in step]
    commands = [line.replace('"', "").split() for line in check.splitlines() if line.startswith("cargo ")]
    assert commands and all(command[:3] == ["cargo", "+$version", "check"] for command in commands)


def test_a_release_builds_what_is_here_for_every_platform() -> None:
    release = read("release.yml")
    arguments = [step["with"]["args"] for step in steps(release) if "maturin" in step.get("uses", "")]
    assert len(arguments) == 2
    for given in arguments:
        manifest = re.search(r"--manifest-path (\S+)", given)
        assert manifest and (ROOT / manifest[1]).is_file(), given
    cargo = tomllib.loads((ROOT / "Cargo.toml").read_text())
    assert "dist" in cargo["profile"]
    command = next(step["run"] for step in steps(release) if "cargo build" in step.get("run", ""))
    package = re.search(r"-p (\S+)", command)
    assert package and package[1] in (ROOT / "crates/cli/Cargo.toml").read_text()
    for name in ["LICENSE-APACHE", "LICENSE-MIT", "README.md", "CHANGELOG.md"]:
        assert (ROOT / name).is_file() and any(name in step.get("run", "") for step in steps(release))
    wheels = {row["target"] for row in release["jobs"]["wheels"]["strategy"]["matrix"]["include"]}
    assert wheels == {
        f"{cpu}-{rest}"
        for cpu in ("x86_64", "aarch64")
        for rest in ("unknown-linux-gnu", "unknown-linux-musl", "apple-darwin")
    } | {"x86_64-pc-windows-msvc"}
    version = re.search(r'^version = "(.*)"$', (ROOT / "Cargo.toml").read_text(), re.MULTILINE)
    assert version and version[1] == cargo["workspace"]["package"]["version"], "what the first job compares with the tag"


def test_publishing_needs_no_secret_and_comes_last() -> None:
    text = (ROOT / ".github/workflows/release.yml").read_text()
    assert "secrets." not in text
    jobs = read("release.yml")["jobs"]
    assert jobs["pypi"]["permissions"] == {"id-token": "write"} and jobs["pypi"]["environment"] == "pypi"
    assert jobs["pypi"]["needs"] == "attest" and set(jobs["attest"]["needs"]) == {"sdist", "wheels", "binaries"}
    assert jobs["attest"]["if"] == "github.ref_type == 'tag'"
