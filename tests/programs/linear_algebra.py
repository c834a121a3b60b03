"""Test programs of linear algebra and Fourier transforms. JAX lowers factorizations to custom calls of LAPACK on host memory.

Factors that are not unique (signs and phases of vectors, orders of eigenvalues) come out as what does not depend on the choice.
"""

import jax
import jax.numpy as jnp
import jax.scipy.linalg as linalg
import numpy as np

from program import Program, normal


def fourier(signal, image, spectrum):
    """Transforms of several lengths and types, a convolution by way of the spectrum, and the gradient of a filtered signal's energy."""
    def energy(x):
        filtered = jnp.fft.irfft(jnp.fft.rfft(x) * spectrum, n=x.shape[-1])
        return jnp.sum(filtered**2)

    return (jnp.fft.fft(signal[:, :60]), jnp.fft.ifft(signal[:, :59] + 1j), jnp.fft.rfft(signal, axis=0), jnp.fft.irfft(jnp.fft.rfft(signal), n=63),
            jnp.fft.fft2(image), jnp.fft.irfft2(jnp.fft.rfft2(image)), jnp.fft.fftn(image.reshape(4, 6, 2, 12), axes=(0, 1, 3)),
            jnp.fft.fftshift(jnp.fft.hfft(spectrum)), jax.grad(energy)(signal[0]))


def linear_systems(a, b, batch, right):
    """LU and what stands on it: solutions, determinants, inverses; triangular systems of all forms."""
    lu, pivots, permutation = jax.lax.linalg.lu(batch)
    triangle = lambda **how: jax.lax.linalg.triangular_solve(batch + 3 * jnp.eye(4), right, **how)
    return (jnp.linalg.solve(a, b), jnp.linalg.det(batch), jnp.linalg.inv(a), jnp.linalg.slogdet(a)[1], lu, pivots, permutation,
            triangle(left_side=True, lower=True), triangle(left_side=True, transpose_a=True), triangle(left_side=True, lower=True, unit_diagonal=True),
            jax.lax.linalg.triangular_solve(a, b.T, left_side=False, lower=True, transpose_a=True, conjugate_a=True),
            linalg.lu_solve(linalg.lu_factor(a), b, trans=1), jnp.linalg.matrix_power(a, -2))


def gaussian_process(x, y, scales):
    """The likelihood of a Gaussian process by a Cholesky factor, its gradient, and predictions; one matrix of the batch has no factor."""
    def kernel(s, a, b):
        return s[0] * jnp.exp(-0.5 * (a[:, None] - b[None, :])**2 / s[1]**2)

    def loss(s):
        factor = linalg.cho_factor(kernel(s, x, x) + s[2] * jnp.eye(x.shape[0]), lower=True)
        return 0.5 * y @ linalg.cho_solve(factor, y) + jnp.sum(jnp.log(jnp.diag(factor[0])))

    values, gradients = jax.vmap(jax.value_and_grad(loss))(scales)
    factors = jnp.linalg.cholesky(jnp.stack([jnp.eye(3) * 4 + 1, jnp.eye(3) - 2]))
    upper = linalg.cholesky(kernel(scales[0], x[:6], x[:6]) + jnp.eye(6), lower=False)
    return values, gradients, factors, upper


def spectra(symmetric, general, tall):
    """Eigenvalues and singular values, and the matrices put together again from their parts."""
    values, vectors = jnp.linalg.eigh(symmetric)
    again = (vectors * values[..., None, :]) @ vectors.conj().mT
    left, singular, right = jnp.linalg.svd(tall, full_matrices=False)
    whole = jnp.linalg.svd(tall, full_matrices=True)[0]
    roots, directions = jnp.linalg.eig(general)
    residual = general @ directions - directions * roots[..., None, :]
    form, basis = linalg.schur(general[0])
    gradient = jax.grad(lambda m: jnp.sum(jnp.linalg.eigvalsh(m @ m.mT)**1.5))(tall[0])
    return (values, again, singular, (left * singular[..., None, :]) @ right, jnp.abs(whole @ whole.conj().mT), jnp.sort(jnp.abs(roots), axis=-1),
            jnp.abs(residual) < 1e-8, basis @ form @ basis.T, jnp.linalg.pinv(tall), jnp.linalg.matrix_rank(tall), linalg.expm(general[0] * 0.1),
            jnp.linalg.svd(tall, compute_uv=False), gradient)


