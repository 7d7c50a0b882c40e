import assert from 'node:assert/strict'
import { resolve } from 'node:path'
import { test } from 'node:test'
import { inspect } from 'node:util'
import manifest from '#package.json' with { type: 'json' }
import { ConfigError } from '#platform/settings/environment.ts'
import { refuses } from '#test/support/refused_settings.ts'
import { readSettings } from './settings.ts'
import { DEFAULT_SPEND_LIMITS } from './spend_limit_settings.ts'

test('without any variable it is the sandbox, on loopback and the default ports', () => {
  const settings = readSettings({})
  assert.deepEqual(
    { ...settings, bins: settings.bins.map(({ bin }) => bin) },
    {
      ...settings,
      version: manifest.version,
      mode: 'sandbox',
      host: '127.0.0.1',
      port: 8080,
      iso_port: 8583,
      data_dir: resolve('./data'),
      database_url: null,
      public_url: 'http://127.0.0.1:8080',
      operator_token: null,
      rate_profile: 'default',
      trusted_proxies: [],
      redis_url: null,
      key_file: resolve('./data/keys.json'),
      spend_limits: DEFAULT_SPEND_LIMITS,
      bins: ['400000', '555555'],
    },
  )
})

test('every variable of the specification is read', () => {
  const settings = readSettings({
    FLORIN_PORT: '9090',
    FLORIN_ISO_PORT: '9583',
    FLORIN_DATA_DIR: '/tmp/florin',
    FLORIN_DATABASE_URL: 'postgres://u:p@db1:5432,db2:5433/florin',
    FLORIN_MODE: 'live',
    FLORIN_PUBLIC_URL: 'https://api.example.com/',
    FLORIN_OPERATOR_TOKEN: 'operator'.repeat(4),
    FLORIN_RATE_PROFILE: 'conservative',
    FLORIN_TRUSTED_PROXIES: '10.0.0.1, 192.168.0.0/16,::1',
    FLORIN_PAID_OPERATIONS: '{}',
    REDIS_URL: 'redis://127.0.0.1:6379',
  })
  assert.equal(settings.port, 9090)
  assert.equal(settings.iso_port, 9583)
  assert.equal(settings.data_dir, '/tmp/florin')
  assert.equal(settings.key_file, '/tmp/florin/keys.json')
  assert.equal(settings.database_url?.open(), 'postgres://u:p@db1:5432,db2:5433/florin')
  assert.equal(settings.mode, 'live')
  assert.equal(settings.public_url, 'https://api.example.com')
  assert.equal(settings.operator_token?.open(), 'operator'.repeat(4))
  assert.equal(settings.rate_profile, 'conservative')
  assert.deepEqual(settings.trusted_proxies, ['10.0.0.1', '192.168.0.0/16', '::1'])
  assert.equal(settings.redis_url?.open(), 'redis://127.0.0.1:6379')
  assert.equal(settings.host, '0.0.0.0')
})

test('an empty variable counts as unset', () => {
  const names = ['PORT', 'ISO_PORT', 'DATA_DIR', 'DATABASE_URL', 'MODE', 'PUBLIC_URL', 'BINS']
  const more = ['OPERATOR_TOKEN', 'RATE_PROFILE', 'TRUSTED_PROXIES', 'PAID_OPERATIONS', 'HOST']
  const last = ['SPEND_LIMITS', 'KEY_FILE']
  const empty = [...names, ...more, ...last].map((name) => [`FLORIN_${name}`, ''])
  assert.deepEqual(
    readSettings(Object.fromEntries([...empty, ['REDIS_URL', '']])),
    readSettings({}),
  )
})

