"""input_compare.py make FOLDER MEBIBYTES: record files and a SentencePiece model of 3,000 pieces.
input_compare.py grain FOLDER SECONDS: tokens a second that Grain packs out of them (first-fit, rows of 1024), as JSON.
input_compare.py seqio FOLDER SECONDS: the same for SeqIO, from docs.tfrecord; for an interpreter that has seqio."""
import json
import os
import random
import sys
import time



def documents(mebibytes):
  """Made-up text whose word frequencies fall as in a language: the n-th word comes about 1 / n as often as the first."""
  rng = random.Random(0)
  syllables = [c + v + e for c in 'bcdfghklmnprstvw' for v in 'aeiou' for e in ('', 'n', 'r', 's', 'l')]
  words = [''.join(rng.choice(syllables) for _ in range(rng.choice((1, 1, 2, 2, 3)))) for _ in range(20000)]
  weights = [1 / (n + 3) for n in range(len(words))]
  total = 0
  while total < mebibytes << 20:
    text = ' '.join(rng.choices(words, weights, k=rng.randint(20, 600)))
    total += len(text)
    yield text


def varint(n):
  out = b''
  while n >= 0x80:
    out += bytes([n & 0x7F | 0x80])
    n >>= 7
  return out + bytes([n])


def field(number, data):
  return varint(number << 3 | 2) + varint(len(data)) + data


def tf_example(text):
  return field(1, field(1, field(1, b'text') + field(2, field(1, field(1, text)))))


def parse(record):
  """The text of a record of `tf_example`."""
  data = record
  for _ in range(2):  # Example, Features
    data = tail(data)
  name, rest = head(data)  # entry: name, then value
  assert name == b'text'
  for _ in range(3):  # Feature, BytesList, value
    rest = tail(rest)
  return rest


def head(data):
  size, at = read_varint(data, 1)
  return data[at:at + size], data[at + size:]


def tail(data):
  return head(data)[0]


def read_varint(data, at):
  value = shift = 0
  while True:
    byte = data[at]
    value |= (byte & 0x7F) << shift
    at += 1
    if byte < 0x80:
      return value, at
    shift += 7


def make(folder, mebibytes):
  import sentencepiece
  from array_record.python.array_record_module import ArrayRecordWriter
  writer = ArrayRecordWriter(os.path.join(folder, 'docs.array_record'), 'group_size:1')
  sample = []
  with open(os.path.join(folder, 'docs.jsonl'), 'w') as lines:
    for text in documents(mebibytes):
      lines.write(json.dumps({'text': text}) + '\n')
      writer.write(tf_example(text.encode()))
      if len(sample) < 2000:
        sample.append(text)
  writer.close()
  sentencepiece.SentencePieceTrainer.train(
      sentence_iterator=iter(sample), model_prefix=os.path.join(folder, 'spm'), vocab_size=3000, model_type='unigram',
      max_sentence_length=100000, minloglevel=2)


def grain_rate(folder, seconds):
  import grain.python as grain
  import numpy as np
  import sentencepiece
  from grain.experimental import FirstFitPackIterDataset
  model = sentencepiece.SentencePieceProcessor(model_file=os.path.join(folder, 'spm.model'))
  source = grain.ArrayRecordDataSource(os.path.join(folder, 'docs.array_record'))
  data = grain.MapDataset.source(source).shuffle(seed=1).repeat()
  data = data.map(lambda record: {'targets': np.array(model.encode(parse(record).decode())[:1024], np.int32)})
  data = data.to_iter_dataset(grain.ReadOptions(num_threads=2, prefetch_buffer_size=64))
  data = FirstFitPackIterDataset(data, length_struct={'targets': 1024}, num_packing_bins=16)
  data = data.batch(8)
  tokens = 0
  rows = iter(data)
  for _ in range(10):
    next(rows)
  begin = time.perf_counter()
  while time.perf_counter() - begin < seconds:
    batch = next(rows)
    targets = batch[0]['targets'] if isinstance(batch, tuple) else batch['targets']
    tokens += int((targets != 0).sum())
  return {'grain_tokens_per_s': tokens / (time.perf_counter() - begin)}


def seqio_rate(folder, seconds):
  import seqio
  import tensorflow as tf
  tf.config.threading.set_inter_op_parallelism_threads(2)
  tf.config.threading.set_intra_op_parallelism_threads(2)
  vocabulary = seqio.SentencePieceVocabulary(os.path.join(folder, 'spm.model'), extra_ids=0)
  seqio.TaskRegistry.add(
      'documents',
      source=seqio.TFExampleDataSource({'train': os.path.join(folder, 'docs.tfrecord')},
                                       {'text': tf.io.FixedLenFeature([], tf.string)}),
      preprocessors=[lambda data: seqio.preprocessors.rekey(data, {'targets': 'text'}),
                     lambda data: seqio.preprocessors.tokenize(
                         data, {'targets': seqio.Feature(vocabulary)}, copy_pretokenized=False)],
      output_features={'targets': seqio.Feature(vocabulary, add_eos=False)})
  data = seqio.get_dataset('documents', {'targets': 1024}, 'train', feature_converter=seqio.LMFeatureConverter(pack=True),
                           shuffle=True, num_epochs=None, use_cached=False, seed=1)
  options = tf.data.Options()
  options.threading.private_threadpool_size = 2
  rows = data.batch(8).prefetch(2).with_options(options).as_numpy_iterator()
  for _ in range(10):
    next(rows)
  tokens = 0
  begin = time.perf_counter()
  while time.perf_counter() - begin < seconds:
    tokens += int((next(rows)['decoder_target_tokens'] != 0).sum())
  return {'seqio_tokens_per_s': tokens / (time.perf_counter() - begin)}


if __name__ == '__main__':
  if sys.argv[1] == 'make':
    make(sys.argv[2], int(sys.argv[3]))
    print('{}')
  elif sys.argv[1] == 'seqio':
    print(json.dumps(seqio_rate(sys.argv[2], float(sys.argv[3]))))
  else:
    print(json.dumps(grain_rate(sys.argv[2], float(sys.argv[3]))))
