import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { after, test } from 'node:test'
import { connect as connectTls } from 'node:tls'
import { systemClock } from '#platform/runtime/clock.ts'
import { cardPeer, managementMessage } from '#test/support/card_peer.ts'
import { makeCertificates } from '#test/support/certificates.ts'
import { eventually } from '#test/support/eventually.ts'
import { hostSettings } from '#test/support/host_settings.ts'
import { insertBareCard, openIssuer, purchaseMessage } from '#test/support/issuer.ts'
import { type CardHostSettings, startCardHost } from './card_host.ts'
import { peerFilter } from './peers.ts'
import { issuerProbe } from './probe.ts'

let ahead_ms = 0
const real = systemClock()
const clock = { ...real, monotonic: () => real.monotonic() + ahead_ms }
const issuer = await openIssuer({ clock })
const card = await insertBareCard(issuer, { usd: 10 })
const file = await makeCertificates()

async function startHost(given: Partial<CardHostSettings>) {
  const settings = hostSettings(given)
  const host = await startCardHost({ ...issuer.host, clock }, settings)
  after(() => host.stop())
  const probe = issuerProbe({ port: host.port, link: issuer.host.link, clock, settings })
  // A busy machine can slow down a probe, and a slow host is reported as degraded.
  const isOperational = async () => (await probe()).status === 'operational'
  return { ...host, becomesOperational: () => eventually(isOperational, { within_ms: 20_000 }) }
}

const dial = (port: number, address = '127.0.0.1') =>
  cardPeer(connect({ port, host: '127.0.0.1', localAddress: address }))

const balance = async () => {
  const [row] = await issuer.db.rows<{ micros: string }>(
    `select balance_micros::text as micros from purse_balances
      where owner_id = $1 and kind = 'card'`,
    [card.id],
  )
  return row?.micros
}

test('before the sign-on every message gets a 91 and nothing is booked', async () => {
  const host = await startHost({ iso_sign_on: 'required' })
  const peer = dial(host.port)
  const refund = purchaseMessage(card, 500_000, { mti: '0220', fields: { 3: '200000' } })
  const reversal = purchaseMessage(card, 100, { mti: '0420' })
  const echo = managementMessage('301')
  peer.write(refund, purchaseMessage(card, 100), reversal, echo, managementMessage('002'))
  const responses = await peer.receive(5)
  assert.deepEqual(
    responses.map(({ mti, fields }) => [mti, fields[39]]),
    [
      ['0230', '91'],
      ['0110', '91'],
      ['0430', '91'],
      ['0810', '91'],
      ['0810', '91'],
    ],
  )
  assert.equal(await balance(), '10000000')
  const { length } = await issuer.db.rows('select identity from network_messages')
  assert.equal(length, 0)
  peer.write(managementMessage('001'), purchaseMessage(card, 100))
  assert.equal((await peer.receive(7))[6]?.fields[39], '00')
})

test('each connection must sign on for itself within ten seconds', async () => {
  const host = await startHost({ iso_sign_on: 'required' })
  const [signed, idle] = [dial(host.port), dial(host.port)]
  signed.write(managementMessage('001'))
  await signed.receive(1)
  idle.write(purchaseMessage(card, 100))
  assert.equal((await idle.receive(1))[0]?.fields[39], '91')
  ahead_ms += 10_000
  await idle.waitForClose()
  signed.write(managementMessage('301'))
  assert.equal((await signed.receive(2))[1]?.fields[39], '00')
})

test('only addresses on the allowlist may connect, and the probe stays operational', async () => {
  const host = await startHost({ iso_peers: ['127.0.0.2', '10.0.0.0/8'] })
  const stranger = dial(host.port)
  stranger.write(managementMessage('001'))
  await stranger.waitForClose()
  assert.equal(stranger.received.length, 0)
  const peer = dial(host.port, '127.0.0.2')
  peer.write(managementMessage('001'))
  assert.equal((await peer.receive(1))[0]?.fields[39], '00')
  assert(await host.becomesOperational())
})

test('the allowlist supports IPv4 and IPv6 addresses and networks', () => {
  const isPeer = peerFilter(['10.1.0.0/16', '192.0.2.7', '2001:db8::/32'])
  for (const peer of ['10.1.2.3', '192.0.2.7', '::ffff:10.1.2.3', '2001:db8::1']) {
    assert(isPeer(peer), peer)
  }
  for (const stranger of ['10.2.0.1', '192.0.2.8', '2001:db9::1', '', 'localhost']) {
    assert(!isPeer(stranger), stranger)
  }
})

