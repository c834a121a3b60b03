"""Writes the programs of this folder: linear algebra that JAX has lowered for CUDA, NAME.mlir, and its inputs and results, NAME.npz.

    python tests/programs/cuda_calls/generate.py

The results are those of jaxlib on the host. Factors that are not unique come out as what does not depend on the choice. Needs JAX; no GPU.
"""

import pathlib
import types

import jax
import jax.numpy as jnp
import jax.scipy.linalg as scipy_linalg
import numpy as np
from jax._src.lax import linalg as linalg_internal
from jax.lax import linalg

jax.config.update("jax_enable_x64", True)
HERE = pathlib.Path(__file__).resolve().parent
PROGRAMS = []


def program(*arguments, tolerance=("f64 1e-9 relative", "c128 1e-9 relative")):
    def add(function):
        PROGRAMS.append((function, arguments, tolerance))
        return function

    return add


def normal(seed, *shape, dtype=np.float64):
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def complexes(seed, *shape):
    return normal(seed, *shape) + 1j * normal(seed + 1, *shape)


def adjoint(x):
    return jnp.conj(jnp.swapaxes(x, -1, -2))


@program(normal(0, 6, 6), normal(1, 6, 2), normal(2, 3, 4, 4), normal(3, 4, 3), complexes(4, 2, 3, 5))
def lu_factors(a, b, batch, tall, wide):
    """getrf, and exchanges of rows as permutations."""
    return jnp.linalg.solve(a, b), jnp.linalg.det(batch), linalg.lu(batch), linalg.lu(tall), linalg.lu(wide), scipy_linalg.lu(a)


@program(normal(5, 2, 5, 5), complexes(6, 4, 4), normal(8, 3, 3, dtype=np.float32), tolerance=("f64 1e-9 relative", "c128 1e-9 relative", "f32 1e-4 relative"))
def cholesky_factors(a, c, single):
    """potrf of matrices with a factor and without."""
    positive = lambda x: x @ adjoint(x) + jnp.eye(x.shape[-1], dtype=x.dtype)
    return jnp.linalg.cholesky(positive(a)), jnp.linalg.cholesky(-positive(a)), jnp.linalg.cholesky(positive(c)), jnp.linalg.cholesky(positive(single))


@program(normal(9, 2, 6, 3), normal(10, 3, 5), complexes(11, 5, 4), normal(13, 6, 2))
def orthogonal_factors(tall, wide, c, right):
    """geqrf, orgqr and ormqr."""
    r = [jnp.abs(jnp.linalg.qr(x, mode="r")) for x in (tall, wide, c)]
    products = [q @ r for q, r in map(jnp.linalg.qr, (tall, wide, c))]
    a, taus = linalg_internal.geqrf(tall[0])
    multiplied = linalg_internal.ormqr(a, taus, right, left=True, transpose=True)
    return r, products, multiplied, linalg_internal.ormqr(a, taus, right.T, left=False, transpose=False), jnp.linalg.qr(wide, mode="complete")[0] @ jnp.linalg.qr(wide, mode="complete")[1]


@program(normal(14, 2, 5, 5), complexes(15, 4, 4))
def eigenvalues(a, c):
    """syevd of both triangles."""
    results = []
    for x in (a, c):
        x = x + adjoint(x)
        w, v = jnp.linalg.eigh(x)
        results += [w, (v * w[..., None, :]) @ adjoint(v), jnp.linalg.eigvalsh(x, UPLO="U")]
    return results


@program(normal(17, 2, 5, 3), normal(18, 3, 5), complexes(19, 4, 3), complexes(21, 2, 3, 4))
def singular_values(tall, wide, tall_c, wide_c):
    """gesvdj, gesvd and gesvdp, with all vectors, as many as values, and none."""
    results = []
    for x in (tall, wide, tall_c, wide_c):
        for algorithm in (linalg.SvdAlgorithm.DEFAULT, linalg.SvdAlgorithm.QR, linalg.SvdAlgorithm.POLAR if jax.default_backend() != "cpu" or LOWERING else linalg.SvdAlgorithm.DEFAULT):
            for full in (True, False):
                u, s, vt = linalg.svd(x, full_matrices=full, algorithm=algorithm)
                k = s.shape[-1]
                results += [s, (u[..., :k] * s[..., None, :]) @ vt[..., :k, :], u @ adjoint(u) if full else adjoint(u) @ u, vt @ adjoint(vt)]
            results.append(linalg.svd(x, compute_uv=False, algorithm=algorithm))
    return results


@program(normal(23, 5, 5), normal(24, 2, 6), normal(25, 2, 6) + 6, normal(26, 2, 6), normal(27, 2, 6, 3), normal(28, 4, 3), normal(29, 4, 4))
def other_forms(a, lower, diagonal, upper, right, tall, square):
    """sytrd, gtsv2 and syrk."""
    reduced, d, e, taus = linalg.tridiagonal(a + a.T, lower=True)
    return jnp.abs(d), jnp.abs(e), linalg.tridiagonal_solve(lower, diagonal, upper, right), linalg.symmetric_product(tall, square + square.T, alpha=2.0, beta=0.5, symmetrize_output=True)


@program(normal(30, 2, 6, 6), normal(31, 3, 3), complexes(32, 4, 4))
def general_eigenvalues(batch, small, c):
    """geev: pairs of complex vectors of real matrices, and complex matrices."""
    results = []
    for x in (batch, small, c):
        w, v = linalg.eig(x, compute_left_eigenvectors=False)
        results += [jnp.sum(w, -1), jnp.sum(w * w, -1), jnp.linalg.solve(jnp.swapaxes(v, -1, -2), jnp.swapaxes(v * w[..., None, :], -1, -2)), jnp.sum(jnp.abs(v) ** 2, -2)]
        results.append(jnp.sum(linalg.eig(x, compute_left_eigenvectors=False, compute_right_eigenvectors=False)[0] ** 3, -1))
    return results


@program(normal(33, 7, 7), normal(34, 7), normal(35, 5, 5, dtype=np.float32), normal(36, 5, dtype=np.float32), tolerance=("f64 1e-9 relative", "f32 1e-4 relative"))
def cholesky_updates(a, w, single, single_w):
    """cholesky_update of double and single precision."""
    factor = lambda x: jnp.linalg.cholesky(x @ x.T + jnp.eye(x.shape[0], dtype=x.dtype)).T
    return linalg.cholesky_update(factor(a), w), linalg.cholesky_update(factor(single), single_w)


def main():
    linalg_internal.cuda_versions = types.SimpleNamespace(cusolver_get_version=lambda: 12000)  # which has geev
    global LOWERING
    for function, arguments, tolerance in PROGRAMS:
        LOWERING = False
        results = [np.asarray(leaf) for leaf in jax.tree.leaves(jax.jit(lambda *a: function(*a))(*arguments))]
        LOWERING = True
        text = jax.jit(lambda *a: function(*a)).trace(*arguments).lower(lowering_platforms=("cuda",)).as_text()
        head = "".join(f"// {line}\n" for line in [function.__doc__, "Written by tests/programs/cuda_calls/generate.py.", *(f"tolerance: {line}" for line in tolerance)])
        (HERE / f"{function.__name__}.mlir").write_text(head + text)
        arrays = {f"arg{i}": a for i, a in enumerate(arguments)} | {f"out{i}": a for i, a in enumerate(results)}
        np.savez_compressed(HERE / f"{function.__name__}.npz", **arrays)
        print(f"{function.__name__}: {text.count('custom_call @cu')} calls, {len(results)} results")


if __name__ == "__main__":
    main()
