import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openHolder } from '#test/support/cards.ts'
import { fileDispute, openBuyer } from '#test/support/disputes.ts'
import { send } from '#test/support/http.ts'
import { NO_BROWSER, startBrowser, visitOf } from '#test/support/panel_page.ts'
import { respondWith, startReceiver } from '#test/support/receiver.ts'
import { startTestService } from '#test/support/start.ts'
import { makeEvent, subscribe } from '#test/support/webhooks.ts'
import { endOnChain, requested } from '#test/support/withdrawals.ts'

const service = await startTestService()
const { url } = service
const browser = await startBrowser()
const skip = browser === null ? NO_BROWSER : false

test('a failed withdrawal says that the money came back, not what arrives', {
  skip,
}, async () => {
  if (browser === null) return
  const { bearer } = await openHolder(service, 100)
  const { id } = await requested({ url, bearer }, 30)
  await endOnChain({ url, bearer }, id, 'fail')
  const { page, complaints } = await visitOf(browser, { url, bearer })
  await page.goto('/withdrawals')
  const row = page.getByRole('row').filter({ hasText: 'Failed' })
  await row.getByText('Returned').waitFor()
  const amounts = (await row.innerText()).match(/\$[\d.]+/g)
  assert.deepEqual(amounts, ['$30.00'], 'neither a fee nor an amount that arrives')
  await row.getByRole('link').first().click()
  await page.getByText('The full amount is back in your balance.').waitFor()
  assert.equal(await page.getByText('You receive').count(), 0)
  assert.deepEqual(complaints, [])
})

test('a top-up of which a part arrived says so in the list and on its page', {
  skip,
}, async () => {
  if (browser === null) return
  const { bearer } = await openHolder(service, 25)
  const made = await send(url, 'POST', '/v1/topups', { bearer, body: { amount_usd: 100 } })
  const sandbox = `/sandbox/v1/topups/${made.body.id}`
  await send(url, 'POST', `${sandbox}/deposit`, { bearer, body: { amount_usd: 60 } })
  await send(url, 'POST', `${sandbox}/confirm`, { bearer })
  const { page, complaints } = await visitOf(browser, { url, bearer })
  await page.goto('/topups')
  await page.getByRole('row').filter({ hasText: 'Partly paid' }).getByRole('link').first().click()
  await page.getByText('You requested $100.00.').waitFor()
  await page.getByText('$60.00').first().waitFor()
  await page.getByText('Transfer received').waitFor()
  assert.deepEqual(complaints, [])
})

test('an endpoint that fails shows its last attempt beside the success it never had', {
  skip,
}, async () => {
  if (browser === null) return
  const holder = await openHolder(service, 25)
  const receiver = await startReceiver()
  receiver.respond = respondWith(500, {}, 'not today')
  const webhook = await subscribe(url, holder, { url: receiver.url })
  await makeEvent(url, holder)
  await receiver.waitFor(1)
  const { page, complaints } = await visitOf(browser, { url, bearer: holder.bearer })
  await page.goto(`/developers/webhooks/${webhook.id}`)
  await page.getByText('HTTP 500').first().waitFor()
  await page.getByText('Failing', { exact: true }).waitFor()
  const details = await page.getByRole('main').innerText()
  assert.match(details, /Last attempt\s+\S+/)
  assert.match(details, /Last success\s+None yet/)
  await page.goto('/developers/webhooks')
  await page.getByRole('table').getByText('Failing').waitFor()
  assert.deepEqual(complaints, [])
})

test('disputes and activity name the merchant and lead to the dispute', { skip }, async () => {
  if (browser === null) return
  const buyer = await openBuyer(service)
  const dispute = await fileDispute(url, buyer)
  const { page, complaints } = await visitOf(browser, { url, bearer: buyer.bearer })
  await page.goto('/disputes')
  const merchant = buyer.capture.merchant_name
  await page.getByRole('table').getByRole('link', { name: merchant }).waitFor()
  await page.goto('/activity')
  const event = page.getByRole('link', { name: new RegExp(`^You disputed .*${merchant}`) })
  await event.click()
  await page.waitForURL(`**/disputes/${dispute.id}`)
  await page.getByRole('heading', { name: `Dispute with ${merchant}` }).waitFor()
  assert.equal(await page.getByText('txn_').count(), 0, 'no raw IDs of transactions')
  assert.deepEqual(complaints, [])
})
