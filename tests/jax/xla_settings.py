"""How JAX computes what we compare with: imported before jax. XLA compiles with little effort and few liberties: no excess
precision, no fast math."""
import os

os.environ['XLA_FLAGS'] = ('--xla_backend_optimization_level=0 --xla_allow_excess_precision=false '
                           '--xla_cpu_multi_thread_eigen=false --xla_cpu_enable_fast_math=false')
os.environ['JAX_PLATFORMS'] = 'cpu'
# With two threads its calls of LAPACK deadlock about once in fifteen runs while other work runs.
os.environ['OPENBLAS_NUM_THREADS'] = '1'
os.environ['NPROC'] = '16'
