# SPDX-License-Identifier: Apache-2.0
"""Logs what a training loop of PyTorch allocates: log_torch.py FILE [--steady] [--mapped]. kmm-replay runs the log again.

A small transformer on batches of varying length, then a small convolutional network, with a side stream.
With --steady all batches are of one size. With --mapped the pool is on mapped memory. With --native in place of a file: the same loop on PyTorch's own
allocator, whose memory at most it prints."""
import random
import sys

try:
    import torch
except ImportError:
    print("torch is not installed")
    sys.exit(77)
import kmm.allocators.torch
from kmm import mr


def use_log(path):
    """A log over a pool becomes the device's resource. Returns what ends the log."""
    pool = mr.PoolResource(mr.MappedResource(0) if mapped else mr.DeviceResource(0))
    log = mr.LoggingResource(pool, path)
    mr.set_per_device_resource(0, log)
    kmm.allocators.torch.use()
    return lambda: finish(pool, log)


def finish(pool, log):
    """Flushes the log and says what the pool holds."""
    log.flush()
    usage = pool.usage()
    print("the pool held %.1f MiB, of which %.1f were in use at some time" % (
        usage.held_bytes / 2**20, usage.extent_bytes / 2**20))


native = sys.argv[1] == "--native"
steady = "--steady" in sys.argv
mapped = "--mapped" in sys.argv
flush = None if native else use_log(sys.argv[1])
random.seed(7)
torch.manual_seed(7)


def between(least, most):
    return (least + most) // 2 if steady else random.randint(least, most)


def transformer():
    layer = torch.nn.TransformerEncoderLayer(256, 4, 1024, batch_first=True)
    model = torch.nn.Sequential(torch.nn.Embedding(5000, 256), torch.nn.TransformerEncoder(layer, 3),
                                torch.nn.Linear(256, 5000)).cuda()
    optimizer = torch.optim.AdamW(model.parameters())
    for _ in range(20):
        words = torch.randint(0, 5000, (8, between(16, 384)), device="cuda")
        out = model(words)
        loss = torch.nn.functional.cross_entropy(out.flatten(0, 1), words.flatten())
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
    return loss.item()


def convolutions():
    model = torch.nn.Sequential(
        torch.nn.Conv2d(3, 32, 3), torch.nn.BatchNorm2d(32), torch.nn.ReLU(), torch.nn.MaxPool2d(2),
        torch.nn.Conv2d(32, 64, 3), torch.nn.ReLU(), torch.nn.AdaptiveAvgPool2d(4), torch.nn.Flatten(),
        torch.nn.Linear(1024, 10)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    side = torch.cuda.Stream()
    for _ in range(20):
        size = between(48, 160)
        with torch.cuda.stream(side):
            images = torch.randn(between(4, 32), 3, size, size, device="cuda")
        torch.cuda.current_stream().wait_stream(side)
        images.record_stream(torch.cuda.current_stream())
        loss = model(images).logsumexp(1).mean()
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
    return loss.item()


def main():
    values = transformer(), convolutions()
    torch.cuda.synchronize()
    return values


values = main()
if native:
    most, held = torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved()
    print("PyTorch's own allocator: %.1f MiB held for %.1f MiB at most: %.3f" % (held / 2**20, most / 2**20, held / most))
else:
    flush()
    print("logged: losses %.3f %.3f" % values)
