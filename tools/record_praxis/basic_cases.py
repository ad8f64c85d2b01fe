"""Linears, activations, norms, embeddings, softmaxes, convolutions, recurrent layers."""
import jax.numpy as jnp
import numpy as np
from praxis import base_layer
from praxis import layers
from praxis import pax_fiddle
from praxis.layers import activations
from praxis.layers import convolutions
from praxis.layers import embedding_softmax
from praxis.layers import frnn
from praxis.layers import linears
from praxis.layers import losses
from praxis.layers import normalizations
from praxis.layers import poolings
from praxis.layers import rnn_cell
from praxis.layers import stochastics

from recording import LayerCase
from recording import NestedMap
from recording import rng

C = pax_fiddle.Config


def values(*shape, seed='', scale=1.0):
  return (scale * rng('values', shape, seed).standard_normal(shape)).astype(np.float32)


def ids(classes, *shape, seed=''):
  return rng('ids', classes, shape, seed).integers(0, classes, shape).astype(np.int32)


def paddings(*lengths, size):
  return np.array([[0.0] * length + [1.0] * (size - length) for length in lengths], np.float32)


def one(area, name, tpl, x, **options):
  return LayerCase(area, name, tpl, {'inputs': x}, **options)


def with_paddings(area, name, tpl, x, pads, **options):
  return LayerCase(area, name, tpl, {'inputs': x, 'paddings': pads}, text='layer(inputs, paddings)', **options)


def linear_cases():
  x = values(2, 3, 4)
  yield one('linears', 'linear_1d_batch', C(linears.Linear, input_dims=4, output_dims=5), values(3, 4))
  yield one('linears', 'linear_4d', C(linears.Linear, input_dims=4, output_dims=2), values(2, 2, 3, 4))
  for act in ('GELU', 'ReLU6', 'SquaredReLU', 'Sigmoid', 'Identity'):
    tpl = C(linears.FeedForward, input_dims=4, output_dims=5, activation_tpl=C(getattr(activations, act)))
    yield one('linears', f'ff_{act.lower()}', tpl, x)
  yield one('linears', 'ff_bias_init', C(linears.FeedForward, input_dims=4, output_dims=3, bias_init=0.7), x)
  yield one('linears', 'mlp_linear_end', C(
      linears.MLPBlock, num_layers=2, hidden_dims=6, activate_final=False,
      ff_tpl=C(linears.FeedForward, input_dims=4, output_dims=3, activation_tpl=C(activations.Tanh))), x)
  yield one('linears', 'mlp_one_layer', C(
      linears.MLPBlock, num_layers=1, ff_tpl=C(linears.FeedForward, input_dims=4, output_dims=3, has_bias=False)), x)
  for name, eqn, shape, bias in (('plain', '...d,df->...f', [4, 6], False), ('heads', 'btd,dnh->btnh', [4, 2, 3], True),
                                 ('out', 'btd,df->btf', [4, 5], True), ('contract_two', 'btd,td->b', [3, 4], False)):
    yield one('linears', f'einsum_{name}', C(layers.Einsum, eqn=eqn, w_shape=shape, use_bias=bias), x)
  pads = paddings(7, 4, size=7)[..., None]
  for name, options in (('stride2', dict(left_context=1, right_context=0, stride=2)),
                        ('both', dict(left_context=1, right_context=2, stride=3)),
                        ('pad_frames', dict(left_context=2, right_context=1, stride=2, pad_with_left_frame=True,
                                            pad_with_right_frame=True)),
                        ('reduce_max', dict(left_context=2, right_context=0, stride=2, padding_reduce_option='reduce_max')),
                        ('trivial', dict(left_context=0, right_context=0, stride=1))):
    def call(layer, inputs):
      outputs, out_paddings = layer(inputs['inputs'], inputs['paddings'])
      return {'outputs': outputs, 'paddings': out_paddings}
    yield with_paddings('linears', f'stacking_{name}', C(linears.StackingOverTime, **options), values(2, 7, 3), pads,
                        call=call)


