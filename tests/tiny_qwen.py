# ruff: noqa: PLC0415 - only its own environment has these packages
"""Makes a tiny random Qwen3-TTS in the layout of the public one; run by its own environment.

``python tiny_qwen.py FOLDER``: a talker of two layers, a tokenizer of single bytes, a decoder.
"""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "engine" / "speech"))
from qwen_process import import_packages

SPECIAL = {
    "<|im_start|>": 300,
    "<|im_end|>": 301,
    "<tts_pad>": 302,
    "<tts_bos>": 303,
    "<tts_eos>": 304,
}
GROUPS, CODES = 4, 64


def main(folder: Path) -> None:
    torch, _ = import_packages()
    from qwen_tts.core import Qwen3TTSTokenizerV2Config, Qwen3TTSTokenizerV2Model
    from qwen_tts.core.models import Qwen3TTSConfig, Qwen3TTSForConditionalGeneration
    from transformers import EncodecFeatureExtractor

    torch.manual_seed(0)
    small = {
        "hidden_size": 32,
        "intermediate_size": 64,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "num_key_value_heads": 2,
        "head_dim": 16,
        "num_code_groups": GROUPS,
    }
    config = Qwen3TTSConfig(
        talker_config={
            **small,
            "vocab_size": 1024 + CODES,  # the last 1024 are no sounds
            "text_vocab_size": 400,
            "text_hidden_size": 32,
            "rope_scaling": {
                "rope_type": "default",
                "mrope_section": [4, 2, 2],
                "interleaved": True,
            },
            "codec_bos_id": 1080,
            "codec_eos_token_id": 1081,
            "codec_pad_id": 1082,
            "codec_think_id": 1083,
            "codec_nothink_id": 1084,
            "codec_think_bos_id": 1085,
            "codec_think_eos_id": 1086,
            "spk_id": {"vivian": 1070, "ryan": 1071},
            "spk_is_dialect": {"vivian": False, "ryan": False},
            "codec_language_id": {"english": 1072, "chinese": 1073},
            "code_predictor_config": {**small, "vocab_size": CODES},
        },
        tokenizer_type="qwen3_tts_tokenizer_12hz",
        tts_model_size="1b7",
        tts_model_type="custom_voice",
        im_start_token_id=300,
        im_end_token_id=301,
        tts_pad_token_id=302,
        tts_bos_token_id=303,
        tts_eos_token_id=304,
    )
    Qwen3TTSForConditionalGeneration(config).save_pretrained(folder)
    # What the package writes down here it cannot read; the public file has these two.
    written = json.loads((folder / "config.json").read_text("utf-8"))
    written["speaker_encoder_config"] = {"enc_dim": 64, "sample_rate": 24000}
    (folder / "config.json").write_text(json.dumps(written), "utf-8")
    generation = {"do_sample": True, "top_k": 10, "max_new_tokens": 24}
    (folder / "generation_config.json").write_text(json.dumps(generation), "utf-8")
    write_tokenizer(folder)
    codec = Qwen3TTSTokenizerV2Config(
        encoder_config={
            "hidden_size": 32, "upsample_groups": 32, "num_filters": 4, "num_hidden_layers": 1,
            "num_attention_heads": 2, "num_key_value_heads": 2, "intermediate_size": 32,
            "codebook_size": CODES,
            "codebook_dim": 16, "num_quantizers": GROUPS,
            "vector_quantization_hidden_dimension": 16,
        },
        decoder_config={
            "codebook_size": CODES, "hidden_size": 32, "latent_dim": 32, "num_attention_heads": 2,
            "num_key_value_heads": 2, "intermediate_size": 64, "num_hidden_layers": 1,
            "num_quantizers": GROUPS, "decoder_dim": 64, "codebook_dim": 32, "head_dim": 16,
        },
        encoder_valid_num_quantizers=GROUPS,
    )  # fmt: skip
    tokenizer = Qwen3TTSTokenizerV2Model(codec)
    with torch.no_grad():
        # The code books begin as zeros, and what random layers make of others nobody would hear.
        tokenizer.decoder.decoder[-1].conv.weight.mul_(1e7)
        for name, values in tokenizer.decoder.state_dict().items():
            if name.endswith("embedding_sum"):
                values.normal_()
    tokenizer.save_pretrained(folder / "speech_tokenizer")
    extractor = EncodecFeatureExtractor(feature_size=1, sampling_rate=24000)
    extractor.save_pretrained(folder / "speech_tokenizer")
    (folder / "speech_tokenizer" / "configuration.json").write_text("{}", "utf-8")


def write_tokenizer(folder: Path) -> None:
    """A byte is a token; the marks of the prompt have tokens of their own."""
    from transformers.models.gpt2.tokenization_gpt2 import bytes_to_unicode

    letters = list(bytes_to_unicode().values())
    vocabulary = {letter: index for index, letter in enumerate(letters)}
    vocabulary["<|endoftext|>"] = 299
    (folder / "vocab.json").write_text(json.dumps(vocabulary, ensure_ascii=False), "utf-8")
    (folder / "merges.txt").write_text("#version: 0.2\n", "utf-8")
    added = {
        str(number): {"content": mark, "special": True, "lstrip": False, "rstrip": False,
                      "normalized": False, "single_word": False}
        for mark, number in {"<|endoftext|>": 299, **SPECIAL}.items()
    }  # fmt: skip
    tokenizer = {
        "tokenizer_class": "Qwen2Tokenizer",
        "processor_class": "Qwen3TTSProcessor",
        "added_tokens_decoder": added,
        "pad_token": "<|endoftext|>",
        "eos_token": "<|im_end|>",
        "unk_token": None,
        "model_max_length": 4096,
    }
    (folder / "tokenizer_config.json").write_text(json.dumps(tokenizer), "utf-8")
    (folder / "preprocessor_config.json").write_text('{"padding_side": "left"}', "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
