import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { authorization, newReference } from '#sandbox/card_network/merchant.ts'
import { parsePurchase } from '#sandbox/card_network/purchase.ts'
import { cardNetwork } from '#sandbox/card_network.ts'
import { authorize as allowAgent, registerAgent, startAgentService } from '#test/support/agent.ts'
import { assertRefused } from '#test/support/calls.ts'
import { pathOf, queryOf, sentFor, shapes } from '#test/support/contract.ts'
import { send } from '#test/support/http.ts'
import { callTool, rpc } from '#test/support/mcp.ts'
import { assertBooksSound } from '#test/support/money.ts'
import { operate } from '#test/support/operator.ts'
import { PASSWORD } from '#test/support/people.ts'
import { authorize, follow, openSpender } from '#test/support/spending.ts'

const service = await startAgentService()
const { url, sandbox_host, runtime } = service
const network = cardNetwork(sandbox_host.card_host_port, sandbox_host)
after(() => network.close())

/** Sends an authorization request over ISO 8583 and returns the response code. */
async function authorizeAtShop(account_id: string, card_id: string): Promise<string> {
  const card = await sandbox_host.cardNumberOf(account_id, card_id)
  const reference = newReference(sandbox_host.random.below)
  const sale = { card, purchase: parsePurchase({ amount: 3 }), reference }
  const { fields } = await network.send(authorization(network, sale, null))
  return String(fields[39])
}

test('every call and purchase of a suspended account is refused until it is reinstated', async () => {
  const spender = await openSpender(service, { usd: 50 })
  const { account_id, card, key, bearer, email } = spender
  const held = await authorize(url, spender, { amount: 10 })
  const agent = await allowAgent(await registerAgent(url), spender)
  const suspended = await operate(url, 'POST', `/accounts/${account_id}/suspend`)
  assert.equal(suspended.body['status'], 'suspended', suspended.text)

  for (const operation of shapes.filter(({ access }) => access !== 'anyone')) {
    const path = pathOf(operation) + queryOf(operation)
    for (const each of [key, bearer]) {
      const sent = { ...sentFor(operation), bearer: each }
      const reply = await send(url, operation.method, path, sent)
      assert.equal(reply.body['error'], 'account_suspended', `${operation.name}: ${reply.text}`)
      assert.equal(reply.status, 403)
    }
  }
  const body = { email, password: PASSWORD }
  assertRefused(await send(url, 'POST', '/v1/sessions', { body }), 403, 'account_suspended')
  const tool = { name: 'get_balance', arguments: {} }
  const response = await rpc(url, 'tools/call', tool, { bearer: agent.access_token })
  assert.match(response.text, /account_suspended/)

  assert.equal(await authorizeAtShop(account_id, card.id), '59', 'suspected fraud')
  const [declined] = await runtime.db.rows<{ decline_code: string }>(
    'select decline_code from transactions where card_id = $1 order by id desc limit 1',
    [card.id],
  )
  assert.equal(declined?.decline_code, 'account_suspended')

  await operate(url, 'POST', `/accounts/${account_id}/reinstate`)
  const balance = await callTool(url, 'get_balance', {}, agent.access_token)
  assert.equal(balance.isError, undefined, balance.content[0]?.text)
  assert.equal(await authorizeAtShop(account_id, card.id), '00')
  const capture = await follow(url, spender, { id: held.id, verb: 'capture' })
  assert.equal(capture.amount_usd, 10, 'an earlier approval is still captured')
  await assertBooksSound(runtime.db)
})
