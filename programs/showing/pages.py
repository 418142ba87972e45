"""HTML out of templates: whatever is put into one is text, and stays text."""

import base64
import gzip
import hashlib
import os
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader
from markupsafe import Markup

from ...errors import SECRET_VARIABLES, is_secret_name, redact
from ...texts import printable
from .answers import linked

TEMPLATES = Path(__file__).parent / "templates"


def templates(*folders: Path) -> Environment:
    r"""The templates: every text that goes into one is escaped, and freed of keys and control characters.

    Args:
        folders: Where further ones lie; those here can be imported by them.

    Example:
        >>> templates().from_string("<p>{{ said }}</p>").render(said="<b> \u202e \ud83d sk-abcdef123456")
        '<p>&lt;b&gt;  ? ***</p>'
    """
    # Looked up once: a page holds hundreds of thousands of texts.
    secrets = {name: value for name, value in os.environ.items() if name in SECRET_VARIABLES or is_secret_name(name)}

    def clean(value: Any) -> Any:
        if value is None:
            return ""
        if isinstance(value, str) and not isinstance(value, Markup):
            return printable(redact(value, secrets))
        return value

    environment = Environment(
        loader=FileSystemLoader([*folders, TEMPLATES]),
        autoescape=True,
        finalize=clean,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["clean"] = clean
    environment.filters["linked"] = linked
    return environment


def asset(name: str, folder: Path = TEMPLATES) -> Markup:
    """A style sheet or script that lies beside templates, to be put into a page as it is."""
    return Markup((folder / name).read_text(encoding="utf-8"))


def digest(text: str) -> str:
    """How a Content-Security-Policy names an inline script or style sheet (CSP level 3, section 2.3.1).

    Example:
        >>> digest("")
        'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='
    """
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def packed(html: str) -> str:
    """HTML that a page unpacks when it is asked for: a tenth of the size, and no work for the browser until then.

    Example:
        >>> gzip.decompress(base64.b64decode(packed("<p>So.</p>")))
        b'<p>So.</p>'
    """
    return base64.b64encode(gzip.compress(html.encode(), mtime=0)).decode()
