#!/usr/bin/env python3
"""record_sentencepiece.py CORPUS DIR [SEED]: small SentencePiece models with all kinds of options and what the library
(`pip install sentencepiece==0.2.3`) makes of random texts, in the form of tests/golden/tokenizer.
"""
import json
import pathlib
import random
import sys

import sentencepiece

KINDS = {
    't5': dict(model_type='unigram', vocab_size=480, pad_id=0, eos_id=1, unk_id=2, bos_id=-1),
    'unigram_bytes': dict(model_type='unigram', vocab_size=800, byte_fallback=True, normalization_rule_name='nfkc',
                          user_defined_symbols=['<mask>', 'xyz'], control_symbols=['<ctl>']),
    'llama': dict(model_type='bpe', vocab_size=800, byte_fallback=True, normalization_rule_name='identity',
                  remove_extra_whitespaces=False, split_digits=True, user_defined_symbols=['<sep>', '  ']),
    'bpe_folded': dict(model_type='bpe', vocab_size=480, normalization_rule_name='nmt_nfkc_cf',
                       control_symbols=['<ctl>'], add_dummy_prefix=False),
    'suffix': dict(model_type='unigram', vocab_size=480, treat_whitespace_as_suffix=True),
    'kept_spaces': dict(model_type='unigram', vocab_size=480, remove_extra_whitespaces=False, add_dummy_prefix=False,
                        normalization_rule_name='identity', unk_surface=' ?? '),
    'char': dict(model_type='char', vocab_size=400),
    'whitespace_only': dict(model_type='bpe', vocab_size=480, allow_whitespace_only_pieces=True,
                            remove_extra_whitespaces=False),
}
PIECES = ['the', ' cat', 'cats', '  ', '\n', '\t', '\u3000', '1234', '\u00bd', 'e\u0301', '\u0130', '\ufb01ne', '\u2460', '\u4f60\u597d',
          '\ud55c\uad6d', '\U0001f44d\U0001f3fd', '<mask>', '<sep>', '<ctl>', '</s>', '<unk>', '<0x41>', '\u2581', 'xyz', 'ABC', '.', '\u0000', '\u200b', ' lighthouse', 'ing ']


def texts(rng, lines):
  for _ in range(60):
    yield ''.join(rng.choice(PIECES) for _ in range(rng.randint(0, 10)))
  for _ in range(20):
    line = rng.choice(lines)
    at = rng.randrange(len(line))
    yield line[at:at + rng.randint(1, 80)]


def main():
  corpus, folder = sys.argv[1], pathlib.Path(sys.argv[2])
  rng = random.Random(int(sys.argv[3]) if len(sys.argv) > 3 else 0)
  folder.mkdir(parents=True, exist_ok=True)
  lines = [line for line in pathlib.Path(corpus).read_text().split('\n') if line]
  for name, options in KINDS.items():
    # From lines and into memory: a model that is trained from a file keeps the file's path.
    with (folder / f'{name}.model').open('wb') as model_file:
      sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(lines), model_writer=model_file, minloglevel=2,
                                               hard_vocab_limit=False, max_sentence_length=100000, **options)
    model = sentencepiece.SentencePieceProcessor(model_file=str(folder / f'{name}.model'))
    cases = [{'text': t, 'ids': model.encode(t), 'pieces': model.encode(t, out_type=str),
              'decoded': model.decode(model.encode(t)), 'normalized': model.normalize(t)} for t in texts(rng, lines)]
    decode_cases = []
    for _ in range(30):
      ids = [rng.randrange(model.get_piece_size()) for _ in range(rng.randint(0, 8))]
      decode_cases.append({'ids': ids, 'decoded': model.decode(ids)})
    expected = {'model': f'{name}.model', 'vocab_size': model.get_piece_size(), 'unk_id': model.unk_id(),
                'bos_id': model.bos_id(), 'eos_id': model.eos_id(), 'pad_id': model.pad_id(), 'cases': cases,
                'decode_cases': decode_cases}
    (folder / f'{name}.expected.json').write_text(json.dumps(expected) + '\n')


main()
