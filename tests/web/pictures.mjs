// The screenshots of docs/pictures/: the page with traffic, a link that is down, a drained spine, on a phone.
import { mkdirSync } from 'node:fs';

import { api, clickLink, down, ready, run, startBrowser, up } from './browser.mjs';

const to = process.env.PICTURES;
mkdirSync(to, { recursive: true });
const lab = up(process.env.LAB, '--name', 'rails');
const browser = await startBrowser();

async function open(width, height, theme) {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: theme, deviceScaleFactor: 1 });
  const page = await context.newPage();
  await page.goto(run('web').match(/http:\/\/\S+/)[0]);
  await ready(page);
  return page;
}

const { body: layout } = await api(lab, 'GET', '/layout');
const link = (name) => layout.links.findIndex((l) => l.a === name || l.b === name);

// Some past for the charts, with marks on it.
const dark = await open(1440, 900, 'dark');
await dark.waitForTimeout(12000);
await api(lab, 'POST', '/links', { link: 'leaf-r1:9', up: false });
await dark.waitForTimeout(4000);
await api(lab, 'POST', '/faults', { fault: 'name: dirty-optics, on: leaf-r3:2, loss: 2%' });
await dark.waitForTimeout(6000);
await clickLink(dark, link('leaf-r1:9'));
await dark.mouse.move(5, 5);
await dark.waitForTimeout(5000); // what was said has gone
await dark.screenshot({ path: `${to}/live-page.png` });

const light = await open(1440, 900, 'light');
await api(lab, 'POST', '/links', { link: 'leaf-r1:9', up: true });
await api(lab, 'POST', '/faults', { fault: 'on: spine2, drain: true' });
await light.waitForTimeout(3000);
await clickLink(light, link('leaf-r4:4'));
await light.getByRole('button', { name: 'Inject a fault' }).click();
await light.mouse.move(5, 5);
await light.waitForTimeout(5000);
await light.screenshot({ path: `${to}/live-page-light.png` });

const phone = await open(390, 844, 'dark');
await phone.waitForTimeout(3000);
await phone.screenshot({ path: `${to}/live-page-phone.png` });

await browser.close();
down();
