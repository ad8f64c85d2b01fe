"""Tiny Hugging Face models for golden_test, and the check that what we export opens there.

  hf_cases.py make DIR [NAME...]     writes DIR/NAME/{config.json,model.safetensors,expected.json,expected.safetensors}
  hf_cases.py check MODEL_DIR CASE   opens an exported folder and compares its logits with the case's

Runs in an environment with torch and transformers; nothing of the product needs it.
"""

import json
import os
import sys

import torch
import transformers as tr
from safetensors.torch import load_file, save_file

SMALL = dict(vocab_size=97, hidden_size=32, intermediate_size=56, num_hidden_layers=3, num_attention_heads=4,
             num_key_value_heads=2, max_position_embeddings=64, pad_token_id=None, bos_token_id=1, eos_token_id=2)


def small(**changes):
    return {**SMALL, **changes}


def yarn(**changes):
    return {"rope_type": "yarn", "rope_theta": 10000.0, "factor": 4.0, "original_max_position_embeddings": 16, **changes}


def neox(**changes):
    return dict(vocab_size=97, hidden_size=32, intermediate_size=56, num_hidden_layers=2, num_attention_heads=4,
                max_position_embeddings=64, bos_token_id=1, eos_token_id=2, **changes)


def t5(**changes):
    return {**dict(vocab_size=97, d_model=32, d_kv=8, d_ff=48, num_layers=2, num_decoder_layers=2, num_heads=3,
                   relative_attention_num_buckets=8, relative_attention_max_distance=20, decoder_start_token_id=0), **changes}


def bert(**changes):
    return {**dict(vocab_size=97, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=48,
                   max_position_embeddings=40, type_vocab_size=2), **changes}


def vit(**changes):
    return {**dict(hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=48, image_size=24,
                   patch_size=8, num_channels=3, num_labels=7), **changes}


