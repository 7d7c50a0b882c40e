import { test } from 'node:test'
import { NO_BROWSER, startBrowser, visitOf } from '#test/support/panel_page.ts'
import { forceCapture, openSpender } from '#test/support/spending.ts'
import { startTestService } from '#test/support/start.ts'
import { fund } from '#test/support/topups.ts'

const service = await startTestService()
const { url } = service
const browser = await startBrowser()
const skip = browser === null ? NO_BROWSER : false

test('the overview shows a debt until a top-up has paid it', { skip }, async () => {
  if (browser === null) return
  const spender = await openSpender(service, { usd: 10 })
  await forceCapture(url, spender, { amount: 30 })
  const { page } = await visitOf(browser, { url, bearer: spender.bearer })
  await page.goto('/')
  const notice = page.getByRole('alert').getByText(/You owe\s+\$20\.00/)
  await notice.waitFor()
  await fund(url, spender.bearer, 50)
  await page.reload()
  await page.getByText('$30.00').first().waitFor()
  await notice.waitFor({ state: 'detached' })
})
