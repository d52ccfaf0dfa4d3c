# SPDX-License-Identifier: GPL-2.0
"""Line plots as SVG, without any package."""
import html
import math

WIDTH, HEIGHT = 760, 440
LEFT, RIGHT, TOP, BOTTOM = 70, 150, 50, 55
COLOURS = ('#000000', '#d62728', '#ff7f0e', '#8c564b', '#9467bd', '#1f77b4',
           '#17becf', '#2ca02c')
DASHES = ('2 3', '', '6 3', '', '8 2 2 2', '', '6 3', '')


def nice_step(span, count):
    """The step of 1, 2 or 5 times a power of ten for about count marks."""
    if span <= 0:
        return 1
    step = 10 ** math.floor(math.log10(span / count))
    for factor in (1, 2, 5, 10):
        if span / (step * factor) <= count:
            return step * factor
    return step * 10


class Axis:
    """Maps values to pixels, linear or logarithmic."""

    def __init__(self, values, start, end, log):
        self.log = log
        self.start, self.end = start, end
        if log:
            low = math.floor(math.log10(min(values)))
            high = math.ceil(math.log10(max(values)))
            self.low, self.high = low, max(high, low + 1)
            self.marks = [10 ** n for n in range(self.low, self.high + 1)]
        else:
            self.low = min(0, min(values))
            high = max(values)
            step = nice_step(high - self.low, 8)
            self.high = max(step, math.ceil(high / step) * step)
            self.marks = [self.low + i * step for i in
                          range(round((self.high - self.low) / step) + 1)]

    def at(self, value):
        if self.log:
            value = math.log10(value)
        share = (value - self.low) / (self.high - self.low)
        return self.start + share * (self.end - self.start)


def text(x, y, content, anchor='middle', extra=''):
    return (f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" {extra}>'
            f'{html.escape(content)}</text>')


def frame(title, note, x_name, y_name, x_axis, y_axis):
    bottom, right = HEIGHT - BOTTOM, WIDTH - RIGHT
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" '
        f'height="{HEIGHT}" font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        text(LEFT, 20, title, 'start', 'font-size="15"'),
        text(LEFT, 37, note, 'start', 'fill="#555"'),
        text((LEFT + right) / 2, HEIGHT - 12, x_name),
        text(16, (TOP + bottom) / 2, y_name, 'middle',
             f'transform="rotate(-90 16 {(TOP + bottom) / 2})"'),
    ]
    for mark in x_axis.marks:
        x = x_axis.at(mark)
        parts.append(f'<path d="M{x:.1f} {TOP}V{bottom}" stroke="#ddd"/>')
        parts.append(text(x, bottom + 16, f'{mark:,.10g}'))
    for mark in y_axis.marks:
        y = y_axis.at(mark)
        parts.append(f'<path d="M{LEFT} {y:.1f}H{right}" stroke="#ddd"/>')
        parts.append(text(LEFT - 6, y + 4, f'{mark:,.10g}', 'end'))
    parts.append(f'<rect x="{LEFT}" y="{TOP}" width="{right - LEFT}" '
                 f'height="{bottom - TOP}" fill="none" stroke="black"/>')
    return parts


def plot(path, title, note, x_name, y_name, lines, log_y=False):
    """lines: {name: (number of its colour, [(x, y), ...])}. False if empty."""
    points = [p for _, line in lines.values() for p in line]
    if log_y:
        points = [p for p in points if p[1] > 0]
    if not points:
        return False
    x_axis = Axis([p[0] for p in points], LEFT, WIDTH - RIGHT, False)
    y_axis = Axis([p[1] for p in points], HEIGHT - BOTTOM, TOP, log_y)
    parts = frame(title, note, x_name, y_name, x_axis, y_axis)
    for row, (name, (number, line)) in enumerate(lines.items()):
        style = (f'fill="none" stroke="{COLOURS[number % 8]}" '
                 f'stroke-width="2" stroke-dasharray="{DASHES[number % 8]}"')
        shown = [(x_axis.at(x), y_axis.at(y)) for x, y in sorted(line)
                 if not log_y or y > 0]
        parts.append('<polyline points="' + ' '.join(
            f'{x:.1f},{y:.1f}' for x, y in shown) + f'" {style}/>')
        y = TOP + 12 + row * 18
        left = WIDTH - RIGHT + 12
        parts.append(f'<path d="M{left} {y}h24" {style}/>')
        parts.append(text(left + 30, y + 4, name, 'start'))
    parts.append('</svg>')
    with open(path, 'w', encoding='utf-8') as file:
        file.write('\n'.join(parts) + '\n')
    return True
