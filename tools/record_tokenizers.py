#!/usr/bin/env python3
"""record_tokenizers.py CORPUS DIR [SEED]: small tokenizer.json files of many kinds, trained by the real `tokenizers`
(`pip install tokenizers==0.23.3`), and what that library makes of random texts: the cases of
tests/golden/tokenizer_hf. Other seeds make other texts.
"""
import json
import pathlib
import random
import sys

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
LLAMA3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|"
          r"\s+(?!\S)|\s+")
QWEN = LLAMA3.replace(r'\p{N}{1,3}', r'\p{N}')
O200K = (r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
         r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
         r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+")
DEEPSEEK = (r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+|"
            r" ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")
BYTES = pre_tokenizers.ByteLevel.alphabet()


def split(pattern, behavior='isolated', invert=False):
  return pre_tokenizers.Split(Regex(pattern), behavior, invert)


def byte_bpe(cut, normalizer=None, size=600):
  def make(lines):
    t = Tokenizer(models.BPE())
    if normalizer is not None:
      t.normalizer = normalizer
    t.pre_tokenizer = cut
    t.decoder = decoders.ByteLevel()
    t.train_from_iterator(lines, trainers.BpeTrainer(vocab_size=size, special_tokens=['<|begin|>', '<|end|>'],
                                                     initial_alphabet=BYTES, show_progress=False))
    return t
  return make


def sequence(*steps):
  return pre_tokenizers.Sequence(list(steps))


def byte_level(regex=False, space=False):
  return pre_tokenizers.ByteLevel(add_prefix_space=space, use_regex=regex)


def llama3(lines):
  t = byte_bpe(sequence(split(LLAMA3), byte_level()))(lines)
  state = json.loads(t.to_str())
  state['model']['ignore_merges'] = True
  t = Tokenizer.from_str(json.dumps(state))
  t.post_processor = processors.Sequence([
      processors.ByteLevel(trim_offsets=True),
      processors.TemplateProcessing(single='<|begin|> $A', special_tokens=[('<|begin|>', t.token_to_id('<|begin|>'))])])
  return t


def added_tokens(lines):
  t = byte_bpe(sequence(split(QWEN), byte_level()), normalizers.NFC())(lines)
  t.add_special_tokens([AddedToken('<|pad|>', lstrip=True), AddedToken('<|im|>', rstrip=True),
                        AddedToken('<|im|>x'), AddedToken('<mask>', lstrip=True, rstrip=True)])
  t.add_tokens([AddedToken('cat', single_word=True), AddedToken('cats'), AddedToken('\u00e9t\u00e9', normalized=True),
                AddedToken('  '), AddedToken('foo bar', normalized=False, single_word=True)])
  return t


def fallback_bpe(new_style, fuse=True):
  def make(lines):
    t = Tokenizer(models.BPE(unk_token='<unk>', byte_fallback=True, fuse_unk=fuse))
    mark = '\u2581'
    if new_style:
      t.pre_tokenizer = pre_tokenizers.Metaspace(mark, prepend_scheme='first', split=False)
      t.decoder = decoders.Sequence([decoders.Replace(mark, ' '), decoders.ByteFallback(), decoders.Fuse(),
                                     decoders.Strip(' ', 1, 0)])
    else:
      t.normalizer = normalizers.Sequence([normalizers.Prepend(mark), normalizers.Replace(' ', mark)])
      t.decoder = decoders.Sequence([decoders.Replace(mark, ' '), decoders.ByteFallback(), decoders.Fuse(),
                                     decoders.Strip(' ', 1, 0)])
    special = ['<unk>', '<s>', '</s>'] + [f'<0x{b:02X}>' for b in range(256)]
    trained = Tokenizer(models.BPE())
    trained.normalizer = normalizers.Replace(' ', mark)
    trained.pre_tokenizer = pre_tokenizers.Metaspace(mark)
    trained.train_from_iterator(lines, trainers.BpeTrainer(vocab_size=800, special_tokens=special, show_progress=False))
    state, learned = json.loads(t.to_str()), json.loads(trained.to_str())
    state['model']['vocab'] = learned['model']['vocab']
    state['model']['merges'] = learned['model']['merges']
    state['added_tokens'] = [a for a in learned['added_tokens'] if not a['content'].startswith('<0x')]
    state['post_processor'] = json.loads(processors.TemplateProcessing(
        single='<s> $A', special_tokens=[('<s>', 1)]).__getstate__())
    return Tokenizer.from_str(json.dumps(state))
  return make


def suffix_bpe(lines):
  t = Tokenizer(models.BPE(unk_token='<unk>', end_of_word_suffix='</w>'))
  t.normalizer = normalizers.Sequence([normalizers.NFC(), normalizers.Replace(Regex(r'\s+'), ' '),
                                       normalizers.Lowercase()])
  t.pre_tokenizer = split(r"'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+", 'removed', True)
  t.decoder = decoders.BPEDecoder('</w>')
  t.train_from_iterator(lines, trainers.BpeTrainer(vocab_size=400, special_tokens=['<unk>'], end_of_word_suffix='</w>',
                                                   show_progress=False))
  return t


def prefix_bpe(lines):
  t = Tokenizer(models.BPE(unk_token='[UNK]', continuing_subword_prefix='##'))
  t.pre_tokenizer = pre_tokenizers.Whitespace()
  t.decoder = decoders.WordPiece()
  t.train_from_iterator(lines, trainers.BpeTrainer(vocab_size=400, special_tokens=['[UNK]'],
                                                   continuing_subword_prefix='##', show_progress=False))
  return t


def bert(lowercase, strip_accents=None):
  def make(lines):
    t = Tokenizer(models.WordPiece(unk_token='[UNK]', max_input_chars_per_word=40))
    t.normalizer = normalizers.BertNormalizer(lowercase=lowercase, strip_accents=strip_accents)
    t.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    t.decoder = decoders.WordPiece()
    special = ['[PAD]', '[UNK]', '[CLS]', '[SEP]', '[MASK]']
    t.train_from_iterator(lines, trainers.WordPieceTrainer(vocab_size=500, special_tokens=special, show_progress=False))
    t.post_processor = processors.TemplateProcessing(single='[CLS] $A [SEP]', special_tokens=[('[CLS]', 2), ('[SEP]', 3)])
    return t
  return make


def unigram(normalizer, cut, fallback=False):
  def make(lines):
    t = Tokenizer(models.Unigram())
    if normalizer is not None:
      t.normalizer = normalizer
    t.pre_tokenizer = cut
    t.decoder = decoders.Metaspace()
    special = ['<pad>', '</s>', '<unk>'] + ([f'<0x{b:02X}>' for b in range(256)] if fallback else [])
    t.train_from_iterator(lines, trainers.UnigramTrainer(vocab_size=700 if fallback else 400, special_tokens=special,
                                                         unk_token='<unk>', show_progress=False))
    if fallback:
      state = json.loads(t.to_str())
      state['model']['byte_fallback'] = True
      state['added_tokens'] = state['added_tokens'][:3]
      state['decoder'] = json.loads(decoders.Sequence(
          [decoders.ByteFallback(), decoders.Metaspace()]).__getstate__())
      t = Tokenizer.from_str(json.dumps(state))
    return t
  return make


def word_level(lines):
  t = Tokenizer(models.WordLevel(unk_token='<unk>'))
  t.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Strip(), normalizers.StripAccents()])
  t.pre_tokenizer = sequence(pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Punctuation('contiguous'),
                             pre_tokenizers.Digits(individual_digits=True))
  t.train_from_iterator(lines, trainers.WordLevelTrainer(vocab_size=300, special_tokens=['<unk>'], show_progress=False))
  return t


