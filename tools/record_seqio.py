#!/usr/bin/env python3
"""record_seqio.py FILE: what the real SeqIO, T5's preprocessors and Paxml's SeqIOInput make of small records: the
fixture tests/data/seqio_cases.json. Runs in the environment of tools/record_praxis/environment.sh with seqio and t5
0.9.4 added.
"""
import functools
import json
import pathlib
import random
import sys

import numpy as np
import seqio
import tensorflow as tf
from paxml import seqio_input
from praxis import pax_fiddle
from t5.data import preprocessors as t5

LENGTHS = {'inputs': 9, 'targets': 12}


def records():
  rng = random.Random(0)
  ids = lambda most, least=0: [rng.randint(3, 250) for _ in range(rng.randint(least, most))]
  made = [{'inputs': ids(12), 'targets': ids(15, 1)} for _ in range(37)]
  made[3]['inputs'] = []
  made[5]['targets'] = [-7, -8, 9, 10]
  made[11]['targets'] = [5, -6, 7]
  return made


RECORDS = records()


def source(split, shuffle_files=False, seed=None):
  return tf.data.Dataset.from_generator(
      lambda: iter(RECORDS), output_signature={f: tf.TensorSpec([None], tf.int32) for f in ('inputs', 'targets')})


def add_task(name, steps, with_inputs, add_eos=True):
  vocabulary = seqio.PassThroughVocabulary(size=259, eos_id=1)
  feature = lambda: seqio.Feature(vocabulary, add_eos=add_eos, required=True)
  features = {'targets': feature()}
  preprocessors = [getattr(seqio.preprocessors, step) for step in steps]
  if with_inputs:
    features['inputs'] = feature()
  else:
    preprocessors.insert(0, lambda ds: ds.map(lambda ex: {'targets': ex['targets']}))
  seqio.TaskRegistry.add(name, source=seqio.FunctionDataSource(source, splits=['train'],
                                                               num_input_examples={'train': len(RECORDS)}),
                         preprocessors=preprocessors, output_features=features)


def flat(batch):
  out = {}
  for key, value in batch.FlattenItems():
    if key.split('.')[-1].startswith('_') or not np.issubdtype(np.asarray(value).dtype, np.number):
      continue
    out[key.replace('.', '/')] = np.asarray(value).tolist()
  return out


def run(name, converter, options):
  config = pax_fiddle.Config(
      seqio_input.SeqIOInput, name='x', mixture_name=name, split_name='train', batch_size=4, num_infeed_hosts=1,
      infeed_host_index=0, shuffle=False, feature_converter=converter, use_cached=False,
      task_feature_lengths=options.pop('lengths'), **options)
  reader = pax_fiddle.build(config)
  batches = []
  while len(batches) < 50:
    try:
      batches.append(flat(reader.get_next()))
    except (StopIteration, tf.errors.OutOfRangeError):
      break
  return batches


