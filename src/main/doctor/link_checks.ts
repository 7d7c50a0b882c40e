import { once } from 'node:events'
import { statSync } from 'node:fs'
import { connect } from 'node:net'
import { makeMailer } from '#domain/notices/mailer.ts'
import { issuerProbe } from '#doors/card_host/probe.ts'
import { links } from '#iso8583/links.ts'
import { nodeFetch } from '#platform/http_client/node_fetch.ts'
import { systemClock } from '#platform/runtime/clock.ts'
import { chainsOf } from '#rails/chain/chain.ts'
import type { ChainSettings } from '#rails/chain/chain_settings.ts'
import { depositSource } from '#rails/chain/deposit_source.ts'
import { networkCheck } from '#rails/chain/network_check.ts'
import type { Settings } from '#settings/settings.ts'
import { cardLinkChecks } from './card_link_checks.ts'
import { type Check, Note } from './check.ts'

const PATIENCE_MS = 5_000
/** No chain that we know is silent for so long while it is well. */
const HEAD_AGE_MAX_S = 300

/** What is spoken to: the service itself, card networks, chains, the signer, mail, Redis. */
export function linkChecks(settings: Settings): Check[] {
  return [
    serviceCheck(settings),
    issuerCheck(settings),
    ...cardLinkChecks(settings),
    ...chainChecks(settings),
    signerCheck(settings),
    mailCheck(settings),
    ...redisChecks(settings),
  ]
}

const localHost = (host: string): string => (host === '0.0.0.0' ? '127.0.0.1' : host)

function isServing({ host, port }: Settings): Promise<boolean> {
  const signal = AbortSignal.timeout(PATIENCE_MS)
  return fetch(`http://${localHost(host)}:${port}/healthz`, { signal }).then(
    ({ ok }) => ok,
    () => false,
  )
}

const serviceCheck = (settings: Settings): Check => ({
  name: 'service',
  cure: 'Look into its log.',
  look: async () =>
    (await isServing(settings))
      ? `serves on port ${settings.port} as ${settings.public_url}`
      : new Note(`nothing serves on port ${settings.port}; \`florin start\` does`),
})

const issuerCheck = (settings: Settings): Check => ({
  name: 'issuer link',
  cure: 'Look whether FLORIN_ISO_PORT is free for the service, and into its log.',
  look: async () => {
    if (!(await isServing(settings))) return new Note('not asked: the service does not run')
    const { iso_port: port, iso_link } = settings
    const probe = issuerProbe({ port, link: links[iso_link], clock: systemClock(), settings })
    const { status, message, latency_ms } = await probe()
    if (status === 'operational') return `answers on port ${port} in ${latency_ms} ms`
    throw new Error(message ?? status)
  },
})

function chainChecks({ chains, mode }: Settings): Check[] {
  if (chains.length > 0) return chains.map(chainCheck)
  const look = async () => {
    if (mode === 'sandbox') return new Note('the sandbox plays tron')
    throw new Error('no chain is configured')
  }
  return [{ name: 'chain nodes', cure: 'Set FLORIN_CHAINS; docs/running.md tells how.', look }]
}

const chainCheck = (chain: ChainSettings): Check => ({
  name: `${chain.chain} node`,
  cure: `Look at the node behind FLORIN_CHAINS (${chain.chain}): its address, its key, its sync.`,
  look: async () => {
    const source = depositSource(chain, nodeFetch(PATIENCE_MS))
    const known = chainsOf([chain]).get(chain.chain)
    if (known !== undefined) await networkCheck(known, source)()
    const { number, timestamp_ms } = await source.head()
    const age_s = Math.round((Date.now() - timestamp_ms) / 1_000)
    if (age_s > HEAD_AGE_MAX_S) throw new Error(`block ${number} is ${age_s} s old`)
    return `block ${number}, ${age_s} s old`
  },
})

const signerCheck = ({ mode, signer_socket, chains }: Settings): Check => ({
  name: 'signer',
  cure:
    'Start it with `florin signer`, as a user of its own whose group the service is in; ' +
    'FLORIN_SIGNER_SOCKET is where.',
  look: async () => {
    const socket = connect(signer_socket)
    try {
      await once(socket, 'connect', { signal: AbortSignal.timeout(PATIENCE_MS) })
      const isOurs = statSync(signer_socket).uid === process.getuid?.()
      if (isOurs && mode === 'live') throw new Error('it runs as the user of the service')
      return `listens on ${signer_socket}`
    } catch (cause) {
      if (chains.length === 0) return new Note('none runs; the sandbox brings its own')
      throw cause
    } finally {
      socket.destroy()
    }
  },
})

const mailCheck = (settings: Settings): Check => ({
  name: 'mail',
  cure: 'Set FLORIN_SMTP_URL to smtp(s)://user:password@host, and look whether it lets us in.',
  look: async () => {
    const mailer = await makeMailer(settings)
    if (mailer === null && settings.mode === 'live') throw new Error('no mail server is set')
    if (mailer === null) return new Note('none is set; the sandbox keeps an inbox')
    try {
      await mailer.verify()
      return `${new URL(settings.smtp_url?.open() ?? '').host} lets us in`
    } finally {
      mailer.close()
    }
  },
})

function redisChecks({ redis_url }: Settings): Check[] {
  if (redis_url === null) return []
  const look = async () => {
    const { Redis } = await import('ioredis')
    const options = { lazyConnect: true, maxRetriesPerRequest: 0, connectTimeout: PATIENCE_MS }
    const redis = new Redis(redis_url.open(), { ...options, retryStrategy: () => null })
    redis.on('error', () => undefined)
    try {
      await redis.connect()
      return await redis.ping()
    } finally {
      redis.disconnect()
    }
  }
  return [{ name: 'redis', cure: 'Look whether Redis runs and REDIS_URL names it rightly.', look }]
}
