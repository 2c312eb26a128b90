"""Small convolutional programs: losses of networks, of stacks of dilated filters and of banks of wavelets, by name.

Each is (function of its arguments to a scalar, arguments), in f32; the first argument is the data, the second the
weights. Strides, dilations, groups and one-dimensional windows over few channels: what small scientific models are made
of, rather than the large layers of image classifiers.
"""
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

LAYOUTS = {1: ("NCH", "OIH", "NCH"), 2: ("NCHW", "OIHW", "NCHW")}


def normal(seed, shape):
    return (np.random.default_rng(seed).standard_normal(shape) / np.sqrt(np.prod(shape[1:]))).astype(np.float32)


def layer(x, w, stride=1, dilation=1, groups=1, padding="SAME", layout=None):
    n = x.ndim - 2
    return lax.conv_general_dilated(x, w, (stride,) * n, padding, None, (dilation,) * n, layout or LAYOUTS[n],
                                    feature_group_count=groups)


def chain(steps):
    """The mean square of layers one after another; `steps` has the attributes of each."""
    def loss(x, weights):
        for w, attributes in zip(weights, steps):
            x = jnp.tanh(layer(x, w, **attributes))
        return jnp.mean(x * x)
    return loss


def network(x, shapes, steps):
    return chain(steps), (normal(0, x), [normal(i + 1, s) for i, s in enumerate(shapes)])


def lenet(batch, channels, size, stride=1, dilation=1):
    """Two convolutions."""
    loss = chain([{"stride": stride, "padding": "VALID"}, {"stride": 2, "dilation": dilation}])
    shapes = [(6, channels, 5, 5), (16, 6, 3, 3)]
    x = normal(0, (batch, channels, size, size)) * size
    return loss, (x, [normal(i + 1, s) for i, s in enumerate(shapes)])


def last_channels(batch, size):
    """The layout of Flax: channels are the last dimension."""
    layout = ("NHWC", "HWIO", "NHWC")
    steps = [{"stride": 2, "layout": layout}, {"stride": 2, "layout": layout}, {"layout": layout}]
    weights = [normal(1, (3, 3, 3, 8)), normal(2, (3, 3, 8, 16)), normal(3, (3, 3, 16, 16))]
    return chain(steps), (normal(0, (batch, size, size, 3)), [w / 4 for w in weights])


def strided(batch, length, channels, window):
    steps = [{"stride": 2}] * 3
    return network((batch, 1, length), [(channels, 1, window), *[(channels, channels, window)] * 2], steps)


def dilated(batch, length, channels, window):
    """A WaveNet's dilations (van den Oord et al., 2016)."""
    steps = [{"dilation": d} for d in (1, 2, 4, 8)]
    return network((batch, 1, length), [(channels, 1, window), *[(channels, channels, window)] * 3], steps)


def depthwise(batch, channels, size):
    steps = [{"groups": channels}, {}, {"groups": channels, "stride": 2}, {}]
    return network((batch, channels, size, size), [(channels, 1, 3, 3), (channels, channels, 1, 1)] * 2, steps)


def grouped(batch, channels, length, groups):
    steps = [{"groups": groups}, {"groups": groups, "stride": 2}]
    return network((batch, channels, length), [(channels, channels // groups, 5)] * 2, steps)


def wavelets(length, levels=5):
    """Daubechies-like analysis: at each level the low half is split by two filters of 8 taps."""
    def loss(x, filters):
        total = 0.0
        for _ in range(levels):
            y = layer(x, filters, stride=2, padding=[(3, 4)])
            total = total + jnp.mean(jnp.sqrt(y[:, 1] ** 2 + 1e-3))
            x = y[:, :1]
        return total + jnp.mean(x * x)
    return loss, (normal(0, (1, 1, length)) * np.float32(np.sqrt(length)), normal(1, (2, 1, 8)))


def transposed(batch, channels, length):
    """A decoder: each layer doubles the length."""
    def loss(x, weights):
        for w in weights:
            x = jnp.tanh(lax.conv_transpose(x, w, (2,), "SAME", dimension_numbers=("NCH", "OIH", "NCH")))
        return jnp.mean(x * x)
    return loss, (normal(0, (batch, channels, length)), [normal(i, (channels, channels, 4)) for i in (1, 2)])


PROGRAMS = {
    "lenet_8x1x28": lambda: lenet(8, 1, 28),
    "lenet_16x3x32": lambda: lenet(16, 3, 32),
    "lenet_16x3x32_stride2": lambda: lenet(16, 3, 32, stride=2),
    "lenet_16x3x32_dilation2": lambda: lenet(16, 3, 32, stride=2, dilation=2),
    "last_channels_8x32": lambda: last_channels(8, 32),
    "strided_256_c4_k3": lambda: strided(16, 256, 4, 3),
    "strided_1024_c16_k5": lambda: strided(16, 1024, 16, 5),
    "strided_1024_c32_k9": lambda: strided(16, 1024, 32, 9),
    "dilated_256_c4_k3": lambda: dilated(16, 256, 4, 3),
    "dilated_512_c1_k9": lambda: dilated(16, 512, 1, 9),
    "dilated_1024_c16_k3": lambda: dilated(16, 1024, 16, 3),
    "dilated_1024_c32_k3": lambda: dilated(16, 1024, 32, 3),
    "depthwise_4x8x16": lambda: depthwise(4, 8, 16),
    "depthwise_8x32x32": lambda: depthwise(8, 32, 32),
    "grouped_c16_g4": lambda: grouped(16, 16, 256, 4),
    "grouped_c32_g8": lambda: grouped(16, 32, 512, 8),
    "wavelets_1024": lambda: wavelets(1024),
    "wavelets_4096": lambda: wavelets(4096),
    "transposed_c4_128": lambda: transposed(16, 4, 128),
    "transposed_c16_256": lambda: transposed(16, 16, 256),
}
