"""Statistics, robots, physics and games by packages from PyPI."""

import importlib.resources

import jax
import jax.numpy as jnp
import numpy as np
from jax_programs import Program, f32, program


# --- statistics ---
def eight_schools(y, sigma):
    import numpyro
    from numpyro import distributions
    mean = numpyro.sample("mean", distributions.Normal(0, 5))
    scale = numpyro.sample("scale", distributions.HalfCauchy(5))
    with numpyro.plate("schools", 8):
        theta = numpyro.sample("theta", distributions.Normal(mean, scale))
        numpyro.sample("y", distributions.Normal(theta, sigma), obs=y)


def eight_schools_data():
    return np.array([28.0, 8, -3, 7, -1, 1, 18, 12], np.float32), np.array([15.0, 10, 16, 11, 9, 11, 10, 18], np.float32)


def logistic(x, y):
    import numpyro
    from numpyro import distributions
    weights = numpyro.sample("weights", distributions.Normal(0, 1).expand([x.shape[1]]).to_event(1))
    with numpyro.plate("data", x.shape[0]):
        numpyro.sample("y", distributions.Bernoulli(logits=x @ weights), obs=y)


def numpyro_steps(kernel, steps, *data):
    """`steps` of a sampler from its state after warming up none."""
    state = kernel.init(jax.random.key(0), 0, None, model_args=data, model_kwargs={})

    def run(state):
        return jax.lax.scan(lambda state, _: (kernel.sample(state, data, {}), None), state, length=steps)[0].potential_energy
    return Program(run, [state])


@program
def numpyro_nuts_eight_schools(generator, device):
    from numpyro import infer
    return numpyro_steps(infer.NUTS(eight_schools, step_size=0.1, adapt_step_size=False, max_tree_depth=5), 10, *eight_schools_data())


@program
def numpyro_hmc_logistic(generator, device):
    from numpyro import infer
    x = f32(generator, 500, 10)
    return numpyro_steps(infer.HMC(logistic, step_size=0.01, num_steps=10, adapt_step_size=False), 10, x, (x[:, 0] > 0).astype(np.int32))


@program
def numpyro_svi(generator, device):
    from numpyro import infer, optim
    y, sigma = eight_schools_data()
    svi = infer.SVI(eight_schools, infer.autoguide.AutoNormal(eight_schools), optim.Adam(0.05), infer.Trace_ELBO())
    state = svi.init(jax.random.key(0), y, sigma)
    return Program(lambda state: jax.lax.scan(lambda state, _: svi.update(state, y, sigma), state, length=100)[1], [state])


@program
def numpyro_enumerated_markov_chain(generator, device):
    import funsor  # noqa: F401, which numpyro enumerates with
    import numpyro
    from numpyro import distributions, infer
    from numpyro.contrib.control_flow import scan

    def model(x):
        transitions = numpyro.sample("transitions", distributions.Dirichlet(jnp.ones((4, 4))).to_event(1))
        means = numpyro.sample("means", distributions.Normal(jnp.arange(4.0), 1).to_event(1))

        def step(state, x):
            state = numpyro.sample("state", distributions.Categorical(transitions[state]), infer={"enumerate": "parallel"})
            numpyro.sample("x", distributions.Normal(means[state], 1.0), obs=x)
            return state, None
        scan(step, 0, x)
    return numpyro_steps(infer.HMC(model, step_size=0.01, num_steps=5, adapt_step_size=False), 3, f32(generator, 60))


def gaussian_target(x):
    return -0.5 * jnp.sum(x ** 2 * jnp.arange(1.0, 11.0))


def blackjax_steps(algorithm, steps):
    def run(key, start):
        step = lambda state, key: (algorithm.step(key, state)[0], None)
        return jax.lax.scan(step, algorithm.init(start), jax.random.split(key, steps))[0].position
    return Program(run, [jax.random.key(0), jnp.ones(10)])


@program
def blackjax_nuts(generator, device):
    import blackjax
    return blackjax_steps(blackjax.nuts(gaussian_target, 0.2, jnp.ones(10)), 20)


@program
def blackjax_hmc(generator, device):
    import blackjax
    return blackjax_steps(blackjax.hmc(gaussian_target, 0.1, jnp.ones(10), 10), 50)


