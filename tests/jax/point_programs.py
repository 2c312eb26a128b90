"""Programs of the functions of point_rows.py, as each binding makes them: of one point, and of all points in sequence,
so that nothing of it is a batch. (Elementwise functions take all points as one array.)"""
import os
import pathlib
import subprocess
import sys
import types

BINDING = pathlib.Path(__file__).resolve().parents[2] / 'bindings/python'


def type_text(shape):
    return f"f64[{','.join(map(str, shape))}]"


def of_cpp(requests, build):
    """{request: program text} of the C++ binding, by the tool in the build folder."""
    lines = ''.join(f"{r.name} {r.rows} {' '.join(map(type_text, r.shapes))}\n" for r in requests)
    tool = build / 'tests/jax/ricci_point_programs'
    out = subprocess.run([tool], input=lines, stdout=subprocess.PIPE, text=True, check=True).stdout
    texts = {}
    for request in requests:
        head, _, out = out.partition('\n')
        if head == 'none':
            raise KeyError(f'ricci_point_programs has no function {request.name}')
        size = int(head.split()[1])
        texts[request], out = out[:size], out[size:]
    return texts


def of_python(requests, build):
    """The same of the Python binding, with the libraries of the build folder."""
    os.environ.setdefault('RICCI_PREFIX', str(build))
    sys.path.append(str(BINDING))
    import ricci
    modules = types.SimpleNamespace(np=ricci.numpy, nn=ricci.nn)

    def text(request):
        def one(*x):
            return request.fn(modules, *x)

        def each(*x):
            return ricci.numpy.stack([one(*(operand[i] for operand in x)) for i in range(request.rows)])
        shapes = [(request.rows, *s) if request.rows else s for s in request.shapes]
        operands = [ricci.ShapeDtypeStruct(s, 'float64') for s in shapes]
        return ricci.jit(each if request.rows else one).function(*operands).text
    return {request: text(request) for request in requests}
