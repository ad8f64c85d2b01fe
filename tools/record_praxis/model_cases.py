"""Whole models, vision, speech, state spaces, adapters."""
import jax.numpy as jnp
import numpy as np
import optax
from praxis import base_layer
from praxis import layers
from praxis import pax_fiddle
from praxis import py_utils
from praxis.layers import activations
from praxis.layers import adapters
from praxis.layers import attentions
from praxis.layers import conformers
from praxis.layers import convolutions
from praxis.layers import ctc_objectives
from praxis.layers import embedding_softmax
from praxis.layers import grouped_query_attention
from praxis.layers import linears
from praxis.layers import models
from praxis.layers import ngrammer
from praxis.layers import normalizations
from praxis.layers import poolings
from praxis.layers import resnets
from praxis.layers import sequential
from praxis.layers import ssm
from praxis.layers import ssm_transformers
from praxis.layers import transformer_models
from praxis.layers import transformers
from praxis.layers import vanillanets
from praxis.layers import vits
from praxis.layers.quantization import attentions as quantization_attentions
from praxis.layers.quantization import linears as quantization_linears
from praxis.layers.quantization import quantization_hparams

from attention_cases import POSITIONS
from attention_cases import SEGMENTS
from attention_cases import causal
from basic_cases import ids
from basic_cases import paddings
from basic_cases import values
from recording import FunctionCase
from recording import LayerCase
from recording import NestedMap
from recording import rng

C = pax_fiddle.Config
V = 13


def stack(**options):
  return C(transformers.StackedTransformer, **{'model_dims': 8, 'hidden_dims': 12, 'num_heads': 2, 'num_layers': 1, **options})


def lm(**options):
  return C(transformer_models.TransformerLm, **{'model_dims': 8, 'vocab_size': V, 'stacked_transformer_tpl': stack(), **options})


def batch(size=6, rows=2, packed=False):
  out = {'ids': ids(V, rows, size), 'labels': ids(V, rows, size, seed='labels'), 'paddings': paddings(*([size, size - 2, size][:rows]), size=size)}
  out['weights'] = 1 - out['paddings']
  if packed:
    out.update(paddings=(SEGMENTS == 0).astype(np.float32), weights=(SEGMENTS > 0).astype(np.float32), segment_ids=SEGMENTS, segment_pos=POSITIONS)
  return out


LM_TEXT = 'layer(ids, paddings, labels={class_ids: labels, class_weights: weights}, segment_ids, segment_pos, causal_attention_mask)'


def lm_call(layer, x):
  out = layer(x['ids'], x['paddings'], labels=NestedMap(class_ids=x['labels'], class_weights=x['weights']), segment_ids=x.get('segment_ids'),
              segment_pos=x.get('segment_pos'), causal_attention_mask=x.get('causal_attention_mask'))
  return {key: value for key, value in out.items() if isinstance(value, jnp.ndarray)}


def run_lm(name, tpl, x=None, **options):
  return LayerCase('models', name, tpl, x or batch(), lm_call, loss=['total_loss'], text=LM_TEXT, **options)


def model_call(layer, x):
  predictions = layer.compute_predictions(NestedMap(x))
  metrics, _ = layer.compute_loss(predictions, NestedMap(x))
  out = {}
  for name, (value, weight) in metrics.items():
    out[f'metric/{name}/value'] = value
    out[f'metric/{name}/weight'] = weight
    if name == 'total_loss' or (name == 'loss' and 'total_loss' not in metrics):
      out['total_loss'] = value
  return out


def run_model(name, tpl, x, **options):
  return LayerCase('models', name, tpl, x, model_call, loss=['total_loss'],
                   text='p = layer.compute_predictions(batch); metrics = layer.compute_loss(p, batch)', **options)


