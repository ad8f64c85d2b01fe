#!/usr/bin/env python3
"""Writes pax/data/unicode_table.inc, the general categories of Unicode 16: `pip install unicodedata2==16.0.0`, then run.

Each number is (first code point << 5) | class; it holds up to the next entry. Classes are in the order of
UnicodeClass in pax/data/unicode.h.
"""
import pathlib

import unicodedata2

assert unicodedata2.unidata_version == '16.0.0'
CLASSES = ['Lu', 'Ll', 'Lt', 'Lm', 'Lo', 'M', 'Nd', 'Nl', 'No', 'P', 'S', 'Z', 'C']


def class_of(code_point):
    category = unicodedata2.category(chr(code_point))
    return CLASSES.index(category if category in CLASSES else category[0])


entries, last = [], None
for code_point in range(0x110000):
    current = class_of(code_point)
    if current != last:
        entries.append(code_point << 5 | current)
        last = current

lines, line = [], ''
for entry in entries:
    item = f'{entry:#x},'
    if len(line) + len(item) > 118:
        lines.append(line)
        line = ''
    line += item
lines.append(line)
path = pathlib.Path(__file__).resolve().parent.parent / 'pax/data/unicode_table.inc'
path.write_text('// Written by tools/unicode_classes.py from Unicode 16.0.0.\n' + '\n'.join(lines) + '\n')
