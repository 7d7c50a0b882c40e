import assert from 'node:assert/strict'
import { test } from 'node:test'
import '#panel/test_support/browser_globals.ts'
import { useTestClock } from '#panel/test_support/clock.ts'
import { open } from '#panel/test_support/page.ts'
import { Code } from './code.tsx'
import { Copyable, CopyButton } from './copy.tsx'
import { OneTimeSecret } from './one_time_secret.tsx'

function clipboard(t: Parameters<typeof useTestClock>[0], is_blocked = false): string[] {
  const copied: string[] = []
  t.mock.method(navigator.clipboard, 'writeText', async (text: string) => {
    if (is_blocked) throw new Error('blocked')
    copied.push(text)
  })
  return copied
}

test('a copied text is confirmed for two seconds', async (t) => {
  useTestClock(t)
  const copied = clipboard(t)
  const page = await open(t, CopyButton, {
    text: 'T123',
    label: 'Copy address',
    is_label_visible: true,
  })
  await page.click('button', 'Copy address')
  assert.deepEqual(copied, ['T123'])
  assert.match(page.get('status').textContent ?? '', /Copied/)
  await page.pass(2_500)
  assert.equal(page.get('status').textContent, '')
})

test('a browser that blocks copying says so', async (t) => {
  clipboard(t, true)
  const page = await open(t, Copyable, { text: 'T123', label: 'Copy address' })
  await page.click('button', 'Copy address')
  assert.match(page.toasts()[0] ?? '', /blocked copying/)
  assert.equal(page.get('status').textContent, '')
})

test('one_time_secret: the secret is copied as it is, under its own name', async (t) => {
  const copied = clipboard(t)
  const props = { label: 'Signing secret', text: 'whsec_1', children: 'Keep it.' }
  const page = await open(t, OneTimeSecret, props)
  assert.match(page.text(), /shown only once/)
  await page.click('button', 'Copy signing secret')
  assert.deepEqual(copied, ['whsec_1'])
})

test('code: a block is copied whole and can be scrolled by keyboard', async (t) => {
  const copied = clipboard(t)
  const page = await open(t, Code, { label: 'Shell', text: 'curl\n  -X GET' })
  await page.click('button', 'Copy: Shell')
  assert.deepEqual(copied, ['curl\n  -X GET'])
  assert.equal(document.querySelector('pre')?.tabIndex, 0)
})