def activation_cases():
  x = values(3, 4, scale=3.0)
  for cls, options in ((activations.ReLU, {}), (activations.ReLU6, {}), (activations.SquaredReLU, {}), (activations.CubedReLU, {}),
                       (activations.LeakyReLU, dict(negative_slope=0.3)), (activations.ELU, {}), (activations.GELU, dict(approximate=False)),
                       (activations.GELU, {}), (activations.Sigmoid, {}), (activations.Tanh, {}), (activations.SiLU, {}),
                       (activations.Swish, {}), (activations.Softplus, {}), (activations.Exp, {}),
                       (activations.SineReLU, {}), (activations.Identity, {})):
    name = cls.__name__.lower() + ('_exact' if options.get('approximate') is False else '')
    yield one('activations', f'{name}_wide', C(cls, **options), x)


def norm_cases():
  x, x4 = values(3, 5, 8), values(2, 4, 3, 8)
  pads = paddings(5, 3, 0, size=5)
  for name, options in (('eps', dict(epsilon=1e-2)), ('fp32', dict(reductions_in_fp32=True)),
                        ('direct_no_bias', dict(direct_scale=True, use_bias=False)),
                        ('bare', dict(use_scale=False, use_bias=False))):
    yield one('normalizations', f'ln_{name}', C(normalizations.LayerNorm, dim=8, **options), x)
  for name, options in (('eps', dict(epsilon=1e-2, direct_scale=False)), ('default', {}),
                        ('intermediate_f32', dict(intermediate_dtype=jnp.float32))):
    yield one('normalizations', f'rms_{name}', C(normalizations.RmsNorm, dim=8, **options), x)
  yield one('normalizations', 'rms_no_scale_eps', C(normalizations.RmsNormNoScale, dim=8, epsilon=0.1), x)
  yield one('normalizations', 'identity_norm', C(normalizations.IdentityNorm, dim=8), x)
  for name, options, eval_ in (('moving', dict(use_moving_avg_in_training=True), False), ('force_eval', dict(force_eval_mode=True), False),
                               ('keep_padded', dict(set_padded_output_to_zero=False), False), ('decay', dict(decay=0.5), False),
                               ('eval', dict(), True)):
    yield with_paddings('normalizations', f'bn_{name}', C(normalizations.BatchNorm, dim=8, **options), x, pads,
                        do_eval=eval_)
  yield one('normalizations', 'bn_4d', C(normalizations.BatchNorm, dim=8), x4)
  for name, options, inputs, pad in (
      ('eight_groups', dict(num_groups=8, min_group_size=1, input_rank=3), x, None),
      ('min_group', dict(num_groups=8, min_group_size=4, input_rank=3), x, None),
      ('no_scale', dict(num_groups=2, input_rank=4, min_group_size=1, use_scale=False), x4, None),
      ('no_bias', dict(num_groups=2, input_rank=4, min_group_size=1, use_bias=False, epsilon=0.1), x4, None),
      ('paddings_keep', dict(num_groups=2, input_rank=3, min_group_size=1, set_padded_output_to_zero=False), x, pads),
      ('cumulative_paddings', dict(num_groups=4, input_rank=3, min_group_size=1, cumulative=True), x, pads),
      ('cumulative_4d', dict(num_groups=4, input_rank=4, min_group_size=1, cumulative=True), x4, paddings(4, 2, size=4))):
    tpl = C(normalizations.GroupNorm, dim=8, **options)
    if pad is None:
      yield one('normalizations', f'gn_{name}', tpl, inputs)
    else:
      yield with_paddings('normalizations', f'gn_{name}', tpl, inputs, pad)
  yield one('normalizations', 'weight_norm', C(normalizations.WeightNormL2, dim=4), values(3, 2, 4))
  yield one('normalizations', 'spectral_norm', C(normalizations.SpectralNorm, dim=6), values(4, 6))
  yield one('normalizations', 'dropout_eval', C(stochastics.Dropout, keep_prob=0.5), x, do_eval=True)
  yield LayerCase('normalizations', 'stochastic_residual_eval',
                  C(stochastics.StochasticResidual, residual_weight=0.4, survival_prob=0.8),
                  {'inputs': x, 'residual': values(3, 5, 8, seed='r')}, text='layer(inputs, residual)', do_eval=True)


