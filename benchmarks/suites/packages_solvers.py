"""Equations, integrals and minima by packages from PyPI: lineax, optimistix, diffrax, jaxopt, optax, ott-jax, evosax, interpax."""

import jax
import jax.numpy as jnp
import numpy as np
from jax_programs import Program, f32, program


# --- lineax ---
def system(generator, n, positive=False):
    a = generator.standard_normal((n, n)).astype(np.float32)
    a = a @ a.T / n + np.eye(n, dtype=np.float32) if positive else a + 2 * n ** 0.5 * np.eye(n, dtype=np.float32)
    return [jnp.asarray(a), f32(generator, n)]


def linear_solve(solver, tags=()):
    import lineax
    return lambda a, b: lineax.linear_solve(lineax.MatrixLinearOperator(a, tags), b, solver, throw=False).value


def solve_gradient(solve):
    return jax.grad(lambda a, b: (solve(a, b) ** 2).sum(), argnums=(0, 1))


@program
def lineax_lu(generator, device):
    import lineax
    return Program(linear_solve(lineax.LU()), system(generator, 100))


@program
def lineax_lu_gradient(generator, device):
    import lineax
    return Program(solve_gradient(linear_solve(lineax.LU())), system(generator, 100))


@program
def lineax_qr(generator, device):
    import lineax
    return Program(linear_solve(lineax.QR()), system(generator, 100))


@program
def lineax_svd_gradient(generator, device):
    import lineax
    return Program(solve_gradient(linear_solve(lineax.SVD())), system(generator, 50))


@program
def lineax_cholesky_batch(generator, device):
    import lineax
    solve = jax.vmap(linear_solve(lineax.Cholesky(), lineax.positive_semidefinite_tag))
    return Program(solve, [jnp.stack([system(generator, 6, True)[0] for _ in range(64)]), f32(generator, 64, 6)])


@program
def lineax_cg(generator, device):
    import lineax
    return Program(linear_solve(lineax.CG(1e-5, 1e-5), lineax.positive_semidefinite_tag), system(generator, 200, True))


@program
def lineax_gmres(generator, device):
    import lineax
    return Program(linear_solve(lineax.GMRES(1e-5, 1e-5)), system(generator, 200))


@program
def lineax_gmres_small(generator, device):
    import lineax
    return Program(linear_solve(lineax.GMRES(1e-5, 1e-5)), system(generator, 32))


@program
def lineax_gmres_gradient(generator, device):
    import lineax
    return Program(solve_gradient(linear_solve(lineax.GMRES(1e-5, 1e-5))), system(generator, 200))


@program
def lineax_bicgstab(generator, device):
    import lineax
    return Program(linear_solve(lineax.BiCGStab(1e-5, 1e-5)), system(generator, 200))


@program
def lineax_cg_gradient(generator, device):
    import lineax
    solve = linear_solve(lineax.CG(1e-5, 1e-5), lineax.positive_semidefinite_tag)
    return Program(jax.grad(lambda a, b: (solve(a @ a.T + jnp.eye(len(b)), b) ** 2).sum(), argnums=(0, 1)), [0.1 * f32(generator, 100, 100), f32(generator, 100)])


@program
def lineax_tridiagonal(generator, device):
    import lineax

    def solve(diagonal, lower, upper, b):
        return lineax.linear_solve(lineax.TridiagonalLinearOperator(diagonal, lower, upper), b, lineax.Tridiagonal()).value
    return Program(solve, [4 + f32(generator, 1000) ** 2, f32(generator, 999), f32(generator, 999), f32(generator, 1000)])


# --- optimistix ---
def rosenbrock(y, _):
    return jnp.concatenate([10 * (y[1:] - y[:-1] ** 2), 1 - y[:-1]])


@program
def optimistix_levenberg_marquardt(generator, device):
    import optimistix
    solver = optimistix.LevenbergMarquardt(1e-5, 1e-5)
    return Program(lambda y: optimistix.least_squares(rosenbrock, solver, y, max_steps=200, throw=False).value, [f32(generator, 20)])


