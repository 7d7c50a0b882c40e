import assert from 'node:assert/strict'
import { test } from 'node:test'
import '#panel/test_support/browser_globals.ts'
import { createElement, type ReactNode } from 'react'
import { openElement } from '#panel/test_support/page.ts'
import { PageBoundary } from './page_boundary.tsx'

function Broken({ message }: { message: string }): never {
  throw new Error(message)
}
const broken = (message: string) => createElement(Broken, { message })
const fault = { expected_errors: /./ }

const boundary = (path: string, children: ReactNode, key = '') => {
  const props = { key, path, children }
  return createElement(PageBoundary, props)
}

test('a page that fails is replaced by a note, and the next page works', async (t) => {
  const page = await openElement(t, boundary('/cards', broken('undefined is no card')), fault)
  assert.match(page.get('alert').textContent ?? '', /Something went wrong on this page/)
  await page.render(boundary('/activity', 'Activity'))
  assert.equal(page.text(), 'Activity')
})

test('files of an older version are loaded again once, not again and again', async (t) => {
  let reloads = 0
  t.mock.method(location, 'reload', () => {
    reloads += 1
  })
  const message = 'Failed to fetch dynamically imported module'
  const page = await openElement(t, boundary('/cards', broken(message)), fault)
  assert.equal(reloads, 1)
  await page.render(boundary('/cards', broken(message), 'again'))
  assert.equal(reloads, 1)
  assert.match(page.get('alert').textContent ?? '', /didn’t load/)
  await page.click('button', 'Try again')
  assert.equal(reloads, 2)
})