def softmax_call(layer, x):
  out = layer(x['inputs'], x['class_weights'], class_ids=x.get('class_ids'),
              class_probabilities=x.get('class_probabilities'))
  return {key: value for key, value in out.items() if value is not None}


def softmax(name, tpl, with_probs=False, weights=None, do_eval=False, classes=9, scale=1.0):
  x = {'inputs': values(2, 5, 6, scale=scale),
       'class_weights': np.abs(values(2, 5, 1)) if weights is None else weights}
  if with_probs:
    logits = np.exp(values(2, 5, classes))
    x['class_probabilities'] = (logits / logits.sum(-1, keepdims=True)).astype(np.float32)
  else:
    x['class_ids'] = ids(classes, 2, 5, 1)
  return LayerCase('embedding_softmax', name, tpl, x, softmax_call, do_eval=do_eval,
                   text='layer(inputs, class_weights, class_ids=|class_probabilities=)')


def embedding_cases():
  em = embedding_softmax
  dims = dict(input_dims=6, num_classes=9)
  no_bias = C(linears.FeedForward, has_bias=False)
  for name, options in (('index_scaled', dict(scale_sqrt_depth=True)), ('matmul_scaled', dict(lookup_style='matmul', scale_sqrt_depth=True)),
                        ('oob_nan', dict(set_nan_for_oob_id=True))):
    yield LayerCase('embedding_softmax', f'emb_{name}', C(em.Embedding, **dims, **options), {'ids': ids(9, 2, 5)},
                    lambda layer, x: layer(x['ids']), text='layer(ids)')
  yield softmax('full_bias_init', C(em.FullSoftmax, **dims, bias_init=0.3))
  yield softmax('full_smooth_probs', C(em.FullSoftmax, **dims, label_smoothing_prob=0.2), with_probs=True)
  yield softmax('full_smooth_train', C(em.FullSoftmax, **dims, label_smoothing_prob=0.3, label_smoothing_apply_for_eval=False))
  yield softmax('full_softcap_scale', C(em.FullSoftmax, **dims, soft_cap_logits=2.0, scale_before_logits=True))
  yield softmax('full_zloss_eval', C(em.FullSoftmax, **dims, z_loss_weight=0.1), do_eval=True)
  yield softmax('full_zero_weights', C(em.FullSoftmax, **dims, feed_forward_tpl=no_bias), weights=np.zeros((2, 5, 1), np.float32))
  yield softmax('full_chunk', C(em.FullSoftmax, **dims, chunk_size=2))
  yield softmax('full_bi_tempered', C(em.FullSoftmax, **dims, bi_tempered_loss_tpl=C(losses.BiTemperedLoss, t1=0.8, t2=1.2, end_step=0)), do_eval=True)
  yield softmax('shared_smooth', C(em.SharedEmbeddingSoftmax, **dims, label_smoothing_prob=0.1, soft_cap_logits=5.0))
  yield softmax('nclass_major', C(em.NClassMajorSharedEmbeddingSoftmax, **dims))
  yield softmax('nclass_major_bias', C(em.NClassMajorSharedEmbeddingSoftmax, **dims, use_bias=True, soft_cap_logits=3.0))
  yield softmax('gshard_softcap', C(em.GShardSharedEmbeddingSoftmax, **dims, soft_cap_logits=1.5))
  yield softmax('gshard_abs_max', C(em.GShardSharedEmbeddingSoftmax, **dims, logits_abs_max=0.5), scale=3.0)
  yield softmax('gshard_smooth', C(em.GShardSharedEmbeddingSoftmax, **dims, label_smoothing_prob=0.2, use_tgt_labels_size_as_loss_denominator=False))
  yield softmax('gshard_smooth_eval', C(em.GShardSharedEmbeddingSoftmax, **dims, label_smoothing_prob=0.2, z_loss_weight=0.1), do_eval=True)
  yield softmax('sigmoid_cap', C(em.SigmoidCrossEntropy, **dims, soft_cap_logits=2.0))
  yield softmax('sigmoid_probs', C(em.SigmoidCrossEntropy, **dims, bias_init=0.5), with_probs=True)
  for name, cls, options in (('shared_scaled', em.SharedEmbeddingSoftmax, dict(scale_sqrt_depth=True)),
                             ('shared_matmul', em.SharedEmbeddingSoftmax, dict(lookup_style='matmul')),
                             ('nclass', em.NClassMajorSharedEmbeddingSoftmax, dict(scale_sqrt_depth=True)),
                             ('nclass_matmul', em.NClassMajorSharedEmbeddingSoftmax, dict(lookup_style='matmul')),
                             ('gshard_lookup', em.GShardSharedEmbeddingSoftmax, {})):
    def call(layer, x):
      return {'emb': layer.emb_lookup(x['ids']), 'logits': layer.get_logits(x['inputs'])}
    yield LayerCase('embedding_softmax', f'emb_of_{name}', C(cls, **dims, **options),
                    {'ids': ids(9, 2, 5), 'inputs': values(2, 5, 6)}, call, text='emb = layer.emb_lookup(ids); logits = layer.get_logits(inputs)')
  position = np.array([[0, 1, 2, 0, 1], [0, 0, 1, 2, 3]], np.int32)
  for name, tpl in (('timescales', C(em.PositionalEmbedding, embedding_dims=6, min_timescale=2, max_timescale=50)),
                    ('even', C(em.PositionalEmbedding, embedding_dims=8)),
                    ('trainable', C(em.TrainablePositionalEmbedding, embedding_dims=6, max_seq_length=7)),
                    ('trainable_matmul', C(em.TrainablePositionalEmbedding, embedding_dims=6, max_seq_length=5, lookup_style='matmul'))):
    yield LayerCase('embedding_softmax', f'pos_{name}', tpl, {}, lambda layer, x: layer(seq_length=5), text='layer(seq_length=5)')
    yield LayerCase('embedding_softmax', f'pos_{name}_packed', tpl, {'position': position},
                    lambda layer, x: layer(seq_length=5, position=x['position']), text='layer(seq_length=5, position=position)')
  yield LayerCase('embedding_softmax', 'pos_2d_append', C(em.PositionalEmbedding2D, h=2, w=3, embedding_dims=8, num_append_cls_tokens=2),
                  {}, lambda layer, x: layer(8), text='layer(seq_length=8)')
  x = values(2, 5, 3, 8)
  rope = lambda **options: C(em.RotaryPositionalEmbedding, embedding_dims=8, **options)
  yield LayerCase('embedding_softmax', 'rope_timescales', rope(min_timescale=2, max_timescale=100), {'inputs': x, 'position': position},
                  lambda layer, x: layer(x['inputs'], x['position']), text='layer(inputs, position)')
  yield LayerCase('embedding_softmax', 'rope_no_cast', rope(cast_as_fprop_dtype=False), {'inputs': x}, text='layer(inputs)')
  yield LayerCase('embedding_softmax', 'token_counter', C(em.TokenCounter), {'inputs': values(2, 5), 'paddings': paddings(5, 2, size=5)},
                  lambda layer, x: (layer(x['inputs'], x['paddings']), {})[1], text='layer(inputs, paddings)')
  yield LayerCase('embedding_softmax', 'token_counter_eval', C(em.TokenCounter), {'inputs': values(2, 5), 'paddings': paddings(5, 2, size=5)},
                  lambda layer, x: (layer(x['inputs'], x['paddings']), {})[1], text='layer(inputs, paddings)', do_eval=True)


