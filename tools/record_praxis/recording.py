"""Runs layers of the real Praxis and writes what they compute, in the form that tests/golden/README.md describes."""
import dataclasses
import enum
import json
import os
import zlib

import jax
import jax.numpy as jnp
import numpy as np
from praxis import base_layer
from praxis import pax_fiddle
from praxis import py_utils
from safetensors.numpy import save_file

NestedMap = py_utils.NestedMap
BASE_FIELDS = {field.name for field in dataclasses.fields(base_layer.BaseLayer)}
# What other products, remat and tables are made of: they change no number.
LEFT_OUT = {
    'einsum_tpl', 'einsum', 'array_lookup', 'array_lookup_tpl', 'qk_einsum_tpl', 'pv_einsum_tpl', 'decode_cache',
    'attention_mask_summary', 'decoding_maybe_shard_projections', 'checkpoint_str', 'weight_init', 'checkpoint_policy',
    'remat', 'unroll_in_decode', 'collect_intermediate_outputs', 'repeat_optimizer_dims_mapping', 'einsum_gated_tpl',
}
TOLERANCE = {'out': 2e-5, 'grad': 1e-4}


def config_json(config):
  """A Praxis config as JSON: fields under their names, classes as `__class__`."""
  if isinstance(config, pax_fiddle.Config):
    cls = config.__fn_or_cls__
    whole = '.quantization.' in cls.__module__ and not cls.__name__.endswith('Params')
    out = {'__class__': f'{cls.__module__}.{cls.__name__}' if whole else cls.__name__}
    for field in dataclasses.fields(cls):
      if field.name in BASE_FIELDS or field.name in LEFT_OUT or field.name.startswith('_'):
        continue
      try:
        value = getattr(config, field.name)
      except (AttributeError, ValueError):  # a default that is made anew
        continue
      if isinstance(value, base_layer.WeightInit):
        value = {'__class__': 'WeightInit', 'method': value.method, 'scale': value.scale}
        if field.name in ('gamma_init', 'bias_init'):
          continue
      out[field.name] = config_json(value)
    return out
  if dataclasses.is_dataclass(config) and not isinstance(config, type):
    out = {'__class__': type(config).__name__}
    for field in dataclasses.fields(config):
      out[field.name] = config_json(getattr(config, field.name))
    return out
  if isinstance(config, dict):
    return {key: config_json(value) for key, value in config.items()}
  if isinstance(config, (list, tuple)):
    return [config_json(item) for item in config]
  if isinstance(config, enum.Enum):
    return config.value if isinstance(config.value, str) else config.name.lower()
  if config is None or isinstance(config, (bool, int, float, str)):
    return config
  if isinstance(config, (np.dtype, type)):
    return np.dtype(config).name
  raise ValueError(f'{config!r} has no JSON form')


def flat(tree):
  """Leaves of nested dicts by their path."""
  out = {}
  for path, leaf in jax.tree_util.tree_flatten_with_path(tree)[0]:
    out['/'.join(str(getattr(key, 'key', getattr(key, 'name', getattr(key, 'idx', None)))) for key in path)] = leaf
  return out


def stored(array):
  """`array` in a type that a case may hold."""
  array = np.asarray(array)
  if array.dtype == bool:
    return array.astype(np.uint8)
  if array.dtype in (np.int64, np.uint32):
    return array.astype(np.int32)
  if array.dtype in (np.int8, np.int16, np.int32, np.uint8, np.float32):
    return array
  return array.astype(np.float32)


def write_case(folder, area, name, facts, tensors):
  """Writes `<folder>/<area>/<name>.{json,safetensors}`."""
  directory = os.path.join(folder, area)
  os.makedirs(directory, exist_ok=True)
  tensors = {key: np.array(stored(value), order='C') for key, value in sorted(tensors.items())}
  save_file(tensors, os.path.join(directory, name + '.safetensors'))
  record = {'case': name, 'area': area, **facts}
  record['tensors'] = {key: [str(value.dtype), list(value.shape)] for key, value in tensors.items()}
  with open(os.path.join(directory, name + '.json'), 'w') as file:
    json.dump(record, file, indent=1)
    file.write('\n')


def rng(*seed):
  """Random numbers that depend on the names given only."""
  return np.random.default_rng(zlib.crc32('/'.join(map(str, seed)).encode()))


def is_float(array):
  return np.issubdtype(np.asarray(array).dtype, np.floating)


