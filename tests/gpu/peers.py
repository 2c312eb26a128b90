"""PyTorch (cuBLASLt and its own kernels) and Triton on the programs of measured/: medians of device events on random data.

A line for each as it is measured, with the names of measured/ and its size; what is not on the machine says so.
"""
import pathlib
import statistics

SIZE = pathlib.Path(__file__).parent / "cubins/size"  # of measured/, which build.sh makes
N = int(SIZE.read_text()) if SIZE.exists() else 8192
BYTES, OPERATIONS = N * N * 4, 2 * N**3


def show(who, name, us, bytes_=0, operations=0, note=""):
    print(f"{who:8} {name:18} {us:10.1f} us {bytes_ / us / 1e3:8.1f} GB/s {operations / us / 1e6:8.1f} TFLOP/s {note}", flush=True)


def attempt(who, name, make, bytes_=0, operations=0, note=""):
    """`make` gives a function to measure, or fails."""
    try:
        show(who, name, measured(make()), bytes_, operations, note)
    except Exception as e:  # whatever this version cannot do
        print(f"{who:8} {name:18} not measured: {type(e).__name__}: {str(e)[:120]}", flush=True)


def measured(f, times=20):
    import torch
    for _ in range(3):
        f()
    taken = []
    for _ in range(times):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        f()
        end.record()
        end.synchronize()
        taken.append(begin.elapsed_time(end) * 1e3)
    return statistics.median(taken)


def arrays(torch, x, y, out):
    attempt("torch", "copy", lambda: lambda: torch.neg(x, out=out), 2 * BYTES)
    attempt("torch", "stream", lambda: lambda: torch.addcmul(x, x, y, out=out), 3 * BYTES, note="one kernel")
    attempt("torch", "row_softmax", lambda: lambda: torch.softmax(x, 1), 2 * BYTES)
    attempt("torch", "layernorm", lambda: lambda: torch.nn.functional.layer_norm(x, (N,)), 2 * BYTES)
    attempt("torch", "column_sum", lambda: lambda: x.sum(0), BYTES)
    attempt("torch", "total2", lambda: lambda: x.sum(), BYTES)
    attempt("torch", "cumsum", lambda: lambda: x.cumsum(1), 2 * BYTES)
    attempt("torch", "sort", lambda: lambda: x.sort(1), 2 * BYTES, note="with places")


def products(torch, x, y):
    a, b = x.bfloat16(), y.bfloat16()
    turned = b.t().contiguous().t()
    m, k = (z[: N // 2, : N // 2].contiguous() for z in (x, y))
    attempt("cublas", "product_bf16", lambda: lambda: torch.mm(a, b, out_dtype=torch.float32), 0, OPERATIONS)
    attempt("cublas", "product_bf16", lambda: lambda: a @ b, 0, OPERATIONS, "result bf16")
    attempt("cublas", "product_bf16_tn", lambda: lambda: a @ turned, 0, OPERATIONS)
    attempt("cublas", "product_f32", lambda: lambda: m @ k, 0, OPERATIONS // 8)
    for fast in True, False:
        attempt("cublas", "product_f8", lambda: product_f8(torch, a, b, fast), 0, OPERATIONS, f"fast sums: {fast}")


def product_f8(torch, a, b, fast):
    p, q = a.to(torch.float8_e4m3fn), b.to(torch.float8_e4m3fn).t().contiguous().t()
    one = torch.ones((), device="cuda")
    return lambda: torch._scaled_mm(p, q, scale_a=one, scale_b=one, out_dtype=torch.bfloat16, use_fast_accum=fast)


def attention(torch):
    n = min(N, 4096)
    q, k, v = (torch.randn(4, 16, n, 128, device="cuda", dtype=torch.bfloat16) for _ in range(3))
    attempt("torch", "attention", lambda: lambda: torch.nn.functional.scaled_dot_product_attention(q, k, v), 0,
            4 * 4 * 16 * n**2 * 128, f"4 x 16 heads, {n} x 128")


def main():
    try:
        import torch
        x, y = (torch.randn(N, N, device="cuda") for _ in range(2))
    except Exception as e:  # not there, or without a GPU
        return print(f"no PyTorch for GPUs: {type(e).__name__}: {str(e)[:120]}")
    print(f"torch {torch.__version__} on {torch.cuda.get_device_name()}", flush=True)
    out = torch.empty_like(x)
    products(torch, x, y)
    arrays(torch, x, y, out)
    try:
        import peers_triton
        peers_triton.attempt_all(x, y, out)
    except Exception as e:
        print(f"no Triton: {type(e).__name__}: {str(e)[:120]}", flush=True)
    attention(torch)


if __name__ == "__main__":
    main()
