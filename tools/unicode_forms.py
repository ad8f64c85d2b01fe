#!/usr/bin/env python3
"""Writes pax/data/unicode_forms.inc: decompositions, combining classes, non-spacing marks and lower case of Unicode.

Run it with a Python whose unicodedata is of the wanted version (3.13: Unicode 15.1).
"""
import pathlib
import unicodedata


def array(name, comment, numbers):
  lines, line = [], ''
  for number in numbers:
    item = f'{number:#x},'
    if len(line) + len(item) > 118:
      lines.append(line)
      line = ''
    line += item
  lines.append(line)
  return f'// {comment}\nconstexpr uint32_t {name}[] = {{\n' + '\n'.join(lines) + '\n};\n'


def runs(of):
  """[code point << 8 | value] where the value changes."""
  out, last = [], 0
  for c in range(0x110000):
    value = of(chr(c))
    if value != last:
      out.append(c << 8 | value)
      last = value
  return out


entries, characters, lower = [], [], []
for c in range(0x110000):
  parts = unicodedata.decomposition(chr(c)).split()
  if parts:
    compatible = parts[0].startswith('<')
    parts = [int(p, 16) for p in parts if not p.startswith('<')]
    composes = not compatible and len(parts) == 2 and unicodedata.normalize('NFC', chr(c)) == chr(c)
    entries += [c | compatible << 31 | composes << 30, len(characters) << 8 | len(parts)]
    characters += parts
  if chr(c).lower() != chr(c) and len(chr(c).lower()) == 1:
    lower += [c, ord(chr(c).lower())]

text = f'// Written by tools/unicode_forms.py from Unicode {unicodedata.unidata_version}.\n'
text += array('kDecompositions', 'Code point (bit 31: compatibility; bit 30: its parts compose to it), place << 8 | size.',
              entries)
text += array('kParts', 'What the code points decompose into, one step.', characters)
text += array('kCombiningClasses', 'Code point << 8 | class, up to the next entry.', runs(unicodedata.combining))
text += array('kNonSpacing', 'Code point << 8 | whether it is Mn, up to the next entry.',
              runs(lambda c: int(unicodedata.category(c) == 'Mn')))
text += array('kLower', 'Code point and its lower case. U+0130 is not among them: it becomes two.', lower)
(pathlib.Path(__file__).resolve().parent.parent / 'pax/data/unicode_forms.inc').write_text(text)
