"""Shapes of language models."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Config:
    vocabulary: int
    hidden: int
    layers: int
    heads: int
    kv_heads: int
    head: int  # the size of one
    wide: int  # of the feed-forward layer
    theta: float
    bias: bool = False  # of queries, keys and values
    epsilon: float = 1e-5


CONFIGS = {
    "tiny": Config(vocabulary=160, hidden=64, layers=2, heads=4, kv_heads=2, head=16, wide=96, theta=1e4, bias=True),
    "smollm2-135m": Config(vocabulary=49152, hidden=576, layers=30, heads=9, kv_heads=3, head=64, wide=1536, theta=1e5),
    "qwen2.5-0.5b": Config(vocabulary=151936, hidden=896, layers=24, heads=14, kv_heads=2, head=64, wide=4864, theta=1e6,
                           bias=True, epsilon=1e-6),
}
