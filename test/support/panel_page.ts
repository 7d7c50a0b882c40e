import assert from 'node:assert/strict'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { after } from 'node:test'
import axe from 'axe-core'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { root } from '#platform/root.ts'
import { findChromium } from './chromium.ts'

/** Shown where tests are left out, because there is nothing to run them in. */
export const NO_BROWSER = 'no browser here: name one in CHROME_PATH, or install chromium'

const FLAGS = [
  '--no-sandbox',
  '--no-zygote',
  '--disable-dev-shm-usage',
  '--font-render-hinting=none',
  '--lang=en-US',
]

/** One browser for a test file, or null where the machine has none. */
export async function startBrowser(): Promise<Browser | null> {
  const found = await findChromium()
  if (found === null) return null
  const env = { ...(process.env as Record<string, string>), ...found.env }
  const browser = await chromium.launch({ executablePath: found.path, args: FLAGS, env })
  after(() => browser.close())
  return browser
}

type Visitor = {
  url: string
  width?: number
  /** Somebody who has signed in already. */
  bearer?: string
  operator_token?: string
}

export type Visit = { page: Page; context: BrowserContext; complaints: string[] }

/** A visitor with a clean browser. What the browser complains about is kept. */
export async function visitOf(browser: Browser, visitor: Visitor): Promise<Visit> {
  const { url, width = 1440, bearer, operator_token } = visitor
  const viewport = { width, height: width < 600 ? 740 : 900 }
  const context = await browser.newContext({
    baseURL: url,
    viewport,
    permissions: ['clipboard-read', 'clipboard-write'],
  })
  context.setDefaultTimeout(15_000)
  const kept = { florin_bearer: bearer, florin_operator_token: operator_token }
  for (const [name, value] of Object.entries(kept)) {
    const words = [name, value].map((word) => JSON.stringify(word)).join(', ')
    if (value !== undefined) await context.addInitScript(`sessionStorage.setItem(${words})`)
  }
  const page = await context.newPage()
  const complaints: string[] = []
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text())
  })
  page.on('pageerror', (error) => complaints.push(error.message))
  return { page, context, complaints }
}

const RULES = {
  runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'],
  resultTypes: ['violations' as const],
}

/** What would keep somebody out. The content security policy stays on meanwhile. */
async function barriersIn(page: Page): Promise<string[]> {
  const violations = await page.evaluate(async (rules) => {
    const { axe: injected } = globalThis as unknown as { axe: typeof axe }
    return (await injected.run(rules)).violations.map(({ id, impact, nodes }) => ({
      id,
      impact,
      at: nodes.map(({ html }) => html.slice(0, 160)),
    }))
  }, RULES)
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, at }) => `${id}: ${at.join(' and ')}`)
}

export type PanelPage = {
  name: string
  path: string
  /** Brings it into the state that is meant; it is ready when this is done. */
  ready(page: Page): Promise<unknown>
}

const SHOTS = join(root, 'dist', 'screenshots')

/** Every page at both widths in both themes: it fits, it is quiet, and everybody can use it. */
export async function everyPage(
  browser: Browser,
  visitor: Omit<Visitor, 'width'>,
  pages: readonly PanelPage[],
): Promise<void> {
  await mkdir(SHOTS, { recursive: true })
  const faults: string[] = []
  for (const width of [360, 1440]) {
    const { page, context, complaints } = await visitOf(browser, { ...visitor, width })
    for (const each of pages) {
      const found = [...(await faultsOf(page, each, width)), ...complaints.splice(0)]
      faults.push(...found.map((fault) => `${each.name} at ${width} px: ${fault}`))
    }
    await context.close()
  }
  assert.deepEqual(faults, [], faults.join('\n'))
}

/** The theme changes under the open page, as it does when the evening comes. */
async function faultsOf(
  page: Page,
  { name, path, ready }: PanelPage,
  width: number,
): Promise<string[]> {
  const faults: string[] = []
  await page.goto(path)
  await ready(page)
  await page.evaluate(axe.source)
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    // One that the page takes back midway is finished too, though its promise is refused.
    await page.evaluate('Promise.allSettled(document.getAnimations().map((each) => each.finished))')
    const shot = join(SHOTS, `${name}_${width}_${colorScheme}.png`)
    await page.screenshot({ path: shot, fullPage: true })
    const barriers = await barriersIn(page)
    faults.push(...barriers.map((barrier) => `${colorScheme}, ${barrier}`))
  }
  const wide = Number(await page.evaluate('document.documentElement.scrollWidth'))
  if (wide > width) faults.push(`it is ${wide} px wide`)
  return faults
}
