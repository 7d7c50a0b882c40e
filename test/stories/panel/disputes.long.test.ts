import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import type { Page } from '#test/packages/playwright.ts'
import { balanceOf, getDispute, openBuyer } from '#test/support/disputes.ts'
import { assertBooksSound } from '#test/support/money.ts'
import { NO_BROWSER, startBrowser, visitOf } from '#test/support/panel_page.ts'
import { callSandbox } from '#test/support/spending.ts'
import { startTestService } from '#test/support/start.ts'

const service = await startTestService()
const { url } = service
const browser = await startBrowser()
const skip = browser === null ? NO_BROWSER : false

/** Simulates dropping a file onto the page. */
async function dropFile(page: Page, name: string, text: string): Promise<void> {
  const words = [name, text].map((word) => JSON.stringify(word))
  const dataTransfer = await page.evaluateHandle(`(() => {
    const dragged = new DataTransfer()
    dragged.items.add(new File([${words[1]}], ${words[0]}, { type: 'text/plain' }))
    return dragged
  })()`)
  await page.getByText('Drop files here').dispatchEvent('drop', { dataTransfer })
}

test('a charge is disputed from its page, with a dropped file and a note as evidence', {
  skip,
}, async () => {
  if (browser === null) return
  const buyer = await openBuyer(service)
  const { page, complaints } = await visitOf(browser, { url, bearer: buyer.bearer })
  await page.goto('/disputes')
  await page.getByRole('link', { name: 'Dispute a charge' }).click()
  await page.getByText('Choose the charge to dispute.').waitFor()
  await page.getByRole('link', { name: /Corner Books/ }).click()
  await page.getByLabel('Reason').selectOption('It wasn’t as described')
  await page.getByLabel('Disputed amount').fill('12.50')
  await page.getByLabel('What happened?').fill('The book lacks its second half.')
  await page.getByRole('button', { name: 'Submit dispute' }).click()
  await page.getByRole('heading', { name: 'Dispute with Corner Books' }).waitFor()
  assert.equal(await balanceOf(url, buyer.bearer), 12.5)

  await dropFile(page, 'receipt.txt', 'Paid 40.00 USD\n')
  await page.getByLabel('Note').fill('The receipt names both halves.')
  await page.getByRole('button', { name: 'Add evidence' }).click()
  const pieces = page.getByRole('list', { name: 'Evidence' }).getByRole('listitem')
  await pieces.filter({ hasText: 'receipt.txt' }).waitFor()
  await pieces.filter({ hasText: 'The receipt names both halves.' }).waitFor()

  const download = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Download receipt.txt' }).click()
  const path = await (await download).path()
  assert.equal(await readFile(path, 'utf8'), 'Paid 40.00 USD\n')

  await page.getByLabel('Note').fill('The shop does not answer.')
  await page.getByRole('button', { name: 'Add evidence' }).click()
  await pieces.filter({ hasText: 'The shop does not answer.' }).waitFor()
  const [dispute_id = ''] = /dsp_\w{26}/.exec(page.url()) ?? []
  const { evidence, reason } = await getDispute(url, buyer.bearer, dispute_id)
  assert.equal(reason, 'not_as_described')
  assert.deepEqual(
    evidence.map(({ kind, file_name }) => [kind, file_name]),
    [
      ['receipt', 'receipt.txt'],
      ['note', null],
    ],
  )

  // Both lists mark the purchase until the dispute is closed; the dispute is about its capture.
  const marked = page.getByRole('row').filter({ hasText: 'Corner Books' }).getByText('Disputed')
  const lists = ['/transactions', `/cards/${buyer.card.id}`]
  for (const list of lists) {
    await page.goto(list)
    await marked.locator('visible=true').waitFor()
  }
  await page.getByRole('link', { name: /Corner Books/ }).click()
  await page.getByRole('link', { name: 'View dispute' }).click()

  // The page shows the merchant’s response without a reload.
  const answer = { text: 'It has 300 pages.' }
  await callSandbox(url, buyer.key, `disputes/${dispute_id}/answer`, answer)
  await page.getByText('It has 300 pages.').waitFor()
  await callSandbox(url, buyer.key, `disputes/${dispute_id}/close`, { outcome: 'won' })
  await page.getByText('You won').waitFor()
  await page.getByText('Provisional credit').waitFor({ state: 'detached' })
  for (const list of lists) {
    const open_disputes = page.waitForResponse((response) =>
      /disputes\?.*open/.test(response.url()),
    )
    await page.goto(list)
    await page.getByRole('link', { name: /Corner Books/ }).waitFor()
    await (await open_disputes).finished()
    assert.equal(await marked.count(), 0, `${list} no longer marks it`)
  }
  assert.deepEqual(complaints, [])
  await assertBooksSound(service.runtime.db)
})

test('a large upload shows progress, and a rejected file shows why and stays selected', {
  skip,
}, async () => {
  if (browser === null) return
  const buyer = await openBuyer(service)
  const { page, context } = await visitOf(browser, { url, bearer: buyer.bearer })
  await page.goto(`/transactions/${buyer.capture.id}`)
  await page.getByRole('button', { name: 'Dispute charge' }).click()
  await page.getByLabel('What happened?').fill('It never came.')
  await page.getByRole('button', { name: 'Submit dispute' }).click()
  const files = page.getByLabel('Drop files here')
  await files.waitFor({ state: 'attached' })

  const large = { name: 'mails.txt', mimeType: 'text/plain', buffer: Buffer.alloc(3_000_000, 'a') }
  const slow = { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: 1_500_000 }
  const line = await context.newCDPSession(page)
  await line.send('Network.emulateNetworkConditions', slow)
  await files.setInputFiles(large)
  await page.getByRole('button', { name: 'Add evidence' }).click()
  await page.getByRole('progressbar', { name: 'Uploading mails.txt' }).waitFor()
  await page.getByRole('button', { name: 'Download mails.txt' }).waitFor()
  await line.send('Network.emulateNetworkConditions', { ...slow, uploadThroughput: -1 })

  const program = {
    name: 'tool.exe',
    mimeType: 'text/plain',
    buffer: Buffer.from('MZ\u0000\u0001'),
  }
  await files.setInputFiles(program)
  await page.getByRole('button', { name: 'Add evidence' }).click()
  assert.match(
    await page.getByRole('alert').innerText(),
    /^Evidence must be a PDF, PNG, JPEG or WebP file, or plain text in UTF-8\.$/,
  )
  await page.getByRole('button', { name: 'Remove tool.exe' }).click()
  assert.equal(await page.getByText('tool.exe').count(), 0)
})
