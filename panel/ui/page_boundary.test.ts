import assert from 'node:assert/strict'
import { test } from 'node:test'
import '#panel/test_support/browser_globals.ts'
import { createElement } from 'react'
import { open, openElement } from '#panel/test_support/page.ts'
import { PageBoundary } from './page_boundary.tsx'

function Broken({ message }: { message: string }): never {
  throw new Error(message)
}
const broken = (message: string) => createElement(Broken, { message })
const fault = { expected_errors: /./ }

test('a page that fails is replaced by a note, and the next page works', async (t) => {
  const failed = createElement(PageBoundary, { path: '/cards' }, broken('undefined is no card'))
  const page = await openElement(t, failed, fault)
  assert.match(page.get('alert').textContent ?? '', /Something went wrong on this page/)
  const next = createElement(PageBoundary, { path: '/activity' }, 'Activity')
  await page.render(next)
  assert.equal(page.text(), 'Activity')
})

test('files of an older version are loaded again once, not again and again', async (t) => {
  let reloads = 0
  t.mock.method(location, 'reload', () => {
    reloads += 1
  })
  const message = 'Failed to fetch dynamically imported module'
  const props = { path: '/cards', children: broken(message) }
  const page = await open(
    t,
    (given: typeof props) => createElement(PageBoundary, given),
    props,
    fault,
  )
  assert.equal(reloads, 1)
  await page.render(createElement(PageBoundary, { key: 'again', path: '/cards' }, broken(message)))
  assert.equal(reloads, 1)
  assert.match(page.get('alert').textContent ?? '', /didn’t load/)
  await page.click('button', 'Try again')
  assert.equal(reloads, 2)
})
