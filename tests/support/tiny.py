"""A tiny language model with random weights, and adapters for it, as folders of transformers and peft."""

import os
from pathlib import Path
from unittest import mock

from aspectrag.lms.local.bases import info_of
from aspectrag.lms.local.card import Card, write_card
from aspectrag.lms.local.extras import quiet_loading

_TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def tiny_tokenizer():
    """A token for each byte, and the control tokens of chats."""
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(models.BPE({token: place for place, token in enumerate(alphabet)}, []))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens([AddedToken("<|im_start|>", special=True), AddedToken("<|im_end|>", special=True)])
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, eos_token="<|im_end|>", pad_token="<|im_end|>", chat_template=_TEMPLATE
    )


def tiny_base(folder, seed=0, window=2048, kind="llama") -> Path:
    """A model of two layers; weights large enough that its opinions differ."""
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM

    tokenizer = tiny_tokenizer()
    torch.manual_seed(seed)
    config = AutoConfig.for_model(
        kind, vocab_size=len(tokenizer), hidden_size=32, intermediate_size=64, num_hidden_layers=2,
        num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=window,
        initializer_range=0.2, tie_word_embeddings=True, eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id, bos_token_id=None,
    )  # fmt: skip
    with quiet_loading():
        AutoModelForCausalLM.from_config(config).save_pretrained(str(folder))
    tokenizer.save_pretrained(str(folder))
    return Path(folder)


def tiny_adapter(folder, base, seed=0, **card) -> Path:
    """An adapter with random weights and a card; further arguments are fields of the card."""
    import torch
    from peft import LoraConfig, get_peft_model
    from transformers import AutoModelForCausalLM

    torch.manual_seed(seed)
    with quiet_loading():
        model = AutoModelForCausalLM.from_pretrained(str(base), local_files_only=True)
        tuned = get_peft_model(model, LoraConfig(r=4, target_modules="all-linear", task_type="CAUSAL_LM"))
        for name, weights in tuned.named_parameters():
            if "lora_" in name:
                torch.nn.init.normal_(weights, std=0.3)
        tuned.save_pretrained(str(folder))
    # Fixtures of a whole module come before the home of a test: nothing goes to the real one.
    with mock.patch.dict(os.environ, ASPECTRAG_HOME=f"{folder}-home"):
        info = info_of(str(base))
    write_card(Path(folder), Card(base=info, **card))
    return Path(folder)
