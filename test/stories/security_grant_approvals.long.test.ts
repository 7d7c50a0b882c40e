import assert from 'node:assert/strict'
import { test } from 'node:test'
import { signatureOf } from '#doors/processor/signature.ts'
import { authorize, registerAgent, startAgentService } from '#test/support/agent.ts'
import { eventually } from '#test/support/eventually.ts'
import { send } from '#test/support/http.ts'
import { type Receiver, startReceiver } from '#test/support/receiver.ts'
import { openSpender } from '#test/support/spending.ts'
import { subscribe } from '#test/support/webhooks.ts'

const SECRET = 'a secret that is long enough to be one'
const service = await startAgentService({
  env: { FLORIN_PROCESSORS: JSON.stringify({ acme: SECRET }) },
})
const { url } = service
const SCOPES = ['webhook:write', 'card:control']
const CHALLENGE = 'three_ds.challenge'

const SALE = {
  amounts: { transaction: 2_500, currency: 'USD' },
  merchant: { name: 'Shop', mcc: '5942' },
}

function askAcme(method: 'GET' | 'POST', path: string, body?: object) {
  const raw = body === undefined ? '' : JSON.stringify(body)
  const unix_s = Math.floor(Date.now() / 1_000)
  const headers = {
    'processor-signature': signatureOf(SECRET, Buffer.from(raw), unix_s),
    ...(body !== undefined && { 'content-type': 'application/json' }),
  }
  return send(url, method, `/processor/acme/${path}`, { ...(body && { raw }), headers })
}

type Spender = Awaited<ReturnType<typeof openSpender>>

/** A challenge that one of the account's receivers approves in its response. */
async function openApproved({ card }: Spender): Promise<string> {
  const opened = await askAcme('POST', 'threeds', { ...SALE, card: { token: card.id } })
  const id = String(opened.body['challenge_id'])
  const isApproved = async () =>
    (await askAcme('GET', `threeds/${id}`)).body['trans_status'] === 'Y'
  assert(await eventually(isApproved, { within_ms: 20_000 }))
  return id
}

async function buyWith({ card }: Spender, challenge_id: string) {
  const bought = await askAcme('POST', 'authorizations', {
    ...SALE,
    id: `m_${challenge_id}`,
    type: 'authorization',
    card: { token: card.id },
    verification: { challenge_id },
  })
  return bought.body['decline_code'] ?? bought.body['decision']
}

const approving: Receiver['respond'] = (response, { event }) => {
  const { challenge_id } = event.data.object
  response.end(JSON.stringify({ challenge_id, decision: 'approve' }))
}

async function startApprover(): Promise<Receiver> {
  const receiver = await startReceiver()
  receiver.respond = approving
  return receiver
}

async function openAgent() {
  const owner = await openSpender(service, { usd: 100 })
  const agent = await registerAgent(url)
  const asking = { scope: SCOPES.join(' '), scopes: SCOPES, resource: `${url}/v1` }
  const { access_token } = await authorize(agent, owner, asking)
  const receiver = await startApprover()
  const bearer = { bearer: access_token }
  const webhook = await subscribe(url, bearer, { url: receiver.url, events: [CHALLENGE] })
  const grants = await send(url, 'GET', '/oauth/grants', { bearer: owner.bearer })
  const grant_id = String(grants.body['data'][0].id)
  const revoke = () => send(url, 'DELETE', `/oauth/grants/${grant_id}`, { bearer: owner.bearer })
  const takeBack = (scopes: string[]) => authorize(agent, owner, { ...asking, scopes })
  return { owner, access_token, webhook, revoke, takeBack }
}

type OpenedAgent = Awaited<ReturnType<typeof openAgent>>

const endings: Record<string, (opened: OpenedAgent) => Promise<unknown>> = {
  'its grant is revoked': ({ revoke }) => revoke(),
  'it deleted its webhook and its grant is revoked': async ({ access_token, webhook, revoke }) => {
    await send(url, 'DELETE', `/v1/webhooks/${webhook.id}`, { bearer: access_token })
    await revoke()
  },
  'its owner withdraws webhook:write': ({ takeBack }) => takeBack(['card:control']),
  'its owner withdraws card:control': ({ takeBack }) => takeBack(['webhook:write']),
}

for (const [ending, end] of Object.entries(endings)) {
  test(`an agent’s unused approval of a purchase is void when ${ending}`, async () => {
    const opened = await openAgent()
    const [used, unused] = [await openApproved(opened.owner), await openApproved(opened.owner)]
    assert.equal(await buyWith(opened.owner, used), 'approve')
    await end(opened)
    assert.equal(await buyWith(opened.owner, unused), 'three_ds_timeout')
  })
}

test('an approval that the agent was not asked for is not affected by the end of its grant', async () => {
  const owner = await openSpender(service, { usd: 100 })
  const receiver = await startApprover()
  await subscribe(url, owner, { url: receiver.url, events: [CHALLENGE] })
  const challenge_id = await openApproved(owner)
  const agent = await registerAgent(url)
  await authorize(agent, owner, { scope: SCOPES.join(' '), scopes: SCOPES, resource: `${url}/v1` })
  const grants = await send(url, 'GET', '/oauth/grants', { bearer: owner.bearer })
  await send(url, 'DELETE', `/oauth/grants/${grants.body['data'][0].id}`, { bearer: owner.bearer })
  assert.equal(await buyWith(owner, challenge_id), 'approve')
})
