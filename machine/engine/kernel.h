/* Launching kernels of PTX in a stream of the engine.
 *
 *     KernelSpec spec = {.image = image, .entry = entry, .grid = {...}, .block = {...}, .param = bytes};
 *     EngineRequest request = {.op = ENGINE_LAUNCH_PTX, .stream = stream, .gpu = gpu, .argument = (guint64)&spec};
 *     engine_call(engine, &request, &reply);
 *
 * The specification and its parameters are copied before the call is answered (same process only); the image and its
 * module must live until the launch has ended. ENGINE_INVALID, ENGINE_RESOURCES, ENGINE_COOPERATIVE: the launch cannot
 * be, and the log has the reason. The work takes its turn in the stream as a launch of a device program does.
 *
 * A fault of a kernel (illegal address, misaligned access, trap, assertion, ...) ends it, and stays with its context:
 * calls that wait for it, and later ones, are answered with ENGINE_DEVICE_FAULT and the FaultKind in reply.fault. The
 * report's table of faults names kernel, line of PTX, source line, CTA, warp, lane and address.
 *
 * Banks: memory of PtxModule.global_bytes and const_bytes, aligned to PtxModule.global_align, mapped and readable and
 * writable by the GPU; ptx_module_bank() gives their first contents, ptx_image_new() takes their addresses. Constants
 * are read without time, from memory of this process's regions. */
#ifndef MACHINE_ENGINE_KERNEL_H
#define MACHINE_ENGINE_KERNEL_H

#include "machine/engine/engine.h"
#include "device/kernel/kernel.h"

#endif
