#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Print what nic-peers.sh measured: tables.py faults|isochron DIRECTORY"""
import json
import os
import sys

CARDS = [('i210', 'igb, I210'), ('i226', 'igc, I226')]
FAULTS = [
    ('none', 'no fault'),
    ('lose', 'each 50th stamp lost'),
    ('lose_ppm', '2 % lost at random'),
    ('delay', 'stamps take 15 ms'),
    ('tail', 'stamps take 0.5 to 32 ms'),
    ('duplicate', 'each 50th twice'),
    ('stale', 'each 50th stale'),
    ('irq_lost', 'each 50th interrupt lost'),
    ('irq_twice', 'each 50th interrupt twice'),
    ('irq_stuck', 'each 50th cause stuck'),
    ('collateral', 'each 50th read clears others'),
]
VARIANTS = ('stock', 'txts')


def load(path):
    try:
        with open(path, encoding='ascii') as file:
            return json.load(file)
    except (OSError, ValueError):
        return None


def faults(directory):
    print('800 packets, one each 2 ms, ask for hardware and software stamps; '
          'then 50 after the fault')
    print(f"{'':54}{'hardware':>9}{'refused':>9}{'lost':>6}{'late':>6}"
          f"{'wrong':>7}{'after':>8}")
    for card, title in CARDS:
        for fault, text in FAULTS:
            for variant in VARIANTS:
                base = os.path.join(directory, f'{variant}.faults',
                                    f'{card}.{fault}')
                run, after = load(base + '.json'), load(base + '.after.json')
                name = f'{title}, {text}, {variant}'
                if not run or not after:
                    print(f'{name:54} no result')
                    continue
                wrong = (run['not_increasing'] + run['zero'] +
                         run['duplicates'])
                print(f"{name:54}{run['stamped']:9}{run['software_only']:9}"
                      f"{run['missing']:6}{run['late']:6}{wrong:7}"
                      f"{after['stamped']:5}/50")
    print('late: after 100 ms; wrong: zero, not later than the stamp before, '
          'or a second one')


def isochron(directory):
    print('two virtual minutes beside a socket that sends a packet with stamp '
          'each ms, a stamp takes 4 ms')
    print(f"{'':22}{'left SLAVE':>11}{'Tx timeouts':>12}{'sent':>9}"
          f"{'hardware':>9}{'refused':>9}{'lost':>7}{'late':>6}")
    for variant in VARIANTS:
        path = os.path.join(directory, f'{variant}.isochron', 'isochron')
        lines = {}
        if os.path.exists(path):
            with open(path, encoding='ascii') as file:
                for line in file:
                    words = line.split()
                    lines[words[0]] = dict(zip(words[1::2], words[2::2]))
        for card, title in CARDS:
            row = lines.get(card)
            name = f'{title}, {variant}'
            if not row:
                print(f'{name:22} no result')
                continue
            print(f"{name:22}{row['left_slave']:>11}{row['tx_timeouts']:>12}"
                  f"{row['sent']:>9}{row['stamped']:>9}{row['refused']:>9}"
                  f"{row['missing']:>7}{row['late']:>6}")


def main():
    print()
    {'faults': faults, 'isochron': isochron}[sys.argv[1]](sys.argv[2])


if __name__ == '__main__':
    main()
