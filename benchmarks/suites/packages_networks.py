"""Networks by packages from PyPI: equinox, flax, optax, dm-haiku, keras, jraph, e3nn-jax, distrax, flowjax, rlax and dm-pix."""

import functools
import os

import jax
import jax.numpy as jnp
from jax_programs import Program, f32, program


def training(loss, parameters, optimizer, steps, *data):
    """`steps` of `optimizer` on loss(parameters, *data) in a scan."""
    import optax

    def train(parameters, *data):
        def step(carry, _):
            parameters, state = carry
            value, gradient = jax.value_and_grad(loss)(parameters, *data)
            updates, state = optimizer.update(gradient, state, parameters)
            return (optax.apply_updates(parameters, updates), state), value
        return jax.lax.scan(step, (parameters, optimizer.init(parameters)), length=steps)[1]
    return Program(train, [parameters, *data])


def step(loss, parameters, optimizer, *data):
    """One step of `optimizer`, its parameters and state donated."""
    import optax

    def one(parameters, state, *data):
        value, gradient = jax.value_and_grad(loss)(parameters, *data)
        updates, state = optimizer.update(gradient, state, parameters)
        return optax.apply_updates(parameters, updates), state, value
    return Program(one, [parameters, optimizer.init(parameters), *data], threaded=2)


# --- equinox ---
def arrays_of(model):
    import equinox
    arrays, rest = equinox.partition(model, equinox.is_array)
    return arrays, lambda arrays: equinox.combine(arrays, rest)


@program
def equinox_mlp_100_steps(generator, device):
    import equinox
    import optax
    parameters, model = arrays_of(equinox.nn.MLP(2, 1, 64, 3, key=jax.random.key(0)))
    x = f32(generator, 256, 2)
    return training(lambda p, x, y: ((jax.vmap(model(p))(x) - y) ** 2).mean(), parameters, optax.adam(1e-3), 100, x, jnp.sin(x[:, :1]))


@program
def equinox_mlp_step(generator, device):
    import equinox
    import optax
    parameters, model = arrays_of(equinox.nn.MLP(64, 10, 128, 2, key=jax.random.key(0)))
    return step(lambda p, x, y: optax.softmax_cross_entropy_with_integer_labels(jax.vmap(model(p))(x), y).mean(), parameters, optax.adam(1e-3),
                f32(generator, 128, 64), jnp.arange(128) % 10)


@program
def equinox_gru_gradient(generator, device):
    import equinox
    parameters, model = arrays_of(equinox.nn.GRUCell(8, 32, key=jax.random.key(0)))

    def loss(parameters, x):
        cell = model(parameters)
        return (jax.vmap(lambda x: jax.lax.scan(lambda h, x: (cell(x, h), None), jnp.zeros(32), x)[0])(x) ** 2).mean()
    return Program(jax.grad(loss), [parameters, f32(generator, 16, 50, 8)])


@program
def equinox_lstm_one_sequence(generator, device):
    import equinox
    parameters, model = arrays_of(equinox.nn.LSTMCell(8, 32, key=jax.random.key(0)))

    def run(parameters, x):
        cell = model(parameters)
        return jax.lax.scan(lambda h, x: (cell(x, h), None), (jnp.zeros(32), jnp.zeros(32)), x)[0]
    return Program(run, [parameters, f32(generator, 200, 8)])


@program
def equinox_convolutions_gradient(generator, device):
    import equinox
    first, second = jax.random.split(jax.random.key(0))
    parameters, model = arrays_of(equinox.nn.Sequential([
        equinox.nn.Conv2d(3, 16, 3, padding=1, key=first), equinox.nn.Lambda(jax.nn.relu), equinox.nn.MaxPool2d(2, 2),
        equinox.nn.Conv2d(16, 32, 3, padding=1, key=second), equinox.nn.Lambda(jax.nn.relu), equinox.nn.AvgPool2d(2, 2)]))
    return Program(jax.grad(lambda p, x: (jax.vmap(model(p))(x) ** 2).mean()), [parameters, f32(generator, 8, 3, 32, 32)])


