import type { LinkName } from '#iso8583/links.ts'
import { isLoopbackAddress } from '#platform/http_client/address_rules.ts'

/** The card host: where it listens, in which language, and who may connect. */
export type IsoSettings = {
  iso_port: number
  iso_host: string
  iso_link: LinkName
  iso_tls: IsoTls | null
  /** Addresses and networks that may connect; none named: any. */
  iso_peers: readonly string[]
  /** What protects the link where the host itself does not: a VPN, a leased line. */
  iso_protected_by: string | null
  iso_connections_max: number
  /** Whether a connection must sign on before anything else. */
  iso_sign_on: 'required' | 'optional'
}

/** With a client_ca_file, only peers with a certificate of that authority are let in. */
export type IsoTls = { cert_file: string; key_file: string; client_ca_file: string | null }

export const LINK_NAMES = [
  'ascii',
  'ascii_hex',
  'bcd',
  'visa_like',
  'mastercard_like',
] as const satisfies readonly LinkName[]

export const ISO_CONNECTIONS_MAX = 512

const isLoopback = (host: string): boolean => host === 'localhost' || isLoopbackAddress(host)

/**
 * What is missing before strangers can be kept off a card host that moves real money: whoever
 * reaches an open one can credit a card with a single refund message. Null where nothing is.
 */
export function whyOpenToStrangers(iso: IsoSettings): string | null {
  const { iso_host, iso_tls, iso_protected_by, iso_peers } = iso
  if (iso.iso_sign_on === 'optional') return 'FLORIN_ISO_SIGN_ON=optional is for the sandbox'
  if (isLoopback(iso_host)) return null
  const is_mutual = iso_tls !== null && iso_tls.client_ca_file !== null
  if (!is_mutual && iso_protected_by === null) {
    return (
      `the card host would listen on ${iso_host} without client certificates; set ` +
      'FLORIN_ISO_TLS_CERT_FILE, FLORIN_ISO_TLS_KEY_FILE and FLORIN_ISO_TLS_CLIENT_CA_FILE, or ' +
      'FLORIN_ISO_HOST=127.0.0.1, or name what protects the link in FLORIN_ISO_PROTECTED_BY'
    )
  }
  if (iso_peers.length === 0) {
    return 'FLORIN_ISO_PEERS must list the addresses or networks of the peers that may connect'
  }
  const everyone = iso_peers.find((peer) => peer.endsWith('/0'))
  return everyone === undefined ? null : `FLORIN_ISO_PEERS: ${everyone} lets everyone in`
}
