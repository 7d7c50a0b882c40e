import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { IsoTls } from '#settings/iso_settings.ts'
import { readSettings, type Settings } from '#settings/settings.ts'
import { makeCertificates } from '#test/support/certificates.ts'
import { cardLinkChecks } from './card_link_checks.ts'
import { runCheck } from './check.ts'

const sandbox = readSettings({})
/** A card host on all addresses whose peers sign on first. */
const live = { mode: 'live', iso_host: '0.0.0.0', iso_sign_on: 'required' } as const
const pathOf = await makeCertificates()
const own = { cert_file: pathOf('localhost.crt'), key_file: pathOf('localhost.key') }

async function find(name: string, settings: Partial<Settings>) {
  const checks = cardLinkChecks({ ...sandbox, ...settings })
  const check = checks.find((each) => each.name === name)
  assert(check !== undefined, name)
  const { state, found } = await runCheck(check)
  return { state, found }
}

test('the open card link of a sandbox is a note, and of a live service a fault', async () => {
  assert.equal((await find('card link access', { ...live, mode: 'sandbox' })).state, 'note')
  const { state, found } = await find('card link access', live)
  assert.equal(state, 'wrong')
  assert.match(found, /would listen on 0\.0\.0\.0 without client certificates/)
})

test('client certificates are shown with the peers; protection by something else is a note', async () => {
  const iso_tls: IsoTls = { ...own, client_ca_file: pathOf('authority.crt') }
  const safe = await find('card link access', { ...live, iso_tls, iso_peers: ['10.0.0.7'] })
  assert.equal(safe.state, 'ok')
  assert.match(safe.found, /^client certificates, open to 10\.0\.0\.7;/)
  const behind = { ...live, iso_protected_by: 'vpn', iso_peers: ['10.0.0.7'] } as const
  assert.equal((await find('card link access', behind)).state, 'note')
})

test('a certificate with the key of another one is a fault', async () => {
  const good = await find('card link certificate', { iso_tls: { ...own, client_ca_file: null } })
  assert.equal(good.state, 'ok')
  const iso_tls: IsoTls = { ...own, key_file: pathOf('peer.key'), client_ca_file: null }
  const { state, found } = await find('card link certificate', { iso_tls })
  assert.equal(state, 'wrong')
  assert.match(found, /peer\.key is not the key of/)
  const missing: IsoTls = { ...own, cert_file: pathOf('none.crt'), client_ca_file: null }
  assert.match((await find('card link certificate', { iso_tls: missing })).found, /ENOENT/)
})

test('without TLS there is no certificate to check', () => {
  const names = cardLinkChecks({ ...sandbox, iso_tls: null }).map(({ name }) => name)
  assert.deepEqual(names, ['card link access', 'refund review'])
})

test('refunds without a purchase need a limit in live mode only', async () => {
  const unlimited = { risk: { ...sandbox.risk, refund_review_usd: null } }
  assert.equal((await find('refund review', unlimited)).state, 'note')
  assert.equal((await find('refund review', { ...unlimited, mode: 'live' })).state, 'wrong')
  const limited = { risk: { ...sandbox.risk, refund_review_usd: 50 } }
  assert.deepEqual(await find('refund review', { ...limited, mode: 'live' }), {
    state: 'ok',
    found: 'refunds without a purchase are credited up to 50 USD each',
  })
})
