"""The peer of `paxml generate` in benchmarks/decode_compare: makes a Llama of random weights, or writes with it.

make FOLDER WIDTH LAYERS HEADS KV_HEADS HIDDEN VOCABULARY    prints {params, bytes}
run FOLDER BATCH PROMPT_TOKENS NEW_TOKENS                    prints tokens_per_s and first_token_s by kind of cache"""

import json
import os
import sys
import time

import torch
from transformers import AutoModelForCausalLM, LlamaConfig, LlamaForCausalLM


def make(folder, width, layers, heads, kv_heads, hidden, vocabulary):
    torch.manual_seed(1)
    model = LlamaForCausalLM(LlamaConfig(
        hidden_size=width, num_hidden_layers=layers, num_attention_heads=heads, num_key_value_heads=kv_heads,
        intermediate_size=hidden, vocab_size=vocabulary, max_position_embeddings=512))
    model.save_pretrained(folder)
    params = sum(p.numel() for p in model.parameters())
    return {"params": params, "bytes": 4 * params}


def run(folder, batch, prompt, new):
    torch.set_num_threads(os.cpu_count())
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager").eval()
    ids = torch.arange(3, 3 + prompt).repeat(batch, 1)
    rows = {}
    for cache in ("dynamic", "static"):
        def seconds(tokens):
            start = time.monotonic()
            with torch.inference_mode():
                model.generate(ids, attention_mask=torch.ones_like(ids), max_new_tokens=tokens, min_new_tokens=tokens,
                               do_sample=False, cache_implementation=cache, disable_compile=True, pad_token_id=0)
            return time.monotonic() - start
        seconds(2)
        first = seconds(1)
        rows[cache] = {"first_token_s": first, "tokens_per_s": batch * (new - 1) / (seconds(new) - first)}
    return rows


if __name__ == "__main__":
    command, folder, *numbers = sys.argv[1:]
    print(json.dumps({"make": make, "run": run}[command](folder, *map(int, numbers))))
