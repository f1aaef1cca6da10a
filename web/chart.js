// SPDX-License-Identifier: MIT
// How a time is distributed: values that were counted, over a logarithm of time.
import uPlot from 'uplot';
import { h } from './dom.js';
import { count, time } from './format.js';

const PER_DECADE = 10;
const bin = (ns) => Math.floor(PER_DECADE * Math.log10(Math.max(ns, 1)));
const edge = (index) => 10 ** (index / PER_DECADE);

function bins(buckets) {
  const first = bin(buckets[0][0]) - 1;
  const last = bin(buckets.at(-1)[0]) + 1;
  const x = [];
  const y = [];
  for (let i = first; i <= last; i++) {
    x.push(i + 0.5);
    y.push(0);
  }
  for (const [lower, n] of buckets) y[bin(lower) - first] += n;
  return [x, y];
}

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

// p50 and p99 as lines with their names: neither by colour alone.
function marks(distribution) {
  return (u) => {
    const { ctx, bbox } = u;
    ctx.save();
    ctx.strokeStyle = ctx.fillStyle = colour('--text');
    ctx.lineWidth = devicePixelRatio;
    ctx.setLineDash([4 * devicePixelRatio, 3 * devicePixelRatio]);
    ctx.font = `${11 * devicePixelRatio}px system-ui, sans-serif`;
    let row = 0;
    for (const name of ['p50', 'p99']) {
      const x = u.valToPos(PER_DECADE * Math.log10(Math.max(distribution[name], 1)), 'x', true);
      ctx.beginPath();
      ctx.moveTo(x, bbox.top);
      ctx.lineTo(x, bbox.top + bbox.height);
      ctx.stroke();
      const right = x > bbox.left + bbox.width - 40 * devicePixelRatio;
      ctx.textAlign = right ? 'right' : 'left';
      ctx.fillText(name, x + (right ? -4 : 4) * devicePixelRatio, bbox.top + (10 + 12 * row++) * devicePixelRatio);
    }
    ctx.restore();
  };
}

const told = (d) => `p50 ${time(d.p50)}, p90 ${time(d.p90)}, p99 ${time(d.p99)}, p99.9 ${time(d.p999)}, longest ${time(d.max)}`;

/** state: running, waiting, queued or wall, which gives the colour. */
export function chart(title, state, distribution, lacks) {
  const caption = h('figcaption', null, h('strong', null, title), ' ', lacks ? '(some are missing, ~) ' : '', told(distribution));
  const box = h('div', { class: 'plot', role: 'img', 'aria-label': `${title}: ${told(distribution)}` });
  const figure = h('figure', null, caption, box);
  const axis = { stroke: () => colour('--muted'), grid: { stroke: () => colour('--line'), width: 1 }, ticks: { show: false } };
  const data = bins(distribution.buckets);
  const draw = (width) => new uPlot({
    width,
    height: 150,
    legend: { show: false },
    cursor: { show: false },
    padding: [4, 28, 0, 0],
    scales: { x: { time: false, range: [data[0][0] - 0.5, data[0].at(-1) + 0.5] }, y: { range: (u, min, max) => [0, max * 1.05] } },
    axes: [
      {
        ...axis,
        size: 24,
        splits: (u, i, min, max) => {
          const decades = [];
          const step = max - min > 4 * PER_DECADE ? 2 : 1;
          for (let d = Math.ceil(min / PER_DECADE); d * PER_DECADE <= max; d += step) decades.push(d * PER_DECADE);
          return decades.length > 1 ? decades : [Math.ceil(min), Math.floor(max)];
        },
        values: (u, splits) => splits.map((value) => time(Number(edge(value).toPrecision(2))).replace(/\.0+ /, ' ')),
      },
      { ...axis, size: 44, values: (u, splits) => splits.map((n) => (Number.isInteger(n) ? count(n) : '')) },
    ],
    series: [{}, { fill: () => colour(`--${state}`), stroke: () => colour('--text'), width: 0.5, paths: uPlot.paths.bars({ size: [0.95], align: 0 }), points: { show: false } }],
    hooks: { draw: [marks(distribution)] },
  }, data, box);
  let plot = null;
  // It is as wide as its box, which has a width once it is in the page.
  new ResizeObserver(([{ contentRect: { width } }]) => {
    if (width && !plot) plot = draw(width);
    else if (width && plot.width !== width) plot.setSize({ width, height: 150 });
  }).observe(box);
  figure.redraw = () => plot?.redraw(false);
  return figure;
}