@program
def optimistix_bfgs(generator, device):
    import optimistix
    solver = optimistix.BFGS(1e-5, 1e-5)
    return Program(lambda y: optimistix.minimise(lambda y, a: (rosenbrock(y, a) ** 2).sum(), solver, y, max_steps=60, throw=False).value, [f32(generator, 20)])


@program
def optimistix_newton_gradient(generator, device):
    import optimistix

    def root(a, y):
        return optimistix.root_find(lambda y, a: y - jnp.tanh(a @ y) - 0.5, optimistix.Newton(1e-5, 1e-5), y, a, throw=False).value
    return Program(jax.grad(lambda a, y: root(a, y).sum()), [0.1 * f32(generator, 16, 16), f32(generator, 16)])


# --- diffrax ---
def lotka_volterra(t, y, a):
    return jnp.stack([a[0] * y[0] - y[0] * y[1], -y[1] + a[1] * y[0] * y[1]])


def solve_ode(adjoint=None, solver=None, **arguments):
    import diffrax
    more = {"adjoint": adjoint} if adjoint else {}

    def solve(a, y):
        return diffrax.diffeqsolve(diffrax.ODETerm(lotka_volterra), solver or diffrax.Tsit5(), 0, 10, 0.05, y, args=a, max_steps=512,
                                   stepsize_controller=diffrax.PIDController(1e-5, 1e-6), **more, **arguments).ys
    return solve


def ode_arguments():
    return [jnp.array([1.1, 0.9]), jnp.array([1.0, 2.0])]


@program
def diffrax_tsit5(generator, device):
    return Program(solve_ode(), ode_arguments())


@program
def diffrax_tsit5_save_and_batch(generator, device):
    import diffrax
    solve = solve_ode(saveat=diffrax.SaveAt(ts=np.linspace(0, 10, 50)))
    return Program(jax.vmap(solve, (None, 0)), [ode_arguments()[0], 1 + f32(generator, 32, 2) ** 2])


@program
def diffrax_checkpoint_gradient(generator, device):
    solve = solve_ode()
    return Program(jax.grad(lambda a, y: solve(a, y).sum()), ode_arguments())


@program
def diffrax_backsolve_gradient(generator, device):
    import diffrax
    solve = solve_ode(diffrax.BacksolveAdjoint())
    return Program(jax.grad(lambda a, y: solve(a, y).sum()), ode_arguments())


@program
def diffrax_kvaerno5_robertson_f64(generator, device):
    import diffrax

    def robertson(t, y, k):
        f0 = -k[0] * y[0] + k[2] * y[1] * y[2]
        f2 = k[1] * y[1] ** 2
        return jnp.stack([f0, -f0 - f2, f2])

    def solve(k, y):
        return diffrax.diffeqsolve(diffrax.ODETerm(robertson), diffrax.Kvaerno5(), 0, 100, 2e-4, y, args=k,
                                   stepsize_controller=diffrax.PIDController(1e-7, 1e-9)).ys
    return Program(solve, [jnp.array([0.04, 3e7, 1e4]), jnp.array([1.0, 0.0, 0.0])])


@program
def diffrax_sde(generator, device):
    import diffrax

    def solve(key, y):
        path = diffrax.VirtualBrownianTree(0.0, 1.0, 1e-3, (4,), key)
        terms = diffrax.MultiTerm(diffrax.ODETerm(lambda t, y, _: -y), diffrax.ControlTerm(lambda t, y, _: jnp.diag(0.1 + 0.1 * jnp.tanh(y)), path))
        return diffrax.diffeqsolve(terms, diffrax.Heun(), 0.0, 1.0, 0.01, y, adjoint=diffrax.DirectAdjoint()).ys
    return Program(solve, [jax.random.key(0), f32(generator, 4)])


@program
def diffrax_neural_ode_gradient(generator, device):
    import diffrax
    import equinox
    parameters, rest = equinox.partition(equinox.nn.MLP(4, 4, 32, 2, activation=jnp.tanh, key=jax.random.key(0)), equinox.is_array)

    def loss(parameters, y):
        model = equinox.combine(parameters, rest)
        solve = lambda y: diffrax.diffeqsolve(diffrax.ODETerm(lambda t, y, _: model(y)), diffrax.Tsit5(), 0.0, 1.0, 0.1, y, max_steps=64,
                                              stepsize_controller=diffrax.PIDController(1e-3, 1e-4)).ys
        return (jax.vmap(solve)(y) ** 2).mean()
    return Program(jax.grad(loss), [parameters, f32(generator, 16, 4)])