@program
def blackjax_smc(generator, device):
    import blackjax
    from blackjax.smc import resampling
    smc = blackjax.tempered_smc(lambda x: -0.5 * jnp.sum(x ** 2), gaussian_target, blackjax.hmc.build_kernel(), blackjax.hmc.init,
                                {"step_size": jnp.array([0.1]), "inverse_mass_matrix": jnp.ones((1, 10)), "num_integration_steps": jnp.array([5])},
                                resampling.systematic, num_mcmc_steps=2)

    def run(key, particles):
        def step(state, inputs):
            return smc.step(inputs[0], state, inputs[1])[0], None
        return jax.lax.scan(step, smc.init(particles), (jax.random.split(key, 5), jnp.linspace(0.2, 1, 5)))[0].particles
    return Program(run, [jax.random.key(0), f32(generator, 200, 10)])


@program
def tinygp_gradient_f64(generator, device):
    import tinygp

    def loss(p, x, y):
        kernel = jnp.exp(p["a"]) * tinygp.kernels.Matern52(jnp.exp(p["l"])) + tinygp.kernels.ExpSineSquared(scale=2.0, gamma=jnp.exp(p["g"]))
        return -tinygp.GaussianProcess(kernel, x, diag=jnp.exp(p["s"])).log_probability(y)
    x = np.sort(generator.uniform(0, 10, 200))
    return Program(jax.value_and_grad(loss), [dict(a=0.1, l=0.2, g=0.3, s=-2.0), jnp.asarray(x), jnp.sin(x)])


@program
def tinygp_quasiseparable_f64(generator, device):
    import tinygp

    def loss(p, x, y):
        kernel = tinygp.kernels.quasisep.SHO(omega=jnp.exp(p[0]), quality=jnp.exp(p[1])) + tinygp.kernels.quasisep.Matern32(scale=jnp.exp(p[2]))
        return -tinygp.GaussianProcess(kernel, x, diag=0.1).log_probability(y)
    x = np.sort(generator.uniform(0, 10, 1000))
    return Program(jax.value_and_grad(loss), [jnp.array([0.1, 0.5, 0.3]), jnp.asarray(x), jnp.sin(x)])


@program
def gpjax_marginal_likelihood_f64(generator, device):
    import gpjax
    from flax import nnx
    x = np.sort(generator.uniform(0, 10, (150, 1)), axis=0)
    data = gpjax.Dataset(jnp.asarray(x), jnp.sin(x))
    prior = gpjax.gps.Prior(mean_function=gpjax.mean_functions.Zero(), kernel=gpjax.kernels.RBF())
    graph, state = nnx.split(prior * gpjax.likelihoods.Gaussian(num_datapoints=150))
    return Program(jax.value_and_grad(lambda state: gpjax.objectives.conjugate_mll(nnx.merge(graph, state), data), allow_int=True), [state])


@program
def dynamax_kalman_gradient(generator, device):
    from dynamax.linear_gaussian_ssm import LinearGaussianSSM
    model = LinearGaussianSSM(4, 2)
    parameters = model.initialize(jax.random.key(0))[0]
    return Program(jax.grad(lambda p, y: model.marginal_log_prob(p, y)), [parameters, f32(generator, 100, 2)])


@program
def dynamax_hidden_markov_smoother(generator, device):
    from dynamax.hidden_markov_model import hmm_posterior_mode, hmm_smoother

    def smooth(start, transitions, likelihoods):
        start, transitions = jax.nn.softmax(start), jax.nn.softmax(transitions)
        return hmm_smoother(start, transitions, likelihoods).smoothed_probs, hmm_posterior_mode(start, transitions, likelihoods)
    return Program(smooth, [f32(generator, 50), f32(generator, 50, 50), f32(generator, 500, 50)])


@program
def tfp_nuts(generator, device):
    from tensorflow_probability.substrates import jax as tfp
    kernel = tfp.mcmc.NoUTurnSampler(lambda x: -0.5 * (x ** 2 * jnp.arange(1.0, 6)).sum(-1), 0.1, max_tree_depth=4)
    return Program(lambda key, start: tfp.mcmc.sample_chain(5, start, kernel=kernel, seed=key, trace_fn=None), [jax.random.key(0), jnp.ones((4, 5))])


@program
def pyhgf_binary_gradient(generator, device):
    from pyhgf.model import Network
    network = Network().add_nodes(kind="binary-state").add_nodes(value_children=0).add_nodes(volatility_children=1).create_belief_propagation_fn()
    u = jnp.asarray((generator.uniform(size=(320, 1)) > 0.4).astype(np.float32))

    def surprise(volatility, u):
        attributes = {**network.attributes, 1: {**network.attributes[1], "tonic_volatility": volatility}}
        inputs = (u,), (jnp.ones(320, int),), jnp.ones(320), None
        return jax.lax.scan(network.scan_fn, attributes, inputs)[1][0]["expected_mean"].sum()
    return Program(jax.value_and_grad(surprise), [jnp.float32(-3.0), u])


