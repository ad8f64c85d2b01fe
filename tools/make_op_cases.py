"""make_op_cases.py FOLDER: op cases with attributes drawn at random, and what JAX makes of them.

Writes FOLDER/jax_ops.json (one entry a case: op, attributes, names of its arrays) and FOLDER/jax_ops.safetensors. Run it as
`tools/with_packages DIR jax==0.10.2 -- tools/make_op_cases.py tests/ops/recorded`; the same seed gives the same file.
"""
import json
import math
import pathlib
import struct
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

jax.config.update('jax_enable_x64', True)
rng = np.random.default_rng(20240607)
cases, arrays = [], {}

DTYPES = {'float64': 'F64', 'float32': 'F32', 'float16': 'F16', 'bfloat16': 'BF16', 'int64': 'I64', 'int32': 'I32',
          'int16': 'I16', 'int8': 'I8', 'uint64': 'U64', 'uint32': 'U32', 'uint8': 'U8', 'bool': 'BOOL'}


def floats(shape, low=-2.0, high=2.0):
    return jnp.asarray(rng.uniform(low, high, shape), jnp.float32)


def distinct(shape):
    """No two equal, so that order and maxima have one answer."""
    count = math.prod(shape)
    return jnp.asarray(rng.permutation(count).reshape(shape) * (4.0 / max(count, 1)) - 2, jnp.float32)


def ints(shape, low, high, dtype=jnp.int32):
    return jnp.asarray(rng.integers(low, high, shape), dtype)


def shape_of(rank, low=1, high=5):
    return tuple(int(n) for n in rng.integers(low, high, rank))


def case(op, function, inputs, gradient=True, tolerance=2e-5, **attrs):
    """Records `function` of `inputs`, and the gradients of its floating inputs for cotangents drawn at random."""
    name = f'{len(cases):03d}'
    entry = {'op': op, 'attrs': attrs, 'tolerance': tolerance, 'inputs': [], 'outputs': [], 'cotangents': [], 'grads': []}

    def add(kind, index, value):
        key = f'{name}.{kind}.{index}'
        arrays[key] = np.asarray(value)
        entry[kind].append(key)

    outputs = function(*inputs)
    outputs = list(outputs) if isinstance(outputs, (tuple, list)) else [outputs]
    for i, value in enumerate(inputs):
        add('inputs', i, value)
    for i, value in enumerate(outputs):
        add('outputs', i, value)
    where = [i for i, x in enumerate(inputs) if jnp.issubdtype(x.dtype, jnp.floating)]
    if gradient and where and all(jnp.issubdtype(y.dtype, jnp.floating) for y in outputs):
        def of_floats(*values):
            full = list(inputs)
            for i, value in zip(where, values):
                full[i] = value
            result = function(*full)
            return tuple(result) if isinstance(result, (tuple, list)) else (result,)

        cotangents = tuple(jnp.asarray(rng.uniform(0.5, 1.5, y.shape), y.dtype) for y in outputs)
        _, pull = jax.vjp(of_floats, *[inputs[i] for i in where])
        for i, value in enumerate(cotangents):
            add('cotangents', i, value)
        for i, value in zip(where, pull(cotangents)):
            add('grads', i, value)
        entry['wrt'] = where
    cases.append(entry)


