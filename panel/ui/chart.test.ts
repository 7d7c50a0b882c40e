import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import '#panel/test_support/browser_globals.ts'
import { createElement } from 'react'
import { open, type Page } from '#panel/test_support/page.ts'
import { setTheme } from '#panel/theme.ts'
import { Chart } from './chart.tsx'

/** The document has no layout, so the chart gets a size here. */
const { getBoundingClientRect } = Element.prototype
const sized = HTMLElement.prototype
before(() => {
  Object.defineProperty(sized, 'clientWidth', { configurable: true, get: () => 600 })
  Element.prototype.getBoundingClientRect = () => new DOMRect(0, 0, 530, 142)
})
after(() => {
  Reflect.deleteProperty(sized, 'clientWidth')
  Element.prototype.getBoundingClientRect = getBoundingClientRect
})

const DAY_S = 86_400
const first = Date.UTC(2026, 10, 14) / 1_000
const times = [first, first + DAY_S, first + 2 * DAY_S]
const format = (value: number) => `$${value}`
const chart = { label: 'Balance', times, series: { name: 'Balance', values: [10, 20, 30] }, format }

const readout = () =>
  [...document.querySelectorAll<HTMLElement>('[role=img] > div.num')].map((box) =>
    box.hidden ? null : box.textContent,
  )

async function hover(page: Page, left: number): Promise<void> {
  const over = document.querySelector('.u-over')
  assert(over !== null)
  const at = { clientX: left, clientY: 20, bubbles: true }
  over.dispatchEvent(new MouseEvent('mouseenter', at))
  over.dispatchEvent(new MouseEvent('mousemove', at))
  await page.settle()
}

test('the value and the UTC day under the pointer are shown', async (t) => {
  const page = await open(t, Chart, { ...chart, days: true })
  assert.deepEqual(readout(), [null])
  await hover(page, 265)
  assert.deepEqual(readout(), ['$20 · Nov 15, 2026'])
  await hover(page, 525)
  assert.deepEqual(readout(), ['$30 · Nov 16, 2026'])
})

test('a step keeps its value until the next one, and the exact format is used', async (t) => {
  const formatExact = (value: number) => `exactly ${value}`
  const page = await open(t, Chart, { ...chart, steps: true, formatExact })
  await hover(page, 250)
  assert.match(readout()[0] ?? '', /^exactly 10 · Nov 1[45], 2026/)
  await hover(page, 280)
  assert.match(readout()[0] ?? '', /^exactly 20 · /)
})

test('a day without a value shows nothing under the pointer', async (t) => {
  const series = { name: 'Rate', values: [10, null, 30] }
  const page = await open(t, Chart, { ...chart, series, days: true })
  await hover(page, 525)
  assert.deepEqual(readout(), ['$30 · Nov 16, 2026'])
  await hover(page, 265)
  assert.deepEqual(readout(), [null])
})

test('it is drawn once, and again with the colors of another theme', async (t) => {
  const page = await open(t, Chart, chart)
  assert.equal(page.get('img', 'Balance').dataset['scheme'], 'light')
  setTheme('dark')
  await page.settle()
  assert.equal(page.get('img', 'Balance').dataset['scheme'], 'dark')
  assert.equal(document.querySelectorAll('.uplot').length, 1)
  await page.render(createElement('div'))
  assert.equal(document.querySelectorAll('.uplot').length, 0)
  setTheme('system')
})