def has_gradient(name, array):
  """Whether the gradient of input `name` is recorded."""
  return is_float(array) and not any(word in name for word in ('mask', 'padding', 'weights', 'segment'))


class LayerCase:
  """One call of a layer. `call(layer, inputs)` gives a dict of arrays, or one array, which becomes `out`."""

  def __init__(self, area, name, tpl, inputs, call=None, **options):
    self.area, self.name, self.tpl, self.inputs = area, name, tpl, inputs
    self.call = call or (lambda layer, x: layer(*x.values()))
    self.text = options.pop('text', 'layer(inputs...)')
    self.do_eval = options.pop('do_eval', False)
    self.loss = options.pop('loss', None)  # names of outputs that have a cotangent; None: every float one
    self.spread = options.pop('spread', 0.1)  # of what is added to the initial weights
    self.config = options.pop('config', None)  # of a function: the JSON
    if options:
      raise ValueError(f'unknown options {list(options)}')

  def write(self, folder):
    """Runs the case and writes it."""
    inputs = {key: jnp.asarray(value) for key, value in self.inputs.items()}
    tpl = self.tpl.clone()
    tpl.name = tpl.name or 'layer'
    layer = pax_fiddle.build(tpl)
    context = base_layer.JaxContext.HParams(do_eval=self.do_eval)
    with base_layer.JaxContext.new_context(hparams=context):
      self._write(folder, layer, inputs)

  def _outputs(self, layer, weights, state, inputs):
    variables = {'params': weights, 'non_trainable': state}
    mutable = ['non_trainable', 'aux_loss', 'summaries', 'intermediates']
    rngs = {'params': jax.random.PRNGKey(1), 'random': jax.random.PRNGKey(2), 'non_pax_streams': jax.random.PRNGKey(3)}
    result, after = layer.apply(variables, inputs, method=self.call, mutable=mutable, rngs=rngs)
    outputs = dict(result) if isinstance(result, dict) else {'out': result}
    outputs = {key: value for key, value in outputs.items() if value is not None}
    for path, value in flat(after.get('non_trainable', {})).items():
      outputs['updated/' + path] = value
    for path, loss in self._aux_losses(after.get('aux_loss', {})).items():
      outputs['aux_loss/' + path + '/value'] = loss.value
      outputs['aux_loss/' + path + '/weight'] = loss.weight
    return outputs

  def _aux_losses(self, tree, path=''):
    out = {}
    for key, value in tree.items():
      at = path + '/' + key if path else key
      if isinstance(value, base_layer.AuxLossStruct):
        out[at] = value
      else:
        out.update(self._aux_losses(value, at))
    return out

  def _write(self, folder, layer, inputs):
    key = jax.random.PRNGKey(zlib.crc32(self.name.encode()) % 1000)
    start = layer.init({'params': key, 'random': key, 'non_pax_streams': key}, inputs, method=self.call)
    start = jax.tree_util.tree_map(lambda x: base_layer.maybe_unbox_value(x), start,
                                   is_leaf=lambda x: hasattr(x, 'unbox'))
    noise = rng(self.area, self.name)
    def perturb(x):
      if is_float(x):
        return jnp.asarray(x + self.spread * noise.standard_normal(x.shape), x.dtype)
      if x.dtype in (jnp.int8, jnp.int32):  # an integer weight
        info = np.iinfo(x.dtype)
        return jnp.asarray(noise.integers(info.min, info.max, x.shape), x.dtype)
      return x
    weights = jax.tree_util.tree_map(perturb, start.get('params', {}))
    state = jax.tree_util.tree_map_with_path(
        lambda path, x: self._moved_statistic(path, x, noise), start.get('non_trainable', {}))

    diff = {name: value for name, value in inputs.items() if has_gradient(name, value)}
    rest = {name: value for name, value in inputs.items() if name not in diff}
    in_order = lambda some: {name: some[name] if name in some else rest[name] for name in inputs}
    outputs = self._outputs(layer, weights, state, inputs)
    terms = [name for name, value in outputs.items()
             if is_float(value) and not name.startswith('updated/') and not name.endswith('/weight')]
    if self.loss is not None:
      terms = [name for name in terms if name in self.loss]
    cotangents = {name: jnp.asarray(noise.standard_normal(outputs[name].shape), jnp.float32) for name in terms}

    def loss(weights, diff):
      outputs = self._outputs(layer, weights, state, in_order(diff))
      return sum(jnp.sum(cotangents[name] * jnp.asarray(outputs[name], jnp.float32)) for name in terms)

    tensors = {}
    grads = None
    if terms:
      value, grads = jax.value_and_grad(loss, argnums=(0, 1), allow_int=True)(weights, diff)
      tensors['out/__loss'] = value
      for path, grad in flat(grads[0]).items():
        if grad.dtype == jnp.float32:
          tensors['gw/' + path] = grad
      for name, grad in grads[1].items():
        tensors['gin/' + name] = grad
    for prefix, values in (('w', flat(weights)), ('nw', flat(state)), ('in', inputs), ('out', outputs),
                           ('cot', cotangents)):
      for name, value in values.items():
        tensors[prefix + '/' + name] = value

    noise_seen = self._noise(layer, weights, state, inputs, in_order, diff, outputs, loss, grads)
    tolerance = {kind: [max(base, 30 * noise_seen.get(kind, 0.0))] * 2 for kind, base in TOLERANCE.items()}
    facts = {
        'layer': self.tpl.__fn_or_cls__.__name__,
        'do_eval': self.do_eval,
        'call': self.text,
        'config': config_json(self.tpl),
        'weights': {path: list(np.shape(value)) for path, value in flat(weights).items()},
        'non_trainable': {path: list(np.shape(value)) for path, value in flat(state).items()},
        'loss_terms': sorted(terms),
        'tolerance_rtol_atol': tolerance,
        'observed_float32_noise': noise_seen,
    }
    write_case(folder, self.area, self.name, facts, tensors)

  def _moved_statistic(self, path, x, noise):
    name = str(path[-1])
    if 'moving_mean' in name:
      return x + jnp.asarray(0.1 * noise.standard_normal(x.shape), x.dtype)
    if 'moving_variance' in name:
      return x + jnp.asarray(np.abs(0.1 * noise.standard_normal(x.shape)), x.dtype)
    return x

  def _noise(self, layer, weights, state, inputs, in_order, diff, outputs, loss, grads):
    """How far results move when inputs and weights move by one unit in the last place."""
    moves = rng('noise', self.name)
    def move(x):
      if not is_float(x) or not np.size(x):
        return x
      towards = np.where(moves.integers(0, 2, np.shape(x)) == 1, np.inf, -np.inf).astype(np.float32)
      return jnp.asarray(np.nextafter(np.asarray(x, np.float32), towards))
    moved_weights = jax.tree_util.tree_map(move, weights)
    moved = {name: move(value) for name, value in diff.items()}
    def far(a, b):
      a, b = np.asarray(a, np.float64), np.asarray(b, np.float64)
      if not a.size or not np.all(np.isfinite(a)) or not np.all(np.isfinite(b)):
        return 0.0
      return float(np.max(np.abs(a - b) / (1 + np.abs(b))))
    again = self._outputs(layer, moved_weights, state, in_order(moved))
    seen = {'out': max([far(again[name], value) for name, value in outputs.items() if is_float(value)] or [0.0])}
    if grads is not None:
      grads_again = jax.grad(loss, argnums=(0, 1), allow_int=True)(moved_weights, moved)
      pairs = zip(jax.tree_util.tree_leaves(grads_again), jax.tree_util.tree_leaves(grads))
      seen['grad'] = max([far(a, b) for a, b in pairs if a.dtype == jnp.float32] or [0.0])
    return seen


class FunctionCase:
  """One call of a function on arrays."""

  def __init__(self, area, name, layer, inputs, call, text=None, tolerance=1e-6, config=None):
    self.area, self.name, self.layer, self.inputs, self.call = area, name, layer, inputs, call
    self.text = text or f'{layer}(...)'
    self.tolerance = tolerance
    self.config = config or {}

  def write(self, folder):
    """Runs the case and writes it."""
    inputs = {key: jnp.asarray(value) for key, value in self.inputs.items()}
    result = self.call(inputs)
    outputs = dict(result) if isinstance(result, dict) else {'out': result}
    tensors = {'in/' + name: value for name, value in inputs.items()}
    tensors.update({'out/' + name: value for name, value in outputs.items()})
    facts = {'layer': self.layer, 'config': self.config, 'call': self.text,
             'tolerance_rtol_atol': {'out': [self.tolerance] * 2}}
    write_case(folder, self.area, self.name, facts, tensors)
