import { BlockList, isIPv4, isIPv6 } from 'node:net'
import { assert } from '#kernel/assert.ts'

/**
 * Rules for URLs that customers configure. Everything here is pure and checks the result of
 * `new URL()`, which is what we connect to: 2130706433, 0x7f.1, 0177.0.0.1 and circled digits have
 * all become 127.0.0.1 by then.
 */
export type PortRules = {
  /** Below 1024 only these are allowed: the others belong to ssh, mail, file shares, … */
  readonly privileged_allowed: readonly number[]
  readonly refused: readonly number[]
}

export type UrlRules = { readonly allow_loopback_http: boolean; readonly ports: PortRules }

/** Services on ports from 1024 that might act on an HTTP request, or that lack authentication. */
export const default_ports: PortRules = {
  privileged_allowed: [443],
  refused: [
    ...[1433, 1521, 3306, 5432, 5433, 5984, 6379, 6380, 9042, 9200, 9300, 11211], // databases
    ...[27017, 27018, 27019, 2181, 2379, 2380, 5672, 9092], // more databases, queues, coordination
    ...[2525, 1025, 4190], // mail
    ...[2049, 2375, 2376, 3389, 5900, 6000, 6443, 10250], // files, containers, desktops
  ],
}

export type EgressReason = 'refused' | 'dns' | 'connect' | 'tls' | 'timeout' | 'reset' | 'protocol'

/**
 * The message may be shown to the owner of the URL, so it contains no resolved address, path or
 * header. The cause is for our log.
 */
export class EgressFailed extends Error {
  readonly reason: EgressReason

  constructor(reason: EgressReason, sentence: string, options?: ErrorOptions) {
    super(sentence, options)
    this.name = 'EgressFailed'
    this.reason = reason
  }
}

/** The rules forbid the request, so a retry won't help. */
export class EgressRefused extends EgressFailed {
  constructor(sentence: string) {
    super('refused', sentence)
    this.name = 'EgressRefused'
  }
}

/** From the IANA special-purpose registry; the last one is Azure's metadata host. */
const refused_v4 = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
  ['168.63.129.16', 32],
] as const

/**
 * Only 2000::/3 is allocated to the public, so everything outside it is refused: ::, ::1, fc00::/7
 * (with the metadata host fd00:ec2::254), fe80::/10, fec0::/10, ff00::/8, local NAT64
 * 64:ff9b:1::/48, and future ranges. These are the exceptions inside it.
 */
const refused_v6 = [
  ['2001::', 23], // Teredo, ORCHID and other protocol assignments
  ['2001:db8::', 32], // documentation
  ['2002::', 16], // 6to4: carries a v4 address past the v4 list
  ['3ffe::', 16], // the closed 6bone
  ['3fff::', 20], // documentation
] as const

const refused = new BlockList()
for (const [network, bits] of refused_v4) refused.addSubnet(network, bits, 'ipv4')
for (const [network, bits] of refused_v6) refused.addSubnet(network, bits, 'ipv6')

const allocated_v6 = new BlockList()
allocated_v6.addSubnet('2000::', 3, 'ipv6')

const loopback = new BlockList()
loopback.addSubnet('127.0.0.0', 8, 'ipv4')
loopback.addAddress('::1', 'ipv6')

/** Also false for text that is not an address and for an address with a zone. */
export function isPublicAddress(ip: string): boolean {
  if (isIPv4(ip)) return !refused.check(ip, 'ipv4')
  if (!isIPv6(ip) || ip.includes('%')) return false
  const inner = innerV4Of(groupsOf(ip))
  if (inner !== undefined) return isPublicAddress(inner)
  return allocated_v6.check(ip, 'ipv6') && !refused.check(ip, 'ipv6')
}

export function isLoopbackAddress(ip: string): boolean {
  if (isIPv4(ip)) return loopback.check(ip, 'ipv4')
  return isIPv6(ip) && !ip.includes('%') && groupsOf(ip).join(':') === '0:0:0:0:0:0:0:1'
}

/** The IPv4 address inside ::ffff:0:0/96 (mapped) and 64:ff9b::/96 (NAT64). */
function innerV4Of(groups: readonly number[]): string | undefined {
  const prefix = groups.slice(0, 6).join(':')
  const isMapped = prefix === `0:0:0:0:0:${0xffff}`
  const isNat64 = prefix === `${0x64}:${0xff9b}:0:0:0:0`
  if (!isMapped && !isNat64) return undefined
  return groups
    .slice(6)
    .flatMap((group) => [group >> 8, group & 0xff])
    .join('.')
}

