#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Make the demo's table and demo.json from what the VMs brought back.

report.py DIRECTORY RELEASE BOOTS VARIANT...

Exit status 0 only if every stamp of every variant is accounted for, txts lost
none that it had accepted, its counters add up and ptp4l found no fault.
"""
import csv
import json
import math
import os
import sys

SCENARIOS = [
    ('idle', 'idle'),
    ('other', '4 SCHED_OTHER hogs'),
    ('fifo', 'a FIFO 10 hog per CPU'),
    ('burst', 'bursts of 16'),
    ('reconfigure', 'same configuration set 10 times a second'),
]
NAMES = {'stock': 'stock', 'peer': 'peer (bh)', 'txts': 'txts'}
ANSWERED = ('stamped', 'late')
MMIO_COSTS = {'ready': 1, 'read': 2, 'peek': 2}
SYNC_PER_MINUTE = 480


def read_counters(path):
    counters = {}
    with open(path, encoding='ascii') as lines:
        for line in lines:
            fields = line.split()
            if len(fields) == 2 and fields[1].lstrip('-').isdigit():
                counters[fields[0]] = int(fields[1])
    return counters


def total(counters, prefix):
    return sum(v for k, v in counters.items() if k.startswith(prefix))


def delta(before, after):
    return {k: after[k] - before.get(k, 0) for k in after}


def ended(counters):
    """Requests that got their outcome, whichever it was."""
    return (counters['delivered'] + counters['timeout'] +
            counters['aborted'] + counters['flushed'] +
            total(counters, 'discard'))


def explained(moved):
    """Stamps that the driver says it refused or lost."""
    number = moved['timeouts'] + moved['skipped']
    if 'asked' in moved:
        number += (moved['aborted'] + moved['flushed'] +
                   total(moved, 'discard'))
    return number


def percentile(values, share):
    return values[max(0, math.ceil(len(values) * share) - 1)]


def read_run(directory, scenario):
    base = os.path.join(directory, scenario)
    with open(base + '.json', encoding='ascii') as file:
        run = json.load(file)
    with open(base + '.csv', encoding='ascii', newline='') as file:
        run['latencies'] = [int(row['latency_ns'])
                            for row in csv.DictReader(file)
                            if row['state'] in ANSWERED]
    run['moved'] = delta(read_counters(base + '.before'),
                         read_counters(base + '.after'))
    return run


def merge(runs):
    """One row of the table from the same scenario in several boots."""
    row = {key: sum(run[key] for run in runs)
           for key in ('sent', 'stamped', 'late', 'missing', 'zero',
                       'dropped', 'unexplained', 'send_errors', 'duplicates',
                       'unknown', 'not_increasing')}
    row['explained'] = sum(explained(run['moved']) for run in runs)
    lost = row['missing'] + row['zero']
    row['unaccounted'] = abs(lost - row['explained']) + abs(row['unexplained'])
    values = sorted(v for run in runs for v in run['latencies'])
    row['latency_count'] = len(values)
    for name, share in (('min', 0), ('p50', .5), ('p99', .99),
                        ('p9999', .9999), ('max', 1)):
        row[name + '_ns'] = percentile(values, share) if values else None
    return row


def show(value):
    return 'none' if value is None else f'{value:,}'


def print_scenario(title, rows):
    print(f'\n{title} (send to stamp, ns of virtual time)')
    print(f"  {'':10}{'sent':>8}{'in time':>9}{'late':>6}{'missing':>9}"
          f"{'unacc.':>8}{'min':>10}{'p50':>10}{'p99':>12}{'p99.99':>14}"
          f"{'max':>14}")
    for variant, row in rows.items():
        print(f"  {NAMES[variant]:10}{row['sent']:8,}{row['stamped']:9,}"
              f"{row['late']:6,}{row['missing']:9,}{row['unaccounted']:8,}"
              f"{show(row['min_ns']):>10}{show(row['p50_ns']):>10}"
              f"{show(row['p99_ns']):>12}{show(row['p9999_ns']):>14}"
              f"{show(row['max_ns']):>14}")


def ratio(ours, theirs):
    return ours / theirs if ours and theirs else math.inf


def targets(table):
    """What issue and design ask for, against the peer of the same run."""
    result = []

    def add(what, target, reached, value):
        result.append({'what': what, 'target': target, 'reached': reached,
                       'value': value})

    def add_ratio(scenario, key, limit):
        value = ratio(table[scenario]['txts'][key],
                      table[scenario]['peer'][key])
        label = {'p50_ns': 'p50', 'p9999_ns': 'p99.99', 'max_ns': 'max'}[key]
        add(f'{scenario}: {label} against the peer', f'<= {limit}x',
            value <= limit, f'{value:.3f}x')

    for scenario in ('idle', 'other'):
        add_ratio(scenario, 'p50_ns', 1.05)
        add_ratio(scenario, 'p9999_ns', 1.1)
        add_ratio(scenario, 'max_ns', 1.1)
    fifo = table['fifo']['txts']
    missing = fifo['sent'] - fifo['stamped']
    add('fifo: late or missing', '0', missing == 0, str(missing))
    add_ratio('fifo', 'max_ns', 1.1)
    burst = table['burst']
    allowed = 2 * burst['peer']['sent'] / 1600
    fewer = burst['peer']['stamped'] - burst['txts']['stamped']
    add('burst: stamps fewer than the peer', f'<= {allowed:.0f}',
        fewer <= allowed, str(fewer))
    lost = (table['reconfigure']['txts']['sent'] -
            table['reconfigure']['txts']['stamped'])
    add('reconfigure: stamps lost', '0', lost == 0, str(lost))
    return result


def mmio_per_stamp(runs):
    """Register reads per delivered stamp, from the calls of the callbacks."""
    reads = delivered = 0
    for run in runs:
        delivered += run['moved']['delivered']
        for call, cost in MMIO_COSTS.items():
            for prefix in ('mmio_', 'call_'):
                reads += cost * run['moved'].get(prefix + call, 0)
    return reads / delivered if delivered else None


def check_ptp(directory, problems):
    base = os.path.join(directory, 'ptp4l')
    stats = read_counters(base + '.stats')
    moved = delta(read_counters(base + '.before'),
                  read_counters(base + '.after'))
    with open(base + '.log', encoding='ascii', errors='replace') as file:
        log = file.read()
    ptp = {
        'sync_sent': stats.get('tx_Sync', 0),
        'sync_stamped': stats.get('tx_Follow_Up', 0),
        'delivered': moved['delivered'],
        'timeouts_in_log': log.lower().count('timed out'),
        'faults_in_log': log.count('FAULT'),
    }
    print('\nptp4l as master for a virtual minute, 8 Sync per second')
    print(f"  Sync sent {ptp['sync_sent']}, with hardware stamp "
          f"{ptp['sync_stamped']} (the tracker delivered "
          f"{ptp['delivered']}), in its log: {ptp['timeouts_in_log']} "
          f"timeouts, {ptp['faults_in_log']} faults")
    if ptp['timeouts_in_log'] or ptp['faults_in_log']:
        problems.append(f'ptp4l complained, see {base}.log')
    # One more Sync may go out before ptp4l is stopped, but not more.
    if (ptp['sync_sent'] != ptp['sync_stamped'] or
            not 0 <= ptp['delivered'] - ptp['sync_stamped'] <= 1):
        problems.append('ptp4l: Sync sent, stamped and delivered differ')
    if ptp['sync_sent'] < SYNC_PER_MINUTE * 9 // 10:
        problems.append(f"ptp4l sent only {ptp['sync_sent']} Sync messages")
    return ptp


def check_counters(directory, problems):
    last = read_counters(os.path.join(directory, 'reconfigure.after'))
    skipped = total(last, 'skip') - last['skipped']
    sums = {
        'asked': last['asked'],
        'requested': last['requested'],
        'skipped': skipped,
        'ended': ended(last),
        'in_flight': last['in_flight'],
        'orphans': total(last, 'orphan'),
    }
    good = (sums['asked'] == sums['requested'] + sums['skipped'] and
            sums['requested'] == sums['ended'] + sums['in_flight'] and
            last['skipped'] == skipped)
    print(f'\ncounters of the tracker ({os.path.basename(directory)}): '
          f"{'they add up' if good else 'THEY DO NOT ADD UP'}")
    print(f"  asked {sums['asked']:,} = requested {sums['requested']:,} + "
          f"skipped {skipped:,}")
    print(f"  requested {sums['requested']:,} = ended {sums['ended']:,} + "
          f"in flight {sums['in_flight']:,}; delivered "
          f"{last['delivered']:,}, orphans {sums['orphans']:,}")
    if not good:
        problems.append(f'the counters of {directory} do not add up')
    return dict(sums, counters=last)


def check_rows(table, problems):
    for scenario, rows in table.items():
        for variant, row in rows.items():
            where = f'{NAMES[variant]}, {scenario}'
            if row['unaccounted']:
                problems.append(f'{where}: {row["unaccounted"]} stamps are '
                                'not accounted for')
            for odd in ('duplicates', 'unknown', 'not_increasing', 'zero',
                        'send_errors'):
                if row[odd]:
                    problems.append(f'{where}: {row[odd]} {odd}')


def main():
    directory, release, boots = sys.argv[1:4]
    variants = sys.argv[4:]
    numbers = range(1, int(boots) + 1)
    problems = []
    table = {}
    result = {'kernel': release, 'boots': len(numbers), 'rows': table}
    where = {v: [os.path.join(directory, f'{v}.{n}') for n in numbers]
             for v in variants}

    print(f'Debian {release}, one virtual CPU of 500 MIPS (QEMU, virtual '
          f'time), {boots} boots each, the sender is SCHED_FIFO 50')
    for scenario, title in SCENARIOS:
        runs = {v: [read_run(d, scenario) for d in where[v]]
                for v in variants}
        table[scenario] = {v: merge(runs[v]) for v in variants}
        print_scenario(title, table[scenario])
        if scenario == 'idle' and 'txts' in variants:
            result['mmio_reads_per_stamp'] = mmio_per_stamp(runs['txts'])
    check_rows(table, problems)
    if 'txts' in variants:
        mmio = result['mmio_reads_per_stamp']
        print('\nregister reads per stamp when idle: '
              + ('unknown' if mmio is None else f'{mmio:.2f} (target: 3)'))
        result['counters'] = [check_counters(d, problems)
                              for d in where['txts']]
        result['ptp4l'] = check_ptp(where['txts'][0], problems)
    if 'txts' in variants and 'peer' in variants:
        result['targets'] = targets(table)
        print(f"\n{'target':44}{'wanted':>10}{'measured':>12}")
        for line in result['targets']:
            print(f"{line['what']:44}{line['target']:>10}"
                  f"{line['value']:>12}  "
                  f"{'reached' if line['reached'] else 'MISSED'}")
    result['problems'] = problems
    path = os.path.join(directory, 'demo.json')
    with open(path, 'w', encoding='ascii') as file:
        json.dump(result, file, indent=1)
    print(f'\nall of it for programs: {path}')
    for problem in problems:
        print(f'demo: NOT ACCOUNTED FOR: {problem}')
    if not problems:
        print('demo: every stamp is accounted for')
    return 1 if problems else 0


if __name__ == '__main__':
    sys.exit(main())
