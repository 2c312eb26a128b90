"""Runs our cases and the peers' in turn and prints their ratios as a Markdown table.

Every program stays alive and is asked for one case at a time: ours, peer, ours, peer... A ratio is the median over the
rounds of (our time / the peer's time in the same round), so that a slow minute of the machine falls on both; below 1
we are faster. Results are compared by the sum of their absolute values.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).parent
PEERS = {'JAX': 'jax_peer.py', 'Dr.Jit': 'drjit_peer.py'}
RATES = ('GFLOP/s', 'GB/s', 'MLUPS')
LIMITS = ('copy_limit', 'multiply_add_limit')  # of the machine, measured by the peer `hand` first
IN_MEMORY = 16 << 20  # bytes; fewer may come from a cache, whose limit is not known
# The goals of the project: our time is at most this many times the named peer's.
GOALS = {
    'saxpy': (1.05, 'hand'), 'gelu': (1.05, 'hand'), 'sum': (1.05, 'Dr.Jit'), 'softmax': (0.8, 'JAX'),
    'layernorm': (0.8, 'JAX'), 'matmul256': (1.0, 'best'), 'matmul1024': (1.0, 'best'), 'matmul2048': (1.0, 'best'),
    'bmm6': (1.2, 'hand'), 'chol6': (0.1, 'JAX'), 'conv': (1.0, 'JAX'), 'conv_grad': (1.0, 'JAX'), 'attention': (0.22, 'JAX'), 'attention_grad': (0.25, 'JAX'),
    'attention_nn': (0.22, 'JAX'), 'attention_nn_grad': (0.25, 'JAX'),
    'rk4_scan': (0.8, 'JAX'), 'rk4_scan_grad': (0.8, 'JAX'), 'rk4_vmap': (1.4, 'hand'), 'newton': (0.1, 'JAX'),
    'mlp': (0.8, 'JAX'), 'gpt': (0.4, 'JAX'), 'gpt_bf16': (0.4, 'JAX'), 'gpt_compile': (0.3, 'JAX'),
    'lbm': (1.18, 'hand'), 'stream': (1.0, 'JAX'), 'normal': (0.15, 'JAX'), 'sort': (0.2, 'JAX'), 'fft': (1.0, 'JAX'), 'flow64': (1.0, 'JAX'), 'flow128': (1.0, 'JAX'),
    'flow64_grad': (1.0, 'JAX'), 'flow64_grad_compile': (0.5, 'JAX'), 'lru': (1.0, 'JAX'), 'call4': (0.05, 'JAX'), 'call32': (0.022, 'JAX'),
    'pairs': (1.0, 'JAX'), 'pairs_grad': (1.0, 'JAX'), 'start': (0.04, 'JAX'),
}
TOLERANCE = {'newton': 1e-4}


class Program:
    """One program, ours or a peer's, which answers case names with records."""

    def __init__(self, what, command, options):
        self.what, self.command = what, command
        listed = subprocess.run(command + ['--list'], check=True, capture_output=True, text=True).stdout
        self.cases = json.loads(listed.strip().splitlines()[-1])
        self.process = subprocess.Popen(command + options, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, case):
        self.process.stdin.write(case + '\n')
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        while line and not line.startswith('{'):
            line = self.process.stdout.readline()
        if not line:
            return {'case': case, 'error': f'{self.what} ended'}
        return json.loads(line)

    def start_seconds(self):
        begin = time.perf_counter()
        subprocess.run(self.command + ['--start'], check=True, capture_output=True)
        return time.perf_counter() - begin

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def cost(record):
    return 1 / record['value'] if record['unit'] in RATES else record['value']


def measure_case(case, programs, rounds):
    """Name of the program -> list of records, one per round; a program that fails is left out."""
    sides = [p for p in programs if case in p.cases]
    records, errors = {p.what: [] for p in sides}, {}
    for _ in range(rounds):
        for p in sides:
            record = p.ask(case)
            if 'error' in record:
                errors[p.what] = record['error']
            else:
                records[p.what].append(record)
    return {w: r for w, r in records.items() if r and w not in errors}, errors


def measure_start(programs, rounds):
    sides = [p for p in programs if p.what in ('ricci', 'JAX')]
    records = {p.what: [] for p in sides}
    for _ in range(rounds):
        for p in sides:
            records[p.what].append({'case': 'start', 'unit': 's', 'value': p.start_seconds(), 'what': p.what, 'check': 0.0})
    return records, {}


def agree(case, records):
    """Texts of results that differ from ours."""
    if 'ricci' not in records:
        return []
    ours = records['ricci'][-1]['check']
    limit = TOLERANCE.get(case, 2e-3) * max(1e-6, abs(ours))
    return [f'{case}: {w} computes {r[-1]["check"]:.9g}, ricci {ours:.9g}' for w, r in records.items()
            if abs(r[-1]['check'] - ours) > limit]


def ratio(records, peer):
    return statistics.median(cost(a) / cost(b) for a, b in zip(records['ricci'], records[peer]))


