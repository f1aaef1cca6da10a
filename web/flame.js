// SPDX-License-Identifier: MIT
// The flame graph: a box is a function under the one that made it, as wide as time of futures.
import flamegraph from 'd3-flame-graph';
import { select } from 'd3-selection';
import { choice, h, section } from './dom.js';
import { count, percent, plural, time } from './format.js';

const ROW = 18;
const state = { measure: 'wall', per: 'total', search: '', background: false, zoom: [], height: 0 };
const LEGEND = {
  wall: [['function', 'function'], ['function library', 'of a library'], ['running', 'running'], ['waiting', 'waiting'], ['queued', 'queued']],
  exec: [['running', 'running'], ['running library', 'in a library']],
  waiting: [['waits', 'function'], ['waits library', 'of a library'], ['waiting', 'waiting']],
  queued: [['queued', 'queued'], ['queued library', 'of a library']],
  cpu: [['running', 'running'], ['running library', 'in a library, or the kernel']],
};
const SAID = {
  wall: 'time of futures in any state', exec: 'time that futures ran',
  waiting: 'time that futures waited', queued: 'time that futures were ready and did not run',
  cpu: 'processor time, by samples',
};
const PER = { total: 'added up', call: 'per future of the topmost function', second: 'per second' };

/** Boxes of a measure. In `wall` what a function itself did lies in boxes of its own. */
function boxes(page) {
  const { measure, per } = state;
  const seconds = (page.doc.process.measured_ns || page.doc.process.elapsed_ns) / 1e9;
  const box = (name, what, more) => ({ name, what, value: 0, children: [], ...more });
  const root = box(page.doc.process.name, 'all');
  const nodes = [];
  const shows = (name) => measure === 'wall' || measure === name;
  for (const path of page.paths) {
    const parent = path.parent === null ? root : nodes[path.parent];
    const scale = parent !== root ? parent.scale : per === 'second' ? 1 / (seconds || 1) : per === 'call' ? (path.lived ? 1 / path.lived : 0) : 1;
    const { name, place, count, library } = path;
    const node = box(name, path.wait ? 'waiting' : 'function', { place, count, library, scale });
    nodes.push(node);
    if (path.wait) {
      if (!shows('waiting') || (path.background && !state.background)) continue;
      node.value = path.waiting_ns * scale;
    } else if (measure === 'wall') {
      node.children.push(box('running', 'running', { library, value: path.exec_ns * scale }), box('queued', 'queued', { library, value: path.queued_ns * scale }));
    } else if (measure !== 'waiting') {
      node.value = path[`${measure}_ns`] * scale;
      node.what = path.native ? 'native' : 'function';
    }
    parent.children.push(node);
  }
  // A box is as wide as all beneath it; those of nothing go.
  const add = (node) => {
    node.all = node.value + node.children.reduce((all, child) => all + add(child), 0);
    node.children = node.children.filter((child) => child.all > 0);
    return node.all;
  };
  add(root);
  return root;
}

const MEASURED = { wall: 'function', exec: 'running', waiting: 'waits', queued: 'queued', cpu: 'running' };
function fill(node) {
  const { what, library } = node.data;
  if (node.highlight) return 'var(--hit)';
  if (what === 'all') return 'var(--root)';
  const kind = what !== 'function' && what !== 'native' ? what : MEASURED[state.measure];
  const name = library ? `${kind}-library` : kind;
  return kind === 'waiting' || kind === 'queued' ? `url(#${name})` : `var(--${name})`;
}

const unit = { total: '', call: ' per call', second: ' per second' };
function label(node, all) {
  const { name, what, place, count: n } = node.data;
  const kind = { all: 'all functions', running: 'running: the function itself', queued: 'queued: ready, and not yet run', native: 'native function, by samples' }[what] ?? what;
  return [`${name}: ${time(node.data.all)}${unit[state.per]}, ${percent(all ? node.data.all / all : null)} of all`,
    kind + (node.data.library && what === 'function' ? ' of a library' : ''), place,
    n ? `${count(n)} ${what === 'waiting' ? 'waits' : 'futures'}` : null].filter(Boolean).join(' · ');
}

