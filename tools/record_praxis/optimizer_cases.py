"""Optimizers, schedules, learners."""
import jax
import jax.numpy as jnp
import numpy as np
from paxml import learners
from praxis import base_hyperparams
from praxis import base_layer
from praxis import optimizers
from praxis import pax_fiddle
from praxis import schedules

from recording import config_json
from recording import flat
from recording import rng
from recording import write_case

C = pax_fiddle.Config
SHAPES = {'w': (4, 6), 'b': (6,), 'k': (2, 3, 4)}
OPTIMIZER_CALL = 'update(grad[n], state[n-1], w[n-1]) for n = 1..steps; w[n] = w[n-1] + update[n]; count of step n is n - 1'
LEARNER_CALL = 'scaled, valid = scale_gradients(grad); update, state = update_states(grad, state, w); w = apply_gradient(w, update)'


def hparams(skip=(), prefix=None):
  """How the variables are declared."""
  out = {}
  for name, shape in SHAPES.items():
    stacked = (prefix or {}).get(name, 0)
    collections = [base_layer.WeightHParamsCollection.SKIP_LP_REGULARIZATION] if name in skip else []
    out[name] = base_layer.WeightHParams(
        shape=list(shape[stacked:]), collections=collections, init=base_layer.WeightInit.Xavier(1.0), dtype=jnp.float32,
        repeat_prefix=list(shape[:stacked]) or None, repeat_prefix_split_dims_mapping=[-1] * stacked or None)
  return out


def stage_names(optimizer):
  names = ['l1', 'l2', 'raw', 'decay']
  if optimizer.ewc_regularizer_weight > 0:
    names.append('ewc')
  return names + (['ema'] if optimizer.ema_decay > 0 else [])


def state_tensors(state, names):
  """The state of a chain by stage and path."""
  out = {}
  for name, part in zip(names, state):
    for path, leaf in flat(part).items():
      out[f'{name}/{path}'] = leaf
  return out


class OptimizerCase:
  """Some steps of an optimizer on three variables."""

  area = 'optimizers'

  def __init__(self, name, tpl, skip=(), steps=4, tolerance=(2e-5, 2e-6), scale=1.0):
    self.name, self.tpl, self.skip, self.steps, self.tolerance, self.scale = name, tpl, skip, steps, tolerance, scale

  def start(self):
    noise = rng(self.area, self.name)
    draw = lambda: {name: jnp.asarray(self.scale * noise.standard_normal(shape), jnp.float32) for name, shape in SHAPES.items()}
    return draw(), [draw() for _ in range(self.steps)]

  def write(self, folder):
    """Runs the case and writes it."""
    weights, grads = self.start()
    declared = hparams(self.skip)
    optimizer = pax_fiddle.build(self.tpl)
    grad_tx = optimizer.get_grad_transformation(declared)
    state = grad_tx.init(weights)
    names = stage_names(optimizer)
    tensors = {f'w0/{name}': value for name, value in weights.items()}
    tensors.update({f'state/0/{path}': leaf for path, leaf in state_tensors(state, names).items()})
    for n, grad in enumerate(grads, 1):
      update, state = grad_tx.update(grad, state, weights)
      weights = {name: weights[name] + update[name] for name in weights}
      for kind, values in (('grad', grad), ('update', update), ('w', weights)):
        tensors.update({f'{kind}/{n}/{name}': value for name, value in values.items()})
      tensors.update({f'state/{n}/{path}': leaf for path, leaf in state_tensors(state, names).items()})
    write_case(folder, self.area, self.name, {
        'layer': self.tpl.__fn_or_cls__.__name__, 'config': config_json(self.tpl), 'steps': self.steps,
        'skip_lp_regularization': list(self.skip), 'call': OPTIMIZER_CALL,
        'tolerance_rtol_atol': {'out': list(self.tolerance)}}, tensors)


