import assert from 'node:assert/strict'
import { Console } from 'node:console'
import { Writable } from 'node:stream'
import { test } from 'node:test'
import { format, inspect } from 'node:util'
import { canonicalJson } from './canonical.ts'
import { Secret } from './secret.ts'

const HIDDEN = 'correct horse battery staple'
const secret = new Secret(HIDDEN)
const nested = { deep: [{ secret }], map: new Map([['k', secret]]), set: new Set([secret]) }

/** All that a console writes while it is used. */
function printed(use: (out: Console) => void): string {
  let text = ''
  const stream = new Writable({
    write: (chunk, _encoding, done) => {
      text += String(chunk)
      done()
    },
  })
  use(new Console(stream, stream))
  return text
}

test('a secret opens to its value', () => {
  assert.equal(secret.open(), HIDDEN)
  const bytes = new Uint8Array([1, 2, 3])
  assert.equal(new Secret(bytes).open(), bytes)
})

test('no conversion to text shows the secret', () => {
  const thrown = new Error(`with ${secret}`, { cause: secret })
  const texts = [
    `${secret}`,
    String(secret),
    secret.toString(),
    `a ${nested.deep}`,
    [secret, secret].join(),
    JSON.stringify(secret),
    JSON.stringify(nested),
    JSON.stringify({ secret }, null, 2),
    canonicalJson(nested),
    inspect(secret),
    inspect(nested, { depth: 20 }),
    inspect(secret, { showHidden: true, customInspect: false, getters: true, depth: 20 }),
    inspect(nested, { showHidden: true, customInspect: false, getters: true, depth: 20 }),
    inspect(thrown, { depth: 20 }),
    format('%s %o %O %j %d', secret, secret, secret, secret, secret),
    JSON.stringify(Object.entries(secret)),
    JSON.stringify(Object.getOwnPropertyDescriptors(secret)),
    JSON.stringify(structuredClone({ ...secret })),
    String(Object.getOwnPropertyNames(secret)),
    new URLSearchParams({ secret: String(secret) }).toString(),
  ]
  for (const text of texts) assert.ok(!text.includes('horse'), text)
  assert.equal(`${secret}`, '••••')
  assert.equal(JSON.stringify({ secret }), '{"secret":"••••"}')
  assert.equal(inspect(secret), '••••')
})

test('no console method shows the secret', () => {
  const text = printed((out) => {
    out.log(secret, nested)
    out.info('%s', secret)
    out.error(new Error('broken', { cause: secret }))
    out.dir(nested, { depth: 20, showHidden: true })
    out.table([{ secret }])
    out.trace(secret)
  })
  assert.ok(text.includes('••••'))
  assert.ok(!text.includes('horse'), text)
})

test('structuredClone does not copy the secret value', () => {
  const clone = structuredClone(secret) as unknown
  assert.deepEqual(clone, {})
})