CASES = {
    "llama_mha_bias": (tr.LlamaConfig, small(num_key_value_heads=4, attention_bias=True, mlp_bias=True)),
    "llama3_scaled": (tr.LlamaConfig, small(rope_parameters={
        "rope_type": "llama3", "rope_theta": 500.0, "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
        "original_max_position_embeddings": 16}, tie_word_embeddings=True)),
    "llama_linear": (tr.LlamaConfig, small(rope_parameters={"rope_type": "linear", "factor": 2.5, "rope_theta": 1e4})),
    "llama_dynamic": (tr.LlamaConfig, small(max_position_embeddings=12, rope_parameters={
        "rope_type": "dynamic", "factor": 2.0, "rope_theta": 1e4})),
    "llama_yarn": (tr.LlamaConfig, small(rope_parameters=yarn())),
    "llama_yarn_mscale": (tr.LlamaConfig, small(rope_parameters=yarn(
        mscale=0.7, mscale_all_dim=0.3, beta_fast=16, beta_slow=2, truncate=False))),
    "llama_one_layer_head_dim": (tr.LlamaConfig, small(num_hidden_layers=1, head_dim=6, num_key_value_heads=1)),
    "mistral_window": (tr.MistralConfig, small(sliding_window=5)),
    "mixtral_top1_aux": (tr.MixtralConfig, small(num_local_experts=4, num_experts_per_tok=1, output_router_logits=True,
                                                 router_aux_loss_coef=0.05, sliding_window=6)),
    "mixtral_top3": (tr.MixtralConfig, small(num_local_experts=5, num_experts_per_tok=3, num_hidden_layers=2)),
    "gemma_bias_heads": (tr.GemmaConfig, small(head_dim=12, attention_bias=True, pad_token_id=0)),
    "gemma2": (tr.Gemma2Config, small(head_dim=12, num_hidden_layers=4, sliding_window=5, query_pre_attn_scalar=20,
                                      attn_logit_softcapping=5.0, final_logit_softcapping=6.0, pad_token_id=0)),
    "gemma2_odd": (tr.Gemma2Config, small(head_dim=12, num_hidden_layers=3, sliding_window=4, query_pre_attn_scalar=7,
                                          attn_logit_softcapping=None, final_logit_softcapping=None, pad_token_id=0)),
    "qwen2": (tr.Qwen2Config, small()),
    "qwen2_windows": (tr.Qwen2Config, small(use_sliding_window=True, sliding_window=4, max_window_layers=1,
                                            tie_word_embeddings=True)),
    "qwen3": (tr.Qwen3Config, small(head_dim=10)),
    "qwen3_bias_yarn": (tr.Qwen3Config, small(head_dim=16, attention_bias=True, rope_parameters=yarn())),
    "phi3": (tr.Phi3Config, small(rope_parameters={"rope_type": "default", "rope_theta": 1e4,
                                                   "partial_rotary_factor": 0.5})),
    "phi3_longrope": (tr.Phi3Config, small(original_max_position_embeddings=16, sliding_window=9, rope_parameters={
        "rope_type": "longrope", "rope_theta": 1e4, "short_factor": [1.0, 1.1, 1.3, 1.7],
        "long_factor": [1.5, 2.0, 3.0, 4.0]})),
    "phi3_longrope_short": (tr.Phi3Config, small(original_max_position_embeddings=48, rope_parameters={
        "rope_type": "longrope", "rope_theta": 1e4, "short_factor": [1.0, 1.1, 1.3, 1.7],
        "long_factor": [1.5, 2.0, 3.0, 4.0]})),
    "gpt_neox": (tr.GPTNeoXConfig, neox()),
    "gpt_neox_serial": (tr.GPTNeoXConfig, neox(use_parallel_residual=False, attention_bias=False, rope_parameters={
        "rope_type": "default", "rope_theta": 5000.0, "partial_rotary_factor": 1.0}, hidden_act="gelu_new")),
    "gpt2_options": (tr.GPT2Config, dict(vocab_size=97, n_positions=40, n_embd=32, n_layer=3, n_head=4, n_inner=50,
                                         activation_function="relu", scale_attn_by_inverse_layer_idx=True,
                                         bos_token_id=1, eos_token_id=2)),
    "gpt2_unscaled": (tr.GPT2Config, dict(vocab_size=97, n_positions=40, n_embd=32, n_layer=2, n_head=4,
                                          scale_attn_weights=False, tie_word_embeddings=False, bos_token_id=1,
                                          eos_token_id=2)),
    "t5": (tr.T5Config, t5()),
    "t5_v1_1": (tr.T5Config, t5(feed_forward_proj="gated-gelu", tie_word_embeddings=False)),
    "bert": (tr.BertConfig, bert()),
    "bert_relu": (tr.BertConfig, bert(hidden_act="relu", layer_norm_eps=1e-3, num_attention_heads=2)),
    "vit": (tr.ViTConfig, vit()),
    "vit_no_bias": (tr.ViTConfig, vit(qkv_bias=False, image_size=[16, 24], hidden_act="gelu_new", num_hidden_layers=1)),
}

CLASSES = {"T5Config": tr.T5ForConditionalGeneration, "BertConfig": tr.BertForMaskedLM,
           "ViTConfig": tr.ViTForImageClassification}


def make_model(config_class, options, seed):
    config = config_class(**options)
    config._attn_implementation = "eager"
    torch.manual_seed(seed)
    cls = CLASSES.get(config_class.__name__)
    model = cls(config) if cls else tr.AutoModelForCausalLM.from_config(config, attn_implementation="eager")
    generator = torch.Generator().manual_seed(seed)
    if getattr(config, "scale_decoder_outputs", True) is False:
        # Published files of T5 v1.1 have an output layer of their own.
        model.lm_head.weight = torch.nn.Parameter(torch.empty_like(model.shared.weight))
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            scale = 0.1 if parameter.dim() == 1 else 0.9 / max(parameter.shape[-1], 1) ** 0.5
            noise = torch.randn(parameter.shape, generator=generator) * scale
            is_norm = parameter.dim() == 1 and "norm" in name.lower() and "gemma" not in config.model_type
            is_norm = is_norm or (parameter.dim() == 1 and ".ln_" in name)
            if name.endswith("weight") and is_norm:
                noise = noise + 1
            parameter.copy_(noise)
    return model.eval().float()