class LearnerCase(OptimizerCase):
  """Some steps of a learner on three variables."""

  area = 'learners'

  def __init__(self, name, tpl, prefix=None, spoil=None, **options):
    super().__init__(name, tpl, **options)
    self.prefix, self.spoil = prefix, spoil or {}

  def write(self, folder):
    """Runs the case and writes it."""
    weights, grads = self.start()
    for n, value in self.spoil.items():
      grads[n - 1]['w'] = grads[n - 1]['w'].at[0, 0].set(value)
    declared = hparams(self.skip, self.prefix)
    learner = base_hyperparams.instantiate(self.tpl)
    context = base_layer.JaxContext.HParams(do_eval=False)
    tensors = {f'w0/{name}': value for name, value in weights.items()}
    with base_layer.JaxContext.new_context(hparams=context):
      grad_tx = learner.get_grad_tx(declared)
      state = grad_tx.init(weights)
      names = stage_names(self.tpl.optimizer)
      for n, grad in enumerate(grads, 1):
        scaled, valid = learner.scale_gradients(grad)
        update, state = learner.update_states(grad, state, weights, declared)
        weights = learner.apply_gradient(weights, update, declared)
        for kind, values in (('grad', grad), ('scaled', scaled), ('w', weights)):
          tensors.update({f'{kind}/{n}/{name}': value for name, value in values.items()})
        tensors[f'valid/{n}'] = jnp.asarray(valid, jnp.int32)
        if not self.prefix and isinstance(state, tuple):
          tensors.update({f'state/{n}/{path}': leaf for path, leaf in state_tensors(state, names).items()})
    nonfinite = [name for name, value in tensors.items() if not np.all(np.isfinite(np.asarray(value, np.float64)))]
    facts = {'layer': self.tpl.__fn_or_cls__.__name__, 'config': config_json(self.tpl), 'steps': self.steps, 'call': LEARNER_CALL,
             'skip_lp_regularization': list(self.skip), 'tolerance_rtol_atol': {'out': list(self.tolerance)}}
    if nonfinite:
      facts['nonfinite_ok'] = nonfinite
    if self.prefix:
      facts['repeat_prefix'] = self.prefix
    write_case(folder, self.area, self.name, facts, tensors)


class ScheduleCase:
  """A schedule at some steps."""

  area = 'schedules'

  def __init__(self, name, tpl, steps=None):
    self.name, self.tpl = name, tpl
    self.steps = np.arange(40) if steps is None else np.asarray(steps)

  def write(self, folder):
    schedule = pax_fiddle.build(self.tpl)
    steps = self.steps.astype(np.uint32)
    value = np.stack([np.asarray(schedule.value_at(jnp.asarray(step)), np.float32) for step in steps])
    write_case(folder, self.area, self.name, {
        'layer': self.tpl.__fn_or_cls__.__name__, 'config': config_json(self.tpl), 'call': 'value_at(step), step is uint32',
        'tolerance_rtol_atol': {'out': [1e-5, 1e-7]}}, {'in/step': self.steps.astype(np.int32), 'out/value': value})


CONSTANT = C(schedules.Constant, value=1.0)


def optimizer(cls, **options):
  return C(cls, **{'learning_rate': 0.1, 'lr_schedule': CONSTANT, **options})


