import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from '#test/packages/playwright.ts'
import { callCard, issueCard, openHolder } from '#test/support/cards.ts'
import { send } from '#test/support/http.ts'
import { NO_BROWSER, startBrowser, visitOf } from '#test/support/panel_page.ts'
import { startTestService } from '#test/support/start.ts'

const service = await startTestService()
const { url } = service
const browser = await startBrowser()
const skip = browser === null ? NO_BROWSER : false

type Inside = { getComputedStyle(element: object): { backgroundImage: string } }

/** The background of the face that shows these digits, and the mark of its brand. */
async function faceOf(page: Page, last4: string) {
  const face = page.locator('main .aspect-\\[1\\.586\\]').filter({ hasText: last4 })
  const color = await face.evaluate(
    (element) => (globalThis as unknown as Inside).getComputedStyle(element).backgroundImage,
  )
  return { color, mark: /visa|mastercard/i.exec(await face.innerText())?.[0] ?? null }
}

test('a Visa and a Mastercard differ in color and mark, and a frozen card is gray', {
  skip,
}, async () => {
  if (browser === null) return
  const { bearer, key } = await openHolder(service, 20)
  const limits = await send(url, 'GET', '/v1/system/limits', { bearer: key })
  const bins = limits.body['programme'].bins as { bin: string; brand: string }[]
  const issue = (brand: string) =>
    issueCard(url, key, { bin: bins.find((each) => each.brand === brand)?.bin })
  const [visa, mastercard, frozen] = [
    await issue('visa'),
    await issue('mastercard'),
    await issue('visa'),
  ]
  await callCard(url, { id: frozen.id, verb: 'freeze' }, { bearer: key })
  const { page, complaints } = await visitOf(browser, { url, bearer })
  const look = async ({ id, last4 }: { id: string; last4: string }) => {
    await page.goto(`/cards/${id}`)
    await page.getByRole('heading', { level: 1 }).waitFor()
    return faceOf(page, last4)
  }
  const [green, orange, gray] = [await look(visa), await look(mastercard), await look(frozen)]
  assert.deepEqual([green.mark, orange.mark, gray.mark], ['VISA', 'mastercard', null])
  assert.equal(new Set([green.color, orange.color, gray.color]).size, 3)
  assert.match(gray.color, /^linear-gradient/)
  assert.deepEqual(complaints, [])
})