@program
def equinox_attention(generator, device):
    import equinox
    parameters, model = arrays_of(equinox.nn.MultiheadAttention(4, 64, key=jax.random.key(0)))
    return Program(lambda p, x: jax.vmap(lambda x: model(p)(x, x, x))(x), [parameters, f32(generator, 8, 64, 64)])


# --- flax ---
def transformer_block():
    import flax.linen as nn

    class Block(nn.Module):
        @nn.compact
        def __call__(self, x):
            x = x + nn.SelfAttention(4)(nn.LayerNorm()(x), mask=nn.make_causal_mask(x[..., 0]))
            return x + nn.Dense(x.shape[-1])(nn.gelu(nn.Dense(4 * x.shape[-1])(nn.LayerNorm()(x))))

    class Model(nn.Module):
        @nn.compact
        def __call__(self, tokens):
            x = nn.Embed(100, 64)(tokens) + nn.Embed(64, 64)(jnp.arange(tokens.shape[1]))
            for _ in range(2):
                x = Block()(x)
            return nn.Dense(100)(nn.LayerNorm()(x))
    return Model()


@program
def flax_transformer_step(generator, device):
    import optax
    model, tokens = transformer_block(), jnp.asarray(generator.integers(0, 100, (8, 64)))
    loss = lambda p, tokens: optax.softmax_cross_entropy_with_integer_labels(model.apply(p, tokens)[:, :-1], tokens[:, 1:]).mean()
    return step(loss, model.init(jax.random.key(0), tokens), optax.adamw(1e-3), tokens)


@program
def flax_transformer_forward(generator, device):
    model, tokens = transformer_block(), jnp.asarray(generator.integers(0, 100, (1, 64)))
    return Program(model.apply, [model.init(jax.random.key(0), tokens), tokens])


@program
def flax_cnn_step(generator, device):
    import flax.linen as nn
    import optax

    class Model(nn.Module):
        @nn.compact
        def __call__(self, x):
            x = nn.avg_pool(nn.relu(nn.Conv(32, (3, 3))(x)), (2, 2), (2, 2))
            x = nn.avg_pool(nn.relu(nn.Conv(64, (3, 3))(x)), (2, 2), (2, 2))
            return nn.Dense(10)(nn.relu(nn.Dense(256)(x.reshape(x.shape[0], -1))))
    model, x = Model(), f32(generator, 32, 28, 28, 1)
    loss = lambda p, x, y: optax.softmax_cross_entropy_with_integer_labels(model.apply(p, x), y).mean()
    return step(loss, model.init(jax.random.key(0), x), optax.sgd(1e-2, 0.9), x, jnp.arange(32) % 10)


@program
def flax_lstm_gradient(generator, device):
    import flax.linen as nn
    model, x = nn.RNN(nn.OptimizedLSTMCell(32)), f32(generator, 16, 40, 8)
    return Program(jax.grad(lambda p, x: (model.apply(p, x) ** 2).mean()), [model.init(jax.random.key(0), x), x])


@program
def flax_nnx_step(generator, device):
    import optax
    from flax import nnx

    class Model(nnx.Module):
        def __init__(self, rngs):
            self.inner, self.norm, self.outer = nnx.Linear(32, 64, rngs=rngs), nnx.LayerNorm(64, rngs=rngs), nnx.Linear(64, 4, rngs=rngs)

        def __call__(self, x):
            return self.outer(nnx.gelu(self.norm(self.inner(x))))
    graph, parameters = nnx.split(Model(nnx.Rngs(0)))
    return step(lambda p, x: (nnx.merge(graph, p)(x) ** 2).mean(), parameters, optax.adam(1e-2), f32(generator, 64, 32))


