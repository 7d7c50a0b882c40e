import assert from 'node:assert/strict'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { after } from 'node:test'
import { root } from '#platform/runtime/root.ts'
import { axe } from '#test/packages/axe.ts'
import {
  type Browser,
  type BrowserContext,
  chromium,
  type Page,
} from '#test/packages/playwright.ts'
import { findChromium } from './chromium.ts'
import { reasonWithout, refuseInCi } from './tools.ts'

/** The reason for skipping browser tests without a browser. */
export const NO_BROWSER = reasonWithout('chromium')

const FLAGS = [
  '--no-sandbox',
  '--no-zygote',
  '--disable-dev-shm-usage',
  '--font-render-hinting=none',
  '--lang=en-US',
]

/** One browser per test file; null if none is installed. */
export async function startBrowser(): Promise<Browser | null> {
  const found = await findChromium()
  if (found === null) {
    refuseInCi('chromium')
    return null
  }
  const env = { ...(process.env as Record<string, string>), ...found.env }
  const browser = await chromium.launch({ executablePath: found.path, args: FLAGS, env })
  after(() => browser.close())
  return browser
}

type Visitor = {
  url: string
  width?: number
  /** The person to sign in as. */
  bearer?: string
  operator_token?: string
}

export type Visit = { page: Page; context: BrowserContext; complaints: string[] }

const viewportOf = (width: number) => ({ width, height: width < 600 ? 740 : 900 })

/** A new browser context. Errors of the page are recorded. */
export async function visitOf(browser: Browser, visitor: Visitor): Promise<Visit> {
  const { url, width = 1440, bearer, operator_token } = visitor
  const context = await browser.newContext({
    baseURL: url,
    viewport: viewportOf(width),
    permissions: ['clipboard-read', 'clipboard-write'],
  })
  context.setDefaultTimeout(15_000)
  const kept = { florin_bearer: bearer, florin_operator_token: operator_token }
  for (const [name, value] of Object.entries(kept)) {
    const words = [name, value].map((word) => JSON.stringify(word)).join(', ')
    // Frames, such as the preview of an email, are sandboxed and have no storage.
    const script = `if (self === top) sessionStorage.setItem(${words})`
    if (value !== undefined) await context.addInitScript(script)
  }
  const page = await context.newPage()
  const complaints: string[] = []
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text())
  })
  page.on('pageerror', (error) => complaints.push(error.message))
  return { page, context, complaints }
}

const ALL_RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']
/** Rules whose result depends on the theme; the first theme checks all rules. */
const COLOUR_RULES = ['color-contrast', 'link-in-text-block']

type Look = { barriers: string[]; wide: number }

/** The DOM types that the evaluated functions need. */
type Inside = {
  axe: typeof axe
  scrollTo(x: number, y: number): void
  document: {
    documentElement: { scrollWidth: number }
    getAnimations(): { finished: Promise<unknown> }[]
  }
}

/**
 * Accessibility violations and the page's width, after all animations have ended. The content
 * security policy stays on. None of the rules needs preloaded style sheets, which would take as
 * long as all rules together.
 */
async function lookAt(page: Page, runOnly: string[]): Promise<Look> {
  const { violations, wide } = await page.evaluate(
    async (options) => {
      const { axe: injected, document, scrollTo } = globalThis as unknown as Inside
      // The sticky header may cover part of a link, which makes it look too small.
      scrollTo(0, 0)
      // A canceled animation is finished too, although its promise rejects.
      await Promise.allSettled(document.getAnimations().map((each) => each.finished))
      return {
        violations: (await injected.run(options)).violations.map(({ id, nodes }) => ({
          id,
          at: nodes.map(({ html }) => html.slice(0, 160)),
        })),
        wide: document.documentElement.scrollWidth,
      }
    },
    { runOnly, resultTypes: ['violations' as const], preload: false },
  )
  const barriers = violations.map(({ id, at }) => `${id}: ${at.join(' and ')}`)
  return { barriers, wide }
}

export type PanelPage = {
  name: string
  path: string
  /** Brings the page into the state to check; resolves when it is ready. */
  ready(page: Page): Promise<unknown>
  /** The state shows a refusal, which the browser logs as an error. */
  is_refused?: true
}

/** For people to look at: no test reads them, so they are taken only with FLORIN_SCREENSHOTS. */
export async function takeScreenshot(page: Page, name: string): Promise<void> {
  if (process.env['FLORIN_SCREENSHOTS'] === undefined) return
  const folder = join(root, 'dist', 'screenshots')
  await mkdir(folder, { recursive: true })
  await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true })
}

const REFUSED = /status of 4\d\d/

/** Pages checked in parallel: while one waits for the service, another is checked. */
const LANES = 2

/**
 * Checks every page in both themes, at the visitor's width and wide: layout, console errors,
 * accessibility.
 */
export async function everyPage(
  browser: Browser,
  { width: narrow = NARROW, ...visitor }: Visitor,
  pages: readonly PanelPage[],
): Promise<void> {
  const faults: string[] = []
  const waiting = [...pages]
  const walk = async () => {
    const { page, context, complaints } = await visitOf(browser, { ...visitor, width: narrow })
    for (let each = waiting.shift(); each !== undefined; each = waiting.shift()) {
      const { name, is_refused = false } = each
      const layout_faults = await faultsOf(page, each, narrow)
      const errors = complaints.splice(0).filter((text) => !(is_refused && REFUSED.test(text)))
      const found = [...layout_faults, ...errors]
      faults.push(...found.map((fault) => `${name}: ${fault}`))
    }
    await context.close()
  }
  await Promise.all(Array.from({ length: LANES }, walk))
  assert.deepEqual(faults, [], faults.join('\n'))
}

const NARROW = 360
const WIDE = 1440
const themes = [
  ['light', ALL_RULES],
  ['dark', COLOUR_RULES],
] as const

/** Opens the page narrow, then changes theme and width while it is open. */
async function faultsOf(
  page: Page,
  { name, path, ready }: PanelPage,
  narrow: number,
): Promise<string[]> {
  const faults: string[] = []
  await page.setViewportSize(viewportOf(narrow))
  await page.goto(path)
  await ready(page)
  await page.evaluate(axe.source)
  for (const width of [narrow, WIDE]) {
    await page.setViewportSize(viewportOf(width))
    for (const [theme, rules] of themes) {
      await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' })
      const { barriers, wide } = await lookAt(page, [...rules])
      faults.push(...barriers.map((barrier) => `${width} px, ${theme}, ${barrier}`))
      if (wide > width) faults.push(`${width} px, ${theme}, it is ${wide} px wide`)
      await takeScreenshot(page, `${name}_${width}_${theme}`)
    }
  }
  return faults
}
