// SPDX-License-Identifier: MIT
// Source lines, with what they cost in the margin.
import { h, scroll, section } from './dom.js';
import { count, plural, time } from './format.js';

export const lineId = (file, line) => `line-${encodeURIComponent(file)}-${line}`;

const cells = (m) => [m.count === null ? '' : count(m.count), m.exec_ns === null ? '' : time(m.exec_ns),
  m.waiting_ns === null ? '' : time(m.waiting_ns), m.worst_ns === null ? '' : time(m.worst_ns)];
const NOTABLE = 1e6; // a hold of less needs no line of its own

function lines(file) {
  const marks = new Map();
  for (const m of file.marks) marks.set(m.line, [...(marks.get(m.line) ?? []), m]);
  let last = 0;
  return file.lines.flatMap(([number, text]) => {
    const here = marks.get(number) ?? [];
    const first = here.find((m) => m.what !== 'hold' && m.what !== 'check');
    const gap = last && number > last + 1 ? [h('tr', { class: 'gap' }, h('td', { colspan: 6 }, '⋯'))] : [];
    last = number;
    return [...gap,
      h('tr', { id: lineId(file.file, number), class: here.length ? 'marked' : null },
        (first ? cells(first) : ['', '', '', '']).map((cell) => h('td', null, cell)),
        h('td', { class: 'number' }, String(number)), h('td', { class: 'text code' }, text)),
      ...here.filter((m) => (m.what === 'hold' ? m.worst_ns >= NOTABLE : m !== first)).map((m) =>
        h('tr', { class: m.what === 'hold' || m.what === 'check' ? 'note alarm' : 'note', title: m.mend }, cells(m).map((cell) => h('td', null, cell)), h('td'), h('td', { class: 'text' }, `↑ ${m.text}`)))];
  });
}

function body(file) {
  if (!file.lines) return h('p', { class: 'quiet' }, 'The file was not there, or was left out.');
  return [
    file.newer ? h('p', null, 'Newer than the process’s start: lines may have moved since it was built.') : null,
    scroll(`Lines of ${file.file}`, h('table', { class: 'source' },
      h('thead', null, h('tr', null, ['Count', 'Exec', 'Wait', 'Worst', 'Line', 'Source'].map((text, i) => h('th', { scope: 'col', class: i === 5 ? 'text' : null }, text)))),
      h('tbody', null, lines(file)))),
  ];
}

export function sources(page) {
  const readable = page.doc.sources.filter((file) => file.lines);
  const missing = page.doc.sources.filter((file) => !file.lines);
  return section('source', 'Source',
    readable.map((file) => {
      const box = h('div');
      const open = () => { if (!box.firstChild) box.append(...[body(file)].flat().filter(Boolean)); };
      const details = h('details', { class: 'file', 'data-file': file.file, ontoggle: open }, h('summary', null, file.file), box);
      details.fill = open;
      return details;
    }),
    readable.length ? null : h('p', { class: 'quiet' }, 'No source is in this page: none could be read, or it was left out. --source DIR says where they are.'),
    readable.length && missing.length ? h('p', { class: 'quiet' }, `${plural(missing.length, 'file')} could not be read: ${missing.slice(0, 8).map((f) => f.file).join(', ')}${missing.length > 8 ? ', …' : ''}`) : null);
}
