# SPDX-License-Identifier: GPL-2.0
"""What the policy "auto" must reach, as rows computed from the bench's rows.

Each row is (what, wanted, measured, reached); what was not measured makes none.
"""
from bench_data import kept_up, machine

FIXED = ('kworker', 'inline', 'bh', 'aux')
MS = 1000000


def index(rows, *keys):
    return {tuple(row[k] for k in keys): row for row in rows}


def devices(rows):
    return sorted({row['device'] for row in rows})


def latency_targets(rows):
    found = index(rows, 'device', 'variant', 'load')
    for device, variant, load in found:
        fixed = [found[device, v, load] for v in FIXED
                 if (device, v, load) in found]
        fixed = [row for row in fixed if row['p99_ns'] is not None]
        if variant != 'auto' or not fixed:
            continue
        auto = found[device, variant, load]
        best = min(fixed, key=lambda row: row['p99_ns'])
        limit = max(best['p99.99_ns'] * 1.1, best['p99.99_ns'] + 5000)
        value = auto['p99.99_ns']
        yield (f"{device}, {load}: p99.99, best is {best['variant']}",
               f'<= {limit:,.0f}', 'none' if value is None else f'{value:,}',
               value is not None and value <= limit)
        yield (f'{device}, {load}: stamps missing', '0',
               f"{auto['missing']:,}", auto['missing'] == 0)


def saturation(rows, device):
    """The highest rate at which a server without stamps loses up to 1 %."""
    good = [r['rate'] for r in rows if r['device'] == device and
            r['variant'] == 'off' and r['lost_percent'] <= 1]
    return max(good, default=0)


def ntp_targets(rows, saturations):
    """Up to where a server without stamps loses 1 %, as searched or as seen,
    and the clients sent as much as they were to."""
    rows = [r for r in rows if kept_up(r)]
    found = index(rows, 'device', 'variant', 'rate')
    for device in devices(rows):
        limit = saturation(rows, device)
        for rate in sorted({r['rate'] for r in rows
                            if r['device'] == device and r['rate'] <= limit}):
            auto = found.get((device, 'auto', rate))
            off = found.get((device, 'off', rate))
            if not auto or not off:
                continue
            wanted = off['lost_percent'] + .5
            yield (f'{device}, NTP at {rate:,}/s: lost, %', f'<= {wanted:.2f}',
                   f"{auto['lost_percent']:.2f}",
                   auto['lost_percent'] <= wanted)
            full = max(limit, saturations.get(machine(device), 0))
            others, share = ((('bh', 'stock-bh'), .99) if rate < .7 * full
                             else (('kworker', 'stock'), .9))
            for other in others:
                theirs = found.get((device, other, rate))
                if not theirs or (device.startswith('i226') and
                                  other == 'stock'):
                    continue
                # Per second: their clients may have asked more or less often.
                wanted = theirs['hardware_per_s'] * share
                yield (f'{device}, NTP at {rate:,}/s: hardware stamps per '
                       f'second, {other} has {theirs["hardware_per_s"]:,.0f}',
                       f'>= {wanted:,.0f}',
                       f"{auto['hardware_per_s']:,.0f}",
                       auto['hardware_per_s'] >= wanted)


def ptp_targets(rows, what):
    """The first message after a silence may miss on a single slot."""
    for row in rows:
        if row['variant'] != 'auto':
            continue
        where = f"{row['device']}, {row['load']} beside {what}"
        missing = row['missing'] - (row['first'] == 'missing')
        yield (f'{where}: missing after the first', '0', str(missing),
               missing == 0)
        share = 'max' if row['load'].startswith('ptp8') else 'p99.9'
        value = row[f'capture_to_user_{share}_ns']
        if value is not None:
            yield (f'{where}: capture to user, {share}', f'<= {MS:,}',
                   f'{value:,}', value <= MS)


def server_targets(rows):
    for row in rows:
        if row['variant'] == 'auto':
            yield (f"{row['device']}: responses lost to a stamp flood, %",
                   '<= 10', f"{row['drop_percent']:.1f}",
                   row['drop_percent'] <= 10)


def turnaround_targets(rows):
    found = index(rows, 'device', 'variant')
    for device in devices(rows):
        auto = found.get((device, 'auto'))
        theirs = found.get((device, 'kworker'))
        if auto and theirs and theirs['stamps_per_s']:
            value = auto['stamps_per_s'] / theirs['stamps_per_s']
            yield (f'{device}: stamps/s at saturation against kworker',
                   '>= 1.5x', f'{value:.2f}x', value >= 1.5)


def stage_targets(rows):
    for row in rows:
        if row['variant'] == 'auto' and row['level_changes'] is not None:
            yield (f"{row['device']}, NTP at {row['rate']:,}/s: level changes",
                   '<= 2', f"{row['level_changes']:g}",
                   row['level_changes'] <= 2)


def steady_targets(rows):
    for device in devices(rows):
        mine = [r for r in rows if r['device'] == device]
        worst = max(mine, key=lambda r: r['level_changes'])
        bad = sum(r['level_changes'] > 2 for r in mine)
        yield (f"{device}, {len(mine)} constant loads of {worst['seconds']} s: "
               'most level changes', '<= 2',
               f"{worst['level_changes']} ({bad} loads above)", not bad)