def lm_cases():
  em = embedding_softmax
  causal_stack = lambda **options: stack(mask_self_attention=True, **options)
  rms = C(normalizations.RmsNorm)
  yield run_lm('lm_separate_embedding', lm(separate_embedding_tpl=C(em.Embedding), softmax_tpl=C(em.FullSoftmax)))
  yield run_lm('lm_nclass', lm(softmax_tpl=C(em.NClassMajorSharedEmbeddingSoftmax)))
  yield run_lm('lm_no_positions', lm(position_emb_tpl=None, final_ln_tpl=rms))
  yield run_lm('lm_trainable_positions', lm(position_emb_tpl=C(em.TrainablePositionalEmbedding, max_seq_length=16)))
  yield run_lm('lm_trainable_packed', lm(packed_input=True, position_emb_tpl=C(em.TrainablePositionalEmbedding, max_seq_length=16, lookup_style='index')), batch(packed=True))
  yield run_lm('lm_smooth', lm(softmax_tpl=C(em.SharedEmbeddingSoftmax, label_smoothing_prob=0.1, soft_cap_logits=2.0)))
  yield run_lm('lm_zloss', lm(softmax_tpl=C(em.SharedEmbeddingSoftmax, z_loss_weight=0.05, scale_sqrt_depth=True), entropy_loss_weight=0.1))
  yield run_lm('lm_eval_dropout', lm(stacked_transformer_tpl=causal_stack(dropout_prob=0.2)), do_eval=True)
  yield run_lm('lm_moe_eval', lm(stacked_transformer_tpl=causal_stack(num_layers=2, moe_layers=[1], num_experts=2, num_groups=1)), do_eval=True)
  yield run_lm('lm_skip_aux', lm(skip_aux_loss=True, stacked_transformer_tpl=causal_stack(num_layers=2, moe_layers=[1], num_experts=2, num_groups=1)))
  yield run_lm('lm_final_ln_none', lm(final_ln_tpl=None))
  yield run_lm('lm_repeat_moe', lm(stacked_transformer_tpl=C(transformers.StackedTransformerRepeated, x_times=2, block=causal_stack(num_layers=2, moe_layers=[1], num_experts=2, num_groups=1))))
  gqa = C(grouped_query_attention.GroupedQueryAttention, num_kv_heads=1, dim_per_head=4, rope_min_max_timescales=(1, 10000), use_bias=False)
  swiglu = C(transformers.TransformerFeedForward, use_gated_activation=True, activation_tpl=C(activations.SiLU), has_bias=False)
  yield run_lm('lm_gqa_packed', lm(packed_input=True, position_emb_tpl=None, final_ln_tpl=rms, stacked_transformer_tpl=causal_stack(dim_per_head=4,
      packed_input=True, transformer_layer_params_tpl=C(transformers.Transformer, ln_tpl=rms, tr_atten_tpl=gqa, tr_fflayer_tpl=swiglu))), batch(packed=True))
  prefix = dict(batch(), causal_attention_mask=np.array([[0, 0, 1, 1, 1, 1], [0, 1, 1, 1, 1, 1]], np.float32))
  yield run_lm('lm_prefix_two', lm(model_type=transformer_models.LanguageModelType.PREFIX, stacked_transformer_tpl=stack(num_layers=2)), prefix)
  yield run_lm('lm_bidirectional_packed', lm(packed_input=True, model_type=transformer_models.LanguageModelType.BIDIRECTIONAL), batch(packed=True))
  model = lambda **options: C(models.LanguageModel, **{'lm_tpl': lm(), **options})
  yield run_model('language_model_packed', model(lm_tpl=lm(packed_input=True)), batch(packed=True))
  yield run_model('language_model_strict', model(report_strict_acc=True), dict(batch(), eval_sample_weights=np.ones([2], np.float32)))
  yield run_model('language_model_count', model(count_tokens=True), batch())
  yield run_model('language_model_sample_weights', model(apply_eval_sample_weights=True), dict(batch(rows=3), eval_sample_weights=np.array([1, 0, 0.5], np.float32)), do_eval=True)
  bert = lambda **options: C(models.BertModel, **{'lm_tpl': lm(packed_input=True, model_type=transformer_models.LanguageModelType.BIDIRECTIONAL), 'mask_token_id': 3, **options})
  masked = batch()
  x = {'labels': masked['ids'], 'masked_ids': np.where(ids(3, 2, 6, seed='mask') == 0, 3, masked['ids']).astype(np.int32),
       'masked_pos': (ids(3, 2, 6, seed='mask') == 0).astype(np.float32), 'paddings': masked['paddings'],
       'segment_ids': np.ones((2, 6), np.int32), 'segment_pos': np.tile(np.arange(6, dtype=np.int32), (2, 1))}
  yield run_model('bert', bert(), x)
  yield run_model('bert_smooth', bert(label_smoothing_prob=0.1), x)
  mlp = C(models.ClassificationMLPModel, mlp_tpl=C(linears.MLPBlock, num_layers=2, hidden_dims=6, ff_tpl=C(linears.FeedForward, input_dims=8, output_dims=8)),
          softmax_tpl=C(em.SharedEmbeddingSoftmax, input_dims=8, num_classes=V))
  yield run_model('mlp_classifier', mlp, batch())
  small_resnet = lambda **options: C(resnets.ResNet, **{'strides': [1], 'channels': [8], 'blocks': [1], 'kernels': [3], 'entryflow_conv_kernel': (3, 3, 3), 'entryflow_conv_stride': (1, 1), **options})
  images = {'image': values(2, 8, 8, 3), 'label_probs': np.eye(5, dtype=np.float32)[[1, 4]]}
  yield run_model('classifier', C(models.ClassificationModel, network_tpl=small_resnet(), softmax_tpl=C(em.FullSoftmax, input_dims=8, num_classes=5)), images)
  yield run_model('classifier_weights', C(models.ClassificationModel, network_tpl=small_resnet(), softmax_tpl=C(em.FullSoftmax, input_dims=8, num_classes=5), input_field='pixels', label_field='classes'),
                  {'pixels': images['image'], 'classes': images['label_probs'], 'weight': np.array([1.0, 0.5], np.float32)})
  seq = C(models.SequenceModel, model_tpl=C(transformer_models.TransformerEncoderDecoder, model_dims=8, encoder_stacked_transformer_tpl=stack(), decoder_stacked_transformer_tpl=stack(use_cross_attention=True, mask_self_attention=True),
                                            encoder_embedding_tpl=C(em.Embedding, num_classes=11, input_dims=8), softmax_tpl=C(em.SharedEmbeddingSoftmax, num_classes=11)))
  def sequence_call(layer, x):
    src = NestedMap(ids=x['src/ids'], paddings=x['src/paddings'])
    tgt = NestedMap(ids=x['tgt/ids'], paddings=x['tgt/paddings'], labels=x['tgt/labels'], weights=x['tgt/weights'])
    return model_call(layer, NestedMap(src=src, tgt=tgt))
  for name, options in (('sequence_model', {}), ('sequence_model_smooth', dict(label_smoothing_prob=0.1))):
    tpl = seq.clone()
    for key, value in options.items():
      setattr(tpl, key, value)
    yield LayerCase('models', name, tpl, {'src/ids': ids(11, 2, 6), 'src/paddings': paddings(6, 3, size=6), 'tgt/ids': ids(11, 2, 5), 'tgt/paddings': paddings(5, 4, size=5),
                    'tgt/labels': ids(11, 2, 5, seed='l'), 'tgt/weights': 1 - paddings(5, 4, size=5)}, sequence_call, loss=['total_loss'],
                    text='p = layer.compute_predictions({src, tgt}); metrics = layer.compute_loss(p, {src, tgt})')
  def encdec_call(layer, x):
    out = layer(x['ids'], x['input_paddings'], x['targets'], x['target_paddings'], labels=NestedMap(class_ids=x['labels'], class_weights=x['weights']))
    return {key: value for key, value in out.items() if isinstance(value, jnp.ndarray)}
  for name, options in (('encdec_separate', dict(decoder_embedding_tpl=C(em.Embedding, num_classes=11, input_dims=8), softmax_tpl=C(em.FullSoftmax, num_classes=11))),
                        ('encdec_shared', dict(encoder_embedding_tpl=None)), ('encdec_norms', dict(encoder_ln_tpl=rms, decoder_ln_tpl=rms, position_emb_tpl=None, encoder_position_emb_tpl=C(em.PositionalEmbedding), decoder_position_emb_tpl=C(em.TrainablePositionalEmbedding, max_seq_length=8)))):
    tpl = C(transformer_models.TransformerEncoderDecoder, **{'model_dims': 8, 'encoder_stacked_transformer_tpl': stack(), 'decoder_stacked_transformer_tpl': stack(use_cross_attention=True, mask_self_attention=True),
            'encoder_embedding_tpl': C(em.Embedding, num_classes=11, input_dims=8), 'softmax_tpl': C(em.SharedEmbeddingSoftmax, num_classes=11), **options})
    yield LayerCase('models', name, tpl, {'ids': ids(11, 2, 6), 'input_paddings': paddings(6, 4, size=6), 'targets': ids(11, 2, 5), 'target_paddings': paddings(5, 3, size=5),
                    'labels': ids(11, 2, 5, seed='l'), 'weights': 1 - paddings(5, 3, size=5)}, encdec_call, loss=['total_loss'],
                    text='layer(ids, input_paddings, targets, target_paddings, labels={class_ids: labels, class_weights: weights})')


