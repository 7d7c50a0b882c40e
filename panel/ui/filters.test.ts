import assert from 'node:assert/strict'
import { test } from 'node:test'
import '#panel/test_support/browser_globals.ts'
import { createElement } from 'react'
import { useTestClock } from '#panel/test_support/clock.ts'
import { open } from '#panel/test_support/page.ts'
import { FilterBar, FilterSearch, FilterSelect, useFilters } from './filters.tsx'
import { PeriodFilter, period_filter_names } from './period.tsx'

const options = [['active', 'Active']] as const

function List() {
  const filters = useFilters(['merchant', 'status'])
  const search = createElement(FilterSearch, {
    label: 'Search',
    value: filters.values.merchant,
    onChange: (text: string) => filters.set('merchant', text),
  })
  const props = {
    key: 'status',
    of: filters,
    name: 'status' as const,
    label: 'Status',
    any: 'All',
    options,
  }
  const select = createElement(FilterSelect<'merchant' | 'status'>, props)
  const children = [select, `Active: ${JSON.stringify(filters.active)}`]
  const bar = { ...filters, search, children }
  return createElement(FilterBar, bar)
}

test('filters are kept in the address, beside other parameters, and Clear removes only them', async (t) => {
  const page = await open(t, List, {}, { path: '/list?tab=1' })
  await page.fill('Status', 'active')
  assert.equal(page.path(), '/list?tab=1&status=active')
  assert.match(page.text(), /Filters \(1\).*Active: \{"status":"active"\}/)
  await page.click('button', 'Clear')
  assert.equal(page.path(), '/list?tab=1')
  assert.equal(page.valueOf('Status'), '')
  assert(!page.has('button', 'Clear'))
})

test('a filtered list can be opened by its address', async (t) => {
  const page = await open(t, List, {}, { path: '/list?merchant=bahn&status=active' })
  assert.equal(page.valueOf('Search'), 'bahn')
  assert.equal(page.valueOf('Status'), 'active')
  assert.match(page.text(), /Filters \(2\)/)
})

test('a search waits until typing pauses, and then filters once', async (t) => {
  useTestClock(t)
  const page = await open(t, List, {}, { path: '/list' })
  await page.fill('Search', 'ba')
  await page.pass(200)
  await page.fill('Search', 'bahn')
  await page.pass(200)
  assert.equal(page.path(), '/list')
  await page.pass(200)
  assert.equal(page.path(), '/list?merchant=bahn')
})

test('a custom range counts as one filter, and names the time zone of its days', async (t) => {
  const Ranged = () => {
    const filters = useFilters([...period_filter_names, 'zone'])
    const period = createElement(PeriodFilter, { key: 'period', ...filters })
    const bar = { ...filters, children: [period] }
    return createElement(FilterBar, bar)
  }
  const range = 'period=between&from=2026-11-01&to=2026-11-30'
  const page = await open(t, Ranged, {}, { path: `/list?${range}&zone=utc` })
  assert.match(page.text(), /Filters \(1\)/)
  assert(page.has('option', 'Custom range (UTC)'))
  await page.click('button', 'Clear')
  assert.equal(page.path(), '/list')
  assert(page.has('option', 'Custom range'))
})