def elementwise():
    anywhere = {'negate': lax.neg, 'abs': lax.abs, 'sign': lax.sign, 'exp': lax.exp, 'expm1': lax.expm1, 'tanh': lax.tanh,
                'logistic': lax.logistic, 'sine': lax.sin, 'cosine': lax.cos, 'floor': lax.floor, 'ceil': lax.ceil,
                'round_nearest_even': lambda x: lax.round(x, lax.RoundingMethod.TO_NEAREST_EVEN),
                'round_nearest_afz': lambda x: lax.round(x, lax.RoundingMethod.AWAY_FROM_ZERO),
                'erf': lax.erf, 'erfc': lax.erfc, 'softplus': jax.nn.softplus, 'relu': jax.nn.relu, 'relu6': jax.nn.relu6,
                'silu': jax.nn.silu, 'cbrt': lax.cbrt, 'elu': jax.nn.elu, 'leaky_relu': jax.nn.leaky_relu,
                'gelu': lambda x: jax.nn.gelu(x, approximate=True), 'square': lax.square,
                'gelu_exact': lambda x: jax.nn.gelu(x, approximate=False), 'is_finite': lax.is_finite}
    for op, function in anywhere.items():
        case(op, function, [floats(shape_of(2), -3, 3)])
    for op, function in {'log': lax.log, 'sqrt': lax.sqrt, 'rsqrt': lax.rsqrt, 'lgamma': lax.lgamma}.items():
        case(op, function, [floats(shape_of(2), 0.3, 4)])
    case('log1p', lax.log1p, [floats((3, 4), -0.9, 3)])
    case('tan', lax.tan, [floats((3, 4), -1.2, 1.2)])
    case('erf_inv', lax.erf_inv, [floats((3, 4), -0.95, 0.95)], tolerance=1e-4)
    case('digamma', lax.digamma, [floats((3, 4), 0.5, 4)], gradient=False)
    for op in ['round_nearest_even', 'round_nearest_afz']:
        case(op, anywhere[op], [jnp.asarray([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 0.49, -0.0], jnp.float32)])
    two = {'add': jnp.add, 'subtract': jnp.subtract, 'multiply': jnp.multiply, 'maximum': jnp.maximum,
           'minimum': jnp.minimum, 'logaddexp': jnp.logaddexp}
    for op, function in two.items():
        case(op, function, [floats((2, 3, 4)), floats((3, 1))])
        case(op, function, [floats((5,)), floats((5,))])
    for op, function in {'divide': jnp.divide, 'power': jnp.power, 'atan2': jnp.arctan2}.items():
        case(op, function, [floats((3, 4), 0.5, 3), floats((4,), 0.5, 3)])
    case('remainder', lax.rem, [floats((4, 5), -5, 5), floats((4, 5), 0.5, 2)])
    case('maximum', jnp.maximum, [jnp.ones((3,), jnp.float32), jnp.ones((3,), jnp.float32)])
    case('power', jnp.power, [floats((4,), -2, 2), jnp.asarray([0, 1, 2, 3], jnp.float32)], gradient=False)
    case('clamp', lax.clamp, [floats((9,), -2, 0), floats((9,), -3, 3), floats((9,), 0.1, 2)])
    case('select', jnp.where, [ints((2, 3), 0, 2, jnp.bool_), floats((2, 3)), floats((3,))])
    for op in ['eq', 'ne', 'lt', 'le', 'gt', 'ge']:
        function = getattr(lax, op)
        case(op, function, [ints((3, 4), 0, 3), ints((3, 4), 0, 3)])
        nan = jnp.asarray([1, np.nan, np.inf, -np.inf, 0, -0.0], jnp.float32)
        case(op, function, [nan, nan[::-1]])


def integers():
    for dtype in [jnp.int32, jnp.int8, jnp.uint32, jnp.int64]:
        signed = jnp.issubdtype(dtype, jnp.signedinteger)
        a, b = ints((12,), -100 if signed else 0, 100, dtype), ints((12,), 1, 9, dtype)
        for op, function in {'add': lax.add, 'multiply': lax.mul, 'divide': lax.div, 'remainder': lax.rem,
                             'maximum': lax.max, 'logical_and': lax.bitwise_and, 'logical_or': lax.bitwise_or,
                             'logical_xor': lax.bitwise_xor, 'shift_left': lax.shift_left,
                             'shift_right_logical': lax.shift_right_logical,
                             'shift_right_arithmetic': lax.shift_right_arithmetic}.items():
            case(op, function, [a, b])
        for op, function in {'logical_not': lax.bitwise_not, 'population_count': lax.population_count,
                             'count_leading_zeros': lax.clz}.items():
            case(op, function, [a])
    flags = [ints((6,), 0, 2, jnp.bool_), ints((6,), 0, 2, jnp.bool_)]
    case('logical_and', jnp.logical_and, flags)
    case('logical_xor', jnp.logical_xor, flags)
    values = jnp.asarray([-2.7, -0.5, 0, 0.49, 1.5, 100.25], jnp.float32)
    for dtype in ['int32', 'int8', 'bfloat16', 'float16', 'float64', 'bool']:
        case('convert', lambda x, d=dtype: x.astype(d), [values], gradient=False, dtype=dtype)
    for dtype in ['float32', 'int8', 'uint32', 'bfloat16', 'bool']:
        case('convert', lambda x, d=dtype: x.astype(d), [ints((6,), 0, 100)], gradient=False, dtype=dtype)
    case('bitcast_convert', lambda x: lax.bitcast_convert_type(x, jnp.int32), [values], gradient=False, dtype='int32')
    case('reduce_precision', lambda x: lax.reduce_precision(x, 5, 3), [floats((9,))], exponent=5, mantissa=3)