const bad_values: Record<string, readonly string[]> = {
  FLORIN_PORT: ['x', '-1', '65536', '8080.5', '1e3', '0x50', ' 80', '８０'],
  FLORIN_ISO_PORT: ['x', '-1', '65536', '8583 '],
  FLORIN_ISO_PEERS: ['everyone', '10.0.0.256', '10.0.0.0/33', '*'],
  FLORIN_ISO_CONNECTIONS_MAX: ['0', '-1', '1.5', 'x', '65536'],
  FLORIN_ISO_SIGN_ON: ['yes', 'REQUIRED'],
  FLORIN_MODE: ['Sandbox', 'production', 'live '],
  FLORIN_PUBLIC_URL: [
    ...['example.com', 'ftp://example.com', '/path', 'https://', 'javascript:0'],
    ...['https://a@example.com', 'https://example.com?a=b', 'https://example.com/#top'],
  ],
  FLORIN_SMTP_URL: ['http://h', 'smtp:h', 'smtp://', 'smtps://:25'],
  FLORIN_PKCS11_TOKEN: ['florin'],
  FLORIN_PKCS11_SIGNER_KEY_ID: ['01'],
  FLORIN_RISK: [
    '{"refund_review_usd":0.1234567}',
    '{"withdrawal_review_usd":1e300}',
    '{"balance_max_usd":-1}',
    '{"withdrawal_cooldown_hours":1e12}',
    '{"provisional_credit_days":100001}',
    '{"blocked_countries":[["US"]]}',
  ],
  FLORIN_RATE_PROFILE: ['none', 'OFF', 'default,off'],
  FLORIN_DATABASE_URL: [
    ...['nonsense', 'mysql://h/db', '127.0.0.1:5432', 'postgres://'],
    ...['postgres://u:p@h:port/db', 'postgres://h:65536/db', 'postgres://a:5432,b:x/db'],
  ],
  FLORIN_CELLS: [
    'x',
    '{}',
    '[1]',
    '[{"number":1}]',
    '[{"number":128,"url":"postgres://h/db"}]',
    '[{"number":-1,"url":"postgres://h/db"}]',
    '[{"number":1.5,"url":"postgres://h/db"}]',
    '[{"number":1,"url":"mysql://h/db"}]',
    '[{"number":1,"url":"postgres://h/db","size":3}]',
    '[{"number":1,"url":"postgres://h/db"},{"number":1,"url":"postgres://h/other"}]',
    '[{"number":1,"url":"postgres://h/db"},{"number":2,"url":"postgres://h/db"}]',
    '[{"number":1,"url":"postgres://a@h/db"},{"number":2,"url":"postgres://b@h/db"}]',
    '[{"number":1,"url":"postgres://h/db","schema":""}]',
    '[{"number":1,"url":"postgres://h/db","schema":1}]',
    '[{"number":1,"url":"postgres://h/db","schema":"Cell"}]',
    '[{"number":1,"url":"postgres://h/db","schema":"a,b"}]',
    '[{"number":1,"url":"postgres://h/db","schema":"pg_cell"}]',
    '[{"number":1,"url":"postgres://h/db?options=-c%20jit%3Doff","schema":"cell_1"}]',
    '[{"number":1,"url":"postgres://h/db?options=-c%20search_path%3DCell"}]',
    '[{"number":1,"url":"postgres://h/db?options=-c%20search_path%3Da","account_url":"postgres://h/db"}]',
  ],
  FLORIN_TRUSTED_PROXIES: ['everyone', '10.0.0.256', '10.0.0.0/33', '10.0.0.1,x', '::1/129', '*'],
  FLORIN_PAID_OPERATIONS: [
    '[]',
    'x',
    '{"get_acount":"0.01"}',
    '{"get_account":"0"}',
    '{"get_account":"-1"}',
    '{"get_account":"0.0000001"}',
    '{"get_account":"a dollar"}',
    '{"get_account":null}',
    '{"get_account":"1000000"}',
  ],
  FLORIN_X402_PAY_TO: ['0x1', 'TQn9Y2khEsLJW1ChVWFMSMeRDow5KcbLSE'],
  FLORIN_X402_RPC_URL: ['127.0.0.1:8545', 'ws://127.0.0.1'],
  FLORIN_X402_NATIVE_USD: ['0', 'x', '-1'],
  REDIS_URL: ['redis://h:port', 'nonsense', 'http://127.0.0.1:6379', '127.0.0.1:6379'],
  FLORIN_SPEND_LIMITS: [
    'x',
    'null',
    '[]',
    '5',
    '"text"',
    '{"cards_max":"9"}',
    '{"cards_max":-1}',
    '{"cards_max":1e400}',
    '{"cards_max":null}',
    '{"load_max_usd":0.1234567}',
    '{"load_max_usd":1e300}',
    '{"load_max_usd":0.5}',
    '{"topup_min_usd":60000}',
    '{"withdrawal_min_usd":20,"withdrawal_max_usd":19.99}',
    '{"unknown":1}',
    '{"toString":1}',
    '{"__proto__":1}',
  ],
}

