"""read_with_orbax.py WRITER: runs WRITER (write_sample) and restores what it wrote with the real orbax-checkpoint."""
import os
import subprocess
import sys
import tempfile

import jax
import numpy as np
import orbax.checkpoint as ocp

with tempfile.TemporaryDirectory() as folder:
  subprocess.run([sys.argv[1], folder], check=True)
  root = os.path.join(folder, 'checkpoint_00000007')
  state = os.path.join(root, 'state')

  tree = ocp.PyTreeCheckpointer().restore(state)
  lm = tree['mdl_vars']['params']['lm']
  assert int(tree['step']) == 7 and tree['step'].dtype == np.int32
  np.testing.assert_array_equal(lm['w'], np.arange(6, dtype=np.float32).reshape(2, 3))
  assert str(lm['scale'].dtype) == 'bfloat16'
  np.testing.assert_array_equal(np.asarray(lm['scale'], np.float32), [1.5, -2])
  np.testing.assert_array_equal(lm['mask'], [[True], [False]])
  moments = tree['opt_states_0']['0']
  np.testing.assert_array_equal(moments['m'], [0.125])
  np.testing.assert_array_equal(np.asarray(moments['q'], np.float32), [0, 1, 0])

  # As a sharded training state: shapes and shardings given.
  sharding = jax.sharding.SingleDeviceSharding(jax.devices()[0])
  abstract = jax.tree.map(lambda x: jax.ShapeDtypeStruct(x.shape, x.dtype, sharding=sharding),
                          {'mdl_vars': {'params': {'lm': {'w': lm['w']}}}})
  restored = ocp.PyTreeCheckpointer().restore(
      state, args=ocp.args.PyTreeRestore(
          item=abstract, partial_restore=True,
          restore_args=ocp.checkpoint_utils.construct_restore_args(abstract)))
  assert isinstance(restored['mdl_vars']['params']['lm']['w'], jax.Array)

  # As a checkpoint of several items, the way Paxml and CheckpointManager open it.
  composite = ocp.Checkpointer(ocp.CompositeCheckpointHandler()).restore(
      root, args=ocp.args.Composite(state=ocp.args.PyTreeRestore(), metadata=ocp.args.JsonRestore()))
  assert int(composite['state']['step']) == 7
  unpadded = composite['metadata']['train_state_metadata']['mdl_vars']['params']['lm']['w']
  assert composite['metadata']['version'] == 1.1 and unpadded['unpadded_shape'] == [2, 3], unpadded

  manager = ocp.CheckpointManager(
      folder, item_names=('state', 'metadata'), options=ocp.CheckpointManagerOptions(
          step_prefix='checkpoint', step_format_fixed_length=8))
  assert manager.latest_step() == 7, manager.latest_step()
print('Orbax restores the checkpoint')