test('connections beyond the maximum are refused without affecting the others', async () => {
  const host = await startHost({ iso_connections_max: 3 })
  const peers = [dial(host.port), dial(host.port), dial(host.port)]
  for (const peer of peers) peer.write(managementMessage('301'))
  for (const peer of peers) await peer.receive(1)
  const fourth = dial(host.port)
  await fourth.waitForClose()
  assert.equal(fourth.received.length, 0)
  peers[0]?.socket.destroy()
  const isFree = async () => {
    const next = dial(host.port)
    next.write(managementMessage('301'))
    return next.receive(1, 500).then(
      () => true,
      () => false,
    )
  }
  assert(await eventually(isFree, { within_ms: 20_000 }), 'a freed slot can be used again')
  peers[1]?.write(managementMessage('301'))
  await peers[1]?.receive(2)
})

test('an incomplete frame closes its connection after ten seconds', async () => {
  const host = await startHost({})
  const [slow, other] = [dial(host.port), dial(host.port)]
  slow.write(Buffer.from([0, 50, 0x30]))
  other.write(managementMessage('301'))
  await other.receive(1)
  for (let second = 0; second < 11 && !slow.isClosed(); second += 1) {
    ahead_ms += 1_000
    slow.write(Buffer.from([0x31]))
    await real.sleep(40)
    if (second === 4) assert(!slow.isClosed(), 'five seconds are not too long')
  }
  await slow.waitForClose()
  other.write(managementMessage('301'))
  await other.receive(2)
})

const certificateOf = (name: string) => ({
  cert: readFileSync(file(`${name}.crt`)),
  key: readFileSync(file(`${name}.key`)),
})

const mutual = {
  cert_file: file('localhost.crt'),
  key_file: file('localhost.key'),
  client_ca_file: file('authority.crt'),
}

function dialTls(port: number, client: object) {
  const ca = readFileSync(file('authority.crt'))
  const options = { port, host: '127.0.0.1', servername: 'localhost', ca }
  return cardPeer(connectTls({ ...options, ...client }))
}

test('over TLS only a peer with a certificate of the CA is served', async () => {
  const host = await startHost({ iso_tls: mutual, iso_sign_on: 'required' })
  const known = dialTls(host.port, certificateOf('peer'))
  known.write(managementMessage('001'), purchaseMessage(card, 100))
  assert.deepEqual(
    (await known.receive(2)).map(({ fields }) => fields[39]),
    ['00', '00'],
  )
  const strangers = [
    dialTls(host.port, {}),
    dialTls(host.port, certificateOf('stranger')),
    dialTls(host.port, { ...certificateOf('peer'), maxVersion: 'TLSv1.1', minVersion: 'TLSv1' }),
    dial(host.port),
  ]
  for (const stranger of strangers) stranger.write(managementMessage('001'))
  for (const stranger of strangers) await stranger.waitForClose(15_000)
  assert(strangers.every(({ received }) => received.length === 0))
  assert(await host.becomesOperational())
})

test('over TLS a peer that half-closes still gets its responses', async () => {
  const host = await startHost({ iso_tls: mutual })
  const peer = dialTls(host.port, { ...certificateOf('peer'), allowHalfOpen: true })
  peer.write(purchaseMessage(card, 100), purchaseMessage(card, 100))
  peer.socket.end()
  await peer.receive(2)
  await peer.waitForClose()
})

test('over TLS an unknown address is refused before the handshake', async () => {
  const host = await startHost({ iso_tls: mutual, iso_peers: ['127.0.0.2'] })
  const stranger = dialTls(host.port, certificateOf('peer'))
  await stranger.waitForClose()
  assert.equal(stranger.received.length, 0)
})

test('a notification gets no response and does not affect later messages', async () => {
  const host = await startHost({})
  const peer = dial(host.port)
  peer.write(purchaseMessage(card, 100, { mti: '0140' }), managementMessage('301'))
  const [response] = await peer.receive(1)
  assert.deepEqual([response?.mti, response?.fields[39]], ['0810', '00'])
  const broken = purchaseMessage(card, 100, { mti: '0140', fields: { 4: undefined } })
  peer.write(broken, managementMessage('301'))
  await peer.receive(2)
})
