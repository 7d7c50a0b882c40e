import assert from 'node:assert/strict'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { openConnection } from '#sandbox/card_network.ts'
import { mistype } from '#test/support/calls.ts'
import { issueCard, openHolder } from '#test/support/cards.ts'
import { send } from '#test/support/http.ts'
import { purchaseMessage } from '#test/support/issuer.ts'
import { recordingLog } from '#test/support/leaks.ts'
import { rpc } from '#test/support/mcp.ts'
import { printedCard } from '#test/support/mixed_storm_calls.ts'
import { PASSWORD } from '#test/support/people.ts'
import { PostgresPair } from '#test/support/postgres_pair.ts'
import { startReceiver } from '#test/support/receiver.ts'
import { startTestService } from '#test/support/start.ts'
import { subscribe } from '#test/support/webhooks.ts'

const folder = await mkdtemp(join(tmpdir(), 'florin_secrets_'))
const pair = await PostgresPair.start(folder)
after(async () => {
  await pair.stop()
  await rm(folder, { recursive: true, force: true, maxRetries: 5 })
})
const kept = recordingLog()
const service = await startTestService({ database_url: pair.url, dependencies: { log: kept.log } })
const { url } = service

/** `plain` is no secret: it is found where the secrets are not, so the search works. */
type PlantedSecrets = { secrets: Record<string, string>; shown: string[]; plain: string }

/** Uses every secret on every path that takes it, the wrong ones included. */
async function plantSecrets(): Promise<PlantedSecrets> {
  const holder = await openHolder(service, 100)
  const receiver = await startReceiver()
  const { secret } = await subscribe(url, holder, { url: receiver.url })
  const { id } = await issueCard(url, holder.key, { load_usd: 50 })
  const card = await printedCard(service, holder, id)
  const totp = await send(url, 'POST', '/v1/accounts/me/totp', {
    bearer: holder.bearer,
    body: {},
  })
  assert.equal(totp.status, 200, totp.text)
  const line = await openConnection(service.sandbox_host.card_host_port)
  const track = `${card.pan}=${card.expiry}2010000000000`
  const message = purchaseMessage(card, 100, { fields: { 35: track } })
  const { fields } = await line.send(message)
  assert.equal(fields[39], '00')
  line.end()
  const revealed = await send(url, 'GET', `/v1/cards/${id}/pan`, {
    bearer: holder.key,
    key: 'kept',
  })
  assert.equal(revealed.body['pan'], card.pan)
  await receiver.waitFor(2, 10_000)
  const wrong = mistype(holder.key)
  const replies = [
    await send(url, 'GET', '/v1/accounts/me', { bearer: wrong }),
    await send(url, 'GET', `/v1/cards/${card.pan}`, { bearer: holder.key }),
    await send(url, 'GET', `/v1/cards?name=${card.pan}`, { bearer: holder.key }),
    await send(url, 'POST', '/v1/sessions', { body: { email: holder.email, password: card.pan } }),
    await rpc(url, 'tools/call', { name: 'list_cards', arguments: {} }, { bearer: holder.bearer }),
    await send(url, 'GET', '/metrics'),
  ]
  const secrets = {
    'card number': card.pan,
    'track data': track,
    'API key': holder.key,
    session: holder.bearer,
    'webhook secret': secret,
    'TOTP secret': String(totp.body['secret']),
    password: PASSWORD,
  }
  return {
    secrets,
    plain: holder.email,
    shown: [...replies.map(({ text }) => text), ...receiver.received.map(({ body }) => body)],
  }
}

/** The forms in which a value could have been written. */
const formsOf = (value: string) => [
  value,
  Buffer.from(value).toString('hex'),
  Buffer.from(value).toString('base64').replace(/=+$/, ''),
]

test('no secret is in the files of the database, its log, our log, responses or deliveries', async (t) => {
  const { secrets, shown, plain } = await plantSecrets()
  await pair.query('checkpoint')
  const files = await readdir(folder, { recursive: true, withFileTypes: true })
  const own = [join(folder, 'postgres_password')]
  let bytes = 0
  let places_of_plain = 0
  const texts = new Map<string, Buffer>([
    ['our log', Buffer.from(kept.text())],
    ['what was shown', Buffer.from(shown.join('\n'))],
  ])
  const check = (place: string, content: Buffer) => {
    bytes += content.length
    if (content.includes(plain)) places_of_plain += 1
    for (const [name, value] of Object.entries(secrets)) {
      assert(value.length >= 8, `${name} was planted`)
      for (const form of formsOf(value)) {
        assert.equal(content.includes(form), false, `the ${name} is in ${place}`)
      }
    }
  }
  for (const [place, content] of texts) check(place, content)
  const cards = await pair.query('select count(*)::int as n from cards')
  assert.deepEqual(cards, [{ n: 1 }])
  for (const entry of files) {
    const path = join(entry.parentPath, entry.name)
    if (entry.isFile() && !own.includes(path))
      check(path, await readFile(path).catch(() => Buffer.alloc(0)))
  }
  assert(bytes > 40_000_000, 'tables and write-ahead log were read')
  assert(places_of_plain >= 2, 'the email is in a table and in the log')
  t.diagnostic(`${(bytes / 1e6).toFixed(0)} MB searched, 0 hits`)
})