def vision_cases():
  x = values(2, 8, 8, 3)
  image = lambda name, tpl, x=x, **options: LayerCase('vision', name, tpl, {'inputs': x}, text='layer(inputs)', **options)
  net = lambda **options: C(resnets.ResNet, **{'strides': [1], 'channels': [8], 'blocks': [1], 'kernels': [3], 'entryflow_conv_kernel': (3, 3, 3), 'entryflow_conv_stride': (1, 1), **options})
  yield image('resnet_small', net())
  yield image('resnet_two_stages', net(strides=[1, 2], channels=[8, 16], blocks=[1, 1], kernels=[3, 1], entry_max_pool=False, output_spatial_pooling_params=None))
  yield image('resnet_basic', net(block_params=C(resnets.ResNetBasicBlock), channels=[4]))
  yield image('resnet_eval', net(), do_eval=True)
  y = values(2, 4, 4, 8)
  yield image('resnet_block', C(resnets.ResNetBlock, input_dim=8, output_dim=8, conv_params=C(convolutions.ConvBNAct)), y)
  yield image('resnet_block_stride', C(resnets.ResNetBlock, input_dim=8, output_dim=16, stride=2, activation_tpl=C(activations.SiLU)), y)
  yield image('resnet_block_zero_init', C(resnets.ResNetBlock, input_dim=8, output_dim=8, zero_init_residual=True), y)
  yield image('resnet_basic_block', C(resnets.ResNetBasicBlock, input_dim=8, output_dim=4, stride=2), y)
  entry = lambda **options: C(vits.VitEntryLayers, **{'pos_emb_shapes': (2, 2), 'patch_size': 4, 'input_dims': 48, 'output_dims': 8, 'pos_emb_tpl': C(embedding_softmax.TrainablePositionalEmbedding, max_seq_length=4, embedding_dims=8), **options})
  yield image('vit_entry', entry())
  yield image('vit_entry_tokens', entry(prepend_cls_tokens=1, append_cls_tokens=2, input_fc_has_bias=False))
  yield image('vit_entry_resized', entry(pos_emb_shapes=(4, 4), pos_emb_tpl=C(embedding_softmax.TrainablePositionalEmbedding, max_seq_length=16, embedding_dims=8)))
  yield image('vit_entry_enlarged', entry(pos_emb_shapes=(1, 1), pos_emb_tpl=C(embedding_softmax.TrainablePositionalEmbedding, max_seq_length=1, embedding_dims=8)))
  yield image('vit_entry_patches', entry(pos_emb_tpl=None), values(2, 4, 48))
  tokens = values(2, 4, 8)
  exit_ = lambda **options: C(vits.VitExitLayers, **{'hidden_dim': 8, 'output_dim': 6, 'pooling_tpl': C(poolings.GlobalPooling, pooling_type='MAX', pooling_dims=[1]), **options})
  yield image('vit_exit', exit_(), tokens)
  yield image('vit_exit_plain', exit_(output_fc_tanh=False, pre_ln=False), tokens)
  yield image('vit_exit_unpooled', exit_(pooled=False, output_fc_has_bias=False), tokens)
  yield image('vit_exit_same', exit_(output_fc_tanh=False, output_dim=8), tokens)
  vit = lambda **options: C(vits.VisionTransformer, **{'entry_layers_tpl': entry(), 'transformer_layers_tpl': stack(), 'exit_layers_tpl': exit_(), **options})
  yield image('vit', vit())
  yield image('vit_no_exit', vit(exit_layers_tpl=None, transformer_layers_tpl=C(transformers.StackedTransformerRepeated, block=stack(), x_times=2)))
  block = lambda **options: C(vanillanets.VanillaBlock, **{'input_dim': 8, 'output_dim': 8, **options})
  yield image('vanilla_block', block(), y)
  yield image('vanilla_block_stride', block(output_dim=16, stride=2, negative_slope=0.1), y)
  vanilla = lambda **options: C(vanillanets.VanillaNet, **{'strides': [1], 'channels': [16], 'blocks': [1], 'kernels': [1], 'output_spatial_pooling_params': C(poolings.GlobalPooling, pooling_dims=[1, 2]), **options})
  yield image('vanilla_net', vanilla())
  yield image('vanilla_net_two', vanilla(strides=[1, 2], channels=[8, 16], blocks=[2, 1], kernels=[3, 1], entryflow_conv_kernel=(3, 3), output_spatial_pooling_params=None))


