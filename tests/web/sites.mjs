// The page of a lab over several sites, one of which, c, is away: what a user sees. For tests/live/sites.sh, which has the lab.
// Environment: LINK, a link to the page; SHOT, a file for a screenshot, if one is wanted.
import assert from 'node:assert/strict';

import { newContext, ready, startBrowser } from './browser.mjs';

const browser = await startBrowser();
try {
  const context = await newContext(browser, { viewport: { width: 1440, height: 900 } });
  const page = await context.newPage();
  const complaints = [];
  page.on('pageerror', (e) => complaints.push(String(e)));
  await page.goto(process.env.LINK);
  await ready(page);
  await page.getByRole('alert').filter({ hasText: 'Site c is away: its daemon' }).waitFor();
  const panel = page.getByRole('tabpanel');
  await panel.getByRole('link', { name: 'Report of site a' }).waitFor();
  if (process.env.SHOT) await page.screenshot({ path: process.env.SHOT });
  for (const [node, health] of [['leaf3', 'down'], ['h5', 'down'], ['leaf1', 'up']]) {
    await page.getByLabel('Search for a node').fill(node);
    await page.keyboard.press('Enter');
    await panel.getByRole('heading', { name: node, exact: true }).waitFor();
    assert.match(await panel.locator('.panel-head .badge').innerText(), new RegExp(health), node);
  }
  await page.getByRole('tab', { name: 'Log' }).click();
  await panel.getByText('site c is away').first().waitFor();
  assert.deepEqual(complaints, []);
} finally {
  await browser.close();
}
