// SPDX-License-Identifier: MIT
// What went on over the range: a small chart each, on one axis of time.
import uPlot from 'uplot';
import { h, section } from './dom.js';
import { count, percent, time } from './format.js';

const HIGH = 120;
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const ago = (ns) => (ns < 1e9 ? 'now' : ns < 90e9 ? `-${Math.round(ns / 1e9)} s` : ns < 5400e9 ? `-${Math.round(ns / 60e9)} min` : `-${(ns / 3600e9).toFixed(1)} h`);
const rate = (n) => (n === null ? '-' : n < 100 ? n.toFixed(1) : count(Math.round(n)));

const CHARTS = [
  { column: 'busy', title: 'Busy', hint: 'share of the loops’ time that was not spent in a poller, or, where none is known, that ran futures', show: percent, colour: '--running', top: 1 },
  { column: 'hold_ns', title: 'Longest hold', hint: 'of a loop, at most', show: time, colour: '--running' },
  { column: 'late_ns', title: 'Lag', hint: 'how late what was due at a time began to run, at most', show: time, colour: '--queued' },
  { column: 'requests_per_second', title: 'Requests per second', hint: 'that ended', show: rate, colour: '--wall' },
];

const extremes = (values, show) => {
  const known = values.filter((value) => value !== null);
  return known.length ? `${show(known.at(-1))} now, ${show(Math.min(...known))} to ${show(Math.max(...known))}` : 'not known';
};

/** A step for each moment; where nothing is known there is a gap. */
function chart(of, rows, at, step) {
  const values = rows.map((row) => row[at(of.column)]);
  const told = extremes(values, of.show);
  const box = h('div', { class: 'plot', role: 'img', 'aria-label': `${of.title}, ${of.hint}: ${told}` });
  const figure = h('figure', null, h('figcaption', { title: of.hint }, h('strong', null, of.title), ' ', told), box);
  const axis = { stroke: () => colour('--muted'), grid: { stroke: () => colour('--line'), width: 1 }, ticks: { show: false } };
  const x = rows.map((row) => -(row[at('age_ns')] + step / 2)); // its beginning
  const most = Math.max(0, ...values.filter((value) => value !== null));
  const draw = (width) => new uPlot({
    width,
    height: HIGH,
    legend: { show: false },
    cursor: { show: false },
    padding: [6, 18, 0, 0],
    scales: { x: { time: false, range: [x[0], 0] }, y: { range: [0, of.top ?? (most * 1.1 || 1)] } },
    axes: [
      { ...axis, size: 24, splits: () => [x[0], x[0] / 2, 0], values: (u, splits) => splits.map((value) => ago(-value)) },
      { ...axis, size: 62, splits: (u) => [0, u.scales.y.max / 2, u.scales.y.max], values: (u, splits) => splits.map((value) => (value ? of.show(value) : '0')) },
    ],
    series: [{}, { stroke: () => colour('--text'), fill: () => colour(of.colour), width: 1, paths: uPlot.paths.stepped({ align: 1 }), points: { show: false } }],
  }, [[...x, 0], [...values, values.at(-1)]], box);
  let plot = null;
  new ResizeObserver(([{ contentRect: { width } }]) => {
    if (width && !plot) plot = draw(width);
    else if (width && plot.width !== width) plot.setSize({ width, height: HIGH });
  }).observe(box);
  figure.redraw = () => plot?.redraw(false);
  return figure;
}

export function history(page) {
  const { history: past } = page.doc;
  if (!past) return null;
  const at = (name) => past.columns.indexOf(name);
  const known = CHARTS.filter(({ column }) => past.rows.some((row) => row[at(column)]));
  return section('history', 'Over the range',
    known.length ? h('div', { class: 'history' }, known.map((of) => chart(of, past.rows, at, past.step_ns))) : h('p', { class: 'quiet' }, 'Nothing moved in this time.'),
    page.kind ? h('p', { class: 'quiet' }, `Requests are of ${page.kind}; loops are of all.`) : null);
}