function matcher(text) {
  try {
    return new RegExp(text, 'i');
  } catch {
    return new RegExp(text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'), 'i');
  }
}

/** What is to be known of samples. */
function sampled({ samples: s }) {
  return !s ? null : h('p', { class: 'quiet' }, `cpu is of ${plural(s.count, 'sample')}, each for ${time(s.each_ns)} of a processor: ${percent(s.outside / s.count)} of it as no future ran`,
    `; ${s.unknown ? `${percent(s.unknown / s.frames)} of native frames have no name` : 'all native frames have names'}`,
    s.lost ? `; ${count(s.lost)} were lost` : '', s.user_only ? '; none in the kernel' : '', s.throttled ? '; the kernel took fewer than were asked for' : '', '.');
}

export function flame(page) {
  const measures = ['exec', 'waiting', 'queued', 'wall', ...(page.doc.samples ? ['cpu'] : [])];
  if (!measures.includes(state.measure)) state.measure = 'wall';
  const box = h('div', { class: 'flame', id: 'flame-box', tabindex: 0, role: 'application', 'aria-label': 'Flame graph: arrows go from box to box, Enter zooms, Escape comes back', onkeydown: keys });
  box.style.minHeight = `${state.height}px`; // until it is drawn, so that nothing beneath jumps
  const details = h('p', { class: 'flame-details', role: 'status' });
  const legend = h('ul', { class: 'legend', 'aria-label': 'Legend' });
  let chart = null;
  let root = null;
  let focus = null;
  let width = 0;

  const names = (node) => (node.parent ? [...names(node.parent), node.data.name] : []);
  const find = (path) => path.reduce((node, name) => node?.children?.find((child) => child.data.name === name), root) ?? root;
  const tell = (node) => { details.textContent = node ? label(node, root.data.all) : `${SAID[state.measure]}, ${PER[state.per]}: ${time(root.data.all)}${unit[state.per]}`; };

  // Transitions of thousands of boxes would take longer than anybody looks: all is where it ends.
  function settle() {
    select(box).selectAll('*').interrupt();
    for (const g of box.querySelectorAll('g.frame')) {
      const { x0, depth, data } = g.__data__;
      g.setAttribute('transform', `translate(${x0 * width},${depth * ROW})`);
      g.querySelector('rect').setAttribute('width', g.getAttribute('width'));
      g.querySelector('div').textContent = data.name;
    }
    mark();
  }

  function mark() {
    select(box).selectAll('g').classed('hit', (d) => d.highlight).classed('focus', (d) => d === focus);
  }

  function search() {
    if (!chart) return;
    if (state.search) chart.search(state.search);
    else chart.clear();
    settle();
  }

  function draw() {
    if (!width) return;
    const data = boxes(page);
    box.replaceChildren();
    focus = null;
    chart = flamegraph().width(width).cellHeight(ROW).inverted(true).minFrameSize(0.5).transitionDuration(0)
      .selfValue(true).sort((a, b) => b.data.all - a.data.all).resetHeightOnZoom(true);
    chart.setColorMapper(fill);
    chart.label((node) => label(node, data.all));
    chart.setSearchMatch((node, text) => node.data.what !== 'all' && matcher(text).test(node.data.name));
    chart.setSearchHandler((results, sum) => {
      details.textContent = `${results.length} boxes fit: ${time(sum)}${unit[state.per]}, ${percent(data.all ? sum / data.all : null)} of all`;
    });
    chart.setDetailsHandler(() => {});
    chart.onHover(tell);
    chart.onClick((node) => { focus = node; state.zoom = names(node); settle(); tell(node); });
    select(box).datum(data).call(chart);
    root = select(box).datum();
    legend.replaceChildren(...LEGEND[state.measure].map(([kind, text]) => h('li', null, h('span', { class: `key ${kind}`, 'aria-hidden': 'true' }), text)));
    if (!data.all) box.replaceChildren(h('p', null, `Nothing was measured: there is no ${SAID[state.measure]}.`));
    tell(null);
    const zoomed = find(state.zoom);
    if (zoomed !== root) chart.zoomTo(zoomed);
    if (state.search) search();
    settle();
    box.style.minHeight = '';
    state.height = box.offsetHeight;
  }

  function whole() {
    chart?.resetZoom();
    focus = null;
    tell(null);
    settle();
  }

  function keys(event) {
    if (!root) return;
    const now = focus ?? root;
    const row = now.parent?.children ?? [now];
    const at = row.indexOf(now);
    const to = { ArrowDown: now.children?.[0], ArrowUp: now.parent, ArrowLeft: row[at - 1], ArrowRight: row[at + 1] }[event.key];
    if (event.key.startsWith('Arrow')) {
      focus = to ?? now;
      tell(focus);
    } else if (event.key === 'Enter') {
      chart.zoomTo(now);
    } else if (event.key === 'Escape') {
      whole();
    } else {
      return;
    }
    event.preventDefault();
    mark();
  }

  new ResizeObserver(([{ contentRect }]) => {
    if (Math.abs(contentRect.width - width) < 1) return;
    width = contentRect.width;
    draw();
  }).observe(box);
  box.addEventListener('mouseleave', () => root && tell(focus));

  const input = h('input', {
    type: 'search', id: 'search', placeholder: 'search names', 'aria-label': 'Search the flame graph; a regular expression', value: state.search,
    oninput: () => { state.search = input.value; search(); if (!state.search) tell(null); },
  });
  const background = h('input', { type: 'checkbox', checked: state.background, onchange: () => { state.background = background.checked; draw(); } });
  const set = (name) => (value) => { state[name] = value; draw(); };
  return section('flame', 'Flame graph',
    h('div', { class: 'tools' },
      choice('Width is', measures.map((name) => [name, name]), state.measure, set('measure')),
      choice('Time', [['total', 'total'], ['call', 'per call'], ['second', 'per second']], state.per, set('per')),
      input,
      h('label', null, background, ' waiting for new work, too'),
      h('button', { type: 'button', onclick: whole }, 'whole')),
    legend, details, box, sampled(page.doc));
}
