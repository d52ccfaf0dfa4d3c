#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Tables, CSV and plots from what the VMs of the bench brought back.

bench_report.py DIRECTORY RELEASE MODE
"""
import csv
import os
import sys

import bench_cost as cost
import bench_data as data
import bench_plot
import bench_targets as targets

HEADING = """instruction-cost model: virtual time counts instructions and nothing else. There
are no caches; a register read costs what the device's name says (1000 ns on
i210, i226 and i350, nothing on 82576); several vCPUs share one instruction
clock, so a second CPU at work takes its share of every second. The emulated
cards are software of the same CPUs. An instruction takes 1 ns in ntp, ptp and
server, which have two vCPUs, 2 ns in the others, which have one, unless the
device's name (-shiftN) says otherwise."""

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
    ('sent_per_s', 'requests per second that the clients could send', 0,
     False),
    ('hardware_percent', 'responses that got a hardware stamp, %', 1, False),
    ('hardware_per_s', 'hardware stamps per second', 0, False),
    ('response_p99_ns', 'response time p99, ns', 0, True),
    ('skipped', 'stamps refused (tx_hwtstamp_skipped)', 0, False),
    ('switches_per_response', 'context switches per response, those of the '
     'clients too', 2, False),
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
        counts = sorted({r['runs'] for r in medians if r['device'] == device})
        runs = ' or '.join(str(count) for count in counts)
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
    return data.ntp_problems(rows), [
        *targets.ntp_targets(medians, data.saturations(raw)),
        *targets.stage_targets(medians)]


# --- latency

LATENCY_HEAD = ['', 'sent', 'missing', 'min', 'p50', 'p99', 'p99.99', 'max',
                'capture_to_user_max', 'again', 'again_max']


def latency_line(row, head):
    cells = [NAMES[row['variant']]]
    for name in head[1:]:
        if name == 'again':
            cells.append(number(row.get('reschedules'), 3))
        elif name == 'again_max':
            cells.append(number(row.get('reschedules_max')))
        else:
            cells.append(number(row[name if name in row else name + '_ns']))
    return cells


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
    rows = cost.turnaround_rows(os.path.join(out, 'raw'))
    write_csv(out, 'turnaround', rows)
    for device in devices(rows):
        title(f'{device}, turnaround: one sender, 40,000 packets/s', model)
        print_table(['', 'stamps/s', 'sent/s', 'throttled', 'busy'], [
            [NAMES[r['variant']], number(r['stamps_per_s']),
             number(r['sent_per_s']), number(r['throttled']),
             number(r['busy'])] for r in rows if r['device'] == device])
    return [], [*targets.turnaround_targets(rows)]


def report_steady(out, model):
    rows = cost.steady_rows(os.path.join(out, 'raw'))
    write_csv(out, 'steady', rows)
    for device in devices(rows):
        title(f'{device}, constant loads after their first second: what the '
              'policy does', model)
        print_table(['asked/s', 'level changes', 'stamps/s',
                     'in the worst second', 'and the best', 'seconds'],
                    [[number(r['asked_per_s']), number(r['level_changes']),
                      number(r['stamps_per_s']), number(r['least']),
                      number(r['most']), number(r['seconds'])]
                     for r in rows if r['device'] == device])
    return [], [*targets.steady_targets(rows)]


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


def report_cost(out):
    rows = cost.cost_rows(os.path.join(out, 'raw'))
    write_csv(out, 'cost', rows)
    problems = []
    for row in rows:
        if row['cycle_missing']:
            problems.append(f"cost, {row['device']}, {row['variant']}: "
                            f"{row['cycle_missing']} stamps are missing, "
                            'so there was idle time')
    for device in devices(rows):
        title(f'{device}, cost: instructions from one send call to the next '
              'when the sender waits for the stamp and when it asks for none; '
              'from the doorbell to the free slot; reads of registers and '
              'looks in vain, for each stamp', 'instruction-cost model')
        print_table(
            ['', 'send, wait, read', 'send', 'to free slot', 'stamp reads',
             'other reads', 'again', 'again_max'],
            [[NAMES[r['variant']], number(r['cycle_instructions']),
              number(r['send_instructions']),
              number(r.get('request_to_free')),
              number(r.get('stamp_reads'), 2), number(r.get('other_reads'), 2),
              number(r.get('reschedules'), 3),
              number(r.get('reschedules_max'))]
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
    out, release, mode = sys.argv[1:4]
    model = 'instruction-cost model'

    print(f'bench of Debian {release}, mode {mode}\n{HEADING}')
    parts = (report_ntp(out, model),
             report_ptp(out, 'ptp', '', model),
             report_server(out, model),
             report_latency(out, model),
             report_ptp(out, 'flood', 'a flood of an ordinary user', model),
             report_turnaround(out, model),
             report_steady(out, model),
             report_cost(out))
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
