import type { SandboxHost } from '#domain/context/surface.ts'
import { inboxOf } from '#domain/notices/inbox.ts'
import { closeWindow } from '#domain/topups/expire_topups_task.ts'
import { bearerOf } from '#kernel/bearer.ts'
import { cellOfId } from '#kernel/id.ts'
import { runtimeOfBearer, runtimeOfId } from '#operations/cells.ts'
import { invoke } from '#operations/invoke.ts'
import type { Runtime } from '#operations/runtime.ts'
import { callerOf } from '#operations/steps/authenticate.ts'
import { advanceClock } from '#platform/postgres/clock_offset.ts'
import type { TaskRunner } from '#platform/runtime/tasks.ts'
import type { IssuerSide } from './issuing.ts'

type HostDependencies = {
  tasks: TaskRunner
  card_host_port: number
  /** By the number of a cell. */
  issuingOf(cell: number): IssuerSide
  /** Sets the clock of the node's other processes, before the tasks run. */
  onAdvance(offset_ms: number): Promise<void>
}

/** The part of the service that the sandbox uses, for the accounts of every cell. */
export function makeSandboxHost(
  runtime: Runtime,
  { tasks, card_host_port, issuingOf, onAdvance }: HostDependencies,
): SandboxHost {
  return {
    settings: runtime.settings,
    clock: runtime.clock,
    random: runtime.random,
    log: runtime.log,
    card_host_port,
    ...routedIssuing(issuingOf),
    callerOf: async (authorization) => {
      const bearer = bearerOf(authorization)
      return callerOf(runtimeOfBearer(runtime, bearer), { bearer })
    },
    call: async (operation, input, bearer) => {
      const id = runtime.newId('req', runtime.clock.now())
      const request = {
        id,
        ip: 'local',
        user_agent: 'florin',
        idempotency_key: null,
        header: () => null,
      }
      const readInput = () => structuredClone(input)
      const answer = await invoke(runtime, {
        operation,
        bearer: bearer ?? null,
        request,
        readInput,
        is_free: true,
      })
      return { status: answer.status, body: answer.body === '' ? {} : JSON.parse(answer.body) }
    },
    runTasks: tasks.run,
    expireTopup: (account_id, id) => closeWindow(runtimeOfId(runtime, account_id), account_id, id),
    inboxOf: (account_id) =>
      inboxOf(runtimeOfId(runtime, account_id).db, account_id, runtime.settings),
    advanceClock: async (seconds) => {
      await advanceClock(runtime.db, runtime.clock, seconds)
      await onAdvance(runtime.clock.offset_ms())
      await tasks.runAll()
      return runtime.clock.now()
    },
  }
}

function routedIssuing(issuingOf: HostDependencies['issuingOf']): IssuerSide['sandbox_host'] {
  const of = (account_id: string) => issuingOf(cellOfId(account_id)).sandbox_host
  return {
    cardNumberOf: (account_id, id) => of(account_id).cardNumberOf(account_id, id),
    expireAuthorization: (account_id, id) => of(account_id).expireAuthorization(account_id, id),
    openChallenge: (account_id, asked) => of(account_id).openChallenge(account_id, asked),
    challengeStatus: (account_id, id) => of(account_id).challengeStatus(account_id, id),
  }
}

/** The tasks of all cells as one; each cell stops its own. More runners may be added later. */
export function allTasks(runners: readonly TaskRunner[]): TaskRunner {
  const each = async (run: (runner: TaskRunner) => Promise<void>) => {
    for (const runner of runners) await run(runner)
  }
  return {
    nudge: () => {
      for (const runner of runners) runner.nudge()
    },
    runAll: () => each((runner) => runner.runAll()),
    run: (names) => each((runner) => runner.run(names)),
    stop: () => each((runner) => runner.stop()),
  }
}
