// SPDX-License-Identifier: MIT
// The Chromium of this machine, and pages of it that note what goes wrong.
import { createRequire } from 'node:module';
import { existsSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

/** Packages are below `packages`. */
export async function browser(packages) {
  const require = createRequire(`${packages}/package.json`);
  const executablePath = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync);
  if (!executablePath) throw new Error('no Chromium (Debian: chromium)');
  return require('playwright-core').chromium.launch({
    executablePath,
    args: process.getuid() === 0 ? ['--no-sandbox'] : [],
  });
}

/** Opens a file, or the page of a server, until `there` is; `faults` is what the page complains of, or asks another network for. */
export async function open(from, file, { width = 1280, height = 900, dark = false, there = '#health' } = {}) {
  const served = /^http:/.test(file);
  const context = await from.newContext({ viewport: { width, height }, colorScheme: dark ? 'dark' : 'light' });
  const page = await context.newPage();
  const faults = [];
  page.on('console', (message) => ['error', 'warning'].includes(message.type()) && faults.push(message.text()));
  page.on('pageerror', (error) => faults.push(String(error)));
  page.on('dialog', (dialog) => { faults.push(`dialog: ${dialog.message()}`); dialog.dismiss(); });
  page.on('request', (request) => /^(file|blob|data):/.test(request.url()) || (served && request.url().startsWith(file)) || faults.push(`asks for ${request.url()}`));
  await page.goto(served ? file : pathToFileURL(file).href);
  await page.waitForSelector(there);
  return { page, faults, close: () => context.close() };
}

/** The texts of the cells of rows. By a selector they are asked for at once: a live page draws itself again at any
 *  moment, and a row that is in no page any more has no layout. */
export const cells = (page, rows) => {
  const texts = (found) => found.map((row) => [...row.cells].map((cell) => cell.innerText.trim()));
  return typeof rows === 'string'
    ? page.evaluate(`(${texts})([...document.querySelectorAll(${JSON.stringify(rows)})])`)
    : rows.evaluateAll(texts);
};
