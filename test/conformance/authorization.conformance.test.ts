import assert from 'node:assert/strict'
import { test } from 'node:test'
import { allow, openConsent, registerAgent, startAgentService } from '#test/support/agent.ts'
import { Browser } from '#test/support/browser.ts'
import { openAccount } from '#test/support/people.ts'
import { freePort } from '#test/support/port.ts'
import { authorization_suite, runSuite } from './suite.ts'

const { url } = await startAgentService()

/** A person who opens the address that the suite prints, signs in, consents, and is sent back. */
async function consent(address: string): Promise<void> {
  const browser = new Browser(url)
  const page = await openConsent(browser, address, await openAccount(url))
  await fetch(await allow(browser, page))
}

test('the official suite finds nothing wrong with the authorization server', async (t) => {
  const port = await freePort()
  const { client } = await registerAgent(url, {
    redirect_uris: [`http://127.0.0.1:${port}/callback`],
    token_endpoint_auth_method: 'none',
  })
  let visit: Promise<void> | undefined
  const { code, text } = await runSuite(
    authorization_suite,
    [
      ...['authorization', '--url', url, '--client-id', client.client_id, '--port', String(port)],
      ...['--resource', `${url}/mcp`],
    ],
    {
      onText: (printed) => {
        const address = /^http\S+\/oauth\/authorize\?\S+$/m.exec(printed)?.[0]
        if (address !== undefined) visit ??= consent(address)
      },
    },
  )
  await visit
  assert.equal(code, 0, text)
  assert(visit !== undefined, 'somebody was asked for consent')
  t.diagnostic(text.trim().split('\n').slice(-10).join('\n'))
})
