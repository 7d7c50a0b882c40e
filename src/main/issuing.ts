import { openChallenge } from '#domain/authorizations/challenge.ts'
import { challengeStatusOf } from '#domain/authorizations/challenge_store.ts'
import { ENGINE_LIMITS, type Engine, makeEngine } from '#domain/authorizations/engine.ts'
import {
  expireAuthorization,
  expireAuthorizationsTask,
} from '#domain/authorizations/expire_authorizations_task.ts'
import { settleClearingsTask } from '#domain/authorizations/settle_clearings_task.ts'
import { findCardOf } from '#domain/cards/card_store.ts'
import { findSealedPan } from '#domain/cards/pan_store.ts'
import { cvvOf, openPan } from '#domain/cards/pan_vault.ts'
import type { Dependencies } from '#domain/context/context.ts'
import type { SandboxHost } from '#domain/context/surface.ts'
import { type CardHost, startCardHost } from '#doors/card_host/card_host.ts'
import { issuerProbe } from '#doors/card_host/probe.ts'
import { links } from '#iso8583/links.ts'
import { assert } from '#kernel/assert.ts'
import type { DatabaseAddress } from '#platform/postgres/database_address.ts'
import { type DatabaseRole, openDatabase } from '#platform/postgres/db.ts'
import type { Probes } from '#platform/runtime/health.ts'
import type { Task } from '#platform/runtime/tasks.ts'
import { type Tracing, traceDatabase, traceEngine } from './tracing.ts'

/** The issuer side of card payments in one cell: the engine and its tasks. */
export type IssuerSide = {
  engine: Engine
  tasks: Task[]
  sandbox_host: Pick<
    SandboxHost,
    'cardNumberOf' | 'expireAuthorization' | 'openChallenge' | 'challengeStatus'
  >
  stop(): Promise<void>
}

export type IssuerHost = { port: number; probe: Probes['issuer']; stop: CardHost['stop'] }

/** A card message waits for a move to end; its deadline declines it otherwise. */
const MOVE_WAIT_MS = 1_500

type EngineDatabase = {
  address: DatabaseAddress
  role: DatabaseRole
  lane_count: number
  onCommit(): void
  tracing: Tracing | null
}

function makeTracedEngine(
  dependencies: Parameters<typeof makeEngine>[0],
  { tracing, lane_count }: EngineDatabase,
): Engine {
  if (tracing === null) return makeEngine(dependencies, { lane_count })
  const db = traceDatabase(dependencies.db, tracing, { is_batch: true })
  return traceEngine(makeEngine({ ...dependencies, db }, { lane_count }), tracing)
}

export function startIssuing(dependencies: Dependencies, options: EngineDatabase): IssuerSide {
  const { settings, keys, clock } = dependencies
  const { address, role, lane_count, onCommit } = options
  const db = openDatabase(address, {
    role,
    move_wait_ms: MOVE_WAIT_MS,
    // One connection per lane, and one to find the accounts of card numbers.
    pool_size: lane_count + 1,
    limits: ENGINE_LIMITS,
    key_lookups: true,
    onCommit,
    log: dependencies.log,
    fail: dependencies.fail,
  })
  const engine = makeTracedEngine({ ...dependencies, db }, options)
  return {
    engine,
    tasks: [
      expireAuthorizationsTask({ ...dependencies, engine }),
      settleClearingsTask({ ...dependencies, engine }),
    ],
    sandbox_host: {
      cardNumberOf: async (account_id, id) => {
        assert(settings.mode === 'sandbox', 'only the sandbox reads a card number')
        const card = await findCardOf(dependencies.db, { account_id, id }, clock.now())
        const pan = openPan(keys, id, await findSealedPan(dependencies.db, card))
        return { ...card, pan, cvv: cvvOf(keys, card, pan.open()) }
      },
      expireAuthorization: (account_id, id) =>
        expireAuthorization({ ...dependencies, engine }, account_id, id),
      openChallenge: async (account_id, asked) =>
        (await openChallenge(dependencies, account_id, asked)).id,
      challengeStatus: (account_id, id) => challengeStatusOf(dependencies.db, account_id, id),
    },
    stop: async () => {
      await engine.drain()
      await db.close()
    },
  }
}

/** The card host of a node: one port for the messages of all its cells. */
export async function startIssuerHost(
  dependencies: Dependencies,
  engine: Engine,
): Promise<IssuerHost> {
  const { settings, clock } = dependencies
  const link = links[settings.iso_link]
  const { port, stop } = await startCardHost({ ...dependencies, engine, link }, settings)
  return { port, stop, probe: issuerProbe({ port, link, clock, settings }) }
}
