import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdtempSync, openSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import autocannon from 'autocannon'
import { startEmbeddedPostgres } from '#platform/embedded_postgres.ts'
import { send } from '#test/support/http.ts'
import { createKey, openAccount } from '#test/support/people.ts'

/**
 * What the pipeline costs: requests per second of get_account with an API key, and of refusals
 * without a credential, each beside a bare route in another process that sends the same bytes.
 * Rounds alternate, so that what else the machine does falls on both sides alike.
 *
 *   npm run bench -- http            BENCH_ROUNDS=5 BENCH_SECONDS=5 are the standard
 */
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 5)
const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 5)
const CONNECTIONS = 32
const TARGET_RATIO = 0.5

const part = (name: string) => fileURLToPath(new URL(`http_parts/${name}.ts`, import.meta.url))
const children: ChildProcess[] = []

/** In a process of its own, its log in a file as in production, until it says where it serves. */
async function serve(name: string, env: Record<string, string>, log: number): Promise<string> {
  const child = fork(part(name), {
    execArgv: ['--import', 'tsx', ...(process.env['BENCH_NODE_FLAGS']?.split(' ') ?? [])],
    env: { PATH: process.env['PATH'] ?? '', ...env },
    stdio: ['ignore', log, 'inherit', 'ipc'],
  })
  children.push(child)
  const ended = once(child, 'exit').then(() => {
    throw new Error(`${name} ended before it served`)
  })
  const [{ url }] = (await Promise.race([once(child, 'message'), ended])) as [{ url: string }]
  ended.catch(() => undefined)
  return url
}

type Target = { url: string; request: autocannon.Request; status: number }

async function requestsPerSecond({ url, request, status }: Target): Promise<number> {
  const result = await autocannon({
    url,
    connections: CONNECTIONS,
    duration: SECONDS,
    requests: [request],
  })
  const counts = (result.statusCodeStats ?? {}) as Record<string, { count?: number }>
  const counted = counts[String(status)]?.count ?? 0
  if (result.errors > 0 || counted === 0 || counted < result.requests.total) {
    const found = JSON.stringify(counts)
    throw new Error(`expected only ${status} from ${url}, found ${found}, ${result.errors} errors`)
  }
  return result.requests.average
}

const median = (values: readonly number[]) =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0

async function compare(name: string, service: Target, bare: Target): Promise<number> {
  const figures = { service: [] as number[], bare: [] as number[] }
  await Promise.all([requestsPerSecond(service), requestsPerSecond(bare)])
  for (let round = 0; round < ROUNDS; round += 1) {
    figures.bare.push(await requestsPerSecond(bare))
    figures.service.push(await requestsPerSecond(service))
  }
  const [ours, theirs] = [median(figures.service), median(figures.bare)]
  const ratio = ours / theirs
  console.log(
    `${name.padEnd(44)} ${Math.round(ours)} requests/s; bare Fastify ${Math.round(theirs)}; ` +
      `ratio ${ratio.toFixed(2)}`,
  )
  return ratio
}

async function measure(folder: string, log: number, database_url: string): Promise<void> {
  const service = await serve(
    'service',
    {
      FLORIN_PORT: '0',
      FLORIN_ISO_PORT: '0',
      FLORIN_RATE_PROFILE: 'off',
      FLORIN_DATA_DIR: folder,
      FLORIN_DATABASE_URL: database_url,
    },
    log,
  )
  const person = await openAccount(service)
  const { key } = await createKey(service, person.bearer)
  const headers = { authorization: `Bearer ${key}` }
  const account = await send(service, 'GET', '/v1/accounts/me', { bearer: key })
  const bad = { body: '{"email":"no address","zzz":1}', method: 'POST' as const }
  const refused = await send(service, 'POST', '/v1/sessions', { raw: bad.body })
  const bare = await serve(
    'bare_fastify',
    { ACCOUNT_BODY: account.text, REFUSAL_BODY: refused.text },
    log,
  )

  const ratio = await compare(
    'get_account with an API key',
    { url: service, status: 200, request: { path: '/v1/accounts/me', headers } },
    { url: bare, status: 200, request: { path: '/v1/accounts/me', headers } },
  )
  const refusal = { path: '/v1/sessions', headers: { 'content-type': 'application/json' }, ...bad }
  await compare(
    'POST /sessions refused for its shape (400)',
    { url: service, status: 400, request: refusal },
    { url: bare, status: 400, request: refusal },
  )
  const verdict = ratio >= TARGET_RATIO ? 'met' : 'missed'
  console.log(`target for get_account: at least ${TARGET_RATIO} of bare Fastify: ${verdict}`)
  console.log(`${ROUNDS} alternating rounds of ${SECONDS} s, ${CONNECTIONS} connections, medians`)
}

const folder = mkdtempSync(join(tmpdir(), 'florin_bench_'))
const log = openSync(join(folder, 'florin.log'), 'a')
const postgres = await startEmbeddedPostgres({ data_dir: folder })
try {
  await measure(folder, log, postgres.url)
} finally {
  for (const child of children) {
    const ended = once(child, 'exit')
    child.kill('SIGTERM')
    await ended
  }
  await postgres.stop()
  closeSync(log)
  rmSync(folder, { recursive: true, force: true })
}
