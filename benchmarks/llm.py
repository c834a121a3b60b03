"""Tokens per second of language models with random weights: JAX on Hilo and on jaxlib's CPU platform, PyTorch, and llama.cpp.

    python benchmarks/llm.py --config=smollm2-135m --format=f32,bf16,int8,int4 --side=hilo=PYTHON --side=jaxlib=PYTHON --side=torch=PYTHON --side=llama=PYTHON

Each side runs in a process of its own, with the Python that is given for it: the JAX ones need jax, the others torch, or llama-cpp-python and gguf. The sides
alternate, `--times` times; what is printed is the fastest prompt and the fastest decoded token of all repetitions, and the bytes of the weights that the latter reads
a second. PyTorch has no groups with scales on CPUs: its int8 is that of its dynamic quantization, one scale for a matrix, and it has no int4. llama.cpp's
formats with groups of 32 (Q8_0, Q4_0) have the bytes of examples/llm.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "examples" / "llm"), str(HERE.parent / "python")]


def measure(prompt, decode, tokens):
    """prompt() and decode() are runs; returns the least seconds of each."""
    def least(run, times):
        seconds = []
        for _ in range(times):
            begin = time.perf_counter()
            run()
            seconds.append(time.perf_counter() - begin)
        return min(seconds[1:])
    return {"prompt_s": least(prompt, 3), "token_s": least(decode, tokens)}


def run_jax(options):
    import jax
    import model
    import numpy as np
    from configs import CONFIGS
    from weights import in_format, random_weights

    config = CONFIGS[options.config]
    weights = jax.device_put(in_format(random_weights(config), options.format))
    tokens = np.arange(options.prompt, dtype=np.int32)
    state = None

    def prompt():
        nonlocal state
        state = jax.block_until_ready(model.next_token(weights, model.empty_cache(config, options.length), tokens, 0, config))

    def decode():
        nonlocal state
        state = jax.block_until_ready(model.next_token(weights, state[2], state[0], state[1], config))

    return measure(prompt, decode, options.tokens)


def run_torch(options):
    import torch
    from configs import CONFIGS
    from torch.nn import functional

    config = CONFIGS[options.config]
    torch.set_grad_enabled(False)
    torch.set_num_threads(len(os.sched_getaffinity(0)))
    dtype = torch.bfloat16 if options.format == "bf16" else torch.float32
    queries, keys = config.heads * config.head, config.kv_heads * config.head

    def matrix(out, inner):
        linear = torch.nn.Linear(inner, out, bias=False, dtype=dtype)
        return torch.ao.nn.quantized.dynamic.Linear.from_float(_observed(linear)) if options.format == "int8" else linear

    def _observed(linear):
        linear.qconfig = torch.ao.quantization.default_dynamic_qconfig
        return linear

    layers = [{"query": matrix(queries, config.hidden), "key": matrix(keys, config.hidden), "value": matrix(keys, config.hidden),
               "output": matrix(config.hidden, queries), "gate": matrix(config.wide, config.hidden), "up": matrix(config.wide, config.hidden),
               "down": matrix(config.hidden, config.wide), "norm": torch.ones(config.hidden, dtype=dtype)} for _ in range(config.layers)]
    embedding, head = torch.randn(config.vocabulary, config.hidden, dtype=dtype), matrix(config.vocabulary, config.hidden)
    cache = torch.zeros(config.layers, 2, config.kv_heads, options.length, config.head, dtype=dtype)
    frequencies = config.theta ** (-torch.arange(config.head // 2) / (config.head // 2))

    def forward(tokens, start):
        x = embedding[tokens]
        count = len(tokens)
        angles = torch.outer(torch.arange(start, start + count), frequencies)
        cosine, sine = angles.cos().to(dtype), angles.sin().to(dtype)
        mask = torch.ones(count, start + count, dtype=torch.bool).tril(start)

        def rotate(y):
            low, high = y.chunk(2, dim=-1)
            return torch.cat([low * cosine - high * sine, high * cosine + low * sine], dim=-1)

        for layer, kept in zip(layers, cache):
            y = functional.rms_norm(x, (config.hidden,), layer["norm"])
            split = lambda name, heads: layer[name](y).view(count, heads, config.head).transpose(0, 1)
            kept[0, :, start:start + count], kept[1, :, start:start + count] = rotate(split("key", config.kv_heads)), split("value", config.kv_heads)
            mixed = functional.scaled_dot_product_attention(rotate(split("query", config.heads))[None], kept[None, 0, :, :start + count], kept[None, 1, :, :start + count],
                                                            attn_mask=mask, enable_gqa=True)[0]
            x = x + layer["output"](mixed.transpose(0, 1).reshape(count, -1))
            y = functional.rms_norm(x, (config.hidden,), layer["norm"])
            x = x + layer["down"](functional.silu(layer["gate"](y)) * layer["up"](y))
        return head(functional.rms_norm(x[-1:], (config.hidden,), layers[0]["norm"])).argmax(-1)

    position, token = options.prompt, None

    def decode():
        nonlocal position, token
        token = forward(token, position)
        position += 1

    def prompt():
        nonlocal token
        token = forward(torch.arange(options.prompt), 0)

    return measure(prompt, decode, options.tokens)


def write_gguf(path, options):
    import gguf
    import numpy as np
    from configs import CONFIGS

    config = CONFIGS[options.config]
    kind = {"f32": gguf.GGMLQuantizationType.F32, "bf16": gguf.GGMLQuantizationType.BF16, "int8": gguf.GGMLQuantizationType.Q8_0,
            "int4": gguf.GGMLQuantizationType.Q4_0}[options.format]
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_context_length(options.length)
    writer.add_embedding_length(config.hidden)
    writer.add_block_count(config.layers)
    writer.add_feed_forward_length(config.wide)
    writer.add_head_count(config.heads)
    writer.add_head_count_kv(config.kv_heads)
    writer.add_layer_norm_rms_eps(config.epsilon)
    writer.add_rope_freq_base(config.theta)
    writer.add_rope_dimension_count(config.head)
    writer.add_vocab_size(config.vocabulary)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("default")
    writer.add_token_list([f"t{i}" for i in range(config.vocabulary)])
    writer.add_token_types([1] * config.vocabulary)
    writer.add_token_merges(["t 0"])
    generator = np.random.default_rng(0)
    queries, keys = config.heads * config.head, config.kv_heads * config.head

    def matrix(name, out, inner):
        values = generator.standard_normal((out, inner), np.float32) * inner**-0.5
        writer.add_tensor(name, gguf.quants.quantize(values, kind), raw_dtype=kind)

    matrix("token_embd.weight", config.vocabulary, config.hidden)
    writer.add_tensor("output_norm.weight", np.ones(config.hidden, np.float32))
    for layer in range(config.layers):
        for name in ("attn_norm", "ffn_norm"):
            writer.add_tensor(f"blk.{layer}.{name}.weight", np.ones(config.hidden, np.float32))
        for name, out, inner in (("attn_q", queries, config.hidden), ("attn_k", keys, config.hidden), ("attn_v", keys, config.hidden),
                                 ("attn_output", config.hidden, queries), ("ffn_gate", config.wide, config.hidden),
                                 ("ffn_up", config.wide, config.hidden), ("ffn_down", config.hidden, config.wide)):
            matrix(f"blk.{layer}.{name}.weight", out, inner)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def run_llama(options):
    import llama_cpp

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.gguf")
        write_gguf(path, options)
        model_params = llama_cpp.llama_model_default_params()
        loaded = llama_cpp.llama_model_load_from_file(path.encode(), model_params)
    params = llama_cpp.llama_context_default_params()
    params.n_ctx, params.n_batch, params.n_ubatch = options.length, options.length, options.length
    params.n_threads = params.n_threads_batch = len(os.sched_getaffinity(0))
    context = llama_cpp.llama_init_from_model(loaded, params)

    def take(tokens):
        array = (llama_cpp.llama_token * len(tokens))(*tokens)  # the batch points to it
        batch = llama_cpp.llama_batch_get_one(array, len(tokens))
        if llama_cpp.llama_decode(context, batch) != 0:
            raise RuntimeError("llama_decode failed")
        llama_cpp.llama_synchronize(context)

    def prompt():
        llama_cpp.llama_memory_clear(llama_cpp.llama_get_memory(context), True)
        take(range(options.prompt))

    return measure(prompt, lambda: take([7]), options.tokens)


RUNS = {"hilo": run_jax, "jaxlib": run_jax, "torch": run_torch, "llama": run_llama}
MISSING = {("torch", "int4")}


def weight_bytes(config, form):
    queries, keys = config.heads * config.head, config.kv_heads * config.head
    layer = config.hidden * (2 * queries + 2 * keys + 3 * config.wide)
    return (config.vocabulary * config.hidden + config.layers * layer) * {"f32": 4, "bf16": 2, "int8": 34 / 32, "int4": 18 / 32}[form]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--config", default="smollm2-135m")
    parser.add_argument("--format", default="f32,bf16,int8,int4")
    parser.add_argument("--side", action="append", default=[], help="hilo, jaxlib, torch or llama=PYTHON")
    parser.add_argument("--prompt", type=int, default=128, help="tokens of the prompt")
    parser.add_argument("--tokens", type=int, default=32, help="decoded tokens in a repetition")
    parser.add_argument("--length", type=int, default=256, help="room in the cache")
    parser.add_argument("--times", type=int, default=2, help="repetitions")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        print(json.dumps(RUNS[options.worker](options)))
        return
    from configs import CONFIGS
    sides = dict(side.split("=", 1) for side in options.side)
    print(f"{options.config}: a prompt of {options.prompt} tokens, then one token at a time\n")
    print("| format | side | prompt, tokens/s | decode, tokens/s | weights, GB/s |\n|---|---|--:|--:|--:|")
    for form in options.format.split(","):
        least = {}
        for _ in range(options.times):
            for side, python in sides.items():
                if (side, form) in MISSING:
                    continue
                environment = dict(os.environ, JAX_PLATFORMS="hilo" if side == "hilo" else "cpu")
                command = [python, __file__, f"--worker={side}", f"--config={options.config}", f"--format={form}", f"--prompt={options.prompt}",
                           f"--tokens={options.tokens}", f"--length={options.length}"]
                run = subprocess.run(command, env=environment, capture_output=True, text=True)
                if run.returncode != 0:
                    sys.exit(f"{side} failed:\n{run.stderr[-2000:]}")
                times = json.loads(run.stdout.splitlines()[-1])
                least[side] = {name: min(value, least.get(side, times)[name]) for name, value in times.items()}
        for side, times in least.items():
            rate = weight_bytes(CONFIGS[options.config], form) / times["token_s"] / 1e9
            print(f"| {form} | {side} | {options.prompt / times['prompt_s']:.0f} | {1 / times['token_s']:.1f} | {rate:.1f} |", flush=True)


if __name__ == "__main__":
    main()
