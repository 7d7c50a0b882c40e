import { Resolver } from 'node:dns/promises'
import { once } from 'node:events'
import { isIP } from 'node:net'
import { assert } from '#kernel/assert.ts'
import { EgressFailed, EgressRefused, hostOf, isPublicAddress } from './address_rules.ts'

/** Returns every address of a name. */
export type Lookup = (hostname: string, signal: AbortSignal) => Promise<readonly string[]>

/**
 * Queries the name servers directly. Unlike getaddrinfo, this can be cancelled, holds no thread
 * while it waits, and uses neither the hosts file nor search domains.
 */
export function dnsLookup(servers?: readonly string[]): Lookup {
  return async (hostname, signal) => {
    const resolver = new Resolver({ timeout: 3000, tries: 2 })
    if (servers !== undefined) resolver.setServers(servers)
    const cancel = () => resolver.cancel()
    signal.addEventListener('abort', cancel, { once: true })
    try {
      const [v4, v6] = await Promise.allSettled([
        resolver.resolve4(hostname),
        resolver.resolve6(hostname),
      ])
      if (v4.status === 'rejected' && v6.status === 'rejected') throw v4.reason
      return [v4, v6].flatMap((response) => (response.status === 'fulfilled' ? response.value : []))
    } finally {
      signal.removeEventListener('abort', cancel)
    }
  }
}

/** A single non-public address refuses the name: honest servers don't mix them. */
export async function resolvePublicAddresses(
  url: URL,
  lookup: Lookup,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const host = hostOf(url)
  if (isIP(host) !== 0) return [host]
  if (url.protocol === 'http:') {
    assert(host === 'localhost', 'plain http by name goes to localhost only')
    return ['127.0.0.1', '::1']
  }
  const tooLate = once(signal, 'abort').then(() => Promise.reject(signal.reason))
  const addresses = await Promise.race([lookup(host, signal), tooLate]).catch((cause) => {
    throw new EgressFailed('dns', 'The host name could not be resolved.', { cause })
  })
  if (addresses.length === 0) throw new EgressFailed('dns', 'The host name has no address.')
  if (addresses.every(isPublicAddress)) return addresses
  throw new EgressRefused('The host name leads to an address that is not public.')
}

/** The caller, who is configuring a URL, waits this long at most. */
const NAME_CHECK_TIMEOUT_MS = 2_000

/** A name that cannot be resolved now is accepted: every request checks it again. */
export async function requirePublicName(url: URL, lookup: Lookup): Promise<void> {
  const deadline = new AbortController()
  const timer = setTimeout(() => deadline.abort(), NAME_CHECK_TIMEOUT_MS)
  try {
    await resolvePublicAddresses(url, lookup, deadline.signal)
  } catch (error) {
    if (error instanceof EgressRefused) throw error
  } finally {
    clearTimeout(timer)
  }
}
