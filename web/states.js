// SPDX-License-Identifier: MIT
// What a time was, as a bar of queued, running and waiting; the numbers stand beside it, or in its name.
import { h } from './dom.js';
import { percent } from './format.js';

export function states(row) {
  const parts = [['queued', row.queued_ns], ['running', row.exec_ns], ['waiting', row.waiting_ns]];
  const sum = parts.reduce((all, [, ns]) => all + (ns ?? 0), 0);
  const text = parts.map(([name, ns]) => `${name} ${percent(sum ? ns / sum : null)}`).join(', ');
  return h('span', { class: 'states', title: text, role: 'img', 'aria-label': text }, parts.map(([name, ns]) => {
    const part = h('span', { class: name });
    part.style.flexGrow = String(sum ? (ns ?? 0) / sum : 0);
    return part;
  }));
}
