"""Attention, feed-forward layers, Transformer layers and their stacks."""
import jax.numpy as jnp
import numpy as np
from praxis import layers
from praxis import pax_fiddle
from praxis.layers import activations
from praxis.layers import attentions
from praxis.layers import embedding_softmax
from praxis.layers import grouped_query_attention
from praxis.layers import linears
from praxis.layers import multi_query_attention
from praxis.layers import normalizations
from praxis.layers import repeats
from praxis.layers import transformers

from basic_cases import ids
from basic_cases import one
from basic_cases import paddings
from basic_cases import values
from recording import LayerCase

C = pax_fiddle.Config
DIMS = dict(input_dim=8, hidden_dim=8, num_heads=2)
SEGMENTS = np.array([[1, 1, 1, 2, 2, 2], [1, 1, 2, 2, 3, 0]], np.int32)
POSITIONS = np.array([[0, 1, 2, 0, 1, 2], [0, 1, 0, 1, 0, 0]], np.int32)
SELF = 'encoded, probs = layer(inputs, inputs, inputs, atten_mask, segment_pos, segment_pos)'
CROSS = 'encoded, probs = layer(query_vec, key_vec, value_vec, atten_mask)'


def causal(size, batch=1):
  return np.tile(np.asarray(attentions.causal_mask(jnp.zeros((1, size)))), (batch, 1, 1, 1))


def packed_mask():
  return np.asarray(attentions.causal_segment_mask(SEGMENTS, jnp.float32))


def attend(layer, x):
  positions = x.get('segment_pos')
  encoded, probs = layer(x['inputs'], x['inputs'], x['inputs'], x['atten_mask'], positions, positions)
  return {'encoded': encoded, 'probs': probs}


def only_encoded(layer, x):
  return {'encoded': attend(layer, x)['encoded']}


def attention(name, tpl, packed=False, mask=None, size=6, call=attend, **options):
  x = {'inputs': values(2, size, 8)}
  if packed:
    x.update(atten_mask=packed_mask(), segment_pos=POSITIONS, segment_ids=SEGMENTS)
  else:
    x['atten_mask'] = causal(size) if mask is None else mask
  return LayerCase('attention', name, tpl, x, call, text=SELF, **options)


