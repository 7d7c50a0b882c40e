import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { default_ports, isPublicAddress, requireAllowedUrl } from './address_rules.ts'

const seed = Number(process.env['FC_SEED'] ?? randomInt(2 ** 31 - 1))
const runs = { seed, numRuns: 2000 }
const rules = { allow_loopback_http: false, ports: default_ports }

const special = ['0', '10', '100.64', '127', '169.254', '172.16', '192.168', '198.18', '224', '240']

/** Half of them inside special ranges: random numbers alone are public most of the time. */
const octets = fc
  .tuple(fc.constantFrom('', ...special), fc.array(fc.nat(255), { minLength: 4, maxLength: 4 }))
  .map(([head, tail]) => {
    const fixed = head === '' ? [] : head.split('.').map(Number)
    return [...fixed, ...tail].slice(0, 4)
  })

const octet = (from: readonly number[], index: number): number => from[index] ?? 0
const hexPair = (from: readonly number[], index: number): number =>
  octet(from, index) * 256 + octet(from, index + 1)

/** Every way to write the last 32 bits of a v6 address. */
function tailsOf(from: readonly number[]): string[] {
  const [high, low] = [hexPair(from, 0).toString(16), hexPair(from, 2).toString(16)]
  return [
    from.join('.'),
    `${high}:${low}`,
    `${high.toUpperCase()}:${low.toUpperCase()}`,
    `${high.padStart(4, '0')}:${low.padStart(4, '0')}`,
  ]
}

test('a mapped or NAT64 address is judged like the IPv4 address inside, in any spelling', (t) => {
  t.diagnostic(`seed ${seed}`)
  const mapped = [
    '::ffff:',
    '::FFFF:',
    '0:0:0:0:0:ffff:',
    '0000::FfFf:',
    '0:0::0:ffff:',
    '0::ffff:',
  ]
  const nat64 = ['64:ff9b::', '64:FF9B::', '0064:ff9b:0:0:0:0:', '64:ff9b:0::0:']
  fc.assert(
    fc.property(octets, fc.constantFrom(...mapped, ...nat64), (from, prefix) => {
      const expected = isPublicAddress(from.join('.'))
      for (const tail of tailsOf(from)) assert.equal(isPublicAddress(`${prefix}${tail}`), expected)
    }),
    runs,
  )
})

test('every spelling of an IPv4 address in a URL is judged like its dotted form', (t) => {
  t.diagnostic(`seed ${seed}`)
  const spell = (value: number, base: number): string =>
    base === 16 ? `0x${value.toString(16)}` : base === 8 ? `0${value.toString(8)}` : `${value}`
  fc.assert(
    fc.property(octets, fc.constantFrom(8, 10, 16), (from, base) => {
      const whole = hexPair(from, 0) * 65536 + hexPair(from, 2)
      const hosts = [
        spell(whole, base),
        from.map((value) => spell(value, base)).join('.'),
        `${spell(octet(from, 0), base)}.${spell(whole % 2 ** 24, base)}`,
        `${from.join('.')}.`,
        `[::ffff:${from.join('.')}]`,
      ]
      const isAllowed = (host: string): boolean => {
        try {
          return requireAllowedUrl(`https://${host}/`, rules) !== undefined
        } catch {
          return false
        }
      }
      const expected = isPublicAddress(from.join('.'))
      for (const host of hosts) assert.equal(isAllowed(host), expected, host)
    }),
    runs,
  )
})

test('only 2000::/3, mapped and NAT64 addresses can be public, and no input throws', (t) => {
  t.diagnostic(`seed ${seed}`)
  fc.assert(
    fc.property(fc.oneof(fc.ipV6(), fc.string(), fc.ipV4Extended()), (text) => {
      if (!isPublicAddress(text) || !text.includes(':')) return
      const isGlobal = /^[23][0-9a-f]{3}:/i.test(text)
      assert.ok(isGlobal || /ffff:|ff9b:/i.test(text), text)
    }),
    { ...runs, numRuns: 20_000 },
  )
})