def reductions():
    functions = {'reduce_sum': jnp.sum, 'reduce_mean': jnp.mean, 'reduce_max': jnp.max, 'reduce_min': jnp.min,
                 'reduce_prod': jnp.prod, 'logsumexp': jax.nn.logsumexp}
    for op, function in functions.items():
        for _ in range(4):
            rank = int(rng.integers(1, 5))
            dims = sorted(int(d) for d in rng.permutation(rank)[:rng.integers(1, rank + 1)])
            keep = bool(rng.integers(2))
            case(op, lambda x, f=function, d=tuple(dims), k=keep: f(x, axis=d, keepdims=k), [distinct(shape_of(rank))],
                 dims=dims, keep=keep, tolerance=5e-5)
    case('reduce_prod', lambda x: jnp.prod(x, axis=1), [floats((3, 4)).at[0, 1].set(0).at[1, :2].set(0)], dims=[1],
         keep=False)
    case('reduce_max', lambda x: jnp.max(x, axis=0), [jnp.ones((4, 2), jnp.float32)], dims=[0], keep=False)
    case('reduce_sum', lambda x: jnp.sum(x, axis=0), [floats((64, 2)).astype(jnp.bfloat16)], dims=[0], keep=False,
         tolerance=1e-2)
    for op, function in {'reduce_and': jnp.all, 'reduce_or': jnp.any}.items():
        case(op, lambda x, f=function: f(x, axis=1), [ints((6, 2), 0, 2, jnp.bool_)], dims=[1], keep=False)
    for op, function in {'argmax': jnp.argmax, 'argmin': jnp.argmin}.items():
        for dim in [0, 1, 2]:
            case(op, lambda x, f=function, d=dim: f(x, axis=d).astype(jnp.int32), [ints((3, 4, 5), 0, 4)], dim=dim)
        case(op, lambda x, f=function: f(x, axis=0).astype(jnp.int32),
             [jnp.asarray([1, np.nan, 3, -2, np.nan], jnp.float32)], dim=0)
    for dim in [0, 1, 2]:
        case('softmax', lambda x, d=dim: jax.nn.softmax(x, axis=d), [floats((3, 4, 5), -4, 4)], dim=dim)
        case('log_softmax', lambda x, d=dim: jax.nn.log_softmax(x, axis=d), [floats((3, 4, 5), -4, 4)], dim=dim)
    running = {'cumsum': lax.cumsum, 'cumprod': lax.cumprod, 'cummax': lax.cummax, 'cummin': lax.cummin,
               'cumlogsumexp': lax.cumlogsumexp}
    for op, function in running.items():
        for reverse in [False, True]:
            shape = shape_of(2, 2, 9)
            dim = int(rng.integers(2))
            case(op, lambda x, f=function, d=dim, r=reverse: f(x, axis=d, reverse=r), [distinct(shape)], dim=dim,
                 reverse=reverse)


