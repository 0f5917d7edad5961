# SPDX-License-Identifier: Apache-2.0
"""The resources that frameworks allocate from."""
from .. import mr
from .._error import Unsupported

OUT_OF_MEMORY = -2  # KMM_E_MEMORY


def memory_info(device):
    """(available, total) bytes of the device's resource."""
    return mr.get_per_device_resource(device).memory_info()


def choose_memory(devices, mapped):
    """What the pools of devices 0 to devices - 1 stand on, before anything is allocated. True:
    mapped memory, of which little is lost to fragmentation, open to every device that can reach it;
    other processes cannot. False: plain memory. None: mapped memory if the driver can map and all
    devices can reach each other, else plain; so it is without a call too."""
    if mapped is None:
        return
    for device in range(devices):
        source = (mr.MappedResource if mapped else mr.DeviceResource)(device)
        pool = mr.PoolResource(source)
        mr.set_per_device_resource(device, pool)
        for other in range(devices if mapped else 0):
            try:
                pool.allow(other)
            except Unsupported:
                pass
