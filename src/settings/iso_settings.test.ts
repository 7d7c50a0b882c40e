import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ConfigError } from '#platform/settings/environment.ts'
import { readSettings } from './settings.ts'

/** The start fails with a sentence that names the setting. */
function refuses(env: Record<string, string>, named: string): void {
  const isNamed = (cause: unknown) => cause instanceof ConfigError && cause.message.includes(named)
  assert.throws(() => readSettings(env), isNamed)
}

const live = { FLORIN_MODE: 'live', FLORIN_PUBLIC_URL: 'https://api.example.com' }
const mutual = {
  FLORIN_ISO_TLS_CERT_FILE: '/etc/florin/iso.crt',
  FLORIN_ISO_TLS_KEY_FILE: '/etc/florin/iso.key',
  FLORIN_ISO_TLS_CLIENT_CA_FILE: '/etc/florin/network_ca.crt',
}
const peers = { FLORIN_ISO_PEERS: '192.0.2.10,198.51.100.0/24' }

test('a live card host listens on loopback by default and requires a sign-on', () => {
  const { iso_host, iso_sign_on, iso_connections_max } = readSettings(live)
  assert.deepEqual([iso_host, iso_sign_on, iso_connections_max], ['127.0.0.1', 'required', 512])
  refuses({ ...live, FLORIN_ISO_SIGN_ON: 'optional' }, 'FLORIN_ISO_SIGN_ON')
})

for (const host of ['0.0.0.0', '::', '10.0.0.5', 'cards.internal', '127.0.0.1.example.com']) {
  test(`a live card host on ${host} needs client certificates or a named protection`, () => {
    const open = { ...live, ...peers, FLORIN_ISO_HOST: host }
    refuses(open, 'FLORIN_ISO_PROTECTED_BY')
    const { FLORIN_ISO_TLS_CLIENT_CA_FILE: _ca, ...one_sided } = mutual
    refuses({ ...open, ...one_sided }, 'FLORIN_ISO_TLS_CLIENT_CA_FILE')
    refuses({ ...open, FLORIN_ISO_PROTECTED_BY: '  ' }, 'FLORIN_ISO_PROTECTED_BY')
    assert.equal(readSettings({ ...open, ...mutual }).iso_host, host)
    const named = readSettings({ ...open, FLORIN_ISO_PROTECTED_BY: 'IPsec to the processor' })
    assert.equal(named.iso_protected_by, 'IPsec to the processor')
  })

  test(`a live card host on ${host} needs a list of peers that excludes 0.0.0.0/0`, () => {
    const listening = { ...live, ...mutual, FLORIN_ISO_HOST: host }
    refuses(listening, 'FLORIN_ISO_PEERS')
    for (const everyone of ['0.0.0.0/0', '::/0', '192.0.2.10,0.0.0.0/0']) {
      refuses({ ...listening, FLORIN_ISO_PEERS: everyone }, 'FLORIN_ISO_PEERS')
    }
    const { iso_peers } = readSettings({ ...listening, ...peers })
    assert.deepEqual(iso_peers, ['192.0.2.10', '198.51.100.0/24'])
  })
}

test('the sandbox listens on loopback, with an optional sign-on', () => {
  const { iso_host, iso_sign_on, iso_peers } = readSettings({})
  assert.deepEqual([iso_host, iso_sign_on, iso_peers], ['127.0.0.1', 'optional', []])
  assert.equal(readSettings({ FLORIN_ISO_SIGN_ON: 'required' }).iso_sign_on, 'required')
})
