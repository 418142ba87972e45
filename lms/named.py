"""Language models that are saved by what names them, and made again as ``load`` makes them."""

import os
from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any, Self

import dspy
from dspy.clients.base_lm import LM_CLASS_STATE_KEY
from dspy.predict.predict import UNSAFE_LM_STATE_KEYS

from ..errors import AspectragError, is_secret_name
from .options import LmOptions, changed
from .profiles import read_profiles
from .servers import server_name

# A file may come from anywhere: it says neither whom a question is sent to, nor with which key.
_NEVER_SAVED = ("api_base", "api_key_env")


class NamedLM(dspy.LM):
    """A language model that :func:`.backends.build` made.

    Its saved state holds options, what was changed in a copy, and the name of its server, but no address and no key.

    Attributes:
        options: What it was made of; ``None`` for one that was made by hand.
    """

    options: LmOptions | None = None
    _made: tuple[str, dict[str, Any]]

    def made_of(self, options: LmOptions) -> Self:
        """Remember the options that describe it."""
        self.options, self._made = options, (self.model, dict(self.kwargs))
        return self

    def dump_state(self) -> dict[str, Any]:
        """What :meth:`load_state` makes it of again: free of keys and addresses."""
        if self.options is None:
            return super().dump_state()
        model, before = self._made
        # A copy may have another model.
        named = self.options.model if self.model == model else self.model
        now = replace(self.options, cache=self.cache, model=named)
        after = {**dict.fromkeys(before), **self.kwargs}
        known = asdict(LmOptions())
        said = {name: value for name, value in asdict(now).items() if value != known[name] and name not in _NEVER_SAVED}
        if "extra" in said:
            said["extra"] = _safe(said["extra"])
        state = {
            LM_CLASS_STATE_KEY: f"{__name__}.{NamedLM.__qualname__}",
            "model": self.model,
            "options": {"model": now.model, **said},
            "settings": _safe({name: value for name, value in after.items() if value != before.get(name)}),
        }
        return {**state, "server": server_name(now.api_base)} if now.api_base else state

    @classmethod
    def load_state(cls, state: dict[str, Any], *, allow_custom_lm_class: bool = False) -> "NamedLM":  # noqa: ARG003
        """Make the model again; nothing is loaded or asked yet.

        Args:
            state: Of :meth:`dump_state`.
            allow_custom_lm_class: Of DSPy; nothing is imported that the state names.

        Raises:
            AspectragError: There is no such model, an option is none, or its server is not known here.
            ValueError: The state says what no state may.
        """
        from .backends import build

        said, settings = state["options"], state.get("settings", {})
        if said.keys() & set(_NEVER_SAVED) or any(_safe(each) != each for each in (said.get("extra", {}), settings)):
            raise ValueError("a saved language model names an address or a key")
        options = changed(LmOptions(), said, "saved language model")
        lm = build(_at_server(options, state["server"]) if state.get("server") else options)
        lm.kwargs.update(settings)
        return lm


def _safe(values: Mapping[str, Any]) -> dict[str, Any]:
    return {k: v for k, v in values.items() if k not in UNSAFE_LM_STATE_KEYS and not is_secret_name(k)}


def _at_server(options: LmOptions, server: str) -> LmOptions:
    """The options with the address of a server that the user has named himself.

    Raises:
        AspectragError: He has not.
    """
    here = (os.environ.get("ASPECTRAG_API_BASE"), os.environ.get("ASPECTRAG_API_KEY_ENV"))
    for base, key in [here, *((each.api_base, each.api_key_env) for each in read_profiles().lms.values())]:
        if base and server_name(base) == server:
            return replace(options, api_base=base, api_key_env=key)
    raise AspectragError(
        f"{options.model} was asked at the server {server}, and saved programs keep no addresses: export "
        f"ASPECTRAG_API_BASE, or name the server in a profile file"
    )