def speech_cases():
  x, pads = values(2, 6, 8), paddings(6, 4, size=6)
  run = lambda name, tpl, inputs=x, **options: LayerCase('speech', name, tpl, {'inputs': inputs, 'paddings': pads}, text='layer(inputs, paddings)', **options)
  conformer = lambda **options: C(conformers.Conformer, **{'input_dims': 8, 'model_dims': 8, 'kernel_size': 3, 'atten_num_heads': 2, 'ffn_dim_multiplier': 2, **options})
  yield run('conformer', conformer())
  yield run('conformer_order', conformer(layer_order='conv_before_mhsa', ff_residual_weight=1.0, ff_activation_tpl=C(activations.ReLU)))
  yield run('conformer_mhsa', conformer(layer_order='mhsa', fflayer_start_tpl=None))
  yield run('conformer_conv', conformer(layer_order='conv', fflayer_end_tpl=None, final_ln_tpl=None))
  yield run('conformer_shared', conformer(fflayer_weight_sharing=True))
  yield run('conformer_eval', conformer(dropout_prob=0.1), do_eval=True)
  attention = lambda cls, **options: C(cls, **options)
  with_atten = lambda tpl: C(conformers.SelfAttentionWithNormAndResidual, self_atten_tpl=tpl)
  yield run('conformer_context', conformer(trans_atten_tpl=with_atten(C(conformers.DotProductAttentionWithContext, left_context=2, right_context=1))))
  yield run('conformer_xl', conformer(trans_atten_tpl=with_atten(C(conformers.DotProductAttentionWithContextXL, rel_pos_emb_dim=8, left_context=3))))
  yield run('conformer_local', conformer(trans_atten_tpl=with_atten(C(attentions.LocalSelfAttention, block_size=2, left_context=2, right_context=1))))
  atten = lambda **options: C(conformers.SelfAttentionWithNormAndResidual, **{'norm_tpl': C(normalizations.LayerNorm, dim=8), 'self_atten_tpl': C(conformers.DotProductAttentionWithContext, input_dim=8, hidden_dim=8, num_heads=2), **options})
  for name, options in (('pre', {}), ('post_skip', dict(pre_layer_norm=False)), ('weights', dict(residual_weight=0.5, input_weight=2.0)),
                        ('primer', dict(pre_layer_norm=None, norm_policy='primer_hybrid')), ('post', dict(pre_layer_norm=None, norm_policy='post'))):
    yield run(f'atten_{name}', atten(**options))
  mask = causal(6, 2)
  yield LayerCase('speech', 'atten_mask', atten(), {'inputs': x, 'paddings': pads, 'atten_mask': mask}, text='layer(inputs, paddings, atten_mask)')
  yield LayerCase('speech', 'conformer_mask', conformer(), {'inputs': x, 'paddings': pads, 'atten_mask': mask}, text='layer(inputs, paddings, atten_mask)')
  for name, cls, options in (('context', conformers.DotProductAttentionWithContext, {}), ('context_right', conformers.DotProductAttentionWithContext, dict(left_context=None, right_context=0)), ('context_xl', conformers.DotProductAttentionWithContextXL, dict(rel_pos_emb_dim=4))):
    tpl = C(cls, **{'input_dim': 8, 'hidden_dim': 8, 'num_heads': 2, 'left_context': 2, 'right_context': 1, **options})
    yield LayerCase('attention', f'dot_{name}', tpl, {'inputs': x, 'atten_mask': np.zeros((1, 1, 6, 6), np.float32)},
                    lambda layer, x: dict(zip(('encoded', 'probs'), layer(x['inputs'], x['inputs'], x['inputs'], x['atten_mask']))), text='encoded, probs = layer(inputs, inputs, inputs, atten_mask)')