def convolution_cases():
  x = values(2, 6, 5, 3)
  shape = (3, 3, 3, 4)
  for name, options in (('bias', dict(bias=True)), ('valid_stride', dict(padding='VALID', filter_stride=(2, 2))),
                        ('dilated_valid', dict(padding='VALID', dilations=(2, 1))), ('tf_stride3', dict(filter_stride=(3, 2), tf_equivalent_padding=True)),
                        ('causal_bias', dict(is_causal=True, bias=True, tf_equivalent_padding=True)), ('causal_dilated', dict(is_causal=True, dilations=(2, 1), tf_equivalent_padding=True)),
                        ('kernel_1', dict(filter_shape=(1, 1, 3, 4)))):
    yield one('convolutions', f'conv_{name}', C(convolutions.Conv2D, **{'filter_shape': shape, 'filter_stride': (1, 1), **options}), x)
  yield one('convolutions', 'conv3d', C(convolutions.Conv3D, filter_shape=(2, 3, 3, 2, 3), filter_stride=(1, 1, 1), bias=True), values(2, 4, 4, 3, 2))
  yield one('convolutions', 'conv3d_causal', C(convolutions.Conv3D, filter_shape=(3, 2, 2, 2, 3), filter_stride=(1, 2, 1), is_causal=True, tf_equivalent_padding=True), values(1, 4, 4, 3, 2))
  for name, options in (('no_norm', dict(batch_norm_tpl=None, bias=True)), ('gelu_stride', dict(activation_tpl=C(activations.GELU), filter_stride=(2, 2)))):
    yield one('convolutions', f'conv_bn_{name}', C(convolutions.ConvBNAct, **{'filter_shape': shape, 'filter_stride': (1, 1), **options}), x)
  def padded(layer, x):
    outputs, out_paddings = layer(x['inputs'], x['paddings'])
    return {'outputs': outputs, 'paddings': out_paddings}
  pads = paddings(6, 4, size=6)
  for name, options in (('plain', {}), ('stride', dict(filter_stride=(2, 2))), ('tf', dict(filter_stride=(2, 2), tf_equivalent_padding=True))):
    yield with_paddings('convolutions', f'conv_padding_{name}', C(convolutions.ConvBNActWithPadding, **{'filter_shape': shape, 'filter_stride': (1, 1), **options}), x, pads, call=padded)
  seq = values(2, 6, 4)
  depthwise = lambda **options: C(convolutions.DepthwiseConv1D, **{'filter_shape': (3, 4, 1), **options})
  for name, tpl in (('bias', depthwise(bias=True)), ('multiplier', depthwise(filter_shape=(2, 4, 2))), ('dilated', depthwise(rhs_dilation_rate=2)),
                    ('shape_2d', depthwise(use_2d_conv_weight_shape=True, is_causal=True))):
    yield with_paddings('convolutions', f'depthwise_{name}', tpl, seq, pads)
  for name, options in (('causal', dict(is_causal=True, kernel_size=4)), ('norm', dict(conv_norm_layer_tpl=C(normalizations.LayerNorm))),
                        ('relu', dict(conv_activation_tpl=C(activations.ReLU), kernel_size=2))):
    yield with_paddings('convolutions', f'light_conv_{name}', C(convolutions.LightConv1D, input_dims=4, **{'kernel_size': 3, **options}), seq, pads)
  for name, options in (('max_valid', dict(pooling_type='MAX', padding='VALID')), ('avg_valid', dict(pooling_type='AVG', padding='VALID')), ('avg_same', dict(pooling_type='AVG'))):
    yield one('convolutions', f'pool_{name}', C(poolings.Pooling, window_shape=(2, 3), window_stride=(2, 1), **options), x,
              call=lambda layer, x: layer(x['inputs'])[0], text='layer(inputs)[0]')
  for name, options in (('max', dict(pooling_type='MAX')), ('avg', dict(pooling_type='AVG'))):
    yield with_paddings('convolutions', f'pool_padded_{name}', C(poolings.Pooling, window_shape=(2, 2), window_stride=(2, 2), **options), x, pads, call=padded)
  for name, options in (('max', dict(pooling_type='MAX', pooling_dims=[1])), ('avg_all', dict(pooling_type='AVG', pooling_dims=[1, 2])), ('keepdims', dict(pooling_type='AVG', keepdims=True, pooling_dims=[1]))):
    yield one('convolutions', f'global_pool_{name}', C(poolings.GlobalPooling, **options), x)
  yield LayerCase('convolutions', 'global_pool_compatible', C(poolings.GlobalPooling, pooling_type='AVG', pooling_dims=[1]),
                  {'inputs': values(2, 6, 3), 'compatible_paddings': paddings(6, 2, size=6)[..., None]},
                  lambda layer, x: layer(x['inputs'], compatible_paddings=x['compatible_paddings']), text='layer(inputs, compatible_paddings=)')
  for name, options in (('avg', dict(pooling_type='AVG')), ('max_stride', dict(pooling_type='MAX', stride=2))):
    yield with_paddings('convolutions', f'pool1d_{name}', C(poolings.Pooling1D, window=3, **options), seq, pads, call=padded)