def shapes():
    for _ in range(4):
        rank = int(rng.integers(2, 5))
        order = [int(d) for d in rng.permutation(rank)]
        case('transpose', lambda x, o=order: jnp.transpose(x, o), [floats(shape_of(rank))], permutation=order)
        dims = sorted(int(d) for d in rng.permutation(rank)[:2])
        case('reverse', lambda x, d=dims: lax.rev(x, d), [floats(shape_of(rank))], dims=dims)
        x = floats(shape_of(rank, 3, 8))
        starts = [int(rng.integers(0, n)) for n in x.shape]
        limits = [int(rng.integers(s, n + 1)) for s, n in zip(starts, x.shape)]
        strides = [int(rng.integers(1, 4)) for _ in x.shape]
        case('slice', lambda x, a=starts, b=limits, s=strides: lax.slice(x, a, b, s), [x], starts=starts, limits=limits,
             strides=strides)
        low, high = ([int(n) for n in rng.integers(-2, 3, rank)] for _ in range(2))
        interior = [int(n) for n in rng.integers(0, 3, rank)]
        config = list(zip(low, high, interior))
        case('pad', lambda x, v, c=config: lax.pad(x, v, c), [floats(shape_of(rank, 4, 6)), floats(())], low=low, high=high,
             interior=interior)
        sizes = [int(rng.integers(1, n + 1)) for n in x.shape]
        begin = [ints((), 0, n + 2) for n in x.shape]
        case('dynamic_slice', lambda x, *b, s=sizes: lax.dynamic_slice(x, b, s), [x, *begin], sizes=sizes)
        case('dynamic_update_slice', lambda x, u, *b: lax.dynamic_update_slice(x, u, b), [x, floats(sizes), *begin])
        dim = int(rng.integers(rank))
        parts = [floats(tuple(int(rng.integers(1, 4)) if i == dim else n for i, n in enumerate(x.shape)))
                 for _ in range(3)]
        case('concatenate', lambda *p, d=dim: jnp.concatenate(p, d), parts, dim=dim)
        onto = [int(d) for d in sorted(rng.permutation(rank + 2)[:rank])]
        y = floats(shape_of(rank))
        target = [2] * (rank + 2)
        for i, d in enumerate(onto):
            target[d] = 3 if y.shape[i] == 1 else y.shape[i]
        case('broadcast_in_dim', lambda x, t=target, o=onto: lax.broadcast_in_dim(x, t, o), [y], shape=target, dims=onto)


def indexing():
    modes = {'add': 'add', 'replace': 'set', 'multiply': 'multiply', 'minimum': 'min', 'maximum': 'max'}
    for dim in [0, 1, 2]:
        ids = ints((2, 2), 0, 4)
        case('take', lambda x, i, d=dim: jnp.take(x, i, axis=d, mode='clip'), [floats((4, 5, 6)), ids], dim=dim)
        along = ints(tuple(3 if i == dim else n for i, n in enumerate((4, 5, 6))), 0, 4)
        case('take_along', lambda x, i, d=dim: jnp.take_along_axis(x, i, axis=d), [floats((4, 5, 6)), along], dim=dim)
    for kind, method in modes.items():
        def function(x, i, u, m=method):
            return getattr(x.at[:, i], m)(u, mode='drop', unique_indices=m == 'multiply')
        ids = jnp.asarray([4, 0, 9], jnp.int32) if kind in ('replace', 'multiply') else jnp.asarray([4, 0, 9, 4], jnp.int32)
        case('scatter_at', function, [floats((2, 5), 0.5, 2), ids, floats((2, len(ids)), 0.5, 2)],
             gradient=kind not in ('minimum', 'maximum'), dim=1, kind=kind)
    case('one_hot', lambda i: jax.nn.one_hot(i, 5, dtype=jnp.float32), [jnp.asarray([[0, 4], [-1, 5]], jnp.int32)], size=5)
    for dims in [lax.GatherDimensionNumbers((1,), (0,), (0,)), lax.GatherDimensionNumbers((0, 2), (), (1,)),
                 lax.GatherDimensionNumbers((1, 2), (), (1, 0))]:
        whole = len(dims.collapsed_slice_dims)
        sizes = (1, 3) if whole else (3, 2)
        indices = ints((4, len(dims.start_index_map)), 0, 4)
        case('gather', lambda x, i, d=dims, s=sizes: lax.gather(x, i, d, s, mode='clip'), [floats((5, 3 if whole else 5)), indices],
             gradient=False, window=list(dims.offset_dims), collapsed=list(dims.collapsed_slice_dims),
             index_map=list(dims.start_index_map), sizes=list(sizes))
    for dim in [0, 1]:
        case('sort', lambda x, d=dim: jnp.sort(x, axis=d), [distinct((4, 6))], dim=dim, descending=False)
        case('sort', lambda x, d=dim: jnp.flip(jnp.sort(x, axis=d), d), [distinct((4, 6))], dim=dim, descending=True)
        case('argsort', lambda x, d=dim: jnp.argsort(x, axis=d).astype(jnp.int32), [ints((4, 6), 0, 3)], dim=dim)
    for num_keys in [1, 2]:
        keys = [ints((8,), 0, 3), ints((8,), 0, 3), floats((8,))]
        case('sort_together', lambda *x, n=num_keys: lax.sort(x, dimension=0, num_keys=n), keys, gradient=False,
             num_keys=num_keys)
    for k in [1, 3]:
        case('top_k', lambda x, k=k: lax.top_k(x, k), [distinct((3, 7))], gradient=False, k=k)
        case('top_k_values', lambda x, k=k: lax.top_k(x, k)[0], [distinct((3, 7))], k=k)


