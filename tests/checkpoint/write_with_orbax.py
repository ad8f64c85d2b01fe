"""write_with_orbax.py FOLDER: one small state in each form that orbax-checkpoint writes: FOLDER/{zarr2,zarr3}_{files,ocdbt}.

tests/checkpoint/orbax was made this way (orbax-checkpoint 0.12.8).
"""
import os
import shutil
import sys

os.environ['XLA_FLAGS'] = '--xla_force_host_platform_device_count=4'
import jax
import jax.numpy as jnp
import numpy as np
import orbax.checkpoint as ocp

mesh = jax.sharding.Mesh(np.array(jax.devices()).reshape(2, 2), ('data', 'mdl'))


def sharded(x, *axes):
  return jax.device_put(x, jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec(*axes)))


def tree():
  layers = {
      f'x_layers_{i}': {'w': sharded(i + jnp.arange(24, dtype=jnp.float32).reshape(4, 6), 'data', 'mdl')}
      for i in range(3)
  }
  return {
      'step': jnp.int32(17),
      'mdl_vars': {'params': {'lm': layers | {'scale': sharded(jnp.arange(4).astype(jnp.bfloat16), 'mdl')}}},
      'opt_states_0': [{'m': jnp.full((2, 3, 2), 0.5), 'count': np.int64(17)}],
      'extra_state': {'mask': np.array([True, False, True]), 'none': None, 'empty': {}},
  }


def main(folder):
  for zarr3 in (False, True):
    for ocdbt in (False, True):
      path = os.path.join(folder, f'zarr{3 if zarr3 else 2}_{"ocdbt" if ocdbt else "files"}')
      shutil.rmtree(path, ignore_errors=True)
      handler = ocp.PyTreeCheckpointHandler(use_ocdbt=ocdbt, use_zarr3=zarr3)
      ocp.Checkpointer(handler).save(os.path.abspath(path), tree())


if __name__ == '__main__':
  main(sys.argv[1])
