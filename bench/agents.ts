import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startSandboxService } from '#cli/start_sandbox.ts'
import { systemClock } from '#platform/runtime/clock.ts'
import { silentLog } from '#platform/runtime/log.ts'
import { Chance } from '#sandbox/demo_history/chance.ts'
import {
  call,
  type DemoSandbox,
  pay,
  settle,
  simulate,
  topUp,
} from '#sandbox/demo_history/demo_sandbox.ts'
import { everyday } from '#sandbox/demo_history/places.ts'
import { readSettings } from '#settings/settings.ts'
import { node_env } from '#test/support/node_env.ts'
import { agent_tasks } from './agents_parts/tasks.ts'
import { costOf, mcpWay, restWay, tokensOf, type Way } from './agents_parts/ways.ts'

/**
 * Calls and tokens of ten everyday tasks: MCP tools against REST described by OpenAPI alone. A
 * script stands for the model, so both ways make the same calls. Tokens are those of gpt-tokenizer.
 */
const RATIO_MAX = 0.5
const SEED = 7
const PURCHASES = 20

const data_dir = await mkdtemp(join(tmpdir(), 'florin_bench_'))
const settings = readSettings({
  ...node_env,
  FLORIN_DATA_DIR: data_dir,
})
const service = await startSandboxService(settings, { clock: systemClock(), log: silentLog })
const { url, sandbox_host: host } = service

/** An account with two cards, twenty purchases and a decline; the same for both ways. */
async function openAccount(name: string): Promise<{ url: string; bearer: string }> {
  const sandbox: DemoSandbox = {
    url,
    host,
    chance: new Chance(SEED),
    moveClock: async () => undefined,
  }
  const login = { email: `${name}@example.com`, password: 'a long enough password' }
  const bearer = String((await call(sandbox, 'create_account', login)).bearer)
  await topUp(sandbox, bearer, 2_000)
  const issue = async (card: object) =>
    String((await call(sandbox, 'issue_card', { type: 'virtual', ...card }, bearer)).id)
  const card_id = await issue({ name: 'Groceries', load_usd: 1_000, limits: {} })
  await issue({ name: 'Travel', load_usd: 50 })
  for (let count = 0; count < PURCHASES; count += 1) {
    const { id, isApproved } = await pay(
      sandbox,
      { card_id, bearer },
      sandbox.chance.pick(everyday),
    )
    if (isApproved) await settle(sandbox, bearer, id)
  }
  await simulate(
    sandbox,
    `cards/${card_id}/authorize`,
    { amount: 5_000, merchant_name: 'B&H Photo' },
    bearer,
  )
  return { url, bearer }
}

const number = (value: number) => value.toLocaleString('en-US').padStart(10)

try {
  const ways: readonly [Way, Way] = [
    await mcpWay(await openAccount('mcp')),
    await restWay(await openAccount('rest')),
  ]
  const [mcp_reading, rest_reading] = ways.map(({ description }) => tokensOf(description))
  const reading = { mcp: mcp_reading ?? 0, rest: rest_reading ?? 0 }
  const total = { calls: 0, mcp: 0, rest: 0 }
  const line = (name: string, calls: number | string, mcp: number, rest: number) =>
    console.log(
      `${name.padEnd(36)}${String(calls).padStart(6)}${number(mcp)}${number(rest)}` +
        `${(mcp / rest).toFixed(2).padStart(8)}`,
    )
  console.log(`${'task'.padEnd(36)} calls${'MCP'.padStart(10)}${'REST'.padStart(10)}   ratio`)
  for (const task of agent_tasks) {
    const mcp = await costOf(ways[0], task)
    const rest = await costOf(ways[1], task)
    line(task.name, mcp.calls, mcp.tokens, rest.tokens)
    total.calls += mcp.calls
    total.mcp += mcp.tokens
    total.rest += rest.tokens
  }
  line('description, read once', '', reading.mcp, reading.rest)
  const mcp_total = reading.mcp + total.mcp
  const rest_total = reading.rest + total.rest
  line('all ten in one session', total.calls, mcp_total, rest_total)
  if (mcp_total / rest_total > RATIO_MAX) {
    console.error(`Target: at most ${RATIO_MAX} of the tokens of REST.`)
    process.exitCode = 1
  }
} finally {
  await service.stop()
  await rm(data_dir, { recursive: true, force: true })
}
