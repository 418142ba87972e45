"""The package as the API pages read it: its rooms alone, as a checkout holds environments and a link to itself too."""

from pathlib import Path
from tempfile import TemporaryDirectory

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.plugins import event_priority

ROOT = Path(__file__).parent.parent
_source = TemporaryDirectory(prefix="aspectrag-docs-")


@event_priority(100)  # before mkdocstrings looks at its settings
def on_config(config: MkDocsConfig) -> None:
    """Show mkdocstrings the rooms."""
    package = Path(_source.name) / "aspectrag"
    package.mkdir(exist_ok=True)
    for path in ROOT.iterdir():
        if path.suffix == ".py" or (path / "__init__.py").is_file():
            (package / path.name).unlink(missing_ok=True)
            (package / path.name).symlink_to(path)
    config.plugins["mkdocstrings"].config.handlers["python"]["paths"] = [_source.name]
