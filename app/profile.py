"""Language models of single stages: those that are named, and small tuned ones for the stages that steer."""

from collections.abc import Mapping, Sequence

import dspy

from ..errors import AspectragError
from ..lms import adapters
from ..lms.local.extras import installed
from ..lms.local.names import SHIPPED
from ..programs.program import Program
from ..programs.steering import steered
from .corpora import say
from .options import roles_of
from .progress import load_model

REVELATOR, NONE = "revelator", "none"


def stage_models(
    role: Sequence[str] | None,
    profile: str | None,
    programs: Mapping[str, Program],
    lm: dspy.LM,
    *,
    default: bool = True,
    quiet: bool = False,
) -> dict[str, dspy.LM]:
    """The language models of single stages, over that of all the others; one line tells which are the profile's.

    Args:
        role: What ``--role`` was given.
        profile: What ``--profile`` was given.
        programs: Those that are asked, by the names of their methods.
        lm: Of all stages without one of their own.
        default: Whether ``revelator`` is used where no profile was given: it was measured beside the embedded model.
        quiet: Whether nothing is told.

    Raises:
        AspectragError: A role is malformed or names nothing that is there, there is no such profile, or it has nothing
            for these methods.
    """
    stages = [stage for program in programs.values() for stage, _ in program.named_predictors()]
    usable = default and lm.model.startswith("embedded/") and installed() and (SHIPPED / REVELATOR).is_dir()
    chosen = profile or (REVELATOR if usable else NONE)
    found = {} if chosen == NONE else steered(programs.values(), adapters(chosen))
    if profile and not found and chosen != NONE:
        raise AspectragError(f"--profile {profile} has nothing for {', '.join(programs)}: leave it out")
    own = roles_of(role, stages, found)
    taken = [stage for stage, name in found.items() if own[stage].model.rpartition("@")[0] == name]
    if taken and not profile and (missing := _missing(own[taken[0]], quiet)):
        say(f"! {', '.join(taken)}: without the small models of the package, {missing}")
        return roles_of(role, stages)
    if taken and not quiet:
        many = "stages" if len(taken) > 1 else "stage"
        what = f"{many} {', '.join(taken)} on small models tuned for that (profile {chosen})"
        say(f"{what}; --profile none turns this off")
    return own


def _missing(lm: dspy.LM, quiet: bool) -> str:
    """Why a model that nobody asked for cannot be had: what works without it shall not fail for it."""
    try:
        load_model(lm, shown=not quiet)
    except AspectragError as error:
        return str(error)
    return ""