# --- robots ---
@program
def frax_panda_mass_matrix(generator, device):
    from frax.robots.franka_panda import load_panda
    robot = load_panda()
    return Program(robot.mass_matrix, [jnp.asarray(generator.uniform(-1, 1, 7).astype(np.float32))])


@program
def frax_panda_controller(generator, device):
    from frax.robots.franka_panda import load_panda
    robot = load_panda()

    def control(q, v):
        m, bias, jacobian = robot.mass_matrix(q), robot.nonlinear_bias(q, v), robot.ee_jacobian(q)
        inertia = jnp.linalg.inv(jacobian @ jnp.linalg.solve(m, jacobian.T))
        return jacobian.T @ (inertia @ (-jacobian @ v)) + bias
    return Program(control, [f32(generator, 7), f32(generator, 7)])


@program
def frax_g1_mass_matrix(generator, device):
    from frax.robots.unitree_g1 import load_fixed_root_g1
    robot = load_fixed_root_g1()
    return Program(robot.mass_matrix, [0.3 * f32(generator, robot.nq)])


@program
def frax_g1_forward_dynamics_gradient(generator, device):
    from frax.robots.unitree_g1 import load_fixed_root_g1
    robot = load_fixed_root_g1()
    arguments = [0.3 * f32(generator, robot.nq), f32(generator, robot.nq), f32(generator, robot.nq)]
    return Program(jax.grad(lambda q, v, t: (robot.forward_dynamics(q, v, t, None) ** 2).sum(), (0, 1)), arguments)


def brax_steps(name, backend, batch, steps):
    from brax import envs
    environment = envs.get_environment(name, backend=backend)
    state = jax.jit(jax.vmap(environment.reset))(jax.random.split(jax.random.key(0), batch))

    def run(state, action):
        return jax.lax.scan(lambda state, _: (jax.vmap(environment.step)(state, action), None), state, length=steps)[0].obs
    return Program(run, [state, jnp.full((batch, environment.action_size), 0.1)])


@program
def brax_ant_spring(generator, device):
    return brax_steps("ant", "spring", 16, 4)


@program
def brax_half_cheetah_positional(generator, device):
    return brax_steps("halfcheetah", "positional", 16, 2)


@program
def brax_inverted_pendulum_generalized(generator, device):
    return brax_steps("inverted_pendulum", "generalized", 16, 4)


@program
def brax_ant_generalized_one(generator, device):
    return brax_steps("ant", "generalized", 1, 1)


def mjx_steps(path, batch, steps):
    import mujoco
    from mujoco import mjx
    model = mujoco.MjModel.from_xml_path(str(importlib.resources.files("brax") / "envs" / "assets" / path))
    model.opt.iterations, model.opt.ls_iterations = 4, 8
    compiled = mjx.put_model(model, impl="jax")
    data = mjx.make_data(model, impl="jax")
    datas = jax.tree.map(lambda x: jnp.stack([x] * batch), data)

    def run(datas):
        return jax.lax.fori_loop(0, steps, lambda _, datas: jax.vmap(mjx.step, (None, 0))(compiled, datas), datas).qpos
    return Program(run, [datas])


@program
def mjx_hopper(generator, device):
    return mjx_steps("hopper.xml", 8, 4)


@program
def mjx_humanoid(generator, device):
    return mjx_steps("humanoid.xml", 4, 1)


def sdf_arm(links):
    """A chain of `links` with hinges about x and y by turns, in the format SDF."""
    inertia = "<inertial><mass>1</mass><inertia><ixx>0.01</ixx><iyy>0.01</iyy><izz>0.01</izz></inertia></inertial>"
    parts = [f'<link name="l{i}"><pose>0 0 {0.2 * i} 0 0 0</pose>{inertia}</link>' for i in range(links + 1)]
    for i in range(links):
        axis = "1 0 0" if i % 2 else "0 1 0"
        parts.append(f'<joint name="j{i}" type="revolute"><parent>l{i}</parent><child>l{i + 1}</child><axis><xyz>{axis}</xyz></axis></joint>')
    return f'<sdf version="1.9"><model name="arm">{"".join(parts)}</model></sdf>'


