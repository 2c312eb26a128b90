"""One function on one side, Ricci's or JAX's: how long it takes to become code, and how long that code runs.

A side is a process of its own, with one number of threads, that reads requests from its standard input, one JSON
object a line, and answers each with a line. `serve` is that process, `Side` the one that asks.
"""
import contextlib
import json
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[3]
SECONDS = 0.2  # of repeated runs for one figure


class Side:
    """Asks the process `script --serve WHICH THREADS`, which may use the first `threads` processors."""

    def __init__(self, script, which, threads):
        environment = dict(os.environ, JAX_PLATFORMS="cpu", EQX_ON_ERROR="off", PYTHONPATH=os.pathsep.join(
            [str(ROOT / "bindings/python"), *filter(None, [os.environ.get("PYTHONPATH")])]))
        if which == "jax" and threads == 1:
            environment["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
        processors = sorted(os.sched_getaffinity(0))[:threads]
        self.which = which
        command = [sys.executable, str(script), "--serve", which, str(threads)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        env=environment, preexec_fn=lambda: os.sched_setaffinity(0, processors))

    def ask(self, **request):
        """The answer; {'error': why} if there is none."""
        try:
            self.process.stdin.write(json.dumps(request) + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass
        for line in self.process.stdout:
            if line.startswith("{"):
                return json.loads(line)
        return {"error": f"the process of {self.which} ended with {self.process.wait()}"}

    def close(self):
        with contextlib.suppress(BrokenPipeError):  # it has ended
            self.process.stdin.close()
        self.process.wait()


def measured(script, threads, request, rounds):
    """{which: what it answers to `request`}, with the median time of the rounds as `run` and, as `ratios`, our time of
    JAX's in each round."""
    both = {which: Side(script, which, threads) for which in ("ricci", "jax")}
    records = {which: side.ask(**request) for which, side in both.items()}
    runs = {which: [] for which in both}
    for _ in range(rounds):
        for which, side in both.items():
            runs[which].append(side.ask().get("run", float("nan")))
    for which, side in both.items():
        records[which]["run"] = statistics.median(runs[which])
        records[which]["ratios"] = [ours / theirs for ours, theirs in zip(runs["ricci"], runs["jax"])]
        side.close()
    return records


class Ricci:
    """Imports, transforms and compiles with one context."""

    def __init__(self, threads):
        import ricci
        from ricci.calls import keys
        self.ricci, self.to_host, self.context = ricci, keys.to_host, ricci.Context(threads=threads)

    def prepare(self, fn, args, argnums, size=None):
        """Code for `fn`, for its gradient if `argnums` is not empty, for `size` of them if that is given."""
        import jax
        single = args if size is None else one_of(args)
        trace, again = (seconds(lambda: jax.make_jaxpr(fn)(*single)) for _ in range(2))
        start = time.perf_counter()
        f = self.ricci.from_jax(fn, *single, context=self.context)
        if argnums:
            f.program.verify()  # asks for the rules, which JAX traces in its own trace of the gradient
        imported = time.perf_counter()
        if argnums:
            f = f.grad(argnums)
        if size is not None:
            f = f.vmap(size)
        executable = f.executable
        end = time.perf_counter()
        leaves = [self.to_host(x) for x in f._flatten(args, {})]
        self.run = lambda: executable(*leaves)
        return {"trace": trace, "import": max(0.0, imported - start - again), "compile": end - imported}


class Jax:
    def __init__(self, threads):
        pass

    def prepare(self, fn, args, argnums, size=None):
        import jax
        if argnums:
            fn = jax.grad(fn, argnums)
        jitted = jax.jit(fn if size is None else jax.vmap(fn))
        start = time.perf_counter()
        lowered = jitted.lower(*args)
        middle = time.perf_counter()
        compiled = lowered.compile()
        end = time.perf_counter()
        args = jax.device_put(args)
        self.run = lambda: jax.block_until_ready(compiled(*args))
        return {"trace": middle - start, "compile": end - middle}


def one_of(args):
    """The first of a batch of arguments."""
    import jax
    return jax.tree_util.tree_map(lambda x: x[0], args)


def seconds(run):
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def best(run):
    """Seconds of the fastest run."""
    run()
    quickest, count, total = float("inf"), 1, 0.0
    while total < SECONDS:
        taken = seconds(lambda: [run() for _ in range(count)])
        total, quickest = total + taken, min(quickest, taken / count)
        if taken < 0.01:
            count *= 2
    return quickest


def magnitude(tree):
    """The sum of the absolute values, by which results are compared; keys count nothing."""
    import jax
    import numpy as np
    leaves = [np.asarray(x) for x in jax.tree_util.tree_leaves(tree) if not jax.dtypes.issubdtype(
        x.dtype, jax.dtypes.prng_key)]
    return float(sum(np.abs(np.nan_to_num(x.astype(np.float64))).sum() for x in leaves if x.dtype != np.uint64))


def resident():
    """Megabytes, the most that this process had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def serve(which, threads, case_of, names_of=None):
    """Answers until its input ends. `case_of(**request)` gives what `prepare` takes; without a request, the code runs;
    {"names": x} asks for what `names_of(**x)` lists."""
    side = {"ricci": Ricci, "jax": Jax}[which](threads)
    for line in sys.stdin:
        request = json.loads(line)
        try:
            if "names" in request:
                answer = {"names": names_of(**request["names"])}
            elif request:
                case, before = case_of(**request), resident()
                answer = side.prepare(*case)
                answer |= {"check": magnitude(side.run()), "memory": resident() - before}
            else:
                answer = {"run": best(side.run)}
        except Exception as error:  # whatever a package raises
            answer = {"error": f"{type(error).__name__}: {str(error).splitlines()[0][:200] if str(error) else ''}"}
        print(json.dumps(answer), flush=True)
