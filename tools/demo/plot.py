#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Show how ptp4l did on the emulated cards, in a table and in a plot.

plot.py DIRECTORY RELEASE VARIANT...

DIRECTORY/VARIANT holds what tools/demo/pairs.sh left. Writes
DIRECTORY/pairs.svg and pairs.json. Exit status 0 only if each pair of the
converted drivers synchronised, without a Tx timeout in ptp4l's logs.
"""
import csv
import json
import math
import os
import re
import sys
from xml.sax.saxutils import escape

PAIRS = [('i210', 'igb on I210'), ('i226', 'igc on I226')]
LOADS = [('idle', 'idle'), ('hogs', 'beside 4 SCHED_OTHER hogs')]
COLOURS = {'stock': '#c44e52', 'txts': '#1f5fa8'}
SERVO = re.compile(r'ptp4l\[([\d.]+)\]: master offset +(-?\d+) (s\d) '
                   r'freq +([-+]\d+)')
LIMIT_NS = 100
SETTLE_S = 15
# The smallest share of a histogram that shows: 0.01 %.
FLOOR = -2

WIDTH, HEIGHT = 460, 250
LEFT, TOP, GAP_X, GAP_Y = 70, 70, 90, 80


def read_ptp(directory, pair):
    base = os.path.join(directory, f'ptp-{pair}')
    texts = []
    for end in ('slave', 'master'):
        with open(f'{base}.{end}', encoding='ascii', errors='replace') as f:
            texts.append(f.read())
    rows = [(float(t), int(offset), state, int(freq))
            for t, offset, state, freq in SERVO.findall(texts[0])]
    start = rows[0][0] if rows else 0
    late = [row for row in rows if row[0] - start > SETTLE_S]
    return {
        'offsets': [(t - start, offset) for t, offset, _, _ in rows],
        'followed': bool(late) and all(row[2] == 's2' for row in late),
        'worst_ns': max((abs(row[1]) for row in late), default=None),
        'freq_ppb': rows[-1][3] if rows else None,
        'tx_timeouts': sum(t.count('timed out while polling for tx')
                           for t in texts),
    }


def read_latencies(directory, pair, load):
    base = os.path.join(directory, f'{pair}.{load}')
    with open(base + '.json', encoding='ascii') as f:
        run = json.load(f)
    with open(base + '.csv', encoding='ascii', newline='') as f:
        values = sorted(int(row['latency_ns']) for row in csv.DictReader(f)
                        if row['state'] in ('stamped', 'late'))
    return {'sent': run['sent'], 'stamped': run['stamped'], 'values': values}


def percentile(values, share):
    if not values:
        return None
    return values[max(0, math.ceil(len(values) * share) - 1)]


class Panel:
    """One set of axes; the caller gives data in its own units."""

    def __init__(self, column, row, title):
        self.x = LEFT + column * (WIDTH + GAP_X)
        self.y = TOP + row * (HEIGHT + GAP_Y)
        self.parts = [
            f'<rect x="{self.x}" y="{self.y}" width="{WIDTH}" '
            f'height="{HEIGHT}" fill="none" stroke="#444"/>',
            f'<text x="{self.x}" y="{self.y - 8}" font-weight="bold">'
            f'{escape(title)}</text>']

    def at(self, fx, fy):
        return self.x + fx * WIDTH, self.y + (1 - fy) * HEIGHT

    def tick_x(self, fx, label):
        x, y = self.at(fx, 0)
        self.parts.append(
            f'<path d="M{x:.1f} {y}v-{HEIGHT}" stroke="#ddd"/>'
            f'<text x="{x:.1f}" y="{y + 16}" text-anchor="middle">'
            f'{escape(label)}</text>')

    def tick_y(self, fy, label):
        x, y = self.at(0, fy)
        self.parts.append(
            f'<path d="M{x} {y:.1f}h{WIDTH}" stroke="#ddd"/>'
            f'<text x="{x - 6}" y="{y + 4:.1f}" text-anchor="end">'
            f'{escape(label)}</text>')

    def label_x(self, text):
        x, y = self.at(.5, 0)
        self.parts.append(f'<text x="{x}" y="{y + 34}" '
                          f'text-anchor="middle">{escape(text)}</text>')

    def line(self, points, colour, dash=''):
        path = ' '.join('%.1f,%.1f' % self.at(fx, fy) for fx, fy in points)
        self.parts.append(f'<polyline points="{path}" fill="none" '
                          f'stroke="{colour}" stroke-width="1.5" '
                          f'stroke-dasharray="{dash}"/>')

    def note(self, number, text, colour):
        x, y = self.at(1, 1)
        self.parts.append(f'<text x="{x - 8}" y="{y + 18 + 15 * number}" '
                          f'text-anchor="end" fill="{colour}">'
                          f'{escape(text)}</text>')


def squeeze(value):
    """Logarithmic on both sides of zero, linear within 1 ns."""
    return math.copysign(math.log10(1 + abs(value)), value)


def plot_offsets(panel, results, pair):
    top = 1.0
    end = 1.0
    for variant in results.values():
        for t, offset in variant[pair]['ptp']['offsets']:
            top = max(top, abs(squeeze(offset)))
            end = max(end, t)
    top = math.ceil(top)
    for t in range(0, int(end) + 1, 5):
        panel.tick_x(t / end, f'{t}')
    for decade in range(-top, top + 1):
        if decade and top > 4 and decade % 2:
            continue
        value = math.copysign(10 ** abs(decade), decade) if decade else 0
        panel.tick_y(.5 + squeeze(value) / (2 * top + .2), f'{value:,.0f}')
    for number, (name, variant) in enumerate(results.items()):
        ptp = variant[pair]['ptp']
        panel.line([(t / end, .5 + squeeze(offset) / (2 * top + .2))
                    for t, offset in ptp['offsets']], COLOURS[name],
                   '' if name == 'txts' else '4 3')
        panel.note(number, f"{name}: {len(ptp['offsets'])} measurements, "
                   f"at the end {ptp['freq_ppb']} ppb", COLOURS[name])
    panel.label_x('offset of the slave in ns, over seconds')


def height_of(share):
    """Where a share in percent is on a logarithmic axis that ends in zero."""
    if share <= 10 ** FLOOR:
        return 0
    return (math.log10(share) - FLOOR) / (2.2 - FLOOR)


def plot_latencies(panel, results, pair):
    low, high, per_decade = 4, 7, 20
    for decade in range(low, high + 1):
        panel.tick_x((decade - low) / (high - low),
                     f'{10 ** decade // 1000:,} us')
    for decade in range(FLOOR, 3):
        panel.tick_y(height_of(10 ** decade), f'{10 ** decade:g} %')
    number = 0
    for name, variant in results.items():
        for load, text in LOADS:
            values = variant[pair][load]['values']
            bins = [0] * ((high - low) * per_decade)
            for value in values:
                i = int((math.log10(max(value, 1)) - low) * per_decade)
                bins[min(max(i, 0), len(bins) - 1)] += 1
            points = []
            for i, count in enumerate(bins):
                share = 100 * count / max(len(values), 1)
                points += [(i / len(bins), height_of(share)),
                           ((i + 1) / len(bins), height_of(share))]
            panel.line(points, COLOURS[name], '' if load == 'idle' else '4 3')
            text = f'{name}, {text}: '
            if values:
                text += (f'p50 {percentile(values, .5) / 1000:,.0f} us, '
                         f'max {values[-1] / 1000:,.0f} us')
            else:
                text += 'no stamp'
            panel.note(number, text, COLOURS[name])
            number += 1
    panel.label_x('from send to stamp; dashed: beside the hogs')


def plot(path, release, results):
    width = LEFT + len(PAIRS) * (WIDTH + GAP_X)
    height = TOP + 2 * (HEIGHT + GAP_Y)
    parts = []
    for column, (pair, title) in enumerate(PAIRS):
        panel = Panel(column, 0, f'{title}: two ptp4l')
        plot_offsets(panel, results, pair)
        parts += panel.parts
        panel = Panel(column, 1, f'{title}: latency of Tx stamps')
        plot_latencies(panel, results, pair)
        parts += panel.parts
    with open(path, 'w', encoding='ascii') as f:
        f.write(f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" '
                f'height="{height}" font-family="sans-serif" '
                'font-size="12">\n'
                f'<rect width="{width}" height="{height}" fill="#fff"/>\n'
                f'<text x="{LEFT}" y="28" font-size="16">Emulated cards, '
                f'Debian {escape(release)}, one virtual CPU, virtual time'
                '</text>\n' + '\n'.join(parts) + '\n</svg>\n')


def show(value):
    return 'none' if value is None else f'{value:,}'


def print_tables(release, results):
    print(f'\ntwo ptp4l over emulated cards, Debian {release}; the slave is '
          f'20,000 ppb too fast, offsets after {SETTLE_S} s')
    print(f"  {'':24}{'measured':>9}{'worst':>8}{'found':>12}"
          f"{'Tx timeouts':>13}")
    for pair, title in PAIRS:
        for name, variant in results.items():
            ptp = variant[pair]['ptp']
            print(f"  {title + ', ' + name:24}{len(ptp['offsets']):9}"
                  f"{show(ptp['worst_ns']):>5} ns"
                  f"{show(ptp['freq_ppb']):>8} ppb{ptp['tx_timeouts']:13}")
    print('\nstamps on emulated cards (send to stamp, ns of virtual time)')
    print(f"  {'':50}{'sent':>6}{'in time':>9}{'p50':>11}{'p99':>11}"
          f"{'max':>13}")
    for pair, title in PAIRS:
        for load, text in LOADS:
            for name, variant in results.items():
                run = variant[pair][load]
                values = run['values']
                print(f"  {f'{title}, {text}, {name}':50}{run['sent']:6,}"
                      f"{run['stamped']:9,}"
                      f'{show(percentile(values, .5)):>11}'
                      f'{show(percentile(values, .99)):>11}'
                      f'{show(values[-1] if values else None):>13}')


def faults(results):
    for pair, title in PAIRS:
        ptp = results['txts'][pair]['ptp']
        if not ptp['followed'] or ptp['worst_ns'] > LIMIT_NS:
            yield f'{title}: ptp4l did not synchronise'
        if ptp['tx_timeouts']:
            yield f"{title}: {ptp['tx_timeouts']} Tx timeouts in ptp4l's log"
        for load, text in LOADS:
            run = results['txts'][pair][load]
            if run['stamped'] != run['sent']:
                yield (f"{title}, {text}: {run['sent'] - run['stamped']} "
                       'stamps missing or late')


def main():
    directory, release = sys.argv[1:3]
    results = {}
    for name in sys.argv[3:]:
        where = os.path.join(directory, name)
        results[name] = {
            pair: {'ptp': read_ptp(where, pair),
                   **{load: read_latencies(where, pair, load)
                      for load, _ in LOADS}}
            for pair, _ in PAIRS}
    print_tables(release, results)
    plot(os.path.join(directory, 'pairs.svg'), release, results)
    problems = list(faults(results)) if 'txts' in results else []
    for variant in results.values():
        for pair in variant.values():
            for load, _ in LOADS:
                values = pair[load].pop('values')
                pair[load]['p50_ns'] = percentile(values, .5)
                pair[load]['p99_ns'] = percentile(values, .99)
                pair[load]['max_ns'] = values[-1] if values else None
    with open(os.path.join(directory, 'pairs.json'), 'w',
              encoding='ascii') as f:
        json.dump({'kernel': release, 'variants': results,
                   'problems': problems}, f, indent=1)
    print(f"\nplot: {os.path.join(directory, 'pairs.svg')}")
    for problem in problems:
        print(f'demo: PROBLEM: {problem}')
    return 1 if problems else 0


if __name__ == '__main__':
    sys.exit(main())