def products():
    for _ in range(12):
        batch, contract, left, right = (int(n) for n in rng.integers(0, 3, 4))
        sizes = [int(n) for n in rng.integers(1, 5, batch + contract + left + right)]
        kinds = ['b'] * batch + ['c'] * contract
        a = [(k, i) for i, k in enumerate(kinds)] + [('l', batch + contract + i) for i in range(left)]
        b = [(k, i) for i, k in enumerate(kinds)] + [('r', batch + contract + left + i) for i in range(right)]
        rng.shuffle(a), rng.shuffle(b)
        a, b = [(k, int(i)) for k, i in a], [(k, int(i)) for k, i in b]

        def places(side, kind):
            return [[int(j) for _, j in side].index(i) for i in range(batch + contract) if kinds[i] == kind]

        dims = ((places(a, 'c'), places(b, 'c')), (places(a, 'b'), places(b, 'b')))
        inputs = [floats(tuple(sizes[i] for _, i in side)) for side in (a, b)]
        case('dot_general', lambda x, y, d=dims: lax.dot_general(x, y, d), inputs, lhs_contract=dims[0][0],
             rhs_contract=dims[0][1], lhs_batch=dims[1][0], rhs_batch=dims[1][1], tolerance=5e-5)
    size = {c: n for c, n in zip('abcdefghijklmnopqrstuvwxyz', [2, 3, 4, 5, 2, 3, 4, 2, 3, 4, 5, 2, 3, 4, 2, 3] * 2)}
    for equation in ['btd,df->btf', 'btd,dnh->btnh', 'btnh,dnh->btd', 'btnh,bsnh->bnts', 'bnts,bsnh->btnh', 'ij,jk', 'ij,kj->ik',
                     'i,j->ij', 'ij->ji', 'ij->', 'ijk,jil->kl', 'abc,cd,de->abe', 'gsec,gsm->egcm', 'gsec,egcm->gsm',
                     'ab,cd->ac', 'bhld,bhmd->bhlm', 'ab,ab->ab', 'abc,b->ac', 'ii->i', 'iij->j']:
        terms = equation.split('->')[0].split(',')
        case('einsum', lambda *x, e=equation: jnp.einsum(e, *x), [floats(tuple(size[c] for c in t)) for t in terms],
             equation=equation, tolerance=5e-5)
    case('einsum', lambda x, y: jnp.einsum('...ij,...jk->...ik', x, y), [floats((2, 3, 4)), floats((5, 1, 4, 2))],
         equation='...ij,...jk->...ik', tolerance=5e-5)
    for _ in range(16):
        space = int(rng.integers(1, 3))
        groups = int(rng.integers(1, 3))
        by_batch = groups > 1 and bool(rng.integers(2))
        features, outputs, batch = (int(n) for n in rng.integers(1, 3, 3) * groups)
        specs = ['NWC', 'WIO', 'NWC'] if space == 1 else ['NHWC', 'HWIO', 'NHWC']
        specs = [''.join(np.array(list(s))[rng.permutation(len(s))]) for s in specs]

        def array(spec, of):
            return floats(tuple(of.get(c, 0) or int(rng.integers(4, 7)) for c in spec))

        x = array(specs[0], {'N': batch, 'C': features})
        kernel = array(specs[1], {'I': features if by_batch else features // groups, 'O': outputs, 'H': int(rng.integers(1, 4)),
                                  'W': int(rng.integers(1, 4))})
        strides, input_dilation, kernel_dilation = ([int(n) for n in rng.integers(1, 3, space)] for _ in range(3))
        padding = [[int(n) for n in rng.integers(0, 3, 2)] for _ in range(space)]
        numbers = lax.conv_dimension_numbers(x.shape, kernel.shape, tuple(specs))
        attrs = dict(strides=strides, padding=padding, input_dilation=input_dilation, kernel_dilation=kernel_dilation,
                     feature_groups=1 if by_batch else groups, batch_groups=groups if by_batch else 1)

        def function(x, k, a=attrs, n=numbers):
            return lax.conv_general_dilated(x, k, a['strides'], [tuple(p) for p in a['padding']], a['input_dilation'],
                                            a['kernel_dilation'], n, a['feature_groups'], a['batch_groups'])
        case('convolution', function, [x, kernel], tolerance=1e-4, lhs=list(numbers.lhs_spec), rhs=list(numbers.rhs_spec),
             out=list(numbers.out_spec), **attrs)
    positive = floats((2, 4, 4))
    positive = positive @ positive.swapaxes(1, 2) + 2 * jnp.eye(4, dtype=jnp.float32)
    case('cholesky', jnp.linalg.cholesky, [positive], tolerance=1e-4)
    for left in [False, True]:
        for lower in [False, True]:
            for transposed in [False, True]:
                a = floats((2, 3, 3), 1, 2)
                case('triangular_solve',
                     lambda a, b, s=left, l=lower, t=transposed: lax.linalg.triangular_solve(
                         a, b, left_side=s, lower=l, transpose_a=t),
                     [a, floats((2, 3, 4) if left else (2, 4, 3))], left=left, lower=lower, transposed=transposed,
                     tolerance=2e-3)


