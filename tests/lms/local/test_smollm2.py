import gguf
import numpy as np
import pytest
from aspectrag.errors import AspectragError
from aspectrag.home import home
from aspectrag.lms.local import smollm2
from aspectrag.lms.local.bases import open_base
from tiny import tiny_tokenizer

WIDTH, INNER, LAYERS = 32, 64, 2


def small_gguf(path):
    """A Llama of the same build, of random weights, with a token for each byte."""
    by_id = sorted(tiny_tokenizer().get_vocab().items(), key=lambda item: item[1])
    tokens = [token for token, _ in by_id[:-2]] + ["ab"] + [token for token, _ in by_id[-2:]]
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_context_length(8192)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(INNER)
    writer.add_head_count(4)
    writer.add_head_count_kv(2)
    writer.add_rope_dimension_count(8)
    writer.add_rope_freq_base(100000.0)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_vocab_size(len(tokens))
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("smollm")
    writer.add_token_list(tokens)
    writer.add_token_types([3 if token.startswith("<|") else 1 for token in tokens])
    writer.add_token_merges(["a b"])
    writer.add_eos_token_id(len(tokens) - 1)
    writer.add_bos_token_id(len(tokens) - 2)
    writer.add_chat_template(tiny_tokenizer().chat_template)
    rng = np.random.default_rng(0)
    shapes = {"token_embd": (len(tokens), WIDTH), "output_norm": (WIDTH,)}
    for layer in range(LAYERS):
        shapes |= {
            f"blk.{layer}.attn_norm": (WIDTH,), f"blk.{layer}.ffn_norm": (WIDTH,),
            f"blk.{layer}.attn_q": (WIDTH, WIDTH), f"blk.{layer}.attn_k": (WIDTH // 2, WIDTH),
            f"blk.{layer}.attn_v": (WIDTH // 2, WIDTH), f"blk.{layer}.attn_output": (WIDTH, WIDTH),
            f"blk.{layer}.ffn_gate": (INNER, WIDTH), f"blk.{layer}.ffn_up": (INNER, WIDTH),
            f"blk.{layer}.ffn_down": (WIDTH, INNER),
        }  # fmt: skip
    for name, shape in shapes.items():
        values = rng.normal(size=shape, scale=0.2).astype(np.float32)
        kind = gguf.GGMLQuantizationType.Q4_1 if len(shape) == 2 else gguf.GGMLQuantizationType.F32
        writer.add_tensor(f"{name}.weight", gguf.quantize(values, kind), raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def test_it_is_converted_once(tmp_path, monkeypatch, caplog):
    weights = small_gguf(tmp_path / "small.gguf")
    monkeypatch.setattr(smollm2, "fetch", lambda name: weights)
    folder = smollm2.converted()
    assert folder.parent == home() / "converted"
    assert smollm2.SHA256[:8] in folder.name
    assert "once" in caplog.text
    monkeypatch.setattr(smollm2, "fetch", None)
    assert smollm2.converted() == folder
    assert [path.name for path in folder.parent.iterdir() if path.is_dir()] == [folder.name]
    base = open_base("smollm2", "cpu")
    assert base.info == {
        "name": "smollm2", "sha256": smollm2.SHA256, "model_type": "llama", "layers": LAYERS, "hidden_size": WIDTH
    }  # fmt: skip
    assert base.model.dtype.itemsize == 4
    assert base.tokenizer.decode(base.tokenizer.encode("Où?<|im_end|>")) == "Où?<|im_end|>"
    assert base.tokenizer.chat_template


def test_what_cannot_be_converted(tmp_path, monkeypatch):
    (tmp_path / "junk.gguf").write_bytes(b"GGUF junk")
    monkeypatch.setattr(smollm2, "fetch", lambda name: tmp_path / "junk.gguf")
    with pytest.raises(AspectragError, match="could not be converted in"):
        smollm2.converted()
    assert not [path for path in (home() / "converted").iterdir() if path.is_dir()]


def test_without_its_library(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "gguf", None)
    with pytest.raises(AspectragError, match=r"need gguf: pip install 'aspectrag\[train\]'"):
        smollm2.converted()
