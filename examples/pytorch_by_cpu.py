"""PyTorch's eager operators on a simulated GPU, by the CPU.

PyTorch's package has its own kernels as machine code alone, which Fanout does not run. This runs a program with each of
its operators on a GPU's tensors carried out by the CPU:

    fanout exec -s dgx-h100 -- python pytorch_by_cpu.py PROGRAM WORD...
    fanout exec -s dgx-h100 -- python pytorch_by_cpu.py -m MODULE WORD...

What an operator reads is copied to the CPU, what it writes is copied back, so that results are right and stay on the GPU.
The time of such an operator is that of its copies and means nothing: time what torch.compile, Triton or NCCL does. Views,
empty tensors and copies of one type need no kernel and stay PyTorch's own."""

import runpy
import sys
import warnings

import torch
import torch.utils.deterministic
from torch.utils._pytree import tree_flatten, tree_map, tree_unflatten

# These need no kernel.
PLAIN = {"empty", "empty_strided", "set_", "resize_", "record_stream", "is_pinned", "_pin_memory", "is_set_to",
         "_local_scalar_dense", "as_strided", "view", "_reshape_alias", "unfold"}
# These sum many values: a GPU does so in f32 where operands have 16 bits, the CPU not always.
SUMS = {"mm", "bmm", "addmm", "baddbmm", "sum", "mean", "native_layer_norm", "native_layer_norm_backward",
        "native_group_norm", "native_group_norm_backward", "_fused_rms_norm", "_fused_rms_norm_backward",
        "embedding_dense_backward", "convolution", "convolution_backward"}
STATISTICS = {"native_layer_norm", "native_group_norm", "_fused_rms_norm"}  # their means and deviations stay f32
PRODUCTS = {"mm", "bmm", "addmm", "baddbmm"}
ARITHMETIC = {"add", "sub", "mul", "div"}
# These choose a library of GPUs before they come to a kernel.
CHOOSING = "aten::convolution", "aten::convolution_backward"
HALVES = torch.float16, torch.bfloat16


def on_gpu(x):
    return isinstance(x, torch.Tensor) and x.device.type == "cuda"


def is_dense(x):
    """Without holes and overlaps, so that a copy of its bytes is a copy of it."""
    step = 1
    for stride, size in sorted((stride, size) for stride, size in zip(x.stride(), x.size()) if size != 1):
        if stride != step:
            return x.numel() == 0
        step *= size
    return True


def is_plain_copy(to, source):
    """One that a copy engine does: between tensors of one type that lie alike."""
    return (to.dtype == source.dtype and to.shape == source.shape and to.stride() == source.stride() and is_dense(to) and
            to.is_conj() == source.is_conj() and to.is_neg() == source.is_neg())


class Images:
    """One operator's storages as they are on the CPU; tensors that share a storage share its image."""

    def __init__(self):
        self.of = {}

    def find(self, x):
        key = x.untyped_storage().data_ptr(), x.device.index
        if key not in self.of:
            raw = torch.empty(0, dtype=torch.uint8, device=x.device).set_(x.untyped_storage())
            self.of[key] = raw.cpu(), raw
        return self.of[key]

    def to_cpu(self, x):
        if not on_gpu(x):
            return x
        storage = self.find(x)[0].untyped_storage()
        image = torch.empty(0, dtype=x.dtype).set_(storage, x.storage_offset(), x.size(), x.stride())
        return image.conj() if x.is_conj() else image

    def write_back(self, x):
        host, raw = self.find(x)
        raw.copy_(host)


def to_gpu(x, device):
    if not isinstance(x, torch.Tensor) or device.type != "cuda":
        return x
    x = x.resolve_conj() if is_dense(x) else x.contiguous()
    return torch.empty_strided(x.size(), x.stride(), dtype=x.dtype, device=device).copy_(x)


def name_of(func):
    return func._schema.name.partition("::")[2]


def summed(func, args, kwargs):
    """On the CPU, in f32 where operands have 16 bits; what comes out has their type."""
    tensors = [x for x in tree_flatten((args, kwargs))[0] if isinstance(x, torch.Tensor)]
    halves = [x.dtype for x in tensors if x.dtype in HALVES]
    if not halves or kwargs.get("dtype") is not None:
        return func(*args, **kwargs)
    args, kwargs = tree_map(lambda x: x.float() if isinstance(x, torch.Tensor) and x.dtype in HALVES else x, (args, kwargs))
    result = func(*args, **kwargs)
    if name_of(func) in STATISTICS:
        return (result[0].to(halves[0]), *result[1:])
    return tree_map(lambda x: x.to(halves[0]) if isinstance(x, torch.Tensor) and x.dtype == torch.float32 else x, result)