def optimizer_cases():
  o = optimizers
  ramp = C(schedules.LinearRampupExponentialDecay, warmup_steps=2, decay_start=3, decay_end=6, min_ratio=0.1, max=1.0)
  for name, cls, options in (
      ('adam_betas', o.Adam, dict(beta1=0.8, beta2=0.95, epsilon=1e-3)), ('adam_decay_skip_1d', o.Adam, dict(decoupled_weight_decay=0.1, skip_lp_1d_vectors=True)),
      ('adam_l2', o.Adam, dict(l2_regularizer_weight=0.05)), ('adam_l1', o.Adam, dict(l1_regularizer_weight=0.05, skip_lp_1d_vectors=True)),
      ('adam_weight_decay_cap', o.Adam, dict(weight_decay=0.1, clip_threshold=0.5)), ('adam_ramp', o.Adam, dict(lr_schedule=ramp, ema_decay=0.99)),
      ('adam_optax_decay', o.Adam, dict(sharded_adam=False, decoupled_weight_decay=0.1, epsilon_root=1e-4)),
      ('lion_betas', o.Lion, dict(beta1=0.95, beta2=0.98, m_dtype=jnp.float32)), ('lion_cap_decay', o.Lion, dict(clip_threshold=0.5, weight_decay=0.1, m_dtype=jnp.float32)),
      ('lamb_decay', o.Lamb, dict(weight_decay=0.1, b1=0.8, b2=0.9, eps=1e-4)), ('lamb_ramp', o.Lamb, dict(lr_schedule=ramp, ema_decay=0.9)),
      ('lars_decay', o.Lars, dict(weight_decay=0.1, trust_coefficient=0.01)), ('lars_nesterov', o.Lars, dict(momentum=0.8, nesterov=True, eps=1e-3)),
      ('adagrad_decay', o.Adagrad, dict(decoupled_weight_decay=0.1, initial_accumulator_value=0.2)),
      ('sharded_adagrad_opts', o.ShardedAdagrad, dict(initial_accumulator_value=0.1, epsilon=1e-3)), ('sharded_adagrad_l2', o.ShardedAdagrad, dict(l2_regularizer_weight=0.1)),
      ('sgd_ramp_ema', o.Sgd, dict(lr_schedule=ramp, ema_decay=0.5)), ('sgd_momentum_decay', o.Sgd, dict(momentum=0.9, decoupled_weight_decay=0.1)),
      ('sgd_l1', o.Sgd, dict(l1_regularizer_weight=0.1)), ('sharded_sgd_momentum', o.ShardedSgd, dict(momentum=0.9)), ('sharded_sgd_nesterov', o.ShardedSgd, dict(momentum=0.5, nesterov=True)),
      ('adafactor_momentum_decay', o.Adafactor, dict(momentum=0.9, weight_decay_rate=0.01)), ('adafactor_clip', o.Adafactor, dict(clip_threshold=0.5, decay_rate=0.7)),
      ('adafactor_factored', o.Adafactor, dict(min_dim_size_to_factor=2, multiply_by_parameter_scale=False)),
      ('adafactor_offset', o.Adafactor, dict(decay_offset=2, factored=False)),
      ('sharded_adafactor_b', o.ShardedAdafactor, dict(decay_method='adam', decay_adam=0.98, beta1=0.9, quantized_dtype='float32', clip_threshold=0.5)),
      ('sharded_adafactor_decay', o.ShardedAdafactor, dict(decay_method='adam', decay_adam=0.98, weight_decay=0.05, epsilon1_grad_sq_reg=1e-6)),
      ('sharded_adafactor_scale', o.ShardedAdafactor, dict(decay_method='pow', decay_pow=0.8, multiply_by_parameter_scale=True, epsilon2_param_scale_reg=0.1)),
      ('sharded_adafactor_sorted', o.ShardedAdafactor, dict(decay_method='adam', decay_adam=0.9, sort_factored_second_moment_dims=True, min_dim_size_to_factor=3)),
      ('sharded_adafactor_layers', o.ShardedAdafactor, dict(decay_method='adam', decay_adam=0.9, layerwise_adaptation=True, beta1=0.5, quantized_dtype='float32')),
      ('sharded_adafactor_no_cap', o.ShardedAdafactor, dict(decay_method='adam', decay_adam=0.9, clip_threshold=None, factored=False)),
      ('sharded_adafactor_respect', o.ShardedAdafactor, dict(decay_method='adam', decay_adam=0.9, weight_decay=0.1, respect_skip_lp_regularization=True))):
    yield OptimizerCase(name, optimizer(cls, **options), skip=('b',) if 'respect' in name or 'skip' in name else ())
  yield OptimizerCase('sharded_adafactor_int8_decay', optimizer(o.ShardedAdafactor, decay_method='adam', decay_adam=0.98, beta1=0.9, quantized_dtype='int8', weight_decay=0.1), tolerance=(0.02, 0.002))
  yield OptimizerCase('sharded_adafactor_int16', optimizer(o.ShardedAdafactor, decay_method='adam', decay_adam=0.98, beta1=0.9, quantized_dtype='int16'), tolerance=(0.001, 0.0001))
  yield OptimizerCase('lion_default_momentum', optimizer(o.Lion), tolerance=(0.01, 0.001))
  for name, inner, options in (('accumulate_sgd', optimizer(o.Sgd, momentum=0.9), dict(num_sub_batches=3)),
                               ('accumulate_cond', optimizer(o.Adam), dict(num_sub_batches=2, accumulation_use_cond_op=True)),
                               ('accumulate_decay', optimizer(o.Adam, decoupled_weight_decay=0.1), dict(num_sub_batches=2))):
    yield OptimizerCase(name, optimizer(o.ShardedStaticAccumulator, optimizer_tpl=inner, **options), steps=6)


def learner(inner, **options):
  return C(learners.Learner, **{'name': 'learner', 'loss_name': 'loss', 'optimizer': inner, 'vectorize_on_repeat_prefix': False, **options})


