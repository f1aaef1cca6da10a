// SPDX-License-Identifier: MIT
// Numbers as the command shows them (ask/format.c): three digits that matter.

const three = (value, unit) => value.toFixed(value < 9.995 ? 2 : value < 99.95 ? 1 : 0) + unit;

export function time(ns) {
  if (ns === null || ns === undefined) return '-';
  if (ns === 0) return '0';
  if (ns < 999.5) return ns < 9.995 && !Number.isInteger(ns) ? `${ns.toFixed(2)} ns` : `${Math.round(ns)} ns`;
  if (ns < 999.5e3) return three(ns / 1e3, ' us');
  if (ns < 999.5e6) return three(ns / 1e6, ' ms');
  if (ns < 9999.5e9) return three(ns / 1e9, ' s');
  if (ns < 999.5 * 3600e9) return three(ns / 3600e9, ' h');
  return three(ns / 86400e9, ' d');
}

export function count(n) {
  if (n === null || n === undefined) return '-';
  if (n < 10000) return String(n);
  if (n < 999.5e3) return three(n / 1e3, 'k');
  if (n < 999.5e6) return three(n / 1e6, 'M');
  return three(n / 1e9, 'G');
}

/** Of a share from 0 to 1. */
export function percent(share) {
  if (share === null || share === undefined || !Number.isFinite(share)) return '-';
  return `${(100 * share).toFixed(share < 0.9995 ? 1 : 0)} %`;
}

export function bytes(n) {
  if (n < 1024) return `${n} bytes`;
  return n < 1 << 20 ? three(n / 1024, ' KiB') : three(n / (1 << 20), ' MiB');
}

export const plural = (n, one, many = `${one}s`) => `${count(n)} ${n === 1 ? one : many}`;

export const place = (file, line) => (file ? (line ? `${file}:${line}` : file) : null);

/** Behind a mark where the number lacks something. */
export const marked = (lacks, text) => (lacks && text !== '-' ? `~${text}` : text);