def ctc_cases():
  x = {'logits': values(3, 8, 5), 'logitpaddings': paddings(8, 6, 5, size=8), 'labels': 1 + ids(4, 3, 3), 'labelpaddings': paddings(3, 2, 1, size=3)}
  yield FunctionCase('speech', 'ctc_loss', 'ctc_loss', x, lambda x: optax.ctc_loss(x['logits'], x['logitpaddings'], x['labels'], x['labelpaddings']), tolerance=2e-5)
  def alignments(x):
    loss, found = ctc_objectives.ctc_loss_with_alignments(x['logits'], x['logitpaddings'], x['labels'], x['labelpaddings'])
    return {'per_seq_loss': loss, 'alignment': found.alignment,
            'state_logprobs': found.state_logprobs}
  yield FunctionCase('speech', 'ctc_alignments', 'ctc_loss_with_alignments', x, alignments, tolerance=1e-4)
  repeated = dict(x, labels=np.array([[1, 1, 2], [2, 2, 2], [3, 3, 3]], np.int32), logitpaddings=paddings(8, 2, 1, size=8))
  yield FunctionCase('speech', 'ctc_valid', 'is_valid_ctc_seq', {k: repeated[k] for k in ('logitpaddings', 'labels', 'labelpaddings')},
                     lambda x: ctc_objectives.is_valid_ctc_seq(x['logitpaddings'], x['labels'], x['labelpaddings']))
  yield FunctionCase('speech', 'ctc_repeated', 'ctc_loss_with_alignments', dict(repeated, logitpaddings=x['logitpaddings']), alignments, tolerance=1e-4)