def learner_cases():
  o = optimizers
  adam, sgd = optimizer(o.Adam), optimizer(o.Sgd)
  yield LearnerCase('scale_by_norm', learner(sgd, scale_update_by_var_norm=True))
  yield LearnerCase('clip_single_adam', learner(optimizer(o.Adam, clip_gradient_single_norm_to_value=0.5)))
  yield LearnerCase('clip_global_adafactor', learner(optimizer(o.ShardedAdafactor, decay_method='adam', decay_adam=0.9, clip_gradient_norm_to_value=1.0)))
  yield LearnerCase('skip_big_adam', learner(adam, skip_step_gradient_norm_value=7.0))
  yield LearnerCase('anomalies_off', learner(sgd, enable_skip_step_on_gradient_anomalies=False))
  yield LearnerCase('nan_once', learner(optimizer(o.Adam, clip_gradient_norm_to_value=1.0)), spoil={2: np.nan})
  yield LearnerCase('inf_ema', learner(optimizer(o.Adam, ema_decay=0.9)), spoil={3: np.inf})
  prefix = {'k': 1}
  for name, inner in (('adam_cap', optimizer(o.Adam, clip_threshold=0.3)), ('lion', optimizer(o.Lion, m_dtype=jnp.float32)), ('sgd', optimizer(o.Sgd, momentum=0.9)),
                      ('adafactor_scale', optimizer(o.ShardedAdafactor, decay_method='adam', decay_adam=0.9, multiply_by_parameter_scale=True)),
                      ('lamb', optimizer(o.Lamb, weight_decay=0.1)), ('adam_clip_single', optimizer(o.Adam, clip_gradient_single_norm_to_value=0.4))):
    yield LearnerCase(f'prefix_{name}', learner(inner, vectorize_on_repeat_prefix=True), prefix=prefix)
  yield LearnerCase('prefix_forced', learner(adam, vectorize_on_repeat_prefix=True, force_repeat_prefix_structure=True))


def schedule_cases():
  s = schedules
  far = [0, 1, 2, 3, 5, 10, 100, 999, 1000, 1001, 5000, 100000, 400000, 500000, 2000000]
  for name, cls, options, steps in (
      ('constant_half', s.Constant, dict(value=0.5), None), ('polynomial_power', s.Polynomial, dict(start=(2, 1.0), limit=(20, 0.1), power=3), None),
      ('polynomial_up', s.Polynomial, dict(start=(0, 0.0), limit=(10, 2.0), power=0.5, origin='limit'), None), ('linear_down', s.Linear, dict(start=(5, 1.0), limit=(25, 0.0)), None),
      ('exponential_up', s.Exponential, dict(start=(3, 0.1), limit=(13, 1.0)), None), ('cosine_up', s.Cosine, dict(initial_value=0.1, final_value=1.0, total_steps=15), None),
      ('delayed_cosine_low', s.DelayedCosine, dict(start=(5, 1.0), limit=(30, 0.2)), None),
      ('ramp_polynomial_power', s.LinearRampupPolynomialDecay, dict(warmup_steps=4, decay_start=10, decay_end=30, power=2, min_ratio=0.05, max=2.0), None),
      ('ramp_cosine_ratio', s.LinearRampupCosineDecay, dict(warmup_steps=5, decay_start=8, decay_end=30, min_ratio=0.2, max=0.7), None),
      ('ramp_exponential_ratio', s.LinearRampupExponentialDecay, dict(warmup_steps=3, decay_start=9, decay_end=20, min_ratio=0.01, max=3.0), None),
      ('ramp_piecewise_two', s.LinearRampupPiecewiseConstant, dict(boundaries=[4, 8, 16], values=[1.0, 0.5, 0.1]), None),
      ('piecewise_three', s.PiecewiseConstant, dict(boundaries=[3, 9, 27], values=[1.0, 2.0, 0.5, 0.1]), None),
      ('transformer_wide', s.Transformer, dict(warmup_steps=10, model_dim=64, worker_replicas=2), None), ('transformer_default', s.Transformer, {}, far),
      ('sqrt_decay_offset', s.SqrtDecay, dict(decay_start=5.0, offset=3.0, multiplier=2.0), None), ('sqrt_decay_far', s.SqrtDecay, {}, far),
      ('ramp_sqrt_peak', s.LinearRampupSqrtDecay, dict(peak=0.3, warmup_steps=7), None), ('ramp_sqrt_far', s.LinearRampupSqrtDecay, dict(peak=1.0, warmup_steps=4000), far),
      ('continuous_short', s.ContinuousSchedule, dict(initial_value=2.0, start_step=5, half_life_steps=4, min=0.1), None), ('continuous_far', s.ContinuousSchedule, {}, far),
      ('piecewise_nested', s.PiecewiseSchedule, dict(boundaries=[5], schedules=[C(s.Constant, value=2.0), C(s.Exponential, start=(0, 2.0), limit=(10, 0.1))]), None),
      ('cycle_two', s.CycleSchedule, dict(steps=[3, 2], schedules=[C(s.Constant, value=0.1), C(s.Linear, start=(0, 1.0), limit=(2, 0.0))]), None)):
    try:
      tpl = C(cls, **options)
    except TypeError as error:
      print(f'FAILED schedules/{name}: {error}')
      continue
    yield ScheduleCase(name, tpl, steps)


def all_cases():
  for part in (optimizer_cases, learner_cases, schedule_cases):
    yield from part()