def bytes_in_normalizer(lines):
  t = Tokenizer(models.BPE())
  t.normalizer = normalizers.ByteLevel()
  t.pre_tokenizer = split('\u0120', 'merged_with_next')
  t.decoder = decoders.ByteLevel()
  t.train_from_iterator(lines, trainers.BpeTrainer(vocab_size=500, initial_alphabet=BYTES, show_progress=False))
  return t


def behaviors(lines):
  return byte_bpe(sequence(split('[aeiou]', 'merged_with_previous'), split('[^a-z]', 'merged_with_next', True),
                           split('[xyz]+|,', 'contiguous'), byte_level()))(lines)


KINDS = {
    'gpt2': byte_bpe(byte_level(regex=True)),
    'gpt2_space': byte_bpe(byte_level(regex=True, space=True)),
    'llama3': llama3,
    'qwen': byte_bpe(sequence(split(QWEN), byte_level()), normalizers.NFC()),
    'o200k': byte_bpe(sequence(split(O200K), byte_level())),
    'deepseek': byte_bpe(sequence(split(r'\p{N}{1,3}'), split('[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+'),
                                  split(DEEPSEEK), byte_level())),
    'starcoder': byte_bpe(sequence(pre_tokenizers.Digits(individual_digits=True), byte_level(regex=True))),
    'behaviors': behaviors,
    'added_tokens': added_tokens,
    'llama2': fallback_bpe(False),
    'llama2_metaspace': fallback_bpe(True),
    'clip': suffix_bpe,
    'prefix_bpe': prefix_bpe,
    'bert_uncased': bert(True),
    'bert_cased': bert(False),
    'bert_accents': bert(True, strip_accents=False),
    'unigram': unigram(normalizers.Sequence([normalizers.Nmt(), normalizers.NFKC(),
                                             normalizers.Replace(Regex(' {2,}'), ' ')]), pre_tokenizers.Metaspace()),
    'unigram_whole': unigram(None, pre_tokenizers.Metaspace(prepend_scheme='never', split=False)),
    'unigram_bytes': unigram(normalizers.NFKD(), pre_tokenizers.Metaspace(prepend_scheme='first'), fallback=True),
    'word_level': word_level,
    'bytes_in_normalizer': bytes_in_normalizer,
}

