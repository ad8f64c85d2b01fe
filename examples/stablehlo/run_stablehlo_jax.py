#!/usr/bin/env python3
"""Runs what `paxml export stablehlo` wrote in JAX: writes on from ids with the likeliest tokens, prints all ids.
Usage: run_stablehlo_jax.py FOLDER NUM_TOKENS ID [ID …]. Needs the packages jax, numpy and safetensors."""

import json
import pathlib
import sys

import jax
from jax.extend.backend import get_backend
import numpy as np
from safetensors.numpy import load_file


def main(folder, count, *ids):
    folder = pathlib.Path(folder)
    manifest = json.loads((folder / "manifest.json").read_text())
    weights = load_file(folder / "weights.safetensors")
    backend = get_backend("cpu")
    devices = backend.local_devices()[:1]
    from jaxlib import _jax
    from jax._src.interpreters import mlir
    from jax._src.lib.mlir import ir
    options = _jax.CompileOptions() if hasattr(_jax, "CompileOptions") else None
    with mlir.make_ir_context():
        module = ir.Module.parse((folder / "extend_step.mlir").read_text())
        bytecode = mlir.module_to_bytecode(module)
    step = backend.compile_and_load(bytecode, _jax.DeviceList(tuple(devices)), options)
    values = dict(weights)
    for argument in manifest["arguments"]:
        if argument["role"] == "cache":
            values[argument["name"]] = np.zeros(argument["shape"], argument["dtype"])
    ids = [int(i) for i in ids]
    total = min(len(ids) + int(count), manifest["length"])
    position = 0
    while len(ids) < total:
        values["ids"] = np.array([ids[position]], np.int32)
        values["positions"] = np.array([position], np.int32)
        arguments = [jax.device_put(values[a["name"]], devices[0]) for a in manifest["arguments"]]
        results = step.execute(arguments)
        for result, value in zip(manifest["results"], results):
            if result["role"] == "cache":
                values[result["name"]] = value
            else:
                best = int(np.argmax(np.asarray(value)[0]))
        position += 1
        if position == len(ids):
            ids.append(best)
    print(*ids)


if __name__ == "__main__":
    main(*sys.argv[1:])