def attention_cases():
  dot = lambda **options: C(attentions.DotProductAttention, **{**DIMS, **options})
  bias = lambda **options: C(attentions.RelativeBias, relative_attention_num_buckets=8, relative_attention_max_distance=12, **options)
  yield attention('dot_cap_rope_packed', dot(atten_logit_cap=2.0, use_rotary_position_emb=True), packed=True)
  yield attention('dot_combined_rope', dot(combine_qkv=True, use_rotary_position_emb=True), packed=True)
  yield attention('dot_combined_dconv', dot(combine_qkv=True, dconv_qkv=True, use_bias=False))
  yield attention('dot_dconv_kernel4', dot(dconv_qkv=True, dconv_kernel_size=4))
  yield attention('dot_combine_dims', dot(use_bias=False, proj_tpl=C(attentions.AttentionProjection, attention_combine_dims=True)))
  yield attention('dot_combine_dims_qkv', dot(combine_qkv=True, use_bias=False, combined_qkv_proj_tpl=C(attentions.CombinedQKVProjectionLayer, attention_combine_dims=True)))
  yield attention('dot_per_head_rope', dot(dim_per_head=6, use_rotary_position_emb=True, internal_enable_per_dim_scale=False))
  yield attention('dot_bias_eval', dot(relative_bias_tpl=bias()), packed=True, do_eval=True)
  yield attention('dot_bias_xavier', dot(relative_bias_tpl=bias(use_xavier_init=True)), packed=True)
  yield attention('dot_bias_length', dot(relative_bias_tpl=bias(use_length_as_position=True)), packed=True, do_eval=True)
  yield attention('dot_bias_length_off', dot(relative_bias_tpl=bias(use_length_as_position=False)), packed=True)
  yield attention('dot_qk_rms_rope', dot(ln_tpl=C(normalizations.RmsNorm), use_rotary_position_emb=True, use_bias=False))
  yield attention('dot_extra_logit_cap', dot(attention_extra_logit=1.0, atten_logit_cap=3.0))
  yield attention('dot_zero_masked_extra', dot(zero_fully_masked=True, attention_extra_logit=0.0),
                  mask=np.where(np.arange(6)[None, None, :, None] == 0, -0.7 * np.finfo(np.float32).max, causal(6)).astype(np.float32))
  yield attention('dot_nhd_nobias', dot(output_proj_use_nhd_shape=True, use_bias=False, internal_enable_query_scale=False))
  yield attention('dot_scale_all', dot(scale_logits_by_head_dims=True, internal_enable_query_scale=False))
  yield attention('dot_rope_timescale', dot(use_rotary_position_emb=True, rotary_position_emb_tpl=C(embedding_softmax.RotaryPositionalEmbedding, max_timescale=100), cast_rotary_position_emb=False))
  yield attention('dot_rope_consolidate', dot(use_rotary_position_emb=True, consolidate_rope_key_state=True))
  yield attention('dot_eight_heads', dot(num_heads=8))
  yield attention('dot_gshard_init', dot(internal_gshard_gaussian_init=True, num_heads=4))
  yield LayerCase('attention', 'dot_cross_bias', dot(), {'query_vec': values(2, 4, 8), 'key_vec': values(2, 6, 8, seed='k'), 'value_vec': values(2, 6, 8, seed='v'),
                  'atten_mask': np.asarray(attentions.convert_paddings_to_mask(paddings(6, 3, size=6)))},
                  lambda layer, x: dict(zip(('encoded', 'probs'), layer(x['query_vec'], x['key_vec'], x['value_vec'], x['atten_mask']))), text=CROSS)
  for name, options in (('bidirectional', dict(bidirectional=True)), ('distance', dict(relative_attention_num_buckets=6, relative_attention_max_distance=10))):
    tpl = C(attentions.RelativeBias, **{'relative_attention_num_buckets': 8, 'relative_attention_max_distance': 16, 'num_heads': 3, **options})
    q, k = np.array([[3, 7, 15]], np.int32), np.arange(20, dtype=np.int32)[None]
    yield LayerCase('attention', f'relative_bias_{name}', tpl, {'q': q, 'k': k},
                    lambda layer, x: layer(x['q'], x['k']), text='layer(query_segment_pos=q, key_segment_pos=k)')
  for name, options, x in (('combined', dict(input_dim=6, num_heads=2, dim_per_head=4, attention_combine_dims=True, use_bias=False), values(2, 3, 6)),
                           ('out_nhd', dict(input_dim=6, num_heads=2, dim_per_head=4, is_output_projection=True, use_nhd_shape=True), values(2, 3, 2, 4)),
                           ('out_combined', dict(input_dim=6, num_heads=2, dim_per_head=4, is_output_projection=True, attention_combine_dims=True, use_bias=False), values(2, 3, 2, 4)),
                           ('nobias', dict(input_dim=6, num_heads=2, dim_per_head=4, use_bias=False), values(2, 6))):
    yield one('attention', f'projection_{name}', C(attentions.AttentionProjection, **options), x)
  for name, options in (('plain', {}), ('nobias', dict(use_bias=False)), ('combined', dict(attention_combine_dims=True, use_bias=False))):
    yield LayerCase('attention', f'qkv_{name}', C(attentions.CombinedQKVProjectionLayer, input_dim=6, num_heads=2, dim_per_head=4, **options), {'inputs': values(2, 3, 6)},
                    lambda layer, x: dict(zip(('query', 'key', 'value'), layer(x['inputs']))), text='query, key, value = layer(inputs)')
  yield one('attention', 'one_headed', C(multi_query_attention.OneHeadedAttentionProjection, input_dim=6, output_dim=4), values(2, 3, 6))
  yield one('attention', 'one_headed_nobias', C(multi_query_attention.OneHeadedAttentionProjection, input_dim=6, output_dim=4, use_bias=False), values(2, 3, 6))
  yield one('attention', 'per_dim_scale_4d', C(attentions.PerDimScale, dim=4), values(2, 3, 2, 4))
  for name, options, axis in (('axis1', dict(kernel_size=2, hidden_dims=4), 1), ('heads', dict(kernel_size=3, hidden_dims=[2, 4]), 1)):
    shape = (2, 6, 4) if name == 'axis1' else (2, 6, 2, 4)
    yield LayerCase('attention', f'causal_conv_{name}', C(attentions.CausalDepthwiseConv1D, **options), {'inputs': values(*shape)},
                    lambda layer, x: layer(x['inputs'], axis=1), text='layer(inputs, axis=1)')
  yield LayerCase('attention', 'causal_conv_packed', C(attentions.CausalDepthwiseConv1D, kernel_size=3, hidden_dims=4), {'inputs': values(2, 6, 4), 'segment_pos': POSITIONS},
                  lambda layer, x: layer(x['inputs'], axis=1, segment_pos=x['segment_pos']), text='layer(inputs, axis=1, segment_pos=segment_pos)')
  xl = lambda cls, **options: C(cls, **{**DIMS, 'rel_pos_emb_dim': 8, **options})
  yield attention('xl_bidirectional', xl(attentions.DotProductAttentionXL), mask=np.zeros((1, 1, 6, 6), np.float32))
  yield attention('xl_cap', xl(attentions.DotProductAttentionXL, atten_logit_cap=2.0, rel_pos_emb_dim=4))
  local = lambda cls=attentions.LocalSelfAttention, **options: C(cls, **{**DIMS, 'block_size': 3, 'left_context': 3, 'right_context': 0, **options})
  full_mask = lambda size: np.zeros((2, 1, size, size), np.float32)
  pads = lambda size: np.asarray(attentions.convert_paddings_to_mask(paddings(size, size - 2, size=size)))
  yield attention('local_right', local(left_context=2, right_context=2), mask=pads(7), size=7)
  yield attention('local_rope_cap', local(use_rotary_position_emb=True, atten_logit_cap=2.0), mask=pads(7), size=7)
  yield attention('local_combined', local(combine_qkv=True, use_bias=False, block_size=4, left_context=2), mask=pads(9), size=9)
  yield attention('local_one_block', local(block_size=16, left_context=4), mask=pads(6))
  yield attention('local_xl_right', local(attentions.LocalSelfAttentionXL, rel_pos_emb_dim=8, left_context=2, right_context=1), mask=pads(7), size=7)
  yield attention('local_xl_causal', local(attentions.LocalSelfAttentionXL, rel_pos_emb_dim=4, left_context=4), mask=pads(7), size=7)
  yield attention('local_bias_right', local(attentions.LocalSelfAttentionRelativeBias, left_context=2, right_context=1), mask=pads(7), size=7)
  yield attention('local_alibi_right', local(attentions.LocalSelfAttentionAlibi, left_context=2, right_context=1, num_heads=4), mask=pads(7), size=7)
  yield attention('local_alibi_causal', local(attentions.LocalSelfAttentionAlibi), mask=pads(6))
  mqa = lambda **options: C(multi_query_attention.MultiQueryDotProductAttention, **{**DIMS, 'num_heads': 4, **options})
  yield attention('mqa_nobias_scale', mqa(use_bias=False, scale_query_by_dim_per_head=True))
  yield attention('mqa_dim_per_head', mqa(dim_per_head=4, atten_logit_cap=2.0))
  yield attention('mqa_kv4', mqa(num_kv_heads=4), call=only_encoded, loss=['encoded'])
  yield attention('mqa_bias', mqa(relative_bias_tpl=bias(num_heads=4)), packed=True, do_eval=True)
  yield attention('mqa_chunks', mqa(chunked_attn_num_seq_split=2), call=only_encoded)
  yield attention('mqa_chunks_kv2', mqa(chunked_attn_num_seq_split=3, num_kv_heads=2, use_rotary_position_emb=True), call=only_encoded)
  yield attention('mqa_combined', mqa(combine_qkv=True, use_bias=False))
  yield attention('mqa_combined_kv2', mqa(combine_qkv=True, use_bias=False, num_kv_heads=2, use_rotary_position_emb=True), call=only_encoded)
  yield attention('mqa_nhd', mqa(output_proj_use_nhd_shape=True))
  yield attention('mqa_no_query_scale', mqa(internal_enable_query_scale=False, attention_extra_logit=0.5))
  yield attention('mqa_lpb', C(multi_query_attention.MultiQueryDotProductAttentionLPB, **{**DIMS, 'num_heads': 4}))
  gqa = lambda **options: C(grouped_query_attention.GroupedQueryAttention, **{**DIMS, 'num_heads': 4, 'num_kv_heads': 2, 'dim_per_head': 4, **options})
  mask = causal(6, 2) < -1
  for name, options in (('cap_temp', dict(atten_logit_cap=2.0, atten_temp=2.0)), ('dim_per_head', dict(dim_per_head=6, rope_min_max_timescales=(1, 50))),
                        ('all_heads', dict(num_kv_heads=4, use_bias=False)), ('one_head_rope', dict(num_kv_heads=1, dim_per_head=4, rope_min_max_timescales=(1, 10000)))):
    x = {'inputs': values(2, 6, 8), 'atten_mask': mask, 'segment_pos': np.tile(np.arange(6, dtype=np.int32), (2, 1))}
    yield LayerCase('attention', f'gqa_{name}', gqa(**options), x, attend, text=SELF + '; atten_mask is boolean, 1 = masked')


