// SPDX-License-Identifier: MIT
// Pictures of a terminal: terminal.mjs PACKAGES OUT FILE.ansi..., each what tmux captured with its colours.
import { readFileSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { browser, open } from './browser.mjs';

const [packages, out, ...files] = process.argv.slice(2);
const colours = ['#000', '#c33', '#2a2', '#b80', '#36d', '#a3a', '#2aa', '#ccc'];
const escaped = (text) => text.replace(/[&<>]/g, (c) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;' })[c]);

/** What the numbers of an escape sequence make of how text looks. */
function look(now, numbers) {
  for (const n of numbers) {
    if (n === 0) now = {};
    else if (n === 1) now = { ...now, bold: true };
    else if (n === 2) now = { ...now, dim: true };
    else if (n === 4) now = { ...now, line: true };
    else if (n === 7) now = { ...now, reverse: true };
    else if (n === 27) now = { ...now, reverse: false };
    else if (n >= 30 && n <= 37) now = { ...now, colour: colours[n - 30] };
    else if (n === 39) now = { ...now, colour: null };
    else if (n >= 40 && n <= 47) now = { ...now, back: colours[n - 40] };
    else if (n === 49) now = { ...now, back: null };
  }
  return now;
}

function style({ bold, dim, line, reverse, colour, back }) {
  const [ink, paper] = reverse ? [back ?? '#111', colour ?? '#ddd'] : [colour ?? '#ddd', back ?? '#111'];
  return `color:${ink};background:${paper};${bold ? 'font-weight:700;' : ''}${dim ? 'opacity:.6;' : ''}${line ? 'text-decoration:underline;' : ''}`;
}

function page(text) {
  let now = {};
  const parts = text.split(/(\x1b\[[0-9;]*m)/).map((part) => {
    const code = /^\x1b\[([0-9;]*)m$/.exec(part);
    if (!code) return part && `<span style="${style(now)}">${escaped(part)}</span>`;
    now = look(now, code[1].split(';').map(Number));
    return '';
  });
  return `<!doctype html><meta charset="utf-8"><body style="margin:0;background:#111"><pre style="margin:8px;font:14px/17px 'DejaVu Sans Mono',monospace;display:inline-block">${parts.join('')}</pre>`;
}

const chromium = await browser(packages);
for (const file of files) {
  const html = `${out}/${basename(file, '.ansi')}.html`;
  writeFileSync(html, page(readFileSync(file, 'utf8')));
  const { page: shown, close } = await open(chromium, html, { width: 1800, height: 400, there: 'pre' });
  await shown.locator('pre').screenshot({ path: html.replace(/html$/, 'png') });
  console.log(html.replace(/html$/, 'png'));
  await close();
}
await chromium.close();