def orthogonal(tall, wide, rhs):
    """Householder factors: QR with and without pivots, least squares, Hessenberg and tridiagonal forms."""
    q, r = jnp.linalg.qr(tall)
    whole = jnp.linalg.qr(tall, mode="complete")[0]
    pq, pr, order = linalg.qr(tall[0], mode="economic", pivoting=True)
    square = wide[0, :, :3]
    h, basis = linalg.hessenberg(square, calc_q=True)
    arr, diagonal, beside, _ = jax.lax.linalg.tridiagonal(square + square.conj().T)
    spectrum = jnp.linalg.eigvalsh(jnp.diag(diagonal) + jnp.diag(beside, 1) + jnp.diag(beside, -1))
    lower, upper = jnp.zeros(3).at[1:].set(1.0), jnp.zeros(3).at[:2].set(-1.0)
    system = jax.lax.linalg.tridiagonal_solve(lower.astype(rhs.dtype), jnp.full(3, 4, rhs.dtype), upper.astype(rhs.dtype), rhs[:3])
    return (q @ r, jnp.abs(q.conj().mT @ q), jnp.abs(whole @ whole.conj().mT), jnp.abs(jnp.linalg.qr(wide, mode="r")), pq @ pr, order,
            basis @ h @ basis.conj().T, spectrum, system, jnp.linalg.lstsq(tall[0], rhs)[0])


def complexes(seed, *shape, dtype=np.complex128):
    return (normal(seed, *shape, dtype=np.float64) + 1j * normal(seed + 1, *shape, dtype=np.float64)).astype(dtype)


def hermitian(matrix):
    return matrix + np.conj(np.swapaxes(matrix, -1, -2))


_double = ("f64 1e-9 relative", "c128 1e-9 relative")
PROGRAMS = [
    Program("fourier", "Fourier transforms of real and complex data in one to three dimensions.", fourier,
            (normal(1, 3, 64), normal(2, 24, 24), complexes(3, 33, dtype=np.complex64)), ("f32 4e-6 relative", "c64 4e-6 relative")),
    Program("linear_systems", "LU factors, determinants, inverses and triangular systems by LAPACK's custom calls.", linear_systems,
            (normal(5, 6, 6) + 2 * np.eye(6, dtype=np.float32), normal(6, 6, 2), normal(7, 3, 4, 4), normal(8, 3, 4, 2)), ("f32 1e-4 relative",), "full"),
    Program("linear_systems_c128", "The same of complex matrices in double precision.", linear_systems,
            (complexes(9, 6, 6), complexes(11, 6, 2), complexes(13, 3, 4, 4), complexes(15, 3, 4, 2)), _double, "full", True),
    Program("gaussian_process", "A Gaussian process by Cholesky factors, with its gradient.", gaussian_process,
            (np.linspace(0, 3, 12), normal(17, 12, dtype=np.float64), np.array([[1, 0.5, 0.1], [2, 1, 0.3]])), ("f64 1e-8 relative",), "full", True),
    Program("spectra", "Eigenvalues, singular values and Schur forms.", spectra,
            (hermitian(normal(18, 3, 5, 5, dtype=np.float64)), normal(19, 3, 5, 5, dtype=np.float64), normal(20, 2, 7, 4, dtype=np.float64)), _double, "full",
            True),
    Program("orthogonal", "QR, least squares, Hessenberg and tridiagonal forms of complex matrices.", orthogonal,
            (complexes(21, 2, 6, 3), complexes(23, 2, 3, 5), complexes(25, 6, 2)), _double, "full", True),
]
