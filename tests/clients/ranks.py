"""Eight processes, one for each GPU, with NVIDIA's own Python bindings: a multicast team's whole life. Rank 0 makes the
object and hands its descriptor on; every rank imports it, adds its GPU, binds its own memory (the even ones by handle,
the odd ones by address), maps the object, stores through it, and sums all ranks' values in the switch by a kernel;
then it unmaps and unbinds, and the object is made and used a second time. Each rank says whether all was right."""

import array
import ctypes
import os
import socket
import sys

from cuda.bindings import driver as cuda

RANKS = int(sys.argv[1]) if len(sys.argv) > 1 else 8
WORDS = 4096
FD = cuda.CUmemAllocationHandleType.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR

# A warp for each 32 words: the sum of all ranks' copies of a word, by the switch.
PTX = b""".version 8.1
.target sm_90
.address_size 64
.visible .entry sum(.param .u64 team, .param .u64 out)
{
    .reg .u32 %r<5>; .reg .u64 %d<6>; .reg .f32 %f;
    mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;
    mad.lo.u32 %r4, %r1, %r2, %r3;
    mul.wide.u32 %d1, %r4, 4;
    ld.param.u64 %d2, [team]; ld.param.u64 %d3, [out];
    add.u64 %d4, %d2, %d1; add.u64 %d5, %d3, %d1;
    multimem.ld_reduce.relaxed.sys.global.add.f32 %f, [%d4];
    st.global.f32 [%d5], %f;
    ret;
}
\0"""


def ok(answer):
    """The values behind a result, which must be success."""
    result, *values = answer if isinstance(answer, tuple) else (answer,)
    if result != cuda.CUresult.CUDA_SUCCESS:
        _, name = cuda.cuGetErrorName(result)
        raise RuntimeError(name)
    return values[0] if len(values) == 1 else values


class World:
    """What a launcher gives its ranks: rank 0 hears all and answers all."""

    def __init__(self, rank, links):
        self.rank, self.links = rank, links

    def barrier(self):
        if self.rank == 0:
            for link in self.links:
                assert link.recv(1), "a rank is gone"
            for link in self.links:
                link.send(b"b")
        else:
            self.links[0].send(b"b")
            assert self.links[0].recv(1), "rank 0 is gone"

    def hand_on(self, make):
        """Rank 0's descriptor, for every rank."""
        if self.rank == 0:
            fd = make()
            for link in self.links:
                socket.send_fds(link, [b"f"], [fd])
            return fd
        return socket.recv_fds(self.links[0], 1, 1)[1][0]


def access(rank):
    desc = cuda.CUmemAccessDesc()
    desc.location.type = cuda.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
    desc.location.id = rank
    desc.flags = cuda.CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_READWRITE
    return [desc]


def mapped(handle, size, rank):
    va = ok(cuda.cuMemAddressReserve(size, 0, 0, 0))
    ok(cuda.cuMemMap(va, size, 0, handle, 0))
    ok(cuda.cuMemSetAccess(va, size, access(rank), 1))
    return va


def unmapped(va, size):
    ok(cuda.cuMemUnmap(va, size))
    ok(cuda.cuMemAddressFree(va, size))


def words(va):
    got = (ctypes.c_float * WORDS)()
    ok(cuda.cuMemcpyDtoH(ctypes.addressof(got), va, ctypes.sizeof(got)))
    return list(got)


def team_prop(size):
    prop = cuda.CUmulticastObjectProp()
    prop.numDevices = RANKS
    prop.size = size
    prop.handleTypes = FD.value
    return prop


def memory(size, rank):
    prop = cuda.CUmemAllocationProp()
    prop.type = cuda.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
    prop.location.type = cuda.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
    prop.location.id = rank
    prop.requestedHandleTypes = FD
    return ok(cuda.cuMemCreate(size, prop, 0))


