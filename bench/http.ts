import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdtempSync, openSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startEmbeddedPostgres } from '#platform/embedded_postgres/embedded_postgres.ts'
import { autocannon } from '#test/packages/autocannon.ts'
import { send } from '#test/support/http.ts'
import { node_env } from '#test/support/node_env.ts'
import { is_check, reportRatio } from './goals_parts/goals.ts'
import { createSpenders } from './http_parts/spenders.ts'

/**
 * The cost of the pipeline: requests per second of get_account and list_transactions with API keys
 * of different accounts, so that no two requests share a statement, and of refusals without a
 * credential. They are compared with bare Fastify routes in another process that run the same
 * statements and send the same bytes. Rounds alternate, so that other load on the machine affects
 * both sides equally.
 *
 *   npm run bench -- http            defaults: BENCH_ROUNDS=5 BENCH_SECONDS=5
 */
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 5)
const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 5)
const CONNECTIONS = 32
/** A connection calls one account after another, and begins at another one than the others. */
const ACCOUNTS = 8 * CONNECTIONS
const TARGET_RATIO = 0.6

const scriptPath = (name: string) =>
  fileURLToPath(new URL(`http_parts/${name}.js`, import.meta.url))
const children: ChildProcess[] = []

type ServerProcess = { url: string; cpu_us(): Promise<number> }

/** Starts a server process that logs to a file, as in production, and waits for its URL. */
async function startProcess(
  name: string,
  env: Record<string, string>,
  log: number,
): Promise<ServerProcess> {
  const child = fork(scriptPath(name), {
    execArgv: process.env['BENCH_NODE_FLAGS']?.split(' ') ?? [],
    env: { PATH: process.env['PATH'] ?? '', ...env },
    stdio: ['ignore', log, 'inherit', 'ipc'],
  })
  children.push(child)
  const ended = once(child, 'exit').then(() => {
    throw new Error(`${name} exited before it was ready`)
  })
  const [{ url }] = (await Promise.race([once(child, 'message'), ended])) as [{ url: string }]
  ended.catch(() => undefined)
  return {
    url,
    cpu_us: async () => {
      const reply = once(child, 'message') as Promise<[{ cpu_us: number }]>
      child.send('cpu')
      return (await reply)[0].cpu_us
    },
  }
}

type Target = { server: ServerProcess; requests: autocannon.Request[]; status: number }
/** CPU time per request is more reliable than the rate on a shared machine. */
type RoundResult = { per_second: number; cpu_us: number }

async function runRound({ server, requests, status }: Target): Promise<RoundResult> {
  const { url } = server
  const before_us = await server.cpu_us()
  let connected = 0
  const result = await autocannon({
    url,
    connections: CONNECTIONS,
    duration: SECONDS,
    requests,
    setupClient: (client) => {
      const from = Math.floor((requests.length / CONNECTIONS) * connected)
      connected += 1
      client.setRequests([...requests.slice(from), ...requests.slice(0, from)])
    },
  })
  const counts = (result.statusCodeStats ?? {}) as Record<string, { count?: number }>
  const counted = counts[String(status)]?.count ?? 0
  if (result.errors > 0 || counted === 0 || counted < result.requests.total) {
    const found = JSON.stringify(counts)
    throw new Error(`expected only ${status} from ${url}, found ${found}, ${result.errors} errors`)
  }
  const used_us = (await server.cpu_us()) - before_us
  return { per_second: result.requests.average, cpu_us: used_us / result.requests.total }
}

function medians(rounds: readonly RoundResult[]): RoundResult {
  const middle = (values: number[]) =>
    values.sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
  return {
    per_second: middle(rounds.map(({ per_second }) => per_second)),
    cpu_us: middle(rounds.map(({ cpu_us }) => cpu_us)),
  }
}

async function compare(name: string, service: Target, bare: Target): Promise<number> {
  const results = { service: [] as RoundResult[], bare: [] as RoundResult[] }
  await runRound(service)
  await runRound(bare)
  for (let round = 0; round < ROUNDS; round += 1) {
    results.bare.push(await runRound(bare))
    results.service.push(await runRound(service))
  }
  const [ours, theirs] = [medians(results.service), medians(results.bare)]
  const ratio = ours.per_second / theirs.per_second
  const { round } = Math
  console.log(name)
  console.log(
    `  ${round(ours.per_second)} requests/s; bare Fastify ${round(theirs.per_second)}; ` +
      `ratio ${ratio.toFixed(2)}`,
  )
  console.log(
    `  ${round(ours.cpu_us)} µs of CPU per request; bare Fastify ${round(theirs.cpu_us)}; ` +
      `ratio ${(theirs.cpu_us / ours.cpu_us).toFixed(2)}`,
  )
  return ratio
}

async function measure(folder: string, log: number, database_url: string): Promise<void> {
  const env = { ...node_env, FLORIN_DATA_DIR: folder, FLORIN_DATABASE_URL: database_url }
  const service = await startProcess('florin_process', env, log)
  const bad = { body: '{"email":"no address","zzz":1}', method: 'POST' as const }
  const refused = await send(service.url, 'POST', '/v1/sessions', { raw: bad.body })
  const bare = await startProcess(
    'bare_fastify',
    { DATABASE_URL: database_url, REFUSAL_BODY: refused.text },
    log,
  )
  const holders = await createSpenders(env, database_url, ACCOUNTS)
  const requestsTo = (path: string) =>
    holders.map(({ account_id, key }) => ({
      path,
      headers: { authorization: `Bearer ${key}`, account: account_id },
    }))
  const ratioOf = (name: string, path: string) => {
    const requests = requestsTo(path)
    return compare(
      name,
      { server: service, status: 200, requests },
      { server: bare, status: 200, requests },
    )
  }
  const get_account = await ratioOf('get_account', '/v1/accounts/me')
  reportRatio('get_account to a bare route', get_account)
  const list = await ratioOf('list_transactions', '/v1/transactions')
  reportRatio('list_transactions to a bare route', list)
  if (is_check) return
  const headers = { 'content-type': 'application/json' }
  const requests = [{ path: '/v1/sessions', headers, ...bad }]
  await compare(
    'POST /sessions with an invalid body (400)',
    { server: service, status: 400, requests },
    { server: bare, status: 400, requests },
  )
  const is_met = Math.min(get_account, list) >= TARGET_RATIO
  console.log(
    `target for both reads: at least ${TARGET_RATIO} of bare Fastify: ${is_met ? 'met' : 'missed'}`,
  )
  console.log(`${ROUNDS} alternating rounds of ${SECONDS} s, ${CONNECTIONS} connections, medians`)
  if (!is_met) process.exitCode = 1
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
