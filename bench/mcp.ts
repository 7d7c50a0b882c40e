import { fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import { autocannon } from '#test/packages/autocannon.ts'
import { is_check, reportRatio } from './goals_parts/goals.ts'

/**
 * The CPU time of an MCP tool call compared with the same REST call, measured in alternating rounds
 * so that other load on the machine affects both equally.
 */
const RATIO_MAX = 1.3
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 5)
const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 4)
const CONNECTIONS = 16
const IDLE_SECONDS = is_check ? 2 : 5

type Route = { name: string; path: string; method: 'GET' | 'POST'; body?: string }

const call = (name: string) =>
  JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: {} } })

const routes: readonly [Route, Route] = [
  { name: 'REST get_balance', path: '/v1/balance', method: 'GET' },
  { name: 'MCP  get_balance', path: '/mcp', method: 'POST', body: call('get_balance') },
]

const script = new URL('./mcp_parts/served.js', import.meta.url)
const child = fork(script)
const [{ url }] = (await once(child, 'message')) as [{ url: string }]

async function cpuUsed(): Promise<number> {
  child.send('cpu')
  const [{ cpu_us }] = (await once(child, 'message')) as [{ cpu_us: number }]
  return cpu_us
}

async function openKey(): Promise<string> {
  const post = async (path: string, body: object, bearer?: string) => {
    const headers = {
      'content-type': 'application/json',
      ...(bearer !== undefined && { authorization: `Bearer ${bearer}` }),
    }
    const response = await fetch(url + path, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    })
    return (await response.json()) as Record<string, string>
  }
  const email = 'bench@example.com'
  const { bearer } = await post('/v1/accounts', { email, password: 'a long enough password' })
  const { key } = await post('/v1/api_keys', {}, bearer)
  return String(key)
}

const bearer = await openKey()

/** CPU time per second of background tasks, which is subtracted from the cost of calls. */
async function idleCost(): Promise<number> {
  const before = await cpuUsed()
  await wait(IDLE_SECONDS * 1_000)
  return ((await cpuUsed()) - before) / IDLE_SECONDS
}

async function measure({ path, method, body }: Route, seconds: number, idle_us: number) {
  const before = await cpuUsed()
  const result = await autocannon({
    url: url + path,
    method,
    connections: CONNECTIONS,
    duration: seconds,
    headers: {
      authorization: `Bearer ${bearer}`,
      accept: 'application/json, text/event-stream',
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body }),
  })
  if (result.non2xx > 0 || result.errors > 0) throw new Error(`${result.non2xx} calls failed`)
  const calls = result['2xx']
  const used = (await cpuUsed()) - before - idle_us * result.duration
  return { us: used / calls, per_second: calls / result.duration }
}

for (const route of routes) await measure(route, SECONDS, 0)
const idle_us = await idleCost()
const figures = routes.map(() => [] as { us: number; per_second: number }[])
for (let round = 0; round < ROUNDS; round += 1) {
  for (const [at, route] of routes.entries())
    figures[at]?.push(await measure(route, SECONDS, idle_us))
}
const median = (numbers: number[]) => numbers.sort((a, b) => a - b)[numbers.length >> 1] ?? 0
const costs = routes.map(({ name }, at) => {
  const us = median((figures[at] ?? []).map((figure) => figure.us))
  const per_second = median((figures[at] ?? []).map((figure) => figure.per_second))
  console.log(`${name}  ${us.toFixed(1)} µs of CPU per call, ${per_second.toFixed(0)} calls/s`)
  return us
})
const ratio = (costs[1] ?? 0) / (costs[0] ?? 1)
reportRatio('MCP to REST', ratio)
const verdict = ratio <= RATIO_MAX ? 'within' : 'over'
console.log(`MCP / REST  ${ratio.toFixed(2)}, ${verdict} ${RATIO_MAX}`)
child.disconnect()
process.exitCode = ratio <= RATIO_MAX ? 0 : 1