def live(world, kernel, turn):
    """One life of a team; an error is an exception."""
    rank = world.rank
    recommended = cuda.CUmulticastGranularity_flags.CU_MULTICAST_GRANULARITY_RECOMMENDED
    size = ok(cuda.cuMulticastGetGranularity(team_prop(WORDS * 4), recommended))
    team = ok(cuda.cuMulticastCreate(team_prop(size))) if rank == 0 else None
    fd = world.hand_on(lambda: ok(cuda.cuMemExportToShareableHandle(team, FD, 0)))
    if rank > 0:
        team = ok(cuda.cuMemImportFromShareableHandle(fd, FD))
    os.close(fd)
    ok(cuda.cuMulticastAddDevice(team, rank))
    own = memory(size, rank)
    unicast = mapped(own, size, rank)
    if rank % 2 == 0:
        ok(cuda.cuMulticastBindMem(team, 0, own, 0, size, 0))
    else:
        ok(cuda.cuMulticastBindAddr(team, 0, unicast, size, 0))
    multicast = mapped(team, size, rank)
    world.barrier()

    # One rank's stores reach the memory of all.
    speaker = turn % RANKS
    if rank == speaker:
        sent = array.array("f", [i * 3 + turn for i in range(WORDS)])
        ok(cuda.cuMemcpyHtoD(multicast, sent.buffer_info()[0], WORDS * 4))
    world.barrier()
    assert words(unicast) == [i * 3 + turn for i in range(WORDS)], "a store through the team did not reach this rank"
    world.barrier()

    # Every rank's own values, summed in the switch: (1 + .. + RANKS) times the word's number, exact in f32.
    values = array.array("f", [(rank + 1) * (i % 256) for i in range(WORDS)])
    ok(cuda.cuMemcpyHtoD(unicast, values.buffer_info()[0], WORDS * 4))
    out = ok(cuda.cuMemAlloc(WORDS * 4))
    world.barrier()
    ok(cuda.cuLaunchKernel(kernel, WORDS // 128, 1, 1, 128, 1, 1, 0, 0,
                           ((int(multicast), int(out)), (ctypes.c_uint64, ctypes.c_uint64)), 0))
    ok(cuda.cuCtxSynchronize())
    right = [RANKS * (RANKS + 1) // 2 * (i % 256) for i in range(WORDS)]
    assert words(out) == right, "the sum in the switch is wrong"
    world.barrier()

    ok(cuda.cuMemFree(out))
    unmapped(multicast, size)
    ok(cuda.cuMulticastUnbind(team, rank, 0, size))
    unmapped(unicast, size)
    ok(cuda.cuMemRelease(own))
    ok(cuda.cuMemRelease(team))
    world.barrier()


def rank_main(rank, links):
    ok(cuda.cuInit(0))
    assert ok(cuda.cuDeviceGetCount()) >= RANKS, "fewer GPUs than ranks"
    ok(cuda.cuCtxSetCurrent(ok(cuda.cuDevicePrimaryCtxRetain(rank))))
    kernel = ok(cuda.cuModuleGetFunction(ok(cuda.cuModuleLoadData(PTX)), b"sum"))
    world = World(rank, links)
    free = ok(cuda.cuMemGetInfo())[0]
    for turn in range(2):
        live(world, kernel, turn)
    assert ok(cuda.cuMemGetInfo())[0] == free, "memory is still in use"
    os.write(1, f"rank {rank} of {RANKS}: right\n".encode())  # in one piece: the others write there, too


def main():
    pairs = [socket.socketpair() for _ in range(RANKS - 1)]
    pids = []
    for rank in range(RANKS):
        pid = os.fork()
        if pid == 0:
            for other, pair in enumerate(pairs):  # so that who waits for a rank that is gone hears of it
                if rank != other + 1:
                    pair[1].close()
                if rank > 0:
                    pair[0].close()
            os.environ["RANK"] = str(rank)
            rank_main(rank, [pair[0] for pair in pairs] if rank == 0 else [pairs[rank - 1][1]])
            return 0
        pids.append(pid)
    for pair in pairs:
        pair[0].close()
        pair[1].close()
    return max(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) != 0 for pid in pids)


sys.exit(main())
