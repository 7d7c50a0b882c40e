import type { LinkName } from '#iso8583/links.ts'
import { isLoopbackAddress } from '#platform/http_client/address_rules.ts'
import {
  ConfigError,
  type Environment,
  readChoice,
  readCount,
  readNetworks,
  readPort,
} from '#platform/settings/environment.ts'
import type { Mode } from '#platform/settings/server_settings.ts'

/** The card host: its address, the dialect of its link, and who may connect. */
export type IsoSettings = {
  iso_port: number
  iso_host: string
  iso_link: LinkName
  iso_tls: IsoTls | null
  /** Addresses and networks that may connect; if empty, all may. */
  iso_peers: readonly string[]
  /** Names an external protection of the link, such as a VPN or a leased line. */
  iso_protected_by: string | null
  iso_connections_max: number
  /** Required: a connection must sign on (0800) before anything else. */
  iso_sign_on: 'required' | 'optional'
}

/** With a client_ca_file, only peers with a certificate of that authority can connect. */
export type IsoTls = { cert_file: string; key_file: string; client_ca_file: string | null }

const LINK_NAMES = [
  'ascii',
  'ascii_hex',
  'bcd',
  'visa_like',
  'mastercard_like',
] as const satisfies readonly LinkName[]

const DEFAULT_CONNECTIONS_MAX = 512

/** In live mode a card host that strangers could reach is an error. */
export function readIsoSettings(env: Environment, mode: Mode): IsoSettings {
  const sign_on = mode === 'live' ? 'required' : 'optional'
  const iso: IsoSettings = {
    iso_port: readPort(env, 'FLORIN_ISO_PORT', 8583),
    // Other machines can connect only if the operator configures it.
    iso_host: env['FLORIN_ISO_HOST'] || '127.0.0.1',
    iso_link: readChoice(env, 'FLORIN_ISO_LINK', LINK_NAMES, 'ascii'),
    iso_tls: readTls(env),
    iso_peers: readNetworks(env, 'FLORIN_ISO_PEERS'),
    iso_protected_by: env['FLORIN_ISO_PROTECTED_BY']?.trim() || null,
    iso_connections_max: readCount(env, 'FLORIN_ISO_CONNECTIONS_MAX', DEFAULT_CONNECTIONS_MAX),
    iso_sign_on: readChoice(env, 'FLORIN_ISO_SIGN_ON', ['required', 'optional'], sign_on),
  }
  const fault = mode === 'live' ? findAccessFault(iso) : null
  if (fault !== null) throw new ConfigError(`Live mode: ${fault}.`)
  return iso
}

function readTls(env: Environment): IsoTls | null {
  const cert_file = env['FLORIN_ISO_TLS_CERT_FILE']
  const key_file = env['FLORIN_ISO_TLS_KEY_FILE']
  if (!cert_file && !key_file) return null
  if (!cert_file || !key_file) {
    throw new ConfigError('FLORIN_ISO_TLS_CERT_FILE and FLORIN_ISO_TLS_KEY_FILE go together.')
  }
  return { cert_file, key_file, client_ca_file: env['FLORIN_ISO_TLS_CLIENT_CA_FILE'] || null }
}

const isLoopback = (host: string): boolean => host === 'localhost' || isLoopbackAddress(host)

/**
 * The first reason why strangers could reach the card host, or null. Anyone who reaches an open one
 * can credit a card with a single refund message.
 */
export function findAccessFault(iso: IsoSettings): string | null {
  const { iso_host, iso_tls, iso_protected_by, iso_peers } = iso
  if (iso.iso_sign_on === 'optional') return 'FLORIN_ISO_SIGN_ON=optional is for the sandbox'
  if (isLoopback(iso_host)) return null
  const hasClientCertificates = iso_tls !== null && iso_tls.client_ca_file !== null
  if (!hasClientCertificates && iso_protected_by === null) {
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