def goal_text(case, ratios):
    if case not in GOALS or not ratios:
        return ''
    limit, peer = GOALS[case]
    value = max(ratios.values()) if peer == 'best' else ratios.get(peer)
    if value is None:
        return f'<= {limit} {peer}'
    return f'<= {limit} {peer}: ' + ('met' if value <= limit else f'{value:.2f}')


def limits_of(results):
    """(bytes per second, operations per second) of the machine; None if it was not measured."""
    best = lambda case: max((r['value'] for r in results.get(case, {}).get('hand', [])), default=None)
    return [rate and rate * 1e9 for rate in map(best, LIMITS)]


def share_text(records, limits):
    """The time in which the machine could move the case's bytes and compute its operations, relative to ours."""
    if 'ricci' not in records or None in limits:
        return ''
    r = records['ricci'][-1]
    seconds = statistics.median(r['seconds'] for r in records['ricci'] if 'seconds' in r) if 'seconds' in r else 0
    moved, computed = r.get('bytes', 0), r.get('flops', 0)
    least = max(moved / limits[0] if moved >= IN_MEMORY else 0, computed / limits[1])
    return f'{100 * least / seconds:.0f} %' if least and seconds else ''


def table(results, names):
    peers = [n for n in names if n != 'ricci']
    limits = limits_of(results)
    lines = ['| case | unit | ricci | of limit | ' + ' | '.join(f'{p} | ratio' for p in peers) + ' | goal |',
             '|---|---|---|---|' + '---|---|' * len(peers) + '---|']
    for case, records in results.items():
        if not records:
            continue
        median = lambda w: statistics.median(r['value'] for r in records[w])
        cells = [case, next(iter(records.values()))[0]['unit'], f'{median("ricci"):.4g}' if 'ricci' in records else '',
                 share_text(records, limits)]
        ratios = {}
        for p in peers:
            if p not in records:
                cells += ['', '']
                continue
            if 'ricci' in records:
                ratios[p] = ratio(records, p)
            cells += [f'{median(p):.4g}', f'{ratios[p]:.2f}' if p in ratios else '']
        lines.append('| ' + ' | '.join(cells + [goal_text(case, ratios)]) + ' |')
    return '\n'.join(lines)


def parse_arguments():
    p = argparse.ArgumentParser(description='Measures Ricci and its peers side by side; below 1, Ricci is faster.')
    p.add_argument('--build', default='build_bench', help='folder with ricci_bench (run.sh makes it)')
    p.add_argument('--peers', action='store_true', help='also JAX, Dr.Jit and hand-written C++')
    p.add_argument('--cases', help='comma-separated ids; all by default')
    p.add_argument('--rounds', type=int, default=5, help='measurements of each case by each side, in turn')
    p.add_argument('--seconds', type=float, default=0.6, help='repetitions of one measurement')
    p.add_argument('--json', help='write all records to this file')
    p.add_argument('--smoke', action='store_true', help='tiny cases, once; fails if one does not run or results differ')
    return p.parse_args()


def start_programs(a):
    options = ['--seconds', '0.001', '--small'] if a.smoke else ['--seconds', str(a.seconds)]
    programs = [Program('ricci', [f'{a.build}/tests/bench/ricci_bench'], options)]
    if a.peers:
        for what, script in PEERS.items():
            programs.append(Program(what, [sys.executable, str(HERE / 'peers' / script)], options))
        programs.append(Program('hand', [f'{a.build}/tests/bench/ricci_hand_peer'], options))
        onednn = pathlib.Path(a.build) / 'tests/bench/ricci_onednn_peer'
        if onednn.exists():
            programs.append(Program('oneDNN', [str(onednn)], options))
    return programs


def main():
    a = parse_arguments()
    programs, rounds = start_programs(a), 1 if a.smoke else a.rounds
    known = list(dict.fromkeys(c for p in programs for c in p.cases)) + ['start']
    limits = [c for c in LIMITS if c in known]
    known = limits + [c for c in known if c not in limits]
    results, wrong = {}, []
    for case in limits + a.cases.split(',') if a.cases else known:
        if case not in known:
            sys.exit(f'there is no case {case}; there are {", ".join(known)}')
        records, errors = measure_start(programs, rounds) if case == 'start' else measure_case(case, programs, rounds)
        results[case] = records
        wrong += [f'{case}: {w}: {e}' for w, e in errors.items()] + agree(case, records)
        if not a.smoke:
            print(f'{case}: ' + ', '.join(f'{w} {r[-1]["value"]:.4g} {r[-1]["unit"]}' for w, r in records.items()),
                  file=sys.stderr, flush=True)
    for p in programs:
        p.close()
    print(table(results, [p.what for p in programs]))
    if a.json:
        pathlib.Path(a.json).write_text(json.dumps([r for by in results.values() for rs in by.values() for r in rs], indent=1))
    for text in wrong:
        print('DIFFERS', text)
    sys.exit(1 if wrong and a.smoke else 0)


main()
