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

const TIMEOUT_MS = 5_000
/** Every supported chain makes a block far more often than this. */
const HEAD_AGE_MAX_S = 300

/** Connections: the service itself, card networks, chains, the signer, mail, Redis. */
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

const loopbackFor = (host: string): string => (host === '0.0.0.0' ? '127.0.0.1' : host)

function isServing({ host, port }: Settings): Promise<boolean> {
  const signal = AbortSignal.timeout(TIMEOUT_MS)
  return fetch(`http://${loopbackFor(host)}:${port}/healthz`, { signal }).then(
    ({ ok }) => ok,
    () => false,
  )
}

const serviceCheck = (settings: Settings): Check => ({
  name: 'service',
  cure: 'Check its log.',
  run: async () =>
    (await isServing(settings))
      ? `running on port ${settings.port} as ${settings.public_url}`
      : new Note(`not running on port ${settings.port}; start it with \`florin start\``),
})

const issuerCheck = (settings: Settings): Check => ({
  name: 'issuer link',
  cure: 'Check that FLORIN_ISO_PORT is free for the service, and check its log.',
  run: async () => {
    if (!(await isServing(settings))) return new Note('not checked: the service is not running')
    const { iso_port: port, iso_link } = settings
    const probe = issuerProbe({ port, link: links[iso_link], clock: systemClock(), settings })
    const { status, message, latency_ms } = await probe()
    if (status === 'operational') return `responds on port ${port} in ${latency_ms} ms`
    throw new Error(message ?? status)
  },
})

function chainChecks({ chains, mode }: Settings): Check[] {
  if (chains.length > 0) return chains.map(chainCheck)
  const run = async () => {
    if (mode === 'sandbox') return new Note('the sandbox simulates tron')
    throw new Error('no chain is configured')
  }
  return [{ name: 'chain nodes', cure: 'Set FLORIN_CHAINS; see docs/running.md.', run }]
}

const chainCheck = (chain: ChainSettings): Check => ({
  name: `${chain.chain} node`,
  cure: `Check the node of ${chain.chain} in FLORIN_CHAINS: its URL, its API key, its sync.`,
  run: async () => {
    const source = depositSource(chain, nodeFetch(TIMEOUT_MS))
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
    'Start it with `florin signer` as a separate user whose group the service is in; ' +
    'FLORIN_SIGNER_SOCKET is its socket.',
  run: async () => {
    const socket = connect(signer_socket)
    try {
      await once(socket, 'connect', { signal: AbortSignal.timeout(TIMEOUT_MS) })
      const isOurs = statSync(signer_socket).uid === process.getuid?.()
      if (isOurs && mode === 'live') throw new Error('it runs as the user of the service')
      return `listens on ${signer_socket}`
    } catch (cause) {
      if (chains.length === 0) return new Note('not running; the sandbox starts its own')
      throw cause
    } finally {
      socket.destroy()
    }
  },
})

const mailCheck = (settings: Settings): Check => ({
  name: 'mail',
  cure: 'Set FLORIN_SMTP_URL to smtp(s)://user:password@host, and check the login.',
  run: async () => {
    const mailer = await makeMailer(settings)
    if (mailer === null && settings.mode === 'live') throw new Error('no mail server is configured')
    if (mailer === null) return new Note('not configured; the sandbox has an inbox')
    try {
      await mailer.verify()
      return `${new URL(settings.smtp_url?.open() ?? '').host} accepts the login`
    } finally {
      mailer.close()
    }
  },
})

function redisChecks({ redis_url }: Settings): Check[] {
  if (redis_url === null) return []
  const run = async () => {
    const { Redis } = await import('ioredis')
    const options = { lazyConnect: true, maxRetriesPerRequest: 0, connectTimeout: TIMEOUT_MS }
    const redis = new Redis(redis_url.open(), { ...options, retryStrategy: () => null })
    redis.on('error', () => undefined)
    try {
      await redis.connect()
      return await redis.ping()
    } finally {
      redis.disconnect()
    }
  }
  return [
    { name: 'redis', cure: 'Check that Redis is running and that REDIS_URL is correct.', run },
  ]
}