/** The eight groups, because BlockList understands mapped addresses but not NAT64. */
function groupsOf(ip: string): number[] {
  const hex = ip.replace(/(\d+)\.(\d+)\.(\d+)\.(\d+)$/, (_, a, b, c, d) =>
    [Number(a) * 256 + Number(b), Number(c) * 256 + Number(d)]
      .map((group) => group.toString(16))
      .join(':'),
  )
  const [left = [], right = []] = hex
    .split('::')
    .map((half) => half.split(':').filter((group) => group !== ''))
  const zeros = new Array<string>(8 - left.length - right.length).fill('0')
  const groups = [...left, ...zeros, ...right].map((group) => Number.parseInt(group, 16))
  assert(groups.length === 8, 'an IPv6 address has eight groups')
  return groups
}

type UrlCheckInput = { readonly raw: string; readonly url: URL; readonly rules: UrlRules }
/** Returns the objection as a sentence, or undefined. */
type Check = (input: UrlCheckInput) => string | undefined

/** Long enough for any endpoint, short enough for a log line and an index. */
const URL_LENGTH_MAX = 2048

/** Names of this machine or its network, whatever they resolve to. */
const local_suffixes = [
  ...['localhost', 'localdomain', 'local', 'internal', 'intranet', 'private'],
  ...['lan', 'home', 'corp', 'home.arpa'],
]

/** Throws the first objection. */
export function requireAllowedUrl(raw: string, rules: UrlRules): URL {
  if (raw.length > URL_LENGTH_MAX) {
    throw new EgressRefused(`The address is longer than ${URL_LENGTH_MAX} characters.`)
  }
  if (!URL.canParse(raw)) throw new EgressRefused('The address is not a URL.')
  const url = new URL(raw)
  for (const check of checks) {
    const objection = check({ raw, url, rules })
    if (objection !== undefined) throw new EgressRefused(objection)
  }
  return url
}

/** The host name or address, without the brackets of an IPv6 address. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[(.*)\]$/, '$1')
}

export function portOf(url: URL): number {
  if (url.port !== '') return Number(url.port)
  return url.protocol === 'https:' ? 443 : 80
}

const schemeIsAllowed: Check = ({ url, rules }) => {
  if (url.protocol === 'https:') return undefined
  if (url.protocol !== 'http:' || !rules.allow_loopback_http) return 'Only https is allowed.'
  return isOwnMachine(url) ? undefined : 'Plain http is allowed only to this machine itself.'
}

/** URL parsers disagree about these spellings, which could be used to bypass a check. */
const isPlainlyWritten: Check = ({ raw }) =>
  /[\s\\\u0000-\u001f\u007f]/.test(raw) || !/^https?:\/\/[^/]/i.test(raw)
    ? 'The address must be written as https://host/path, without spaces or backslashes.'
    : undefined

const hasNoUserinfo: Check = ({ raw }) =>
  /^[^/]*\/\/[^/?#]*@/.test(raw) ? 'The address must not carry a user name or password.' : undefined

/** A fragment is never sent, so a URL with one is probably a mistake. */
const hasNoFragment: Check = ({ raw }) =>
  raw.includes('#') ? 'The address must not have a fragment.' : undefined

const portIsAllowed: Check = ({ url, rules: { ports } }) => {
  const port = portOf(url)
  if (ports.refused.includes(port)) return `Port ${port} is not allowed.`
  if (port >= 1024 || ports.privileged_allowed.includes(port)) return undefined
  return url.protocol === 'http:' && port === 80 ? undefined : `Port ${port} is not allowed.`
}

const hostIsAllowed: Check = ({ url }) => {
  const host = hostOf(url)
  if (url.protocol === 'http:') return undefined
  if (isIPv4(host) || isIPv6(host)) {
    return isPublicAddress(host) ? undefined : 'The address is not a public one.'
  }
  if (local_suffixes.some((suffix) => `.${host}`.replace(/\.+$/, '').endsWith(`.${suffix}`))) {
    return 'The host name belongs to a local network.'
  }
  if (!/^[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})+$/.test(host)) {
    return 'The host must be a full public name, with a dot inside and none at the end.'
  }
  return undefined
}

const checks: readonly Check[] = [
  schemeIsAllowed,
  isPlainlyWritten,
  hasNoUserinfo,
  hasNoFragment,
  portIsAllowed,
  hostIsAllowed,
]

/** Decided by the text alone, without a DNS lookup. */
function isOwnMachine(url: URL): boolean {
  const host = hostOf(url)
  return host === 'localhost' || isLoopbackAddress(host)
}