@program
def jaxsim_forward_dynamics_f64(generator, device):
    import jaxsim.api as js
    model = js.model.JaxSimModel.build_from_model_description(sdf_arm(8))
    data = js.data.JaxSimModelData.build(model=model)
    return Program(lambda model, data, tau: js.model.forward_dynamics(model, data, joint_forces=tau), [model, data, jnp.asarray(generator.uniform(-1, 1, 8))])


# --- physics ---
@program
def jax_md_lennard_jones(generator, device):
    from jax_md import energy, simulate, space
    displacement, shift = space.periodic(6.0)
    init, apply = simulate.nve(energy.lennard_jones_pair(displacement), shift, 1e-3)
    points = np.stack(np.meshgrid(*[np.arange(5) * 1.2] * 3), -1).reshape(-1, 3).astype(np.float32)
    state = jax.jit(init)(jax.random.key(0), jnp.asarray(points), kT=0.1)
    return Program(lambda state: jax.lax.fori_loop(0, 10, lambda _, state: apply(state), state).position, [state])


@program
def jax_md_neighbor_list(generator, device):
    from jax_md import energy, space
    displacement, _ = space.periodic(12.0)
    neighbors, function = energy.lennard_jones_neighbor_list(displacement, 12.0, r_cutoff=2.0)
    points = np.stack(np.meshgrid(*[np.arange(10) * 1.2] * 3), -1).reshape(-1, 3).astype(np.float32)
    points = jnp.asarray(points + generator.uniform(-0.1, 0.1, points.shape).astype(np.float32))
    found = neighbors.allocate(points)
    return Program(jax.grad(lambda points, found: function(points, found.update(points))), [points, found])


@program
def jax_cosmo_angular_cl(generator, device):
    import jax_cosmo

    def spectra(omega, sigma8):
        cosmology = jax_cosmo.Planck15(Omega_c=omega, sigma8=sigma8)
        redshifts = [jax_cosmo.redshift.smail_nz(1.0, 2.0, z) for z in (0.5, 1.0)]
        return jax_cosmo.angular_cl.angular_cl(cosmology, jnp.logspace(1, 3, 20), [jax_cosmo.probes.WeakLensing(redshifts)])
    return Program(spectra, [0.25, 0.8])


@program
def jax_cosmo_power_gradient(generator, device):
    import jax_cosmo
    power = lambda omega: jax_cosmo.power.linear_matter_power(jax_cosmo.Planck15(Omega_c=omega), jnp.logspace(-2, 1, 50)).sum()
    return Program(jax.grad(power), [0.25])


@program
def jaxley_cell_gradient(generator, device):
    import jaxley as jx
    from jaxley.channels import HH
    cell = jx.Cell([jx.Branch(jx.Compartment(), ncomp=4)] * 5, parents=[-1, 0, 0, 1, 1])
    cell.insert(HH())
    cell.branch(0).loc(0.0).record(verbose=False)
    cell.branch(0).loc(0.0).stimulate(jx.step_current(i_delay=0.5, i_dur=1.0, i_amp=0.1, delta_t=0.025, t_max=3.0), verbose=False)
    cell.make_trainable("HH_gNa", verbose=False)
    return Program(jax.grad(lambda p: jx.integrate(cell, params=p).mean()), [cell.get_parameters()])


@program
def jnkepler_transit_times_gradient_f64(generator, device):
    import pandas
    from jnkepler.jaxttv import JaxTTV
    from jnkepler.jaxttv.utils import elements_to_pdic, params_to_elements
    folder = importlib.resources.files("jnkepler") / "data"
    table = pandas.read_csv(folder / "kep51_ttv.txt", sep=r"\s+", header=None, names=["tnum", "tc", "tcerr", "dnum", "planum"])
    observed = [np.array(table.tc[table.planum == planet + 1]) for planet in range(3)]
    errors = [np.array(table.tcerr[table.planum == planet + 1]) for planet in range(3)]
    model = JaxTTV(155.0, 2950.0, 1.0, observed, [45.155305, 85.31646, 130.17809], errorobs=errors, print_info=False)
    given = np.loadtxt(next(folder.glob("kep51_dt*params.txt")))
    parameters = elements_to_pdic(*params_to_elements(given, 3), force_coplanar=False)
    parameters["pmass"] = parameters["mass"]
    return Program(jax.grad(lambda p: model.get_transit_times_obs(p)[0].sum()), [{name: jnp.asarray(value) for name, value in parameters.items()}])