# --- haiku, keras ---
@program
def haiku_resnet_block_step(generator, device):
    import haiku as hk
    import optax

    def network(x):
        for width in (16, 32):
            y = jax.nn.relu(hk.BatchNorm(True, True, 0.9)(hk.Conv2D(width, 3, 2)(x), True))
            x = hk.Conv2D(width, 1, 2)(x) + hk.BatchNorm(True, True, 0.9)(hk.Conv2D(width, 3)(y), True)
        return hk.Linear(10)(x.mean((1, 2)))
    model, x = hk.transform_with_state(network), f32(generator, 16, 32, 32, 3)
    parameters, state = model.init(jax.random.key(0), x)
    loss = lambda p, state, x: (model.apply(p, state, None, x)[0] ** 2).mean()
    return step(loss, parameters, optax.adam(1e-3), state, x)


@program
def haiku_lstm_gradient(generator, device):
    import haiku as hk
    model = hk.without_apply_rng(hk.transform(lambda x: hk.dynamic_unroll(hk.LSTM(32), x, hk.LSTM(32).initial_state(16))[0]))
    x = f32(generator, 40, 16, 8)
    return Program(jax.grad(lambda p, x: (model.apply(p, x) ** 2).mean()), [model.init(jax.random.key(0), x), x])


@program
def keras_dense_step(generator, device):
    os.environ["KERAS_BACKEND"] = "jax"
    import keras
    keras.utils.set_random_seed(0)
    model = keras.Sequential([keras.layers.Input((64,)), keras.layers.Dense(128, "relu"), keras.layers.Dense(128, "relu"), keras.layers.Dense(10)])
    optimizer, loss_of = keras.optimizers.Adam(1e-3), keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    optimizer.build(model.trainable_variables)
    values = lambda variables: [jnp.asarray(variable.value) for variable in variables]

    def one(trainable, state, fixed, x, y):
        loss = lambda trainable: loss_of(y, model.stateless_call(trainable, fixed, x)[0])
        value, gradient = jax.value_and_grad(loss)(trainable)
        return *optimizer.stateless_apply(state, gradient, trainable), value
    return Program(one, [values(model.trainable_variables), values(optimizer.variables), values(model.non_trainable_variables),
                         f32(generator, 128, 64), jnp.arange(128) % 10], threaded=2)


@program
def keras_convolutions_forward(generator, device):
    os.environ["KERAS_BACKEND"] = "jax"
    import keras
    keras.utils.set_random_seed(0)
    layers = keras.layers
    model = keras.Sequential([layers.Input((32, 32, 3)), layers.Conv2D(16, 3, activation="relu"), layers.BatchNormalization(), layers.MaxPooling2D(),
                              layers.SeparableConv2D(32, 3, activation="relu"), layers.GlobalAveragePooling2D(), layers.Dense(10, "softmax")])
    values = lambda variables: [jnp.asarray(variable.value) for variable in variables]
    return Program(lambda t, f, x: model.stateless_call(t, f, x)[0],
                   [values(model.trainable_variables), values(model.non_trainable_variables), f32(generator, 16, 32, 32, 3)])


# --- graphs, geometry ---
@program
def jraph_message_passing_gradient(generator, device):
    import haiku as hk
    import jraph
    import numpy as np
    nodes, edges = 200, 1000
    graph = jraph.GraphsTuple(nodes=f32(generator, nodes, 16), edges=f32(generator, edges, 8), globals=f32(generator, 1, 4),
                              senders=jnp.asarray(generator.integers(0, nodes, edges).astype(np.int32)),
                              receivers=jnp.asarray(generator.integers(0, nodes, edges).astype(np.int32)), n_node=jnp.array([nodes]), n_edge=jnp.array([edges]))

    def network(graph):
        update = lambda width: jraph.concatenated_args(hk.nets.MLP([32, width]))
        for _ in range(2):
            graph = jraph.GraphNetwork(update(8), update(16), update(4))(graph)
        return graph.globals
    model = hk.without_apply_rng(hk.transform(network))
    return Program(jax.grad(lambda p, graph: (model.apply(p, graph) ** 2).sum()), [model.init(jax.random.key(0), graph), graph])


