"""Scored runs to report on, and what is in the page that comes of them."""

import base64
import gzip
import re
from html.parser import HTMLParser

import dspy
from aspectrag.data.benchmarks.benchmark import question
from aspectrag.data.passages import Passage
from aspectrag.lms.scripted import scripted_lm
from aspectrag.optimizers.evaluation.run import Run
from aspectrag.optimizers.evaluation.runner import ask_all
from aspectrag.optimizers.evaluation.scoring import score
from aspectrag.optimizers.metrics.registry import metric
from aspectrag.programs.baselines.rag import Rag
from aspectrag.programs.config import AnswerConfig
from evaluation import EM, questions, replies, retriever
from fakes import ListRetriever

EVIL = '</script><script>alert(1)</script>"><img src=x onerror=alert(1)>]]><!-- \u202eabc \ud83d sk-abcdef123456'
METRICS = (EM, metric("f1"), metric("tokens"), metric("steps"))
CONFIG = {"benchmark": "topics", "split": "dev", "seed": 7, "limit": 9, "lm": {"model": "scripted", "temperature": 0.0}}


def scored_run(out, name="rag", reply=replies, asked=None, found=None):
    """A run over a few questions, or those that are given; ``found`` finds passages."""
    program = Rag(AnswerConfig(k=2), found or retriever())
    with dspy.context(lm=scripted_lm(reply)):
        ask_all({name: program}, asked or questions(9), out, {name: {"method": name, **CONFIG}}, progress=False)
    run = Run(out / name)
    score(run, METRICS, ["type", "hops"], progress=False)
    return run


def better(call):
    """The right answer to every question."""
    number = int(call.inputs["question"].split("number ")[1].rstrip("?"))
    return {"answer": f"Answer {number % 3}.", "citations": [1]}


def hostile_run(out):
    """A run in which every text tries to get out of where it is put; the second question fails."""
    # An id with half a surrogate pair, or with a key in it, is not the same in all files of a run.
    asked = [
        question(f"{EVIL[:-18]}{n}", f"{EVIL} {n}?", [EVIL], type=EVIL, references=[{"text": EVIL, "label": EVIL}])
        for n in (1, 2)
    ]

    def reply(call):
        if call.inputs["question"].endswith("2?"):
            return RuntimeError(EVIL)
        return {"answer": f"{EVIL} [1]", "citations": [1]}

    return scored_run(out, reply=reply, asked=asked, found=ListRetriever([Passage(EVIL, EVIL, f"{EVIL} 1?")]))


def packs(page):
    """What the page unpacks when a reader asks for it, by id."""
    found = re.findall(r'<script type="text/plain" id="([^"]+)-pack">([^<]*)</script>', page)
    return {id: gzip.decompress(base64.b64decode(pack)).decode() for id, pack in found}


BLOCKS = {"dd", "details", "div", "dt", "h1", "h2", "h4", "li", "option", "p", "section", "span", "summary", "td", "th"}


class Elements(HTMLParser):
    """The tags of a page with their attributes, and its text without that of scripts and styles."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.text, self._raw = [], "", False
        self.feed(str(html))  # markup would escape what is put to it

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self._raw = tag in ("script", "style")
        self.text += " " if tag in BLOCKS else ""

    def handle_endtag(self, tag):
        self._raw = False

    def handle_data(self, data):
        self.text += "" if self._raw else data