def windows():
    for op, function in {'reduce_window_sum': (0., lax.add), 'reduce_window_max': (-np.inf, lax.max),
                         'reduce_window_min': (np.inf, lax.min)}.items():
        for _ in range(5):
            summed = op.endswith('sum')
            attrs = dict(sizes=[int(n) for n in rng.integers(1, 4, 2)], strides=[int(n) for n in rng.integers(1, 3, 2)],
                         padding=[[int(n) for n in rng.integers(0, 2, 2)] for _ in range(2)],
                         base_dilation=[int(n) for n in rng.integers(1, 3, 2)] if summed else [1, 1],
                         window_dilation=[int(n) for n in rng.integers(1, 3, 2)] if summed else [1, 1])

            def window(x, a=attrs, f=function):
                return lax.reduce_window(x, f[0], f[1], a['sizes'], a['strides'], [tuple(p) for p in a['padding']],
                                         a['base_dilation'], a['window_dilation'])
            case(op, window, [distinct((5, 6))], **attrs)


def randoms():
    for seed in [0, 42, 2**40 + 5]:
        key = jax.random.PRNGKey(seed)
        case('fold_in', lambda k: jax.random.fold_in(k, 7), [key], data=7)
        case('split_key', lambda k: jax.random.split(k, 3), [key], count=3)
        for dtype in ['uint32', 'uint64']:
            case('random_bits', lambda k, d=dtype: jax.random.bits(k, (2, 3), d), [key], shape=[2, 3], dtype=dtype)
        for dtype in ['float32', 'float16', 'bfloat16', 'float64']:
            case('random_uniform', lambda k, d=dtype: jax.random.uniform(k, (3, 2), d), [key], shape=[3, 2], dtype=dtype,
                 tolerance=0)
        case('random_normal', lambda k: jax.random.normal(k, (5,), jnp.float32), [key], shape=[5], dtype='float32')
        case('random_truncated_normal', lambda k: jax.random.truncated_normal(k, -2, 2, (5,), jnp.float32), [key],
             shape=[5], dtype='float32')
        case('random_gumbel', lambda k: jax.random.gumbel(k, (5,), jnp.float32, mode='low'), [key], shape=[5], dtype='float32')
        case('random_bernoulli', lambda k: jax.random.bernoulli(k, jnp.float32(0.3), (20,)), [key], shape=[20], p=0.3)


for group in [elementwise, integers, reductions, shapes, indexing, products, windows, randoms]:
    group()

folder = pathlib.Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)
lines = ',\n'.join(json.dumps(entry, separators=(',', ':')) for entry in cases)
(folder / 'jax_ops.json').write_text(f'[\n{lines}\n]\n')
header, offset = {}, 0
for key, value in arrays.items():
    header[key] = {'dtype': DTYPES[str(value.dtype)], 'shape': list(value.shape), 'data_offsets': [offset, offset + value.nbytes]}
    offset += value.nbytes
text = json.dumps(header, separators=(',', ':')).encode()
text += b' ' * (-len(text) % 8)
with open(folder / 'jax_ops.safetensors', 'wb') as file:
    file.write(struct.pack('<Q', len(text)) + text)
    for value in arrays.values():
        file.write(np.ascontiguousarray(value).tobytes())
print(f'{len(cases)} cases, {offset} bytes')
