#!/usr/bin/env bash
# environment.sh DIR: makes a virtual environment in DIR in which record.py runs: the real Praxis 1.4 on Python 3.10.
# $PYTHON names the interpreter; python3.10 when unset.
set -euo pipefail

directory=${1:?usage: environment.sh DIR}
python=${PYTHON:-python3.10}
"$python" -m venv "$directory"
pip=("$directory/bin/pip" install --quiet --disable-pip-version-check)
"${pip[@]}" 'setuptools<70' wheel
"${pip[@]}" tensorflow-cpu==2.15.1 flax==0.8.2 optax==0.2.2 chex==0.1.86 fiddle==0.3.0 clu==0.0.11 sympy \
  optax_shampoo jax-bitempered-loss einops etils==1.7.0 opt-einsum==3.3.0 safetensors jaxtyping==0.2.28 \
  typeguard==2.13.3 'scipy<1.13' 'numpy<2' absl-py
"${pip[@]}" --no-deps lingvo==0.13.1 praxis==1.4.0 paxml==1.4.0 jax==0.4.26 jaxlib==0.4.26
