#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Tables, CSV and plots from what the VMs of the bench brought back.

bench_report.py DIRECTORY RELEASE MODE NTP_SHIFT SHIFT
"""
import csv
import os
import sys

import bench_data as data
import bench_plot
import bench_targets as targets

HEADING = """instruction-cost model: virtual time counts instructions and nothing else. There
are no caches; an MMIO access costs what the device models (QEMU's 82576:
nothing); several vCPUs share one instruction clock, so a second CPU at work
takes its share of every second."""

LOADS = (
    ('idle', 'idle'),
    ('other', 'SCHED_OTHER hogs, four'),
    ('fifo', 'a FIFO 10 hog'),
    ('softirq', 'softirq flood of received frames'),
    ('kworker', 'flood of work on system_wq'),
)
NAMES = {'off': 'stamping off', 'stock': 'in-tree',
         'stock-bh': 'in-tree, BH', 'kworker': 'txts kworker',
         'inline': 'txts inline', 'bh': 'txts bh', 'aux': 'txts aux',
         'auto': 'txts auto'}


def number(value, digits=0):
    return '-' if value is None else f'{value:,.{digits}f}'


def write_csv(directory, name, rows):
    if not rows:
        return
    names = list(rows[0])
    names += sorted({k for row in rows for k in row} - set(names))
    path = os.path.join(directory, name + '.csv')
    with open(path, 'w', encoding='ascii', newline='') as file:
        writer = csv.DictWriter(file, names)
        writer.writeheader()
        writer.writerows(rows)


def print_table(head, lines):
    """The first column to the left, the others to the right."""
    widths = [max(len(row[i]) for row in [head] + lines)
              for i in range(len(head))]
    for row in [head] + lines:
        cells = [row[0].ljust(widths[0])]
        cells += [c.rjust(w) for c, w in zip(row[1:], widths[1:])]
        print('  ' + '  '.join(cells).rstrip())


def title(content, model):
    print(f'\n{content}\n({model})')


def by_variant(rows, device):
    groups = {}
    for row in rows:
        if row['device'] == device:
            groups.setdefault(row['variant'], []).append(row)
    return dict(sorted(groups.items(), key=lambda g: data.order(g[0])))


def devices(rows):
    return sorted({row['device'] for row in rows})


# --- NTP

NTP_TABLES = (
    ('lost_percent', 'responses lost, %', 2, False),
    ('hardware_percent', 'responses that got a hardware stamp, %', 1, False),
    ('hardware_per_s', 'hardware stamps per second', 0, False),
    ('response_p99_ns', 'response time p99, ns', 0, True),
    ('skipped', 'stamps refused (tx_hwtstamp_skipped)', 0, False),
)


def report_ntp(out, model):
    raw = os.path.join(out, 'raw')
    rows = data.ntp_rows(raw)
    medians = data.ntp_medians(rows)
    write_csv(out, 'ntp-runs', rows)
    write_csv(out, 'ntp', medians)
    for device in devices(medians):
        groups = by_variant(medians, device)
        rates = sorted({r['rate'] for r in medians if r['device'] == device})
        runs = max(r['runs'] for r in medians if r['device'] == device)
        for key, what, digits, log in NTP_TABLES:
            title(f'{device}, chronyd under NTP load: {what}'
                  f' (median of {runs})', model)
            cells = {(r['variant'], r['rate']): r[key] for r in medians
                     if r['device'] == device}
            print_table(['req/s'] + [NAMES[v] for v in groups],
                        [[f'{rate:,}'] + [number(cells.get((v, rate)), digits)
                                          for v in groups]
                         for rate in rates])
            lines = {NAMES[v]: (data.order(v),
                                [(r['rate'], r[key]) for r in group
                                 if r[key] is not None])
                     for v, group in groups.items()}
            bench_plot.plot(os.path.join(out, f'ntp-{device}-{key}.svg'),
                            f'{device}: {what}', model,
                            'requests per second', what, lines, log)
    return data.ntp_problems(rows), [*targets.ntp_targets(medians),
                                     *targets.stage_targets(medians)]


# --- latency

LATENCY_HEAD = ['', 'sent', 'missing', 'min', 'p50', 'p99', 'p99.99', 'max']


def latency_line(row, head):
    return [NAMES[row['variant']]] + [
        number(row[name if name in row else name + '_ns'])
        for name in head[1:]]


def report_latency(out, model):
    rows = data.latency_rows(os.path.join(out, 'raw'), 'latency', '.*')
    write_csv(out, 'latency', rows)
    for device in devices(rows):
        for load, what in LOADS:
            chosen = [r for r in rows
                      if r['device'] == device and r['load'] == load]
            if not chosen:
                continue
            title(f'{device}, {what}: send to stamp, ns', model)
            print_table(LATENCY_HEAD,
                        [latency_line(r, LATENCY_HEAD) for r in chosen])
    return [], [*targets.latency_targets(rows)]


# --- PTP

PTP_HEAD = ['', 'sent', 'missing', 'p50', 'p99.9', 'max',
            'capture_to_user_p99.9', 'capture_to_user_max']


def report_ptp(out, workload, what, model):
    rows = data.latency_rows(os.path.join(out, 'raw'), workload, r'ptp.*')
    write_csv(out, workload, rows)
    for device in devices(rows):
        chosen = [r for r in rows if r['device'] == device]
        for load in sorted({r['load'] for r in chosen},
                           key=lambda x: [int(n) for n in
                                          x[3:].split('.')][::-1]):
            hertz, _, rate = load[3:].partition('.')
            beside = f'{int(rate):,} NTP requests/s' if rate else what
            title(f'{device}, PTP at {hertz} Hz beside {beside}: send to '
                  'stamp, and capture to user (upper bound), ns', model)
            head = PTP_HEAD + (['ntp_lost_percent'] if rate else [])
            print_table(head, [latency_line(r, head) for r in chosen
                               if r['load'] == load])
    return [], [*targets.ptp_targets(rows, what or 'NTP')]


# --- turnaround and cost

def report_turnaround(out, model):
    rows = data.turnaround_rows(os.path.join(out, 'raw'))
    write_csv(out, 'turnaround', rows)
    for device in devices(rows):
        title(f'{device}, turnaround: one sender, 40,000 packets/s', model)
        print_table(['', 'stamps/s', 'sent/s'], [
            [NAMES[r['variant']], number(r['stamps_per_s']),
             number(r['sent_per_s'])] for r in rows if r['device'] == device])
    return [], [*targets.turnaround_targets(rows)]


def report_server(out, model):
    rows = data.server_rows(os.path.join(out, 'raw'))
    write_csv(out, 'server', rows)
    for device in devices(rows):
        title(f'{device}, what a flood that asks for stamps takes from a '
              'server: responses per second', model)
        print_table(['', 'no stamps', 'with stamps', 'fewer, %',
                     'flood sent, none', 'flood sent, with', 'stamps'],
                    [[NAMES[r['variant']], number(r['off_answered_per_s']),
                      number(r['on_answered_per_s']),
                      number(r['drop_percent'], 1),
                      number(r['off_flood_sent']),
                      number(r['on_flood_sent']), number(r['stamps'])]
                     for r in rows if r['device'] == device])
    return [], [*targets.server_targets(rows)]


def report_cost(out, shift, model):
    rows = data.cost_rows(os.path.join(out, 'raw'), shift)
    write_csv(out, 'cost', rows)
    problems = []
    for row in rows:
        if row['cycle_missing']:
            problems.append(f"cost, {row['variant']}: "
                            f"{row['cycle_missing']} stamps are missing, "
                            'so there was idle time')
    for device in devices(rows):
        title(f'{device}, cost: instructions from one send call to the next '
              'when the sender waits for the stamp, and when it asks for none',
              model)
        print_table(
            ['', 'send, wait, read', 'send', 'stamps/s', 'register reads'],
            [[NAMES[r['variant']], number(r['cycle_instructions']),
              number(r['send_instructions']), number(r['cycles_per_s']),
              number(r['register_reads_per_stamp'], 2)]
             for r in rows if r['device'] == device])
    return problems, []


def print_targets(rows):
    if not rows:
        return
    print('\nwhat "auto" must reach')
    print_table(['', 'wanted', 'measured', ''],
                [[what, wanted, measured, 'reached' if reached else 'MISSED']
                 for what, wanted, measured, reached in rows])
    reached = sum(row[3] for row in rows)
    print(f'  {reached} of {len(rows)} reached')


def main():
    out, release, mode, ntp_shift, shift = sys.argv[1:6]
    two = f'instruction-cost model: {2 ** int(ntp_shift)} ns per ' \
          'instruction, two vCPUs'
    one = f'instruction-cost model: {2 ** int(shift)} ns per ' \
          'instruction, one vCPU'

    print(f'bench of Debian {release}, mode {mode}\n{HEADING}')
    parts = (report_ntp(out, two),
             report_ptp(out, 'ptp', '', two),
             report_server(out, two),
             report_latency(out, one),
             report_ptp(out, 'flood', 'a flood of an ordinary user', one),
             report_turnaround(out, one),
             report_cost(out, int(shift), one))
    rows = [row for _, part in parts for row in part]
    write_csv(out, 'targets', [
        dict(zip(('what', 'wanted', 'measured', 'reached'), row))
        for row in rows])
    print_targets(rows)
    problems = [problem for part, _ in parts for problem in part]
    for problem in problems:
        print(f'bench: in doubt: {problem}')


if __name__ == '__main__':
    main()