def other_cases():
  x = values(2, 6, 8)
  for name, cls, options in (('s4d', ssm.SSM, {}), ('s4d_legs', ssm.SSM, dict(hippo_type='ss4d-1d-legs', step_size=0.1)), ('s4d_lagt', ssm.SSM, dict(hippo_type='ss4d-1d-lagt', l_max=10)),
                             ('s5', ssm.S5, {}), ('s5_legs', ssm.S5, dict(hippo_type='s5-legs', step_size=0.1))):
    yield LayerCase('ssm', name, C(cls, **{'nheads': 4, 'dim': 8, 'l_max': 6, **options}), {'inputs': x}, text='layer(inputs)')
  layer = lambda cls, **options: C(cls, **{'input_dims': 8, 'hidden_dims': 12, 'num_heads': 2, 'ssm_nheads': 4, 'ssm_dim': 8, 'ssm_l_max': 6, **options})
  def call(layer, x):
    return layer(x['inputs'], x['paddings'], x['attention_mask'])[0]
  for name, tpl in (('ssm_transformer', layer(ssm_transformers.SSMTransformer)), ('ssm_transformer_primer', layer(ssm_transformers.SSMTransformer, norm_policy='primer_hybrid', ssm_hippo_type='ss4d-1d')),
                    ('ssm_transformer_post', layer(ssm_transformers.SSMTransformer, norm_policy='post', ssm_hippo_type='ss4d-1d-lagt')),
                    ('ssm_gated', layer(ssm_transformers.SSMGated)), ('ssm_gated_wide', layer(ssm_transformers.SSMGated, ssm_dim=5, norm_policy='primer_hybrid'))):
    yield LayerCase('ssm', name, tpl, {'inputs': x, 'paddings': paddings(6, 4, size=6), 'attention_mask': causal(6)}, call, text='layer(inputs, paddings, attention_mask)[0]')
  adapter = lambda **options: C(adapters.MultitaskResidualAdapter, **{'input_dims': 8, 'bottleneck_dims': 3, **options})
  yield LayerCase('adapters', 'one_task', adapter(), {'inputs': x}, text='layer(inputs)')
  yield LayerCase('adapters', 'tasks', adapter(num_tasks=3), {'inputs': x, 'tasks': np.array([2, 0], np.int32)}, lambda layer, x: layer(x['inputs'], tasks=x['tasks']), text='layer(inputs, tasks=tasks)')
  yield LayerCase('adapters', 'tasks_per_position', adapter(num_tasks=3, norm_tpl=None, activation_tpl=C(activations.GELU)), {'inputs': x, 'tasks': ids(3, 2, 6)}, lambda layer, x: layer(x['inputs'], tasks=x['tasks']), text='layer(inputs, tasks=tasks)')
  yield LayerCase('adapters', 'no_residual', adapter(norm_tpl=C(normalizations.RmsNorm)), {'inputs': x}, lambda layer, x: layer(x['inputs'], add_residual=False), text='layer(inputs, add_residual=False)')
  for name, options in (('sequential', {}), ('parallel', dict(mode='parallel', residual_weight=0.5)), ('gated', dict(use_gated_activation=True))):
    tpl = C(adapters.AdaptedTransformerFeedForward, **{'input_dims': 8, 'hidden_dims': 12, 'adapter_tpl': adapter(), **options})
    yield LayerCase('adapters', f'ffn_{name}', tpl, {'inputs': x, 'paddings': paddings(6, 4, size=6)}, lambda layer, x: layer(x['inputs'], paddings=x['paddings']), text='layer(inputs, paddings=paddings)')
  yield LayerCase('linears', 'sequential', C(sequential.Sequential, layers=[C(linears.FeedForward, input_dims=8, output_dims=5, name='a'), C(linears.Linear, input_dims=5, output_dims=3, name='b')]), {'inputs': x}, text='layer(inputs)')
  vq = lambda **options: C(ngrammer.VectorQuantization, **{'num_clusters': 4, 'num_heads': 2, 'dim_per_head': 4, **options})
  def vq_call(layer, x):
    dists, nearest = layer(x['inputs'], x.get('paddings'))
    return {'dists': dists, 'nearest_centroid': nearest}
  for name, options in (('vq', {}), ('vq_prenormalize', dict(prenormalize=True, decay=0.9)), ('vq_epsilon', dict(epsilon=0.1, decay=0.5))):
    yield LayerCase('ngrammer', name, vq(**options), {'inputs': x, 'paddings': paddings(6, 4, size=6)}, vq_call, text='dists, nearest_centroid = layer(inputs, paddings)')
  ngram = lambda cls=ngrammer.Ngrammer, **options: C(cls, **{'ngram_vocab_size': 20, 'unigram_vocab_size': 11, 'ngram_emb_dim': 2, 'num_heads': 2, 'dim_per_head': 4, **options})
  def ngram_call(layer, x):
    return layer(x['input_ids'], x['input_embs'], x.get('paddings'), x.get('segment_pos'))
  text = 'layer(input_ids, input_embs, paddings, segment_pos)'
  inputs = {'input_ids': ids(11, 2, 6), 'input_embs': x, 'paddings': paddings(6, 4, size=6)}
  yield LayerCase('ngrammer', 'ngrammer', ngram(), inputs, ngram_call, text=text)
  yield LayerCase('ngrammer', 'ngrammer_sum', ngram(concat_ngrams=False, ngram_emb_dim=4), dict(inputs, segment_pos=POSITIONS), ngram_call, text=text)
  yield LayerCase('ngrammer', 'ngrammer_heads', ngram(), {'input_ids': ids(11, 2, 6, 2), 'input_embs': x}, ngram_call, text=text)
  vqn = lambda **options: ngram(ngrammer.VQNgrammer, **{'num_clusters': 4, 'concat_ngrams': True, 'unigram_vocab_size': 0, **options})
  yield LayerCase('ngrammer', 'vq_ngrammer', vqn(), inputs, ngram_call, text=text)
  yield LayerCase('ngrammer', 'vq_ngrammer_cache', vqn(unigram_vocab_size=11), inputs, ngram_call, text=text)


