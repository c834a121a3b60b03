"""Lowers a JAX function to HLO text: the module as JAX hands it to a compiler, before any optimization.

Two forms are written. "bare" is the short one: no percent signs, no operand types, no metadata. "full" is what tools dump:
percent signs, operand types, metadata, and the tables of source files and stack frames that newer versions print.
"""

import re

import jax
from jaxlib import _hlo


def print_module(module, form="bare"):
    """Returns the text of a jaxlib HloModule; constants are always written out."""
    full = form == "full"
    options = _hlo.HloPrintOptions()
    options.print_large_constants = True
    options.print_metadata = full
    options.print_percent = full
    options.print_operand_shape = full
    options.print_program_shape = full
    options.include_layout_in_shapes = full
    text = module.to_string(options)
    if "{...}" in text:
        raise RuntimeError("a constant was elided from the HLO text")
    # Source paths are those of the machine that lowered the module: keep the file's own name.
    return re.sub(r'"/[^"\n]*/([^"/\n]+)"', r'"\1"', text).rstrip() + "\n"


def lower(function, *arguments, form="bare", head=()):
    """Lowers `function` at the shapes of `arguments`; `head` lines become comments above the module."""
    lowered = jax.jit(function, keep_unused=True).lower(*arguments)
    text = print_module(lowered.compiler_ir("hlo").get_hlo_module(), form)
    return "".join(f"// {line}\n" for line in head) + text