PIECES = ['the', ' cat', 'cats', 'concat', " it's", " DON'T", "'LL", '  ', '\n', '\r\n', '\t', '\u00a0', '\u3000', '12345', '7',
          '\u00bd', '\u0663', 'e\u0301', '\u00e9t\u00e9', 'ETE\u0301', '\u0130stanbul', '\ufb01ne', '\u2460', '\u03a3\u0391\u03a3', '\u017f',
          '\u4f60\u597d', '\u3053\u3093', '\ud55c\uad6d', '\u1112\u1161\u11ab', '\U0001f44d\U0001f3fd', '\U0001f468\u200d\U0001f469', '\u0939\u093f', ' foo bar ', '<|end|>', '<|im|>', '<|im|>x', ' <mask> ',
          '<|pad|>', '[MASK]', '</s>', '<unk>', '<0x41>', '\u2581', '\u2581a', '...', '!?', ' - ', '$5', 'a_b', '#', '\u2019s', '\u2014', 'xyz,', 'A', '\u0120', '\u00ad', '\u200b',
          '\u0000', '\u0007', '\ufeff', '\ufffd', ' tokens', 'ing', 'Mixed', 'CASE', 'word']


def texts(rng, lines):
  for _ in range(40):
    yield ''.join(rng.choice(PIECES) + rng.choice(['', '', ' ']) for _ in range(rng.randint(1, 12)))
  for _ in range(10):
    line = rng.choice(lines)
    at = rng.randrange(len(line) + 1)
    yield line[at:at + rng.randint(1, 80)]
  for _ in range(10):
    yield ''.join(chr(rng.choice([rng.randint(1, 0x17f), rng.randint(0x300, 0x6ff), rng.randint(0x3040, 0x30ff),
                                  rng.randint(0xac00, 0xd7a3), rng.randint(0x1f600, 0x1f64f)]))
                  for _ in range(rng.randint(1, 20)))
  yield from ['', ' ', '\n', '  a']


def record(t, name, folder, rng, lines):
  t.save(str(folder / f'{name}.json'), pretty=False)
  cases = []
  for text in texts(rng, lines):
    encoded = t.encode(text, add_special_tokens=False)
    cases.append({'text': text, 'ids': encoded.ids, 'tokens': encoded.tokens,
                  'templated': t.encode(text).ids,
                  'decoded': t.decode(encoded.ids, skip_special_tokens=False),
                  'decoded_skip_special': t.decode(encoded.ids)})
  size = t.get_vocab_size()
  decode_cases = []
  for _ in range(20):
    ids = [rng.randrange(size) for _ in range(rng.randint(0, 8))]
    decode_cases.append({'ids': ids, 'decoded': t.decode(ids, skip_special_tokens=False),
                         'decoded_skip_special': t.decode(ids)})
  expected = {'model': f'{name}.json', 'vocab_size': size, 'cases': cases, 'decode_cases': decode_cases}
  (folder / f'{name}.expected.json').write_text(json.dumps(expected) + '\n')


def main():
  corpus, folder = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
  rng = random.Random(int(sys.argv[3]) if len(sys.argv) > 3 else 0)
  folder.mkdir(parents=True, exist_ok=True)
  lines = corpus.read_text().split('\n')
  for name, make in KINDS.items():
    record(make(lines), name, folder, rng, [line for line in lines if line])


main()