def quantized_cases():
  q, a = quantization_linears, quantization_attentions
  P, A, W = quantization_hparams.QuantizationParams, quantization_hparams.ActQuantizationParams, quantization_hparams.WeightQuantizationParams
  T, M = quantization_hparams.QuantizationType, quantization_hparams.QuantizationMode
  x = values(2, 3, 16)
  kinds = {
      'none': None,
      'ptq_training': P(quantization_type=T.PTQ, mode=M.TRAINING),
      'ptq_inference': P(quantization_type=T.PTQ, mode=M.INFERENCE),
      'ptq_asymmetric': P(quantization_type=T.PTQ, mode=M.INFERENCE, weight_params=W(use_symmetric=False)),
      'ptq_int4': P(quantization_type=T.PTQ, mode=M.INFERENCE, weight_params=W(precision=4)),
      'ptq_int4_bytes': P(quantization_type=T.PTQ, mode=M.INFERENCE, weight_params=W(precision=4, int4_packed_weights_container_dtype=jnp.int8)),
      'ptq_dynamic': P(quantization_type=T.PTQ, mode=M.INFERENCE, act_params=A()),
      'ptq_dynamic_clipped': P(quantization_type=T.PTQ, mode=M.INFERENCE, act_params=A(clipping_coeff=0.8)),
      'ptq_dynamic_tensor': P(quantization_type=T.PTQ, mode=M.INFERENCE, act_params=A(per_channel=False)),
      'fq': P(quantization_type=T.FQ, mode=M.TRAINING),
      'fq_asymmetric': P(quantization_type=T.FQ, mode=M.TRAINING, weight_params=W(use_symmetric=False)),
      'fq_int4_blocks': P(quantization_type=T.FQ, mode=M.TRAINING, weight_params=W(precision=4, block_size=4)),
      'fq_activations': P(quantization_type=T.FQ, mode=M.TRAINING, act_params=A(), weight_params=W(precision=4)),
      'aqt': P(quantization_type=T.AQT, mode=M.TRAINING),
      'aqt_activations': P(quantization_type=T.AQT, mode=M.TRAINING, act_params=A()),
      'aqt_no_eps': P(quantization_type=T.AQT, mode=M.TRAINING, act_params=A(precision=4, stop_scale_gradient=True), weight_params=W(precision=4, add_scale_eps=False, stop_scale_gradient=True)),
      'aqt_asymmetric': P(quantization_type=T.AQT, mode=M.TRAINING, weight_params=W(use_symmetric=False, clipping_coeff=0.9)),
      'aqt_search': P(quantization_type=T.AQT, mode=M.TRAINING, weight_params=W(precision=4, min_clipping=0.5, num_optimize_clipping=6)),
      'aqt_search_channels': P(quantization_type=T.AQT, mode=M.TRAINING, weight_params=W(precision=3, min_clipping=0.5, num_optimize_clipping=6, optimize_clipping_per_channel=True)),
      'aqt_losses': P(quantization_type=T.AQT, mode=M.TRAINING, weight_params=W(quant_loss_weight=0.1, kurt_loss_weight=0.01, use_step_count=True)),
  }
  for name, params in kinds.items():
    yield LayerCase('quantization', f'linear_{name}', C(q.Linear, input_dims=16, output_dims=5, quantization=params), {'inputs': x}, text='layer(inputs)')
  for name in ('ptq_inference', 'ptq_dynamic', 'ptq_int4', 'fq', 'aqt_activations'):
    yield LayerCase('quantization', f'projection_{name}', C(a.AttentionProjection, input_dim=16, num_heads=2, dim_per_head=4, quantization=kinds[name]), {'inputs': x}, text='layer(inputs)')
    yield LayerCase('quantization', f'projection_out_{name}', C(a.AttentionProjection, input_dim=16, num_heads=2, dim_per_head=4, is_output_projection=True, quantization=kinds[name]), {'inputs': values(2, 3, 2, 4)}, text='layer(inputs)')
    yield LayerCase('quantization', f'qkv_{name}', C(a.CombinedQKVProjectionLayer, input_dim=16, num_heads=2, dim_per_head=4, quantization=kinds[name]), {'inputs': x},
                    lambda layer, x: dict(zip(('query', 'key', 'value'), layer(x['inputs']))), text='query, key, value = layer(inputs)')
  yield LayerCase('quantization', 'linear_blocks', C(q.Linear, input_dims=16, output_dims=5, quantization=P(weight_params=W(block_size=4))), {'inputs': x}, text='layer(inputs)')
  yield LayerCase('quantization', 'linear_blocks_asymmetric', C(q.Linear, input_dims=16, output_dims=5, quantization=P(weight_params=W(block_size=8, use_symmetric=False))), {'inputs': x}, text='layer(inputs)')
  yield LayerCase('quantization', 'linear_low_rank', C(q.Linear, input_dims=16, output_dims=5, rank=3, quantization=kinds['fq']), {'inputs': x}, text='layer(inputs)')


def all_cases():
  for part in (lm_cases, vision_cases, speech_cases, ctc_cases, other_cases, quantized_cases):
    yield from part()