def rnn_cases():
  dims = dict(num_input_nodes=4, num_output_nodes=3)
  cells = {
      'lstm_no_nonlinearity': C(rnn_cell.LstmCellSimple, **dims, output_nonlinearity=False),
      'lstm_no_cap': C(rnn_cell.LstmCellSimple, **dims, cell_value_cap=None),
      'lstm_forget': C(rnn_cell.LstmCellSimple, **dims, forget_gate_bias=1.5, reset_cell_state=True),
      'ln_lstm_projection': C(rnn_cell.LayerNormalizedLstmCellSimple, num_input_nodes=4, num_output_nodes=3, num_hidden_nodes=5, layer_norm_epsilon=1e-3),
      'ln_lstm_reset': C(rnn_cell.LayerNormalizedLstmCellSimple, **dims, reset_cell_state=True),
      'cifg_projection': C(rnn_cell.CifgLstmCellSimple, num_input_nodes=4, num_output_nodes=3, num_hidden_nodes=5),
      'cifg_forget': C(rnn_cell.CifgLstmCellSimple, **dims, forget_gate_bias=0.5, cell_value_cap=1.0),
  }
  padding = paddings(6, 4, size=6)[..., None]
  segments = np.array([[1, 1, 2, 2, 3, 3], [1, 1, 1, 2, 0, 0]], np.int32)[..., None].astype(np.float32)
  def call(layer, x):
    act, state = layer(NestedMap(act=x['act'], padding=x['padding'], **({'segment_ids': x['segment_ids']} if 'segment_ids' in x else {})))
    out = {'act': act}
    def add(name, state):
      if isinstance(state, (list, tuple)):
        for i, one_state in enumerate(state):
          add(f'{name}/{i}', one_state)
      else:
        for key, value in state.items():
          if isinstance(value, dict):
            add(f'{name}/{key}', value)
          else:
            out[f'{name}/{key}'] = value
    add('state', state)
    return out
  def run(name, tpl, segmented=False, width=4):
    x = {'act': values(2, 6, width), 'padding': padding}
    if segmented:
      x['segment_ids'] = segments
    return LayerCase('rnn', name, tpl, x, call, text='act, state = layer({act, padding, segment_ids})')
  for name, cell in cells.items():
    yield run(name, C(frnn.FRnn, cell_tpl=cell), segmented='reset' in name or name == 'lstm_forget')
  yield run('lstm_frnn_reverse', C(frnn.LstmFrnn, cell_tpl=cells['lstm_no_cap'], reverse=True))
  yield run('lstm_frnn_plain', C(frnn.LstmFrnn, cell_tpl=cells['lstm_forget']), segmented=True)
  yield run('frnn_reverse_cifg', C(frnn.FRnn, cell_tpl=cells['cifg_forget'], reverse=True))
  inner = C(frnn.FRnn, cell_tpl=C(rnn_cell.LayerNormalizedLstmCellSimple))
  yield run('stack_of_three', C(frnn.StackFrnn, num_layers=3, num_input_nodes=4, num_output_nodes=3, frnn_tpl=inner))
  yield run('bidirectional_one', C(frnn.StackBiFrnn, num_layers=1, num_input_nodes=4, num_output_nodes=4,
                                   frnn_tpl=C(frnn.FRnn, cell_tpl=C(rnn_cell.LstmCellSimple))))


def all_cases():
  for part in (linear_cases, activation_cases, norm_cases, embedding_cases, convolution_cases, rnn_cases):
    yield from part()
