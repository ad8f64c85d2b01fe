"""A training step of a GPT in plain JAX, the peer of `paxml` in benchmarks/step_vs_jax: the same shapes, float32, Adam.

Prints one JSON line: median step seconds, tokens, peak resident bytes of this process, first and last loss."""

import argparse
import json
import resource
import statistics
import time

import jax
import jax.numpy as jnp


def init(key, a):
    def normal(key, *shape):
        return jax.random.normal(key, shape, jnp.float32) / shape[-2] ** 0.5
    keys = iter(jax.random.split(key, 6))
    n, d, f = a.layers, a.width, a.hidden
    zeros, ones = jnp.zeros, jnp.ones
    layers = {"qkv": normal(next(keys), n, 3, d, d), "post": normal(next(keys), n, d, d),
              "up": normal(next(keys), n, d, f), "up_b": zeros((n, f)), "down": normal(next(keys), n, f, d),
              "down_b": zeros((n, d)), "ln1": ones((n, d)), "ln1_b": zeros((n, d)), "ln2": ones((n, d)),
              "ln2_b": zeros((n, d))}
    return {"layers": layers, "emb": normal(next(keys), a.vocab, d), "ln": ones(d), "ln_b": zeros(d)}


def norm(x, scale, bias):
    x = x - x.mean(-1, keepdims=True)
    return x * jax.lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-6) * scale + bias


def positions(length, d):
    inv = jnp.exp(jnp.arange(d // 2) * -(jnp.log(10000.0) / (d // 2 - 1)))
    angle = jnp.arange(length)[:, None] * inv[None]
    return jnp.concatenate([jnp.sin(angle), jnp.cos(angle)], -1)


def loss_fn(params, ids, labels, heads):
    d = params["emb"].shape[1]
    b, t = ids.shape
    x = params["emb"][ids] * d**0.5 + positions(t, d)
    mask = jnp.where(jnp.tril(jnp.ones((t, t), bool)), 0.0, -1e30)

    def layer(x, p):
        y = norm(x, p["ln1"], p["ln1_b"])
        q, k, v = [(y @ p["qkv"][i]).reshape(b, t, heads, d // heads) for i in range(3)]
        logits = jnp.einsum("bqnh,bknh->bnqk", q * (d // heads) ** -0.5, k) + mask
        y = jnp.einsum("bnqk,bknh->bqnh", jax.nn.softmax(logits), v).reshape(b, t, d)
        x = x + y @ p["post"]
        y = norm(x, p["ln2"], p["ln2_b"])
        return x + jax.nn.gelu(y @ p["up"] + p["up_b"]) @ p["down"] + p["down_b"], None

    x, _ = jax.lax.scan(layer, x, params["layers"])
    logits = norm(x, params["ln"], params["ln_b"]) @ params["emb"].T
    picked = jnp.take_along_axis(jax.nn.log_softmax(logits), labels[..., None], -1)
    return -picked.mean()


def make_step(heads):
    def step(state, ids, labels):
        params, m, v, count = state
        loss, grads = jax.value_and_grad(loss_fn)(params, ids, labels, heads)
        size = jnp.sqrt(sum(jnp.sum(g * g) for g in jax.tree.leaves(grads)))
        grads = jax.tree.map(lambda g: g * jnp.minimum(1.0, 5.0 / size), grads)
        count = count + 1
        m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, m, grads)
        v = jax.tree.map(lambda v, g: 0.99 * v + 0.01 * g * g, v, grads)
        scale = 1e-4 * jnp.sqrt(1 - 0.99**count) / (1 - 0.9**count)
        params = jax.tree.map(lambda p, m, v: p - scale * m / (jnp.sqrt(v) + 1e-6), params, m, v)
        return (params, m, v, count), loss
    return jax.jit(step, donate_argnums=0)


def main():
    parser = argparse.ArgumentParser()
    for name, default in [("layers", 8), ("width", 512), ("heads", 8), ("hidden", 2048), ("vocab", 8192), ("batch", 4),
                          ("length", 512), ("steps", 6)]:
        parser.add_argument("--" + name, type=int, default=default)
    a = parser.parse_args()
    params = init(jax.random.key(0), a)
    zeros = jax.tree.map(jnp.zeros_like, params)
    state = (params, zeros, jax.tree.map(jnp.zeros_like, params), jnp.float32(0))
    ids = jnp.ones((a.batch, a.length), jnp.int32)
    step = make_step(a.heads)
    seconds, losses = [], []
    for _ in range(a.steps):
        start = time.perf_counter()
        state, loss = step(state, ids, ids)
        losses.append(float(loss))
        jax.block_until_ready(state)
        seconds.append(time.perf_counter() - start)
    print(json.dumps({"step_s": statistics.median(seconds[2:]), "tokens": a.batch * a.length,
                      "peak_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
                      "first_loss": losses[0], "last_loss": losses[-1], "jax": jax.__version__}))


if __name__ == "__main__":
    main()
