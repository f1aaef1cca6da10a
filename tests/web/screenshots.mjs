// SPDX-License-Identifier: MIT
// Pictures of a page, of its first screen, of each of its parts and of the whole, at 360 and 1280 px,
// in both themes: screenshots.mjs PACKAGES FILE|URL OUT NAME
import { browser, open } from './browser.mjs';

const [packages, file, out, name] = process.argv.slice(2);
const chromium = await browser(packages);
for (const width of [360, 1280])
  for (const dark of [false, true]) {
    const { page, faults, close } = await open(chromium, file, { width, dark, height: 720 });
    if (file.startsWith('http')) {
      await page.waitForTimeout(3000); // until it was drawn again, and servers have been asked
      await page.click('text=freeze');
    }
    await page.waitForTimeout(300); // canvases are drawn behind the page
    const path = `${out}/${name}-${width}-${dark ? 'dark' : 'light'}`;
    await page.screenshot({ path: `${path}-first.png` });
    await page.screenshot({ path: `${path}.png`, fullPage: true });
    for (const details of await page.locator('details.file > summary').all()) await details.click();
    for (const part of await page.locator('section:visible').all())
      await part.screenshot({ path: `${path}-${await part.getAttribute('id')}.png` });
    for (const [i, question] of ['tail', 'blame', 'paths', 'path', 'cpu'].entries()) {
      if (!await page.locator('#requests .ask button').count()) break;
      await page.locator('#requests .ask button').nth(i).click();
      await page.waitForTimeout(3500); // an answer needs some requests
      await page.locator('.asked').screenshot({ path: `${path}-asked-${question}.png` });
    }
    for (const [i, question] of ['cpu', 'probe'].entries()) {
      const button = page.locator('#functions .ask').last().locator('button').nth(i);
      if (!await button.count()) break;
      await button.click();
      await page.waitForTimeout(5000);
      await page.locator('.asked').screenshot({ path: `${path}-of-function-${question}.png` });
    }
    console.log(`${path}.png`, faults.join('\n'));
    await close();
  }
await chromium.close();