for (const [name, values] of Object.entries(bad_values)) {
  test(`each invalid value of ${name} stops the start with a sentence that names it`, () => {
    for (const value of values) refuses({ [name]: value }, name)
  })
}

test('each invalid list of card ranges stops a live start with a sentence', () => {
  const live = { FLORIN_MODE: 'live', FLORIN_PUBLIC_URL: 'https://api.example.com' }
  const fine = { bin: '41111111', brand: 'visa', types: ['virtual'], default: true }
  const bad = [
    'x',
    'null',
    '{}',
    '5',
    '[5]',
    '[null]',
    ...[{ bin: '4' }, { bin: 411111 }, { brand: 'amex' }, { types: [] }, { types: ['paper'] }].map(
      (wrong) => JSON.stringify([{ ...fine, ...wrong }]),
    ),
    JSON.stringify([{ ...fine, default: 'yes' }]),
    JSON.stringify([{ ...fine, colour: 'red' }]),
    JSON.stringify([fine, fine]),
  ]
  for (const value of bad) refuses({ ...live, FLORIN_BINS: value }, 'FLORIN_BINS')
  assert.deepEqual(readSettings({ ...live, FLORIN_BINS: JSON.stringify([fine]) }).bins, [fine])
  assert.deepEqual(readSettings(live).bins, [])
})

test('password hashing takes 19 MiB, and in live mode never less', () => {
  const live = { FLORIN_MODE: 'live', FLORIN_PUBLIC_URL: 'https://api.example.com' }
  assert.equal(readSettings(live).password_hash_mib, 19)
  assert.equal(readSettings({ ...live, FLORIN_PASSWORD_HASH_MIB: '64' }).password_hash_mib, 64)
  refuses({ ...live, FLORIN_PASSWORD_HASH_MIB: '18' }, 'FLORIN_PASSWORD_HASH_MIB')
  assert.equal(readSettings({ FLORIN_PASSWORD_HASH_MIB: '1' }).password_hash_mib, 1)
  for (const value of ['0', '1.5', '2000', 'much']) {
    refuses({ FLORIN_PASSWORD_HASH_MIB: value }, 'FLORIN_PASSWORD_HASH_MIB')
  }
})

test('rate limits cannot be turned off in live mode', () => {
  refuses({ FLORIN_MODE: 'live', FLORIN_RATE_PROFILE: 'off' }, 'FLORIN_RATE_PROFILE=off')
  assert.equal(readSettings({ FLORIN_RATE_PROFILE: 'off' }).rate_profile, 'off')
})

test('live mode requires an https public URL', () => {
  refuses({ FLORIN_MODE: 'live' }, 'FLORIN_PUBLIC_URL')
  for (const url of ['http://api.example.com', 'http://127.0.0.1:8080']) {
    refuses({ FLORIN_MODE: 'live', FLORIN_PUBLIC_URL: url }, 'FLORIN_PUBLIC_URL')
  }
})

test('live mode refuses a short operator token', () => {
  const live = { FLORIN_MODE: 'live', FLORIN_PUBLIC_URL: 'https://api.example.com' }
  for (const token of ['x', 'operator', 'a'.repeat(31)]) {
    refuses({ ...live, FLORIN_OPERATOR_TOKEN: token }, 'FLORIN_OPERATOR_TOKEN')
  }
  const long = 'a'.repeat(32)
  assert.equal(readSettings({ ...live, FLORIN_OPERATOR_TOKEN: long }).operator_token?.open(), long)
  assert.equal(readSettings({ FLORIN_OPERATOR_TOKEN: 'x' }).operator_token?.open(), 'x')
})

test('the live console has its own host, by default loopback', () => {
  const live = { FLORIN_MODE: 'live', FLORIN_PUBLIC_URL: 'https://api.example.com' }
  assert.equal(readSettings({ ...live, FLORIN_PORT: '9090' }).operator_url, 'http://127.0.0.1:9090')
  assert.equal(readSettings({}).operator_url, null)
  const bad = [
    'ops',
    'http://ops.example',
    'https://ops.example/console',
    'https://api.example.com',
  ]
  for (const url of bad) refuses({ ...live, FLORIN_OPERATOR_URL: url }, 'FLORIN_OPERATOR_URL')
  const own = { ...live, FLORIN_OPERATOR_URL: 'https://ops.example' }
  assert.equal(readSettings(own).operator_url, 'https://ops.example')
})

