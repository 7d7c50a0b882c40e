import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { findAccessFault, type IsoTls } from '#settings/iso_settings.ts'
import type { Settings } from '#settings/settings.ts'
import { type Check, Note } from './check.ts'

const DAY_MS = 86_400_000
/** A certificate that expires sooner should be renewed now. */
const RENEW_BEFORE_DAYS = 30

/** Access to the card host, its certificates, and the review of refunds. */
export function cardLinkChecks(settings: Settings): Check[] {
  return [accessCheck(settings), ...certificateChecks(settings), refundCheck(settings)]
}

const accessCheck = (settings: Settings): Check => ({
  name: 'card link access',
  cure: 'Set FLORIN_ISO_HOST, FLORIN_ISO_TLS_…, FLORIN_ISO_PEERS; docs/card_host.md explains each.',
  run: async () => {
    const { mode, iso_host, iso_tls, iso_protected_by, iso_peers } = settings
    const fault = findAccessFault(settings)
    if (mode === 'live' && fault !== null) throw new Error(fault)
    if (mode === 'sandbox') return new Note(`the sandbox's, on ${iso_host}; sign-on is optional`)
    const peers = iso_peers.length === 0 ? 'this machine' : iso_peers.join(', ')
    const rules = `open to ${peers}; ${settings.iso_connections_max} connections; sign-on first`
    if (iso_tls !== null && iso_tls.client_ca_file !== null) return `client certificates, ${rules}`
    return iso_protected_by === null
      ? `${iso_host} only, ${rules}`
      : new Note(`no client certificates: protected by ${iso_protected_by}, ${rules}`)
  },
})

function certificateChecks({ iso_tls }: Settings): Check[] {
  if (iso_tls === null) return []
  return [
    {
      name: 'card link certificate',
      cure: 'Renew FLORIN_ISO_TLS_CERT_FILE, and keep it with its own FLORIN_ISO_TLS_KEY_FILE.',
      run: () => checkCertificate(iso_tls),
    },
  ]
}

async function checkCertificate(tls: IsoTls): Promise<string | Note> {
  const own = new X509Certificate(await readFile(tls.cert_file))
  if (!own.checkPrivateKey(createPrivateKey(await readFile(tls.key_file)))) {
    throw new Error(`${tls.key_file} is not the key of ${tls.cert_file}`)
  }
  const files = [tls.cert_file, ...(tls.client_ca_file === null ? [] : [tls.client_ca_file])]
  for (const file of files) {
    const { validTo } = new X509Certificate(await readFile(file))
    const days = Math.floor((Date.parse(validTo) - Date.now()) / DAY_MS)
    if (days < 0) throw new Error(`${file} expired on ${validTo}`)
    if (days < RENEW_BEFORE_DAYS) return new Note(`${file} expires in ${days} days`)
  }
  return `valid until ${own.validTo}`
}

const refundCheck = ({ mode, risk }: Settings): Check => ({
  name: 'refund review',
  cure: 'Set refund_review_usd in FLORIN_RISK to the most you would lose to a forged refund.',
  run: async () => {
    const { refund_review_usd } = risk
    const found = 'refunds without a purchase are credited'
    if (refund_review_usd !== null) return `${found} up to ${refund_review_usd} USD each`
    if (mode === 'live') throw new Error(`${found} without a limit`)
    return new Note(`${found} without a limit in the sandbox`)
  },
})
