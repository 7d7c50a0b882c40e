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
import { type DatabaseRole, openDatabase } from '#platform/postgres/db.ts'
import type { Probes } from '#platform/runtime/health.ts'
import type { Task } from '#platform/runtime/tasks.ts'

/** The issuer side of card payments: the engine, the card host and its tasks. */
export type Issuing = {
  engine: Engine
  host: CardHost
  probe: Probes['issuer']
  tasks: Task[]
  sandbox_host: Pick<
    SandboxHost,
    'card_host_port' | 'cardNumberOf' | 'expireAuthorization' | 'openChallenge' | 'challengeStatus'
  >
  stop(): Promise<void>
}

/** One connection per lane, and one to find the accounts of card numbers. */
const POOL_SIZE = 3

type EngineDatabase = { database_url: string; role: DatabaseRole; onCommit(): void }

export async function startIssuing(
  dependencies: Dependencies,
  { database_url, role, onCommit }: EngineDatabase,
): Promise<Issuing> {
  const { settings, keys, clock } = dependencies
  const link = links[settings.iso_link]
  const db = openDatabase(database_url, {
    role,
    pool_size: POOL_SIZE,
    limits: ENGINE_LIMITS,
    key_lookups: true,
    onCommit,
    log: dependencies.log,
    fail: dependencies.fail,
  })
  const engine = makeEngine({ ...dependencies, db })
  const host = await startCardHost({ ...dependencies, engine, link }, settings)
  const { port } = host
  return {
    engine,
    host,
    probe: issuerProbe({ port, link, clock, settings }),
    tasks: [
      expireAuthorizationsTask({ ...dependencies, engine }),
      settleClearingsTask({ ...dependencies, engine }),
    ],
    sandbox_host: {
      card_host_port: port,
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
      await host.stop()
      await engine.drain()
      await db.close()
    },
  }
}
