# SPDX-License-Identifier: GPL-2.0
"""What the VMs of the bench brought back, as rows; no presentation."""
import csv
import json
import math
import os
import re
import statistics

STAMPED = ('stamped', 'late')
VARIANTS = ('off', 'stock', 'stock-bh', 'kworker', 'inline', 'bh', 'aux',
            'auto')
OWN_LOSSES = ('send_errors', 'ring_drops', 'bogus', 'refused', 'duplicate')


def read_counters(path):
    counters = {}
    with open(path, encoding='ascii', errors='replace') as lines:
        for line in lines:
            fields = line.split()
            if len(fields) == 2 and fields[1].isdigit():
                counters[fields[0]] = int(fields[1])
    return counters


def moved(base):
    """How far each counter moved in a measurement."""
    before = read_counters(base + '.before')
    after = read_counters(base + '.after')
    return {k: v - before.get(k, 0) for k, v in after.items()}


def percentile(values, share):
    if not values:
        return None
    return values[max(0, math.ceil(len(values) * share) - 1)]


def median(values):
    values = [v for v in values if v is not None]
    return statistics.median(values) if values else None


def order(variant):
    return VARIANTS.index(variant)


def find_runs(raw, workload):
    """(device, variant, run, directory) of each VM that brought results."""
    found = []
    for name in os.listdir(raw):
        match = re.fullmatch(rf'{workload}\.([^.]+)\.([^.]+)\.(\d+)', name)
        directory = os.path.join(raw, name)
        status = os.path.join(directory, 'status')
        if not match or not os.path.isfile(status):
            continue
        with open(status, encoding='ascii') as file:
            if file.read().strip() == '0':
                found.append((match[1], match[2], int(match[3]), directory))
    return sorted(found, key=lambda f: (f[0], order(f[1]), f[2]))


# --- the NTP sweep

def hardware_stamps(count):
    """Responses that got one. Each of them asks, see ntp_problems()."""
    if 'txts_delivered' in count:
        return count['txts_delivered']
    if 'near_tx_hwtstamp_skipped' not in count:
        return None
    return (count['chrony_ntp_packets_received'] -
            count['near_tx_hwtstamp_skipped'] -
            count['near_tx_hwtstamp_timeouts'])


def ntp_row(device, variant, run, step, count):
    responses = count['chrony_ntp_packets_received']
    hardware = 0 if variant == 'off' else hardware_stamps(count)
    row = {'device': device, 'variant': variant, 'run': run}
    row.update(step)
    row['lost_percent'] = 100 * step['lost'] / step['sent']
    row['sent_per_s'] = step['sent'] * 1e9 / step['length_ns']
    row['responses'] = responses
    row['hardware'] = hardware
    row['hardware_percent'] = (100 * hardware / responses
                               if responses else None)
    row['hardware_per_s'] = (hardware * step['answered'] / responses * 1e9 /
                             step['length_ns'] if responses else None)
    row['skipped'] = count.get('near_tx_hwtstamp_skipped', 0)
    row['timeouts'] = count.get('near_tx_hwtstamp_timeouts', 0)
    for name in ('throttled', 'busy', 'ptp'):
        row['skipped_' + name] = count.get('txts_skipped_' + name)
    row['level_changes'] = count.get('level_changes')
    delivered = count.get('txts_delivered')
    row['reschedules'] = (count['txts_not_ready'] / delivered if delivered
                          else None)
    row['asked'] = count.get('txts_asked')
    row['socket_full'] = count.get('udp_rcvbuf_errors', 0)
    row['ring_missed'] = (count.get('near_rx_missed_errors', 0) +
                          count.get('near_rx_no_buffer_count', 0))
    row['far_missed'] = (count.get('far_rx_missed_errors', 0) +
                         count.get('far_rx_no_buffer_count', 0))
    row['switches'] = count.get('switches')
    row['switches_per_response'] = (count['switches'] / responses
                                    if responses else None)
    for name in ('user', 'system', 'softirq', 'irq', 'idle'):
        row['cpu0_' + name] = count.get('cpu0_' + name)
    return row


def ntp_rows(raw):
    rows = []
    for device, variant, run, directory in find_runs(raw, 'ntp'):
        with open(os.path.join(directory, 'steps'), encoding='ascii') as file:
            steps = [json.loads(line) for line in file]
        for number, step in enumerate(steps, 1):
            count = moved(os.path.join(directory, str(number)))
            rows.append(ntp_row(device, variant, run, step, count))
    return rows


def ntp_medians(rows):
    """One row for all runs of a device, variant and rate."""
    groups = {}
    for row in rows:
        key = (row['device'], row['variant'], row['rate'])
        groups.setdefault(key, []).append(row)
    result = []
    for (device, variant, rate), group in groups.items():
        row = {'device': device, 'variant': variant, 'rate': rate,
               'runs': len(group)}
        for name in group[0]:
            if name not in row and name != 'run':
                row[name] = median([r[name] for r in group])
        result.append(row)
    return result


def kept_up(row):
    """Did the clients send what they were to? Else it was no such load."""
    return row['sent_per_s'] >= .95 * row['rate']


def machine(device):
    """Without stamps, what they may cost does not matter."""
    return re.sub(r'-\d+ns|-budget\d+', '', device)