# --- jaxopt, optax ---
@program
def jaxopt_lbfgs(generator, device):
    import jaxopt
    solver = jaxopt.LBFGS(lambda y: (rosenbrock(y, None) ** 2).sum(), maxiter=40)
    return Program(lambda y: solver.run(y).params, [f32(generator, 20)])


@program
def jaxopt_lasso_f64(generator, device):
    import jaxopt
    from jaxopt import objective, prox
    solver = jaxopt.ProximalGradient(objective.least_squares, prox.prox_lasso, maxiter=100, tol=0)
    x, y = generator.standard_normal((200, 50)), generator.standard_normal(200)
    return Program(lambda w, x, y: solver.run(w, hyperparams_prox=0.1, data=(x, y)).params, [jnp.zeros(50), jnp.asarray(x), jnp.asarray(y)])


@program
def jaxopt_osqp_f64(generator, device):
    import jaxopt
    a = generator.standard_normal((20, 20))
    solver = jaxopt.OSQP(maxiter=500, tol=1e-6)
    arguments = [jnp.asarray(a @ a.T + np.eye(20)), jnp.asarray(generator.standard_normal(20)), jnp.asarray(generator.standard_normal((10, 20)))]
    return Program(lambda q, c, g: solver.run(params_obj=(q, c), params_ineq=(g, jnp.ones(10))).params.primal, arguments)


@program
def optax_adamw_many_leaves(generator, device):
    import optax
    optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(1e-3))
    parameters = {f"{i}": (f32(generator, 32, 32), f32(generator, 32)) for i in range(40)}

    def step(parameters, state, gradient):
        updates, state = optimizer.update(gradient, state, parameters)
        return optax.apply_updates(parameters, updates), state
    return Program(step, [parameters, optimizer.init(parameters), jax.tree.map(lambda x: 0.1 * x, parameters)])


@program
def optax_lbfgs(generator, device):
    import optax
    optimizer = optax.lbfgs()
    loss = lambda y: (rosenbrock(y, None) ** 2).sum()

    def minimise(y):
        def step(carry, _):
            y, state = carry
            value, gradient = optax.value_and_grad_from_state(loss)(y, state=state)
            updates, state = optimizer.update(gradient, state, y, value=value, grad=gradient, value_fn=loss)
            return (optax.apply_updates(y, updates), state), value
        return jax.lax.scan(step, (y, optimizer.init(y)), length=20)[1]
    return Program(minimise, [f32(generator, 20)])


# --- others ---
@program
def ott_sinkhorn_gradient(generator, device):
    from ott.geometry import pointcloud
    from ott.problems.linear import linear_problem
    from ott.solvers.linear import sinkhorn

    def cost(x, y):
        return sinkhorn.Sinkhorn(max_iterations=100)(linear_problem.LinearProblem(pointcloud.PointCloud(x, y, epsilon=0.1))).reg_ot_cost
    return Program(jax.value_and_grad(cost), [f32(generator, 100, 3), f32(generator, 120, 3)])


@program
def evosax_cma_es(generator, device):
    from evosax.algorithms import CMA_ES
    strategy = CMA_ES(population_size=32, solution=jnp.zeros(10))
    parameters = strategy.default_params

    def run(key, start):
        def step(state, key):
            first, second = jax.random.split(key)
            population, state = strategy.ask(first, state, parameters)
            fitness = ((population - 1) ** 2).sum(-1)
            state, _ = strategy.tell(second, population, fitness, state, parameters)
            return state, fitness.min()
        return jax.lax.scan(step, strategy.init(key, start, parameters), jax.random.split(key, 20))[1]
    return Program(run, [jax.random.key(0), jnp.zeros(10)])


@program
def interpax_cubic(generator, device):
    import interpax
    x = jnp.linspace(0, 1, 100)
    return Program(lambda q, f: interpax.interp1d(q, x, f, method="cubic2"), [jnp.asarray(generator.uniform(0, 1, 5000).astype(np.float32)), jnp.sin(9 * x)])
