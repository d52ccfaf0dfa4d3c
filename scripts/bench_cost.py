# SPDX-License-Identifier: GPL-2.0
"""Turnaround, constant loads and what a stamp costs, as rows."""
import os
import re
import statistics

from bench_data import find_runs, moved, read_json, read_packets

# Where drivers look for a stamp, where they read its high half (which frees the
# slot), and the registers of all of it. igc has four pairs.
FLAG = 0xb614
HIGH = (0xb61c, 0xb69c, 0xb6bc, 0xb6dc)
STAMP = (FLAG, 0xb618, 0xb698, 0xb6b8, 0xb6d8, *HIGH)
# The tail of Tx queue N is at 0xe018 + 0x40 N.
TAIL, TAIL_END = 0xe018, 0xe1d8


def turnaround_row(directory):
    """Whether the sender also reads each stamp in time does not matter."""
    base = os.path.join(directory, 'turnaround')
    packets = read_packets(base + '.csv')
    length = int(packets[-1]['sent_ns']) - int(packets[0]['sent_ns'])
    count = moved(base)
    stamps = count.get('txts_delivered')
    if stamps is None:
        stamps = (len(packets) - count['near_tx_hwtstamp_skipped'] -
                  count['near_tx_hwtstamp_timeouts'])
    row = {'sent_per_s': (len(packets) - 1) * 1e9 / length,
           'stamps_per_s': stamps * 1e9 / length}
    for name in ('throttled', 'busy'):
        row[name] = count.get('txts_skipped_' + name)
    return row


def turnaround_rows(raw):
    rows = []
    for device, variant, run, directory in find_runs(raw, 'turnaround'):
        row = {'device': device, 'variant': variant, 'run': run}
        row.update(turnaround_row(directory))
        rows.append(row)
    return rows


def steady_rows(raw):
    """A row for each constant load."""
    rows = []
    for device, variant, run, directory in find_runs(raw, 'steady'):
        with open(os.path.join(directory, 'steady'), encoding='ascii') as file:
            for line in file:
                gap, changes, *stamps = (int(word) for word in line.split())
                rows.append({'device': device, 'variant': variant, 'run': run,
                             'asked_per_s': 1e9 / gap, 'seconds': len(stamps),
                             'level_changes': changes,
                             'stamps_per_s': statistics.mean(stamps),
                             'least': min(stamps), 'most': max(stamps)})
    return rows


# --- accesses to registers

def qemu_accesses(path):
    """("read", register) of QEMU's 82576, in their order."""
    with open(path, encoding='ascii', errors='replace') as lines:
        for line in lines:
            match = re.search(r'register (0x[0-9a-f]+)', line)
            if match:
                yield None, 'read', int(match[1], 16)


def card_accesses(path):
    with open(path, encoding='ascii') as lines:
        next(lines)
        for line in lines:
            at, kind, register = line.split()[:3]
            yield int(at), kind, int(register, 16)


class Stamps:
    """Accesses, sorted by the stamp that they end with."""

    def __init__(self, accesses):
        self.reads, self.looks, self.others, self.times = [], [], [], []
        reads = looks = others = 0
        sent = None
        for at, kind, register in accesses:
            if kind == 'write':
                if TAIL <= register <= TAIL_END and register % 0x40 == 0x18:
                    sent = at
                continue
            looks += register == FLAG
            reads += register in STAMP
            others += register not in STAMP
            if register not in HIGH:
                continue
            self.reads.append(reads)
            self.looks.append(looks)
            self.others.append(others)
            if sent is not None:
                self.times.append(at - sent)
            reads = looks = others = 0
            sent = None

    def row(self, nanoseconds):
        """How often work looked in vain is one less than it looked."""
        if not self.reads:
            return {}
        row = {'stamp_reads': statistics.mean(self.reads),
               'reschedules': statistics.mean(self.looks) - 1,
               'reschedules_max': max(self.looks) - 1}
        if self.times:
            # QEMU logs no times, and only some of its other registers.
            row['other_reads'] = statistics.mean(self.others)
            row['request_to_free'] = (statistics.median(self.times) /
                                      nanoseconds)
        return row


def accesses_row(directory, nanoseconds):
    path = os.path.join(directory, 'accesses')
    if os.path.isfile(path):
        # The first of what the card kept may have begun before.
        return Stamps(list(card_accesses(path))).row(nanoseconds)
    path = os.path.join(directory, 'trace')
    if os.path.isfile(path):
        return Stamps(qemu_accesses(path)).row(nanoseconds)
    return {}


def cost_rows(raw):
    rows = []
    for device, variant, run, directory in find_runs(raw, 'cost'):
        with open(directory + '.shift', encoding='ascii') as file:
            nanoseconds = 2 ** int(file.read())
        row = {'device': device, 'variant': variant, 'run': run}
        for name, file in (('cycle', 'cost.json'), ('send', 'cost-off.json')):
            took = read_json(os.path.join(directory, file))
            row[name + '_instructions'] = (took['duration_ns'] /
                                           took['sent'] / nanoseconds)
            row[name + '_missing'] = took['missing']
        row['cycles_per_s'] = 1e9 / nanoseconds / row['cycle_instructions']
        row.update(accesses_row(directory, nanoseconds))
        rows.append(row)
    return rows