def ffn_cases():
  x, pads = values(2, 5, 8), paddings(5, 3, size=5)
  ffn = lambda **options: C(transformers.TransformerFeedForward, **{'input_dims': 8, 'hidden_dims': 12, **options})
  run = lambda name, tpl, **options: LayerCase('transformer', name, tpl, {'inputs': x, 'paddings': pads}, text='layer(inputs, paddings)', **options)
  for name, options in (('padding_first', dict(apply_padding_first=True)), ('padding_first_post', dict(apply_padding_first=True, norm_policy='post')),
                        ('gated_swiglu_bias', dict(use_gated_activation=True, activation_tpl=C(activations.Swish))),
                        ('output_dims', dict(output_dims=8, residual_weight=0.5, norm_policy='primer_hybrid')),
                        ('gated_no_skip', dict(use_gated_activation=True, add_skip_connection=False, has_bias=False)),
                        ('other_width', dict(output_dims=6, add_skip_connection=False)),
                        ('gshard_init', dict(internal_gshard_variance_scaling_fan_in_init=True, activation_tpl=C(activations.SquaredReLU))),
                        ('rms_post_skip', dict(ln_tpl=C(normalizations.RmsNorm), norm_policy='post_skip'))):
    yield run(f'ffn_{name}', ffn(**options))
  yield run('ffn_droppath_eval', ffn(residual_droppath_prob=0.3, residual_dropout_prob=0.2, relu_dropout_prob=0.1), do_eval=True)
  moe = lambda **options: C(transformers.TransformerFeedForwardMoe, **{'input_dims': 8, 'hidden_dims': 12, 'num_experts': 4, 'num_groups': 1, 'expert_capacity_dim': 0, **options})
  big, pad8 = values(2, 8, 8), paddings(8, 5, size=8)
  for name, options in (('two_groups_capacity', dict(num_groups=2, expert_capacity_dim=2)), ('factor', dict(unadjusted_expert_capacity_factor=0.5)),
                        ('min_group', dict(min_group_size=8)), ('post', dict(norm_policy='post')), ('primer', dict(norm_policy='primer_hybrid')),
                        ('no_skip', dict(add_skip_connection=False)),
                        ('gated_cap', dict(use_gated_activation=True, gating_logit_cap=1.0)), ('padding_first', dict(apply_padding_first=True)),
                        ('loss_weight', dict(moe_load_balance_loss_weight=0.1)), ('residual', dict(residual_weight=0.5)),
                        ('expert_choice_groups', dict(gating_func='expert_choice', num_groups=2)), ('expert_choice_tight', dict(gating_func='expert_choice', unadjusted_expert_capacity_factor=0.5)),
                        ('expert_choice_v2_groups', dict(gating_func='expert_choice_v2', num_groups=2)), ('gelu_fan_in', dict(internal_gshard_variance_scaling_fan_in_init=False, activation_tpl=C(activations.GELU))),
                        ('explicit_fans', dict(explicit_fan_in_fan_out_axes=True)), ('eight_experts', dict(num_experts=8, expert_capacity_dim=1)),
                        ('dense', dict(gating_func='dense_top2')), ('dense_groups', dict(gating_func='dense_top2', num_groups=2)), ('sentence', dict(moe_gating_embedding_level='sentence'))):
    yield LayerCase('transformer', f'moe_{name}', moe(**options), {'inputs': big, 'paddings': pad8}, text='layer(inputs, paddings)')
  yield LayerCase('transformer', 'moe_eval', moe(), {'inputs': big, 'paddings': pad8}, text='layer(inputs, paddings)', do_eval=True)


