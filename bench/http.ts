import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdtempSync, openSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { autocannon } from '#test/packages/autocannon.ts'
import { startEmbeddedPostgres } from '#platform/embedded_postgres/embedded_postgres.ts'
import { send } from '#test/support/http.ts'
import { node_env } from '#test/support/node_env.ts'
import { createKey, openAccount } from '#test/support/people.ts'

/**
 * The cost of the pipeline: requests per second of get_account with an API key, and of refusals
 * without a credential, compared with a bare Fastify route in another process that sends the same
 * bytes. Rounds alternate, so that other load on the machine affects both sides equally.
 *
 *   npm run bench -- http            defaults: BENCH_ROUNDS=5 BENCH_SECONDS=5
 */
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 5)
const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 5)
const CONNECTIONS = 32
const TARGET_RATIO = 0.5

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

type Target = { server: ServerProcess; request: autocannon.Request; status: number }
/** CPU time per request is more reliable than the rate on a shared machine. */
type RoundResult = { per_second: number; cpu_us: number }

async function runRound({ server, request, status }: Target): Promise<RoundResult> {
  const { url } = server
  const before_us = await server.cpu_us()
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
  const service = await startProcess(
    'florin_process',
    {
      ...node_env,
      FLORIN_DATA_DIR: folder,
      FLORIN_DATABASE_URL: database_url,
    },
    log,
  )
  const person = await openAccount(service.url)
  const { key } = await createKey(service.url, person.bearer)
  const headers = { authorization: `Bearer ${key}` }
  const account = await send(service.url, 'GET', '/v1/accounts/me', { bearer: key })
  const bad = { body: '{"email":"no address","zzz":1}', method: 'POST' as const }
  const refused = await send(service.url, 'POST', '/v1/sessions', { raw: bad.body })
  const bare = await startProcess(
    'bare_fastify',
    { ACCOUNT_BODY: account.text, REFUSAL_BODY: refused.text },
    log,
  )

  const ratio = await compare(
    'get_account with an API key',
    { server: service, status: 200, request: { path: '/v1/accounts/me', headers } },
    { server: bare, status: 200, request: { path: '/v1/accounts/me', headers } },
  )
  const refusal = { path: '/v1/sessions', headers: { 'content-type': 'application/json' }, ...bad }
  await compare(
    'POST /sessions with an invalid body (400)',
    { server: service, status: 400, request: refusal },
    { server: bare, status: 400, request: refusal },
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