def input_cases():
  cases = []
  converters = [('LanguageModelFeatures', {}), ('LanguageModelFeatures', {'pack': True}),
                ('LanguageModelFeatures', {'weights_on_targets_only': True}),
                ('LanguageModelFeatures', {'pack': True, 'weights_on_targets_only': True}),
                ('LanguageModelFeatures', {'weights_on_targets_only': False}),
                ('LanguageModelFeatures', {'bos_id': 2}),
                ('LanguageModelFeatures', {'reverse_bos_padding': True, 'eos_id': 1}),
                ('LanguageModelFeatures', {'pack': True, 'bos_id': 2, 'reverse_bos_padding': True, 'eos_id': 3}),
                ('SequenceModelFeatures', {}), ('SequenceModelFeatures', {'pack': True})]
  steps = [['append_eos'], ['append_eos_after_trim'], []]
  for number, (converter, arguments) in enumerate(converters):
    for with_inputs in ([True] if converter == 'SequenceModelFeatures' else [False, True]):
      # Preprocessors, and training and evaluation, by turns.
      chosen = steps[(number + with_inputs) % 3]
      training = (number // 2 + with_inputs) % 2 == 0
      name = f'task_{len(cases)}'
      add_task(name, chosen, with_inputs)
      lengths = dict(LENGTHS) if with_inputs else {'targets': LENGTHS['targets']}
      cases.append({'name': f'{converter} {arguments} inputs={with_inputs} {chosen} training={training}',
                    'converter': converter, 'arguments': dict(arguments), 'with_inputs': with_inputs,
                    'preprocessors': chosen, 'lengths': dict(lengths), 'is_training': training})
      options = dict(lengths=lengths, is_training=training, repeat=False, reset_for_eval=not training)
      cases[-1]['batches'] = run(name, getattr(seqio_input, converter)(**arguments), options)
      print(cases[-1]['name'], len(cases[-1]['batches']), flush=True)
  return cases


def span_cases():
  """T5's two texts for a given mask, and how many tokens and spans its random mask has for each length."""
  rng = random.Random(1)

  class Vocabulary:  # 259 ids and 100 sentinels above
    vocab_size = 359
    extra_ids = 100

  cases = []
  for _ in range(30):
    length = rng.randint(1, 20)
    ids = [rng.randint(3, 258) for _ in range(length)]
    mask = [rng.random() < 0.4 for _ in range(length)]
    both = [fn(tf.constant(ids), tf.constant(mask), Vocabulary, tf.constant([0, 0])).numpy().tolist()
            for fn in (t5.noise_span_to_unique_sentinel, t5.nonnoise_span_to_unique_sentinel)]
    cases.append({'ids': ids, 'noise': mask, 'inputs': both[0], 'targets': both[1]})
  counts = []
  for length in list(range(2, 60)) + [114, 512, 568]:
    for density, mean in ((0.15, 3.0), (0.5, 3.0), (0.15, 1.0), (0.9, 8.0)):
      try:
        mask = t5.random_spans_noise_mask(length, noise_density=density, seeds=[(0, 1), (2, 3)],
                                          mean_noise_span_length=mean).numpy()
      except tf.errors.InvalidArgumentError:
        continue  # more spans than clean tokens between them: T5 fails
      spans = int(np.sum(mask & ~np.concatenate([[False], mask[:-1]])))
      counts.append({'length': length, 'noise_density': density, 'mean': mean, 'noise': int(mask.sum()), 'spans': spans,
                     'begins_clean': not bool(mask[0])})
  lengths = []
  for inputs_length in (64, 512, 114):
    tokens, targets = t5.random_spans_helper(inputs_length, 0.15, 3.0, 1, 1, verbose=False)
    lengths.append({'inputs': inputs_length, 'tokens': tokens, 'targets': targets})
  return {'sentinels': cases, 'counts': counts, 'lengths': lengths}


def rate_cases():
  """A mixture's rates: seqio.mixing_rate_num_examples."""
  sizes = {'small': 10, 'middle': 250, 'large': 4000}
  for name, size in sizes.items():
    seqio.TaskRegistry.add(
        f'rate_{name}', source=seqio.FunctionDataSource(source, splits=['train'], num_input_examples={'train': size}),
        preprocessors=[], output_features={'targets': seqio.Feature(seqio.PassThroughVocabulary(size=259))})
  cases = []
  for maximum in (None, 1000, 100):
    for temperature in (1.0, 2.0, 5.0):
      rate = functools.partial(seqio.mixing_rate_num_examples, maximum=maximum, temperature=temperature)
      mixture = seqio.Mixture(f'mixture_{maximum}_{temperature}', [(f'rate_{n}', rate) for n in sizes])
      rates = [mixture.get_rate(seqio.TaskRegistry.get(f'rate_{n}')) for n in sizes]
      cases.append({'sizes': list(sizes.values()), 'maximum': maximum, 'temperature': temperature, 'rates': rates})
  return cases


def main():
  fixture = {'spans': span_cases(), 'rates': rate_cases(), 'records': RECORDS, 'inputs': input_cases()}
  pathlib.Path(sys.argv[1]).write_text(json.dumps(fixture, separators=(',', ':')) + '\n')
  print(len(fixture['inputs']), 'input cases')


main()