def causal_case(model, tensors, info, generator):
    vocab, length, batch = model.config.vocab_size, 24, 2
    ids = torch.randint(3, vocab, (batch, length), generator=generator)
    out = model(input_ids=ids, labels=ids, output_hidden_states=True, use_cache=False)
    model.zero_grad()
    out.loss.backward()
    tensors.update({"plain.input_ids": ids, "plain.labels": ids, "plain.logits": out.logits,
                    "plain.loss": out.loss.reshape(1), "plain.hidden_states": torch.stack(out.hidden_states)})
    info["cases"]["plain"] = {"loss": out.loss.item()}
    named = dict(model.named_parameters())
    for name in list(named)[:: max(1, len(named) // 6)]:
        # Experts are fused in memory, and apart on disk.
        if ".experts." not in name and ".mlp.gate." not in name:
            tensors[f"plain.grad.{name}"] = named[name].grad
    for side in ("right", "left"):
        mask = torch.ones(batch, length, dtype=torch.long)
        padding = slice(18, None) if side == "right" else slice(0, 6)
        mask[1, padding] = 0
        ids = torch.randint(3, vocab, (batch, length), generator=generator)
        labels = ids.masked_fill(mask == 0, -100)
        positions = (mask.cumsum(1) - 1).clamp(min=0)
        extra = {"position_ids": positions} if side == "left" else {}
        out = model(input_ids=ids, attention_mask=mask, labels=labels, use_cache=False, **extra)
        tensors.update({f"{side}.input_ids": ids, f"{side}.attention_mask": mask, f"{side}.logits": out.logits})
        if side == "right":
            tensors.update({"right.labels": labels, "right.loss": out.loss.reshape(1)})
            info["cases"]["right"] = {"loss": out.loss.item()}
        else:
            tensors["left.position_ids"] = positions
            info["cases"]["left"] = {}
    info["generate"] = []
    longrope = (getattr(model.config, "rope_parameters", None) or {}).get("rope_type") in ("longrope", "dynamic")
    for i, size in enumerate((3, 7) if not longrope else ()):
        prompt = torch.randint(3, vocab, (1, size), generator=generator)
        tokens = model.generate(prompt, attention_mask=torch.ones_like(prompt), do_sample=False, max_new_tokens=12,
                                eos_token_id=None, pad_token_id=0)[0, size:]
        tensors[f"generate.{i}.prompt"] = prompt[0]
        tensors[f"generate.{i}.new_tokens"] = tokens
        info["generate"].append({"prompt": prompt[0].tolist(), "new_tokens": tokens.tolist()})


def t5_case(model, tensors, info, generator):
    vocab = model.config.vocab_size
    ids = torch.randint(3, vocab, (2, 20), generator=generator)
    labels = torch.randint(3, vocab, (2, 12), generator=generator)
    mask = torch.ones_like(ids)
    for case in ("plain", "padded"):
        if case == "padded":
            mask[1, 13:] = 0
            labels = labels.clone()
            labels[0, 9:] = -100
        out = model(input_ids=ids, attention_mask=mask, labels=labels, output_hidden_states=True)
        shifted = torch.cat([torch.zeros(2, 1, dtype=torch.long), labels[:, :-1].clamp(min=0)], 1)
        tensors.update({f"{case}.input_ids": ids, f"{case}.labels": labels, f"{case}.decoder_input_ids": shifted,
                        f"{case}.logits": out.logits, f"{case}.loss": out.loss.reshape(1)})
        info["cases"][case] = {"loss": out.loss.item()}
        if case == "padded":
            tensors["padded.attention_mask"] = mask
            continue
        tensors["plain.encoder_hidden_states"] = torch.stack(out.encoder_hidden_states)
        tensors["plain.decoder_hidden_states"] = torch.stack(out.decoder_hidden_states)
        model.zero_grad()
        out.loss.backward()
        named = dict(model.named_parameters())
        for name in list(named)[:: max(1, len(named) // 8)]:
            tensors[f"plain.grad.{name}"] = named[name].grad
    info["generate"] = []
    for i, size in enumerate((5, 9)):
        prompt = torch.randint(3, vocab, (1, size), generator=generator)
        tokens = model.generate(prompt, do_sample=False, max_new_tokens=10, eos_token_id=None, pad_token_id=0)[0, 1:]
        tensors[f"generate.{i}.prompt"] = prompt[0]
        tensors[f"generate.{i}.new_tokens"] = tokens
        info["generate"].append({"prompt": prompt[0].tolist(), "new_tokens": tokens.tolist()})


def bert_case(model, tensors, info, generator):
    vocab = model.config.vocab_size
    ids = torch.randint(3, vocab, (2, 18), generator=generator)
    types = torch.zeros_like(ids)
    types[:, 9:] = 1
    mask = torch.ones_like(ids)
    for case in ("plain", "padded"):
        if case == "padded":
            mask[1, 12:] = 0
        labels = torch.where(torch.rand(ids.shape, generator=generator) < 0.4, ids, -100).masked_fill(mask == 0, -100)
        out = model(input_ids=ids, attention_mask=mask, token_type_ids=types, labels=labels, output_hidden_states=True)
        tensors.update({f"{case}.input_ids": ids, f"{case}.attention_mask": mask.clone(), f"{case}.token_type_ids": types,
                        f"{case}.labels": labels, f"{case}.logits": out.logits, f"{case}.loss": out.loss.reshape(1)})
        info["cases"][case] = {"loss": out.loss.item()}
        if case == "plain":
            tensors["plain.hidden_states"] = torch.stack(out.hidden_states)
            model.zero_grad()
            out.loss.backward()
            named = dict(model.named_parameters())
            for name in list(named)[:: max(1, len(named) // 8)]:
                tensors[f"plain.grad.{name}"] = named[name].grad


def vit_case(model, tensors, info, generator):
    size = model.config.image_size
    height, width = size if isinstance(size, (list, tuple)) else (size, size)
    pixels = torch.randn(3, model.config.num_channels, height, width, generator=generator)
    labels = torch.tensor([0, 3, 5])
    out = model(pixel_values=pixels, labels=labels, output_hidden_states=True)
    model.zero_grad()
    out.loss.backward()
    tensors.update({"plain.pixel_values": pixels, "plain.labels": labels, "plain.logits": out.logits,
                    "plain.loss": out.loss.reshape(1), "plain.hidden_states": torch.stack(out.hidden_states)})
    info["cases"]["plain"] = {"loss": out.loss.item()}


def make(folder, names):
    for seed, (name, (config_class, options)) in enumerate(CASES.items()):
        if names and name not in names:
            continue
        model = make_model(config_class, options, seed)
        path = os.path.join(folder, name)
        model.save_pretrained(path)
        saved = set(load_file(os.path.join(path, "model.safetensors")))
        tensors, info = {}, {"model": name, "cases": {}, "tolerance": {
            "logits_abs": 1e-4, "loss_abs": 2e-5, "grad_abs": 1e-4, "hidden_states_abs": 1e-4, "generate": "exact"}}
        generator = torch.Generator().manual_seed(100 + seed)
        kind = {"T5Config": t5_case, "BertConfig": bert_case, "ViTConfig": vit_case}.get(config_class.__name__, causal_case)
        kind(model, tensors, info, generator)
        # Names in memory may differ from those on disk.
        tensors = {k: v.detach().contiguous().clone() for k, v in tensors.items()
                   if ".grad." not in k or k.split(".grad.", 1)[1] in saved}
        save_file(tensors, os.path.join(path, "expected.safetensors"))
        with open(os.path.join(path, "expected.json"), "w") as file:
            json.dump(info, file, indent=1)
        print("made", path)


def check(model_dir, case_dir):
    expected = load_file(os.path.join(case_dir, "expected.safetensors"))
    config = tr.AutoConfig.from_pretrained(model_dir)
    cls = getattr(tr, config.architectures[0])
    model, report = cls.from_pretrained(model_dir, attn_implementation="eager", output_loading_info=True, dtype=torch.float32)
    problems = {k: v for k, v in report.items() if v}
    if problems:
        raise SystemExit(f"{model_dir}: transformers says {problems}")
    keys = ("input_ids", "attention_mask", "token_type_ids", "decoder_input_ids", "pixel_values")
    inputs = {k: expected["plain." + k] for k in keys if "plain." + k in expected}
    with torch.no_grad():
        difference = (model.eval()(**inputs).logits - expected["plain.logits"]).abs().max().item()
    print(f"{model_dir}: logits differ by at most {difference:.3g}")
    if not difference <= 1e-4:
        raise SystemExit(1)


if __name__ == "__main__":
    if sys.argv[1] == "make":
        make(sys.argv[2], sys.argv[3:])
    else:
        check(sys.argv[2], sys.argv[3])
