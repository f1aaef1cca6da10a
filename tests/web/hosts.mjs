// SPDX-License-Identifier: MIT
// The page of `aprof serve --from` in a browser: hosts.mjs PACKAGES URL, of which "first" and "second"
// answer and others do not. Prints ok and not ok.
import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
import { browser } from './browser.mjs';

const [packages, url] = process.argv.slice(2);
const axe = readFileSync(createRequire(`${packages}/package.json`).resolve('axe-core/axe.min.js'), 'utf8');
const said = (good, name, why) => console.log(good ? `ok ${name}` : `not ok ${name}: ${JSON.stringify(why)}`);

const chromium = await browser(packages);
const page = await (await chromium.newContext({ viewport: { width: 1280, height: 900 } })).newPage();
page.setDefaultTimeout(60000);
const faults = [];
page.on('console', (message) => ['error', 'warning'].includes(message.type()) && faults.push(message.text()));
page.on('pageerror', (error) => faults.push(String(error)));
const texts = (selector) => page.$$eval(selector, (all) => all.map((one) => one.textContent));
const head = async (text) => { await page.waitForFunction((wanted) => document.querySelector('h1')?.textContent.includes(wanted), text); return page.textContent('h1'); };

await page.goto(url);
said((await head('2 hosts')).includes('2 processes'), 'all hosts at first', await page.textContent('h1'));
await page.waitForSelector('.hosts li');
const hosts = await texts('.hosts li');
said(hosts.includes('first 1 process') && hosts.some((text) => /^nobody gone: nobody listens there, not counted$/.test(text)), 'each host says what it is at', hosts);
await page.click('text=by process');
await page.waitForFunction(() => [...document.querySelectorAll('#functions thead th')].some((th) => th.textContent === 'Process'));
said(page.url().endsWith('?range=10s&by=process'), 'functions by process, with their host', page.url());
await page.selectOption('#host', 'second');
await head(' on second');
await page.waitForFunction(() => document.querySelectorAll('#process option').length === 2);
said(page.url().includes('host=second'), 'one host', page.url());
await page.focus('#host');
await page.keyboard.press('s');
said(await page.evaluate(() => document.activeElement.id) === 'host', 'keys leave a choice alone');
await page.click('text=10 min');
await page.waitForFunction(() => location.search.includes('range=10m'));
await page.reload();
await head(' on second');
said(await page.inputValue('#host') === 'second', 'a reload shows the same', await page.inputValue('#host'));

await page.evaluate(axe);
const { violations } = await page.evaluate(() => window.axe.run());
said(!violations.length, 'axe finds nothing', violations.map((v) => [v.id, v.nodes[0].html]));
said(!faults.length, 'nothing is complained of', faults);
await chromium.close();
