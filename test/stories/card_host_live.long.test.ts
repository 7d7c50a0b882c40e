import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeCertificates } from '#test/support/certificates.ts'
import { florin } from '#test/support/florin_process.ts'

const file = await makeCertificates()

const live = {
  FLORIN_MODE: 'live',
  FLORIN_PUBLIC_URL: 'https://cards.example',
  // Nothing is running: the doctor reports it and continues.
  FLORIN_DATABASE_URL: 'postgres://nobody@127.0.0.1:9/none',
}
const open = { ...live, FLORIN_ISO_HOST: '0.0.0.0', FLORIN_ISO_PEERS: '192.0.2.10' }
const mutual = {
  FLORIN_ISO_TLS_CERT_FILE: file('localhost.crt'),
  FLORIN_ISO_TLS_KEY_FILE: file('localhost.key'),
  FLORIN_ISO_TLS_CLIENT_CA_FILE: file('authority.crt'),
}

type Finding = { name: string; state: string; found: string; cure: string | null }

async function doctorOn(env: Record<string, string>) {
  const { stdout } = await florin(['doctor', '--json'], env)
  return new Map((JSON.parse(stdout) as Finding[]).map((each) => [each.name, each]))
}

test('live mode does not start with a card host that anybody could use', async () => {
  const started = await florin(['start'], open)
  assert.notEqual(started.code, 0)
  assert.match(started.stderr, /FLORIN_ISO_PROTECTED_BY/)
  const unlisted = { ...live, ...mutual, FLORIN_ISO_HOST: '0.0.0.0' }
  const everyone = await florin(['start'], unlisted)
  assert.notEqual(everyone.code, 0)
  assert.match(everyone.stderr, /FLORIN_ISO_PEERS/)
  assert.match((await doctorOn(open)).get('settings')?.found ?? '', /client certificates/)
})

test('the doctor reports who can reach a live card host and checks its certificates', async () => {
  const findings = await doctorOn({ ...open, ...mutual })
  const access = findings.get('card link access')
  assert.equal(access?.state, 'ok', JSON.stringify(access))
  assert.match(access?.found ?? '', /client certificates, open to 192\.0\.2\.10.*sign-on first/)
  const certificate = findings.get('card link certificate')
  assert.equal(certificate?.state, 'ok', JSON.stringify(certificate))
  const crossed = { ...open, ...mutual, FLORIN_ISO_TLS_KEY_FILE: file('peer.key') }
  const wrong = (await doctorOn(crossed)).get('card link certificate')
  assert.equal(wrong?.state, 'wrong')
  assert.match(wrong?.found ?? '', /is not the key of/)
})

test('the doctor fails if live refunds have no review limit', async () => {
  const findings = await doctorOn(live)
  assert.equal(findings.get('refund review')?.state, 'ok')
  assert.match(findings.get('refund review')?.found ?? '', /up to 0 USD/)
  const careless = await doctorOn({ ...live, FLORIN_RISK: '{"refund_review_usd": null}' })
  assert.equal(careless.get('refund review')?.state, 'wrong')
})

test('the doctor notes a link that is protected by other means', async () => {
  const findings = await doctorOn({ ...open, FLORIN_ISO_PROTECTED_BY: 'IPsec to the processor' })
  const access = findings.get('card link access')
  assert.equal(access?.state, 'note')
  assert.match(access?.found ?? '', /IPsec to the processor/)
})