@program
def jraph_graph_convolution(generator, device):
    import jraph
    import numpy as np
    nodes, edges = 1000, 10000
    send, receive = (jnp.asarray(generator.integers(0, nodes, edges).astype(np.int32)) for _ in range(2))

    def layer(x, w, send, receive):
        graph = jraph.GraphsTuple(x, None, receive, send, None, jnp.array([nodes]), jnp.array([edges]))
        return jraph.GraphConvolution(lambda x: x @ w, add_self_edges=True)(graph).nodes
    return Program(layer, [f32(generator, nodes, 32), f32(generator, 32, 32), send, receive])


@program
def e3nn_tensor_product_gradient(generator, device):
    import e3nn_jax as e3nn
    irreps = e3nn.Irreps("8x0e + 8x1o + 4x2e")

    def energy(x, positions):
        product = e3nn.tensor_product(e3nn.IrrepsArray(irreps, x), e3nn.spherical_harmonics("0e + 1o + 2e", positions, True)).array
        return (product ** 2 @ jnp.arange(product.shape[-1])).sum()  # weights, as the norm is the same for all directions
    return Program(jax.grad(energy, (0, 1)), [f32(generator, 64, irreps.dim), f32(generator, 64, 3)])


# --- distributions ---
@program
def distrax_flow_gradient(generator, device):
    import distrax
    mask = jnp.arange(4) % 2 == 0

    def log_prob(weights, x):
        layers = [distrax.MaskedCoupling(mask if i % 2 else ~mask, functools.partial(lambda w, h: jnp.tanh(h @ w).reshape(*h.shape, 13), w),
                                         lambda p: distrax.RationalQuadraticSpline(p, -3.0, 3.0)) for i, w in enumerate(weights)]
        flow = distrax.Transformed(distrax.MultivariateNormalDiag(jnp.zeros(4), jnp.ones(4)), distrax.Chain(layers))
        return flow.log_prob(x).mean()
    return Program(jax.grad(log_prob), [[0.1 * f32(generator, 4, 52) for _ in range(4)], f32(generator, 128, 4)])


@program
def distrax_mixture_gradient(generator, device):
    import distrax

    def log_prob(logits, mean, scale, x):
        mixture = distrax.MixtureSameFamily(distrax.Categorical(logits=logits), distrax.Normal(mean, jnp.exp(scale)))
        return mixture.log_prob(x).sum()
    return Program(jax.grad(log_prob, (0, 1, 2)), [f32(generator, 8), f32(generator, 8), f32(generator, 8), f32(generator, 1000)])


@program
def flowjax_coupling_gradient(generator, device):
    from flowjax.distributions import Normal
    from flowjax.flows import coupling_flow
    flow = coupling_flow(jax.random.key(0), base_dist=Normal(jnp.zeros(4)), flow_layers=2, nn_width=16, invert=True)
    parameters, model = arrays_of(flow)
    return Program(lambda p, x: model(p).log_prob(x).mean(), [parameters, f32(generator, 128, 4)])


# --- others ---
@program
def rlax_losses(generator, device):
    import rlax

    def loss(q, logits, rewards, discounts):
        advantages = jax.vmap(rlax.truncated_generalized_advantage_estimation, (0, 0, None, 0))(rewards, discounts, 0.95, q)
        returns = jax.vmap(rlax.lambda_returns, (0, 0, 0, None))(rewards, discounts, q[:, 1:], 0.9)
        return (advantages ** 2).mean() + (returns ** 2).mean() + rlax.entropy_loss(logits, jnp.ones(logits.shape[0]))
    return Program(jax.grad(loss, (0, 1)), [f32(generator, 32, 101), f32(generator, 100, 6), f32(generator, 32, 100), jnp.full((32, 100), 0.99)])


@program
def pix_augmentations(generator, device):
    import dm_pix

    def augment(key, image):
        image = dm_pix.random_flip_left_right(key, dm_pix.random_brightness(key, image, 0.2))
        image = dm_pix.rotate(dm_pix.gaussian_blur(image, 1.0, 5), 0.3)
        return dm_pix.adjust_hue(image, 0.1)
    return Program(jax.vmap(augment), [jax.random.split(jax.random.key(0), 4), jax.nn.sigmoid(f32(generator, 4, 64, 64, 3))])
