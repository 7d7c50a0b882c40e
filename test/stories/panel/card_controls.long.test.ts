import assert from 'node:assert/strict'
import { test } from 'node:test'
import { getCard, issueCard, openHolder } from '#test/support/cards.ts'
import { NO_BROWSER, startBrowser, visitOf } from '#test/support/panel_page.ts'
import { authorize } from '#test/support/spending.ts'
import { startTestService } from '#test/support/start.ts'

const service = await startTestService()
const { url } = service
const browser = await startBrowser()
const skip = browser === null ? NO_BROWSER : false

test('limits and rules of a card are changed in the panel, and the next purchases follow them', {
  skip,
}, async () => {
  if (browser === null) return
  const holder = await openHolder(service, 200)
  const card = await issueCard(url, holder.key, { name: 'Errands', load_usd: 100 })
  const { page, complaints } = await visitOf(browser, { url, bearer: holder.bearer })
  const dialog = page.getByRole('dialog')
  await page.goto(`/cards/${card.id}`)
  await page.getByRole('tab', { name: 'Limits and rules' }).click()
  const edit = async (name: string) => page.getByRole('button', { name: `Edit ${name}` }).click()
  const save = async (message: string) => {
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.waitFor({ state: 'detached' })
    await page.getByText(message).first().waitFor()
  }
  await edit('spending limits')
  await dialog.getByLabel('Per purchase').fill('15')
  await save('Spending limits saved.')
  await edit('merchant categories')
  await dialog.getByLabel('Add blocked merchant categories').fill('casino')
  await dialog.getByRole('button', { name: /Government online casinos/ }).click()
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  assert.equal((await getCard(url, holder.key, card.id)).mcc.deny, null, 'Cancel saves nothing')
  await edit('countries')
  await dialog.getByLabel('Add blocked countries').fill('portugal')
  await dialog.getByRole('button', { name: /Portugal/ }).click()
  await save('Rules saved.')

  const buy = async (amount: number, merchant_country: string) =>
    (await authorize(url, { key: holder.key, card }, { amount, merchant_country })).decline_code
  assert.equal(await buy(16, 'US'), 'limit_per_transaction')
  assert.equal(await buy(10, 'PT'), 'country_blocked')
  assert.equal(await buy(10, 'US'), null)
  assert.deepEqual(complaints, [])
})

test('a card is replaced: its money moves to a new number, and the old one is canceled', {
  skip,
}, async () => {
  if (browser === null) return
  const { bearer } = await openHolder(service, 100)
  const card = await issueCard(url, bearer, { name: 'Lost', load_usd: 30 })
  const { page, complaints } = await visitOf(browser, { url, bearer, width: 360 })
  await page.goto(`/cards/${card.id}`)
  await page.getByRole('button', { name: 'More actions' }).click()
  await page.getByRole('menuitem', { name: 'Replace card' }).click()
  const dialog = page.getByRole('dialog', { name: 'Replace Lost?' })
  await dialog.getByText('You’ll get a new card number.').waitFor()
  await dialog.getByRole('button', { name: 'Replace card' }).click()
  await page.getByText('Card replaced.').waitFor()
  await page.waitForURL((address) => !address.pathname.endsWith(card.id))
  const fresh = await getCard(url, bearer, new URL(page.url()).pathname.split('/').at(-1) ?? '')
  assert.deepEqual([fresh.status, fresh.balance_usd, fresh.name], ['active', 30, 'Lost'])
  const old = await getCard(url, bearer, card.id)
  assert.deepEqual([old.status, old.balance_usd], ['cancelled', 0])
  assert.deepEqual(complaints, [])
})
