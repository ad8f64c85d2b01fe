"""compare_with_orbax.py PRINT_STATE: what PRINT_STATE reads of checkpoints that the real orbax-checkpoint writes."""
import os
import subprocess
import sys
import tempfile

import write_with_orbax  # first: sets the number of devices
import jax
import numpy as np
import orbax.checkpoint as ocp

NAMES = {'float32': 'f32', 'bfloat16': 'bf16', 'int32': 'i32', 'int64': 'i64', 'bool': 'i1'}


def expected_lines(tree):
  """The lines that PRINT_STATE must print."""
  lines = []
  for path, leaf in jax.tree_util.tree_flatten_with_path(tree)[0]:
    name = '/'.join(str(getattr(key, 'key', getattr(key, 'idx', None))) for key in path)
    value = np.asarray(leaf)
    dims = ','.join(str(dim) for dim in value.shape)
    lines.append(f'{name} {NAMES[str(value.dtype)]}[{dims}] {value.tobytes().hex()}')
  return sorted(lines)


def large_tree():
  """Enough keys for a tree of several levels, in a MaxText-like layout."""
  params = {
      f'layers_{i}': {
          'kernel': write_with_orbax.sharded(np.full((64, 48), i, np.float32), 'data', 'mdl'),
          'bias': np.arange(48, dtype=np.int32) * i,
      } for i in range(200)
  }
  return {'params': {'params': {'decoder': params}}, 'step': np.int32(3)}


def check(path, tree):
  got = subprocess.run([sys.argv[1], path], check=True, capture_output=True, text=True).stdout.splitlines()
  assert sorted(got) == expected_lines(tree), (path, got[:3], expected_lines(tree)[:3])


with tempfile.TemporaryDirectory() as folder:
  write_with_orbax.main(folder)
  for form in os.listdir(folder):
    check(os.path.join(folder, form), write_with_orbax.tree())
  for zarr3 in (False, True):
    handler = ocp.PyTreeCheckpointHandler(use_ocdbt=True, use_zarr3=zarr3)
    with ocp.CheckpointManager(os.path.join(folder, f'manager{zarr3}'), item_handlers={'items': handler}) as manager:
      args = ocp.args.PyTreeSave(large_tree(), ocdbt_target_data_file_size=20000)
      manager.save(3, args=ocp.args.Composite(items=args))
      manager.wait_until_finished()
    check(os.path.join(folder, f'manager{zarr3}', '3'), large_tree())
print('what Orbax writes is read to the bit')