def saturations(raw):
    """The rate of machines up to which a server without stamps loses 1 %."""
    found = {}
    for name in os.listdir(raw):
        path = os.path.join(raw, name, 'saturation')
        if name.startswith('search.') and os.path.isfile(path):
            with open(path, encoding='ascii') as file:
                found[name.partition('.')[2]] = int(file.read())
    return found


def ntp_problems(rows):
    problems = []
    for row in rows:
        where = (f"{row['device']}, ntp, {row['variant']}, "
                 f"{row['rate']:,}/s, run {row['run']}")
        for name in OWN_LOSSES:
            if row[name]:
                problems.append(f'{where}: the load generator had '
                                f'{row[name]} {name}')
        if not kept_up(row):
            problems.append(f"{where}: the clients' CPU could send only "
                            f"{row['sent_per_s']:,.0f}/s")
        if row['far_missed']:
            problems.append(f"{where}: the clients' port dropped "
                            f"{row['far_missed']} frames")
        asked = row['asked']
        if asked is not None and row['variant'] != 'off' and \
                abs(asked - row['responses']) > row['responses'] // 100 + 5:
            problems.append(f"{where}: {row['responses']} responses, but "
                            f'{asked} of them asked for a stamp')
    return problems


# --- latency

def read_packets(path):
    with open(path, encoding='ascii', newline='') as file:
        return list(csv.DictReader(file))


def capture_to_user(packets):
    """Time from the capture to the user, an upper bound.

    The NIC's clock has an offset to the system clock, which is taken from the
    packets with the shortest way from the send call to the capture, at the
    start and at the end (the rates differ by a few ppm). So the result is too
    high by that shortest way, and by nothing else.
    """
    ways = [(int(p['sent_ns']), int(p['stamp_ns']) - int(p['sent_ns']),
             int(p['latency_ns'])) for p in packets
            if p['state'] in STAMPED and p['stamp_ns']]
    if len(ways) < 8:
        return []
    part = max(4, len(ways) // 4)
    first = min(ways[:part], key=lambda w: w[1])
    last = min(ways[-part:], key=lambda w: w[1])
    slope = (last[1] - first[1]) / max(1, last[0] - first[0])
    lowest = min(w[1] - slope * (w[0] - first[0]) for w in ways)
    return sorted(int(latency - (way - lowest - slope * (sent - first[0])))
                  for sent, way, latency in ways)


def latency_row(packets):
    values = sorted(int(p['latency_ns']) for p in packets
                    if p['state'] in STAMPED)
    row = {'sent': len(packets), 'stamped': len(values),
           'missing': len(packets) - len(values),
           'first': packets[0]['state'] if packets else None}
    for name, share in (('min', 0), ('p50', .5), ('p99', .99),
                        ('p99.9', .999), ('p99.99', .9999), ('max', 1)):
        row[name + '_ns'] = percentile(values, share)
    user = capture_to_user(packets)
    for name, share in (('p99.9', .999), ('max', 1)):
        row[f'capture_to_user_{name}_ns'] = percentile(user, share)
    return row


def latency_rows(raw, workload, names):
    """A row for each measurement whose name matches one of the patterns."""
    rows = []
    for device, variant, run, directory in find_runs(raw, workload):
        for file in sorted(os.listdir(directory)):
            name, ext = os.path.splitext(file)
            if ext != '.csv' or not re.fullmatch(names, name):
                continue
            base = os.path.join(directory, name)
            row = {'device': device, 'variant': variant, 'run': run,
                   'load': name}
            row.update(latency_row(read_packets(base + '.csv')))
            count = moved(base)
            row['skipped'] = count.get('near_tx_hwtstamp_skipped')
            row['timeouts'] = count.get('near_tx_hwtstamp_timeouts')
            delivered = count.get('txts_delivered')
            if delivered:
                row['reschedules'] = count['txts_not_ready'] / delivered
                row['reschedules_max'] = read_counters(
                    base + '.after')['txts_max_attempts']
            if os.path.isfile(base + '.load'):
                with open(base + '.load', encoding='ascii') as load:
                    step = json.load(load)
                row['ntp_rate'] = step['rate']
                row['ntp_lost_percent'] = 100 * step['lost'] / step['sent']
            rows.append(row)
    return rows


# --- the server beside a flood

def server_rows(raw):
    """Responses of a server beside a flood that gets stamps, or gets none."""
    rows = []
    for device, variant, run, directory in find_runs(raw, 'server'):
        row = {'device': device, 'variant': variant, 'run': run}
        for name in ('off', 'on'):
            base = os.path.join(directory, name)
            step = read_json(base + '.load')
            count = moved(base)
            row[name + '_answered_per_s'] = (step['answered'] * 1e9 /
                                             step['length_ns'])
            row[name + '_flood_sent'] = (count['near_tx_packets'] -
                                         count['udp_in'])
        row['stamps'] = hardware_of_flood(moved(os.path.join(directory, 'on')))
        row['drop_percent'] = 100 * (1 - row['on_answered_per_s'] /
                                     row['off_answered_per_s'])
        rows.append(row)
    return rows


def hardware_of_flood(count):
    """Only the flood asks: what was sent, but for answers and refusals."""
    if 'txts_delivered' in count:
        return count['txts_delivered']
    return (count['near_tx_packets'] - count['udp_in'] -
            count['near_tx_hwtstamp_skipped'] -
            count['near_tx_hwtstamp_timeouts'])


def read_json(path):
    with open(path, encoding='ascii') as file:
        return json.load(file)