@program
def s2fft_forward_f64(generator, device):
    import s2fft
    flm = s2fft.utils.signal_generator.generate_flm(generator, 32)
    f = s2fft.inverse(flm, 32, method="numpy")
    return Program(lambda f: s2fft.forward_jax(f, 32), [jnp.asarray(f)])


@program
def dynamiqs_lindblad(generator, device):
    import dynamiqs as dq
    dq.set_progress_meter(False)
    n = 16
    a = dq.destroy(n)

    def run(amplitude):
        result = dq.mesolve(amplitude * (a + a.dag()) + a.dag() @ a, [0.3 * a], dq.fock(n, 0), jnp.linspace(0, 2.0, 11), exp_ops=[a.dag() @ a])
        return result.expects
    return Program(run, [0.5])


@program
def dynamiqs_schroedinger_gradient(generator, device):
    import dynamiqs as dq
    dq.set_progress_meter(False)
    a = dq.destroy(8)

    def loss(amplitude):
        result = dq.sesolve(amplitude * (a + a.dag()) + a.dag() @ a, dq.fock(8, 0), jnp.linspace(0, 1.0, 5), exp_ops=[a.dag() @ a])
        return result.expects.real.sum()
    return Program(jax.grad(loss), [0.5])


@program
def netket_local_energy_gradient_f64(generator, device):
    import netket
    graph = netket.graph.Chain(12)
    space = netket.hilbert.Spin(0.5, graph.n_nodes)
    hamiltonian = netket.operator.Ising(space, graph, h=1.0).to_jax_operator()
    model = netket.models.RBM(alpha=2, param_dtype=float)
    samples = space.random_state(jax.random.key(0), 256)
    parameters = model.init(jax.random.key(1), samples)

    def energy(p, samples):
        connected, elements = hamiltonian.get_conn_padded(samples)
        ratios = jnp.exp(model.apply(p, connected) - model.apply(p, samples)[:, None])
        return (elements * ratios).sum(-1).mean()
    return Program(jax.grad(energy), [parameters, samples])


@program
def netket_metropolis_f64(generator, device):
    import netket
    space = netket.hilbert.Spin(0.5, 12)
    sampler = netket.sampler.MetropolisLocal(space, n_chains=16, sweep_size=12)
    model = netket.models.RBM(alpha=1, param_dtype=float)
    parameters = model.init(jax.random.key(1), space.random_state(jax.random.key(0), 4))
    state = sampler.init_state(model, parameters, seed=1)
    return Program(lambda p, state: sampler.sample(model, p, state=state, chain_length=20)[0], [parameters, state])


# --- games, signatures ---
@program
def pgx_connect_four(generator, device):
    import pgx
    game = pgx.make("connect_four")

    def play(key):
        def step(state, key):
            logits = jnp.where(state.legal_action_mask, 0.0, -jnp.inf)
            actions = jax.random.categorical(key, logits)
            return jax.vmap(game.step)(state, actions), state.rewards
        return jax.lax.scan(step, jax.vmap(game.init)(jax.random.split(key, 64)), jax.random.split(key, 20))[1]
    return Program(play, [jax.random.key(0)])


@program
def gymnax_cart_pole(generator, device):
    import gymnax
    game, parameters = gymnax.make("CartPole-v1")

    def play(key):
        def step(state, key):
            return jax.vmap(game.step, (0, 0, 0, None))(jax.random.split(key, 64), state, jax.random.randint(key, (64,), 0, 2), parameters)[1:3]
        keys = jax.random.split(key, 64)
        return jax.lax.scan(step, jax.vmap(game.reset, (0, None))(keys, parameters)[1], jax.random.split(key, 100))[1]
    return Program(play, [jax.random.key(0)])


@program
def jumanji_snake(generator, device):
    import jumanji
    game = jumanji.make("Snake-v1")

    def play(key):
        def step(state, action):
            state, result = game.step(state, action)
            return state, result.reward
        return jax.lax.scan(step, game.reset(key)[0], jax.random.randint(key, (50,), 0, 4))[1]
    return Program(play, [jax.random.key(0)])


@program
def signax_signature_gradient(generator, device):
    import signax
    return Program(jax.grad(lambda path: (jax.vmap(lambda p: signax.signature(p, 4))(path) ** 2).sum()), [0.1 * f32(generator, 16, 50, 3)])
