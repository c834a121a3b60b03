"""Weights of the model in model.py: random ones, those of a safetensors file, and their conversion to narrower formats."""

import json

import ml_dtypes
import numpy as np

GROUP = 32  # elements along the contracted dimension that share a scale
FORMATS = ("f32", "bf16", "int8", "int4")

_LAYER = {"norm1": "input_layernorm.weight", "query": "self_attn.q_proj.weight", "key": "self_attn.k_proj.weight",
          "value": "self_attn.v_proj.weight", "output": "self_attn.o_proj.weight", "norm2": "post_attention_layernorm.weight",
          "gate": "mlp.gate_proj.weight", "up": "mlp.up_proj.weight", "down": "mlp.down_proj.weight",
          "query_bias": "self_attn.q_proj.bias", "key_bias": "self_attn.k_proj.bias", "value_bias": "self_attn.v_proj.bias"}


def weight_shapes(config):
    """The shapes of all weights by name. Matrices are [out, in]; those of the layers are stacked."""
    queries, keys = config.heads * config.head, config.kv_heads * config.head
    layer = {"norm1": (config.hidden,), "query": (queries, config.hidden), "key": (keys, config.hidden),
             "value": (keys, config.hidden), "output": (config.hidden, queries), "norm2": (config.hidden,),
             "gate": (config.wide, config.hidden), "up": (config.wide, config.hidden), "down": (config.hidden, config.wide)}
    if config.bias:
        layer |= {"query_bias": (queries,), "key_bias": (keys,), "value_bias": (keys,)}
    return {"embedding": (config.vocabulary, config.hidden), "norm": (config.hidden,),
            "layers": {name: (config.layers, *shape) for name, shape in layer.items()}}


def _is_matrix(name):
    return not name.startswith("norm") and not name.endswith("bias")


def _map(function, weights, *more):
    """Applies function(name, weight, ...) to every weight."""
    return {name: _map(function, weight, *(other[name] for other in more)) if name == "layers" else function(name, weight, *(other[name] for other in more))
            for name, weight in weights.items()}


def random_weights(config, seed=0):
    """Float32 arrays."""
    generator = np.random.default_rng(seed)

    def make(name, shape):
        values = generator.standard_normal(shape, np.float32)
        if _is_matrix(name):
            return values * np.float32(shape[-1] ** -0.5)
        return values * np.float32(0.1) + np.float32(name.startswith("norm"))

    return _map(make, weight_shapes(config))


def read_safetensors(path, config):
    """Float32 arrays of a file with the names of Llama's and Qwen's checkpoints; the output shares the embedding's weights."""
    with open(path, "rb") as file:
        header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
        start = file.tell()
    types = {"F32": np.float32, "F16": np.float16, "BF16": ml_dtypes.bfloat16}
    data = np.memmap(path, np.uint8, "r")

    def read(name, shape):
        entry = header[name]
        begin, end = (start + offset for offset in entry["data_offsets"])
        array = data[begin:end].view(types[entry["dtype"]]).reshape(entry["shape"])
        if array.shape != shape:
            raise ValueError(f"{name}: expected the shape {shape}, got {array.shape}")
        return array.astype(np.float32)

    shapes = weight_shapes(config)
    layers = {name: np.stack([read(f"model.layers.{layer}.{_LAYER[name]}", shape[1:]) for layer in range(config.layers)])
              for name, shape in shapes["layers"].items()}
    return {"embedding": read("model.embed_tokens.weight", shapes["embedding"]), "norm": read("model.norm.weight", shapes["norm"]),
            "layers": layers}


def quantize(weight, bits):
    """Returns the integers of a matrix and the F16 scales of groups of its last dimension. Integers of 4 bits lie in pairs in
    U8, plus 8: the first half of each group in the low bits, the second half in the high ones."""
    groups = weight.reshape(*weight.shape[:-1], -1, GROUP)
    most = 2 ** (bits - 1) - 1
    scale = np.maximum(np.abs(groups).max(axis=-1, keepdims=True) / most, 1e-7).astype(np.float16)
    integers = np.clip(np.rint(groups / scale.astype(np.float32)), -most, most).astype(np.int8)
    if bits == 8:
        return {"int8": integers.reshape(weight.shape), "scale": scale[..., 0]}
    low, high = np.split((integers + 8).astype(np.uint8), 2, axis=-1)
    return {"int4": (low | high << 4).reshape(*weight.shape[:-1], -1), "scale": scale[..., 0]}


def in_format(weights, form):
    """Converts the matrices among float32 weights to one of FORMATS; vectors stay as they are."""
    convert = {"f32": lambda weight: weight, "bf16": lambda weight: weight.astype(ml_dtypes.bfloat16),
               "int8": lambda weight: quantize(weight, 8), "int4": lambda weight: quantize(weight, 4)}[form]
    return _map(lambda name, weight: convert(weight) if _is_matrix(name) else weight, weights)
