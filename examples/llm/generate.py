"""A language model in plain JAX on Hilo.

    python examples/llm/generate.py                                   # random weights of SmolLM2-135M's shape
    python examples/llm/generate.py --config=qwen2.5-0.5b --format=int8 --weights=model.safetensors --prompt=9707,11,1879
    python examples/llm/generate.py --check                           # a tiny model in every format against NumPy

Needs JAX and the plugin (docs/pjrt.md). Tokens are numbers: a tokenizer is no part of this. Prints the tokens, and how many a second.
"""

import argparse
import importlib.util
import os
import pathlib
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "python")]


def generate(weights, prompt, count, config, length):
    """Returns `count` tokens after those of `prompt`, and the seconds until the first and of each further one."""
    import jax
    import model
    import numpy as np

    cache = model.empty_cache(config, length)
    tokens, times, position = np.array(prompt, np.int32), [], 0
    result = []
    for _ in range(count):
        begin = time.perf_counter()
        tokens, position, cache = jax.block_until_ready(model.next_token(weights, cache, tokens, position, config))
        times.append(time.perf_counter() - begin)
        result.append(int(tokens[0]))
    return result, times


def check():
    """Tokens of a tiny model, of a prompt and one after the other, against those that the reference finds most likely."""
    import jax
    import model
    import numpy as np
    import reference
    from configs import CONFIGS
    from weights import FORMATS, in_format, random_weights

    config = CONFIGS["tiny"]
    plain = random_weights(config)
    prompt = [3, 141, 59, 26, 53, 5, 8]
    for form in FORMATS:
        weights = in_format(plain, form)
        on_device = jax.device_put(weights)
        tokens, _ = generate(on_device, prompt, 6, config, length=24)
        expected = reference.logits(weights, prompt + tokens, config)
        assert tokens == list(expected[len(prompt) - 1:-1].argmax(-1)), (form, tokens)
        values, _ = model.forward(on_device, model.empty_cache(config, 24), np.array(prompt + tokens, np.int32), 0, config)
        np.testing.assert_allclose(values, expected[-1], atol=1e-4)
        print(f"{form}: {tokens}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--config", default="smollm2-135m", help="smollm2-135m, qwen2.5-0.5b or tiny")
    parser.add_argument("--format", default="int8", help="f32, bf16, int8 or int4")
    parser.add_argument("--weights", help="a safetensors file; default: random numbers")
    parser.add_argument("--prompt", default="1,2,3,4,5,6,7,8", help="tokens")
    parser.add_argument("--tokens", type=int, default=32, help="how many to generate")
    parser.add_argument("--length", type=int, default=512, help="room in the cache")
    parser.add_argument("--check", action="store_true", help="compare a tiny model with NumPy")
    options = parser.parse_args()
    if importlib.util.find_spec("jax") is None:
        print("skipped: this Python has no jax")
        return
    os.environ.setdefault("JAX_PLATFORMS", "hilo")
    if options.check:
        check()
        return
    import jax
    from configs import CONFIGS
    from weights import in_format, random_weights, read_safetensors

    config = CONFIGS[options.config]
    weights = read_safetensors(options.weights, config) if options.weights else random_weights(config)
    weights = jax.device_put(in_format(weights, options.format))
    prompt = [int(token) for token in options.prompt.split(",")]
    if len(prompt) + options.tokens > options.length:
        sys.exit(f"{len(prompt)} + {options.tokens} tokens do not fit into --length={options.length}")
    generate(weights, prompt, 2, config, options.length)  # compiles both programs
    tokens, times = generate(weights, prompt, options.tokens, config, options.length)
    print(*tokens)
    print(f"prompt {len(prompt) / times[0]:.0f} tokens/s; then {len(times[1:]) / sum(times[1:]):.1f} tokens/s, {1 / min(times[1:]):.1f} at the most")


if __name__ == "__main__":
    main()