def transformer_cases():
  x, pads = values(2, 5, 8), paddings(5, 3, size=5)
  mask = np.minimum(causal(5, 2), np.asarray(attentions.convert_paddings_to_mask(pads)))
  cross, cross_mask = values(2, 4, 8, seed='cross'), np.asarray(attentions.convert_paddings_to_mask(paddings(4, 2, size=4)))
  def call(layer, x):
    out, probs = layer(x['inputs'], x['paddings'], x['attention_mask'], x.get('cross_inputs'), x.get('cross_attention_mask'), segment_pos=x.get('segment_pos'))
    result = {'out': out}
    for key, value in (probs or {}).items():
      result[f'probs/{key}'] = value
    return result
  layer = lambda **options: C(transformers.Transformer, **{'input_dims': 8, 'hidden_dims': 12, 'num_heads': 2, **options})
  text = 'out, probs = layer(inputs, paddings, attention_mask, cross_inputs, cross_attention_mask, segment_pos=segment_pos)'
  def run(name, tpl, with_cross=False, **options):
    inputs = {'inputs': x, 'paddings': pads, 'attention_mask': mask}
    if with_cross:
      inputs.update(cross_inputs=cross, cross_attention_mask=cross_mask)
    return LayerCase('transformer', name, tpl, inputs, call, text=text, **options)
  swiglu = C(transformers.TransformerFeedForward, use_gated_activation=True, activation_tpl=C(activations.SiLU), has_bias=False)
  gqa = C(grouped_query_attention.GroupedQueryAttention, num_kv_heads=1, dim_per_head=4, rope_min_max_timescales=(1, 10000), use_bias=False)
  yield run('layer_dim_per_head', layer(dim_per_head=6))
  yield run('layer_rms', layer(ln_tpl=C(normalizations.RmsNorm), norm_policy='post'))
  yield run('layer_swiglu_primer', layer(tr_fflayer_tpl=swiglu, norm_policy='primer_hybrid'))
  yield run('layer_eval_dropout', layer(residual_dropout_prob=0.1, atten_dropout_prob=0.2, relu_dropout_prob=0.1, residual_droppath_prob=0.2), do_eval=True)
  for policy in ('pre', 'post', 'post_skip'):
    yield run(f'layer_cross_{policy}_rms', layer(use_cross_attention=True, norm_policy=policy, ln_tpl=C(normalizations.RmsNorm)), with_cross=True)
  yield run('layer_cross_tpl', layer(use_cross_attention=True, cross_atten_tpl=C(attentions.DotProductAttention, use_bias=False, internal_enable_per_dim_scale=False)), with_cross=True)
  yield run('layer_moe_ffn', layer(tr_fflayer_tpl=C(transformers.TransformerFeedForwardMoe, num_experts=2, num_groups=1, expert_capacity_dim=3)))
  def stack_call(layer, x):
    return layer(x['inputs'], x['paddings'], x.get('segment_mask'), x.get('cross_inputs'), x.get('cross_paddings'), None, x.get('segment_pos'))
  stack_text = 'layer(inputs, paddings, segment_mask, cross_inputs, cross_paddings, None, segment_pos)'
  stack = lambda **options: C(transformers.StackedTransformer, **{'model_dims': 8, 'hidden_dims': 12, 'num_heads': 2, 'num_layers': 2, 'mask_self_attention': True, **options})
  def stacked(name, tpl, with_cross=False, packed=False, **options):
    inputs = {'inputs': x, 'paddings': pads}
    if packed:
      inputs = {'inputs': values(2, 6, 8), 'paddings': (SEGMENTS == 0).astype(np.float32),
                'segment_mask': np.asarray(attentions.segment_mask(SEGMENTS, dtype=jnp.float32)), 'segment_pos': POSITIONS}
    if with_cross:
      inputs.update(cross_inputs=cross, cross_paddings=paddings(4, 2, size=4))
    return LayerCase('transformer', name, tpl, inputs, stack_call, text=stack_text, **options)
  yield stacked('stack_three', stack(num_layers=3, dim_per_head=6))
  yield stacked('stack_rope_packed', stack(packed_input=True, transformer_layer_params_tpl=C(transformers.Transformer, tr_atten_tpl=C(attentions.DotProductAttention, use_rotary_position_emb=True, combine_qkv=True))), packed=True)
  yield stacked('stack_layers_differ', stack(transformer_layer_params_tpl=[C(transformers.Transformer, norm_policy='pre'), C(transformers.Transformer, norm_policy='post')]))
  yield stacked('stack_moe_v2', stack(num_layers=2, moe_layers=[1], num_experts=2, num_groups=1, gating_func='expert_choice_v2'))
  yield stacked('stack_moe_capacity', stack(num_layers=2, moe_layers=[0, 1], num_experts=4, num_groups=2, min_group_size=None, unadjusted_expert_capacity_factor=1.0))
  yield stacked('stack_gqa', stack(transformer_layer_params_tpl=C(transformers.Transformer, tr_atten_tpl=gqa, tr_fflayer_tpl=swiglu, ln_tpl=C(normalizations.RmsNorm))))
  yield stacked('stack_cross_bidirectional', stack(mask_self_attention=False, use_cross_attention=True), with_cross=True)
  yield stacked('stack_eval', stack(dropout_prob=0.2, input_dropout_prob=0.1, residual_droppath_prob=0.1), do_eval=True)
  repeat = lambda block, **options: C(transformers.StackedTransformerRepeated, **{'block': block, 'x_times': 2, **options})
  yield stacked('repeat_three', repeat(stack(num_layers=1), x_times=3))
  yield stacked('repeat_packed', repeat(stack(num_layers=1, packed_input=True)), packed=True)
  yield stacked('repeat_nd_prefix', repeat(stack(num_layers=1), x_times=4, nd_prefix_shape=[2, 2]))
  yield stacked('repeat_names', repeat(stack(num_layers=1), sublayer_name='body', repeat_layer_name='loop'))
  yield stacked('repeat_moe', repeat(stack(num_layers=2, moe_layers=[1], num_experts=2, num_groups=1)))
  yield stacked('repeat_cross', repeat(stack(num_layers=1, use_cross_attention=True)), with_cross=True)
  pipeline = lambda **options: C(transformers.PipelinedTransformer, **{'pipeline_stage': stack(num_layers=1), 'num_pipeline_stages': 2, 'num_pipeline_microbatches': 2, **options})
  four = {'inputs': values(4, 5, 8), 'paddings': paddings(5, 3, 4, 5, size=5)}
  for name, options in (('two_stages', {}), ('circular', dict(circular_repeat=2, num_pipeline_microbatches=4)), ('microbatch_size', dict(num_pipeline_microbatches=None, pipeline_microbatch_size=1))):
    yield LayerCase('transformer', f'pipeline_{name}', pipeline(**options), four, stack_call, text=stack_text)
  ff = C(linears.FeedForward, input_dims=8, output_dims=8)
  yield one('linears', 'repeat_ff', C(repeats.Repeat, sub_tpl=ff, x_times=3), x)
  yield one('linears', 'repeat_ff_names', C(repeats.Repeat, sub_tpl=C(linears.MLPBlock, num_layers=2, hidden_dims=4, ff_tpl=ff), x_times=4, sublayer_name='body', nd_prefix_shape=[2, 2]), x)


def all_cases():
  for part in (attention_cases, ffn_cases, transformer_cases):
    yield from part()
