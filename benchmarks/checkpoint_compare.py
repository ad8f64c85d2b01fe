"""checkpoint_compare.py MEBIBYTES FOLDER: seconds that orbax-checkpoint takes to save and restore, as JSON."""
import json
import os
import shutil
import sys
import time

import jax
import numpy as np
import orbax.checkpoint as ocp

ARRAYS = 48
elements = int(sys.argv[1]) * 2**18 // ARRAYS // 1024 * 1024
rng = np.random.default_rng(0)
tree = {f'w{i}': jax.device_put(rng.random(elements, np.float32).reshape(-1, 1024)) for i in range(ARRAYS)}
jax.block_until_ready(tree)
path = os.path.join(sys.argv[2], 'orbax')
best = {}
for _ in range(3):
  shutil.rmtree(path, ignore_errors=True)
  os.sync()
  checkpointer = ocp.PyTreeCheckpointer()
  begin = time.perf_counter()
  checkpointer.save(path, tree)
  saved = time.perf_counter()
  restored = checkpointer.restore(path)
  jax.block_until_ready(restored)
  ended = time.perf_counter()
  for name, value in (('save_s', saved - begin), ('restore_s', ended - saved)):
    best[name] = min(value, best.get(name, value))
shutil.rmtree(path, ignore_errors=True)
print(json.dumps(best))