test('operator tokens expire after 90 days by default; in live mode the first one too', () => {
  const live = { FLORIN_MODE: 'live', FLORIN_PUBLIC_URL: 'https://api.example.com' }
  const termsOf = (env: Record<string, string>) => {
    const { operator_token_days, first_operator_token_days } = readSettings(env)
    return [operator_token_days, first_operator_token_days]
  }
  assert.deepEqual(termsOf({}), [90, null])
  assert.deepEqual(termsOf({ ...live, FLORIN_OPERATOR_TOKEN_DAYS: '7' }), [7, 7])
  for (const days of ['0', '-1', '1.5', 'ten', '4000']) {
    refuses({ FLORIN_OPERATOR_TOKEN_DAYS: days }, 'FLORIN_OPERATOR_TOKEN_DAYS')
  }
})

test('spend limits can be set individually; the others keep their default', () => {
  const { spend_limits } = readSettings({ FLORIN_SPEND_LIMITS: '{"cards_max":3,"load_min_usd":0}' })
  assert.deepEqual(spend_limits, { ...DEFAULT_SPEND_LIMITS, cards_max: 3, load_min_usd: 0 })
})

test('printing the settings shows no secret', () => {
  const settings = readSettings({
    FLORIN_DATABASE_URL: 'postgres://u:hidden@127.0.0.1/florin',
    FLORIN_OPERATOR_TOKEN: 'hidden',
    REDIS_URL: 'redis://:hidden@127.0.0.1',
  })
  for (const text of [JSON.stringify(settings), inspect(settings, { depth: 9 })]) {
    assert.ok(!text.includes('hidden'), text)
  }
})

test('an error does not repeat the password of the invalid value', () => {
  const bad = [
    { FLORIN_DATABASE_URL: 'mysql://u:hidden@h/db' },
    { REDIS_URL: 'http://:hidden@h' },
  ] as Record<string, string>[]
  for (const env of bad) {
    assert.throws(
      () => readSettings(env),
      (cause) => cause instanceof ConfigError && !cause.message.includes('hidden'),
    )
  }
})

test('prices are parsed exactly, digit by digit', () => {
  const given = { issue_card: '0.50', get_card: 0.000001, create_account: '1e-1' }
  const { prices } = readSettings({ FLORIN_PAID_OPERATIONS: JSON.stringify(given) }).x402
  assert.deepEqual(
    [...prices],
    [
      ['issue_card', 500_000n],
      ['get_card', 1n],
      ['create_account', 100_000n],
    ],
  )
})

test('in live mode a price that cannot be collected stops the start', () => {
  const live = {
    FLORIN_MODE: 'live',
    FLORIN_PUBLIC_URL: 'https://api.example.com',
    FLORIN_PAID_OPERATIONS: '{"issue_card": "0.50"}',
  }
  const pay_to = { FLORIN_X402_PAY_TO: `0x${'ab'.repeat(20)}` }
  const own = { FLORIN_X402_RPC_URL: 'https://base.example.com', FLORIN_X402_KEY_FILE: '/k' }
  assert.throws(() => readSettings(live), ConfigError)
  assert.throws(() => readSettings({ ...live, ...own }), ConfigError)
  assert.throws(() => readSettings({ ...live, ...pay_to }), ConfigError)
  assert.equal(readSettings({ ...live, ...pay_to, ...own }).x402.prices.size, 1)
  const remote = { FLORIN_X402_FACILITATOR_URL: 'https://facilitator.example.com/' }
  const { facilitator_url } = readSettings({ ...live, ...pay_to, ...remote }).x402
  assert.equal(facilitator_url, 'https://facilitator.example.com')
})

test('unless a number is set, workers use all cores but one, and at most eight', () => {
  const onCores = (cores: number) => readSettings({}, cores).workers
  assert.deepEqual([1, 2, 3, 4, 8, 9, 10, 128].map(onCores), [1, 1, 2, 3, 7, 8, 8, 8])
  assert.equal(readSettings({ FLORIN_WORKERS: '' }, 4).workers, 3)
  assert.equal(readSettings({ FLORIN_WORKERS: '12' }, 4).workers, 12)
  assert.equal(readSettings({ FLORIN_WORKERS: '1' }, 16).workers, 1)
  for (const FLORIN_WORKERS of ['0', '65', '1.5', 'all', '-1']) {
    refuses({ FLORIN_WORKERS }, 'FLORIN_WORKERS')
  }
})
