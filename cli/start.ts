import { join } from 'node:path'
import type { RunningService } from '#main/start.ts'
import { PARENT } from '#main/workers/messages.ts'
import { type Clock, systemClock } from '#platform/runtime/clock.ts'
import type { Log } from '#platform/runtime/log.ts'
import { systemRandom } from '#platform/runtime/random.ts'
import { type Demo, seedDemo } from '#sandbox/demo.ts'
import { sandboxOperatorToken } from '#sandbox/operator_token.ts'
import { readSettings, type Settings } from '#settings/settings.ts'
import { firstRunScreen } from './first_run_screen.ts'
import { LOG_FILE, openLogFile } from './log_file.ts'
import { withProgress } from './progress.ts'
import { explainError, requireFreeDataDir } from './start_errors.ts'
import { startProcesses } from './start_processes.ts'
import { startSandboxService } from './start_sandbox.ts'

const STOP_SIGNALS = ['SIGINT', 'SIGTERM'] as const

type StartCommand = { log?: boolean; workers?: string }

/** Starts the service. Sandbox mode also starts simulated chains, card network and signer. */
export async function start({ log = false, workers }: StartCommand): Promise<void> {
  if (workers !== undefined) process.env['FLORIN_WORKERS'] = workers
  const settings = readSettings(process.env)
  await requireFreeDataDir(settings)
  const clock = systemClock()
  // On a terminal, lines of requests would push the credentials off the screen.
  const isLogInFile = process.stdout.isTTY && !log
  const log_fields = settings.workers > 1 ? { worker: PARENT } : {}
  const dependencies = {
    clock,
    ...(isLogInFile && { log: await openLogFile(settings.data_dir, clock.wall, log_fields) }),
  }
  const starting =
    settings.mode === 'sandbox'
      ? withProgress('Starting Florin in sandbox mode', () =>
          startWithSandbox(settings, dependencies),
        )
      : startProcesses(settings, { dependencies }).then((running) => ({ running, screen: '' }))
  const { running, screen } = await starting.catch((cause: unknown) => {
    throw explainError(cause, settings)
  })
  // Before the screen, because anyone who reads it may stop the service.
  stopOnSignal(running)
  process.stderr.write(screen)
  if (isLogInFile) process.stderr.write(`  Log: ${join(settings.data_dir, LOG_FILE)}\n\n`)
}

/** Stops the service in order at the first signal; a second one ends the process immediately. */
function stopOnSignal({ stop }: RunningService): void {
  const onSignal = () => {
    for (const signal of STOP_SIGNALS) process.off(signal, onSignal)
    stop().then(
      () => process.exit(0),
      (cause) => {
        process.stderr.write(`${cause instanceof Error ? cause.stack : cause}\n`)
        process.exit(1)
      },
    )
  }
  for (const signal of STOP_SIGNALS) process.on(signal, onSignal)
}

type StartedService = { running: RunningService; screen: string }

async function startWithSandbox(
  settings: Settings,
  dependencies: { clock: Clock; log?: Log },
): Promise<StartedService> {
  const operator_token = await sandboxOperatorToken(settings, systemRandom)
  // Printed before the server accepts requests, so scripts have the token from the first request.
  if (!process.stderr.isTTY) {
    process.stderr.write(
      `Starting Florin in sandbox mode…\n\n  Operator token  ${operator_token.open()}\n`,
    )
  }
  const running = await startSandboxService({ ...settings, operator_token }, dependencies)
  const demo: Demo = await seedDemo(running.sandbox_host)
  return { running, screen: firstRunScreen(settings, demo, operator_token.open()) }
}