def widened(func, args, kwargs):
    """Products with an `out_dtype`, which GPUs alone have: of operands of that type."""
    kind = kwargs.get("out_dtype") or next(x for x in args if isinstance(x, torch.dtype))
    more = {k: v for k, v in kwargs.items() if k not in ("out", "out_dtype")}
    operands = [x.to(kind) for x in args if isinstance(x, torch.Tensor)]
    result = getattr(torch.ops.aten, name_of(func)).default(*operands, **more)
    return result if kwargs.get("out") is None else kwargs["out"].copy_(result)


def arguments(func, args, kwargs, host_args, host_kwargs):
    """Each tensor that the operator changes, with its image on the CPU."""
    for i, argument in enumerate(func._schema.arguments):
        if argument.alias_info is None or not argument.alias_info.is_write:
            continue
        value, image = ((args[i], host_args[i]) if i < len(args) else
                        (kwargs.get(argument.name), host_kwargs.get(argument.name)))
        pairs = zip(value, image) if isinstance(value, (list, tuple)) else [(value, image)]
        yield from ((v, h) for v, h in pairs if isinstance(v, torch.Tensor))


def numbers_as_tensors(func, args):
    """Python's numbers in the place of tensors, which PyTorch has unwrapped on the way here. Arithmetic takes them as
    they are, so that a single number's type is not that of a tensor of f32."""
    if name_of(func).rstrip("_") in ARITHMETIC:
        return args
    kinds = [str(argument.type) for argument in func._schema.arguments]
    return [torch.tensor(x) if isinstance(x, (int, float, complex)) and kinds[i] in ("Tensor", "Optional[Tensor]") else x
            for i, x in enumerate(args)]


def by_cpu(func):
    """The operator on tensors of a GPU: on the CPU, with what it changes brought back."""
    compute = summed if name_of(func) in SUMS and "out" not in func._overloadname else lambda f, a, k: f(*a, **k)
    if func._overloadname in ("dtype", "dtype_out") and name_of(func) in PRODUCTS:
        compute = widened

    def run(*args, **kwargs):
        flat, shape = tree_flatten((args, kwargs))
        images = Images()
        host_args, host_kwargs = tree_unflatten([images.to_cpu(x) for x in flat], shape)
        device = next((x.device for x in flat if on_gpu(x)), torch.device("cuda"))
        host_args = numbers_as_tensors(func, host_args)
        if kwargs.get("device") is not None:
            device, host_kwargs["device"] = torch.device(kwargs["device"]), torch.device("cpu")
        if kwargs.get("generator") is not None:
            host_kwargs["generator"] = None
        result = compute(func, host_args, host_kwargs)
        changed = list(arguments(func, args, kwargs, host_args, host_kwargs))
        for value, image in changed:
            if on_gpu(value) and value.shape == image.shape:
                images.write_back(value)
            elif on_gpu(value):  # an output that the operator has made larger
                value.resize_(image.shape).copy_(image)
        owner = {id(image): value for value, image in changed}
        return tree_map(lambda x: owner[id(x)] if id(x) in owner else to_gpu(x, device), result)

    return run


def is_view(func):
    returned = [r.alias_info for r in func._schema.returns]
    return bool(returned) and all(alias is not None and not alias.is_write for alias in returned)


def install():
    """Puts the CPU in the place of PyTorch's kernels for GPUs, as long as what it returns is kept."""
    library = torch.library.Library("aten", "IMPL")
    torch.utils.deterministic.fill_uninitialized_memory = False  # by an operator that wants empty tensors itself
    own_copy, other_copy = torch.library.get_kernel("aten::copy_", "CUDA"), by_cpu(torch.ops.aten.copy_.default)

    def copy(keys, to, source, non_blocking=False):
        if is_plain_copy(to, source):
            return own_copy.call_boxed(keys, to, source, non_blocking)
        return other_copy(to, source, non_blocking)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that a kernel is replaced is what is wanted
        for name in [*torch._C._dispatch_get_registrations_for_dispatch_key("CUDA"), *CHOOSING]:
            space, _, word = name.partition("::")
            base, _, overload = word.partition(".")
            if space != "aten" or base in PLAIN or base == "copy_":
                continue
            func = getattr(getattr(torch.ops.aten, base), overload or "default")
            if not is_view(func):
                library.impl(word, by_cpu(func), "CUDA")
        library.impl("copy_", copy, "CUDA", with_keyset=True)
    return library


def main():
    words = sys.argv[1:]
    module = words[:1] == ["-m"]
    sys.argv = words[1:] if module else words
    if not sys.argv:
        sys.exit(__doc__)
    library = install()
    if module:
        runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
    else:
        runpy.run_path(sys.argv[0], run_name="__main__")
    del library


if __name__ == "__main__":
    main()
