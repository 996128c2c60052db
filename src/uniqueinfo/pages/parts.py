"""What every page is put together from: a template, style sheets and scripts, which a policy knows by their digests."""

from __future__ import annotations

import base64
import hashlib
from importlib.resources import files

import jinja2


def part(name: str, package: str = "uniqueinfo.pages") -> str:
    """A file of a package's folder `page`."""
    return (files(package) / "page" / name).read_text(encoding="utf-8")


def digest(source: str) -> str:
    """How a content security policy knows a script or a style sheet.

    >>> digest("")
    "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"
    """
    return f"'sha256-{base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()}'"


def environment(package: str = "uniqueinfo.pages") -> jinja2.Environment:
    """Templates in which everything a user gives is text."""
    found = jinja2.Environment(
        loader=jinja2.PackageLoader(package, "page"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.policies["json.dumps_kwargs"] = {"separators": (",", ":"), "allow_nan": False}
    return found
