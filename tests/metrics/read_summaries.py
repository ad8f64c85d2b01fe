"""read_summaries.py WRITER: runs WRITER (write_summaries) and reads what it wrote with the real TensorBoard."""
import subprocess
import sys
import tempfile

import numpy as np
from tensorboard.backend.event_processing import plugin_event_accumulator
from tensorboard.util import tensor_util

with tempfile.TemporaryDirectory() as folder:
  subprocess.run([sys.argv[1], folder], check=True)
  events = plugin_event_accumulator.EventAccumulator(folder, {plugin_event_accumulator.TENSORS: 0})
  events.Reload()


def values(tag):
  return [(event.step, tensor_util.make_ndarray(event.tensor_proto)) for event in events.Tensors(tag)]


def plugin(tag):
  return events.SummaryMetadata(tag).plugin_data.plugin_name


loss = [(step, float(value)) for step, value in values('loss')]
assert loss == [(0, 4.0), (1, 3.0), (2, 2.0), (3, 0.5), (4, 0.25)], loss
assert plugin('loss') == 'scalars'
assert plugin('config') == 'text' and values('config')[0][1].tolist() == [b'**model_dims**: 64']
assert plugin('vars/w') == 'histograms'
[(step, rows)] = values('vars/w')
assert step == 4 and rows.shape == (30, 3), rows.shape
np.testing.assert_array_equal(rows[0], [0, 0.1, 1])
np.testing.assert_array_equal(rows[-1, 1:], [3, 2])
assert rows[:, 2].sum() == 5
assert values('vars/constant')[0][1].tolist() == [[1.5, 2.5, 2.0]]
assert values('vars/none')[0][1].shape == (0, 3)
print('TensorBoard reads scalars, text, histograms and the restart')
