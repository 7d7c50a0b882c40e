import { startService } from '#main/start.ts'
import { systemClock } from '#platform/runtime/clock.ts'
import { systemRandom } from '#platform/runtime/random.ts'
import { sandboxControl } from '#sandbox/control.ts'
import { type Demo, seedDemo } from '#sandbox/demo.ts'
import { sandboxOperatorToken } from '#sandbox/operator_token.ts'
import { startSandbox } from '#sandbox/sandbox.ts'
import { signerInChildProcess } from '#sandbox/signer_in_child_process.ts'
import { readSettings, type Settings } from '#settings/settings.ts'
import { firstRunScreen } from './first_run_screen.ts'
import { explainError, requireFreeDataDir } from './start_errors.ts'

/** Starts the service. Sandbox mode also starts simulated chains, card network and signer. */
export async function start(): Promise<void> {
  const settings = readSettings(process.env)
  await requireFreeDataDir(settings)
  const starting = settings.mode === 'sandbox' ? startWithSandbox(settings) : startService(settings)
  const running = await starting.catch((cause: unknown) => {
    throw explainError(cause, settings)
  })
  const stop = () => {
    process.off('SIGINT', stop)
    process.off('SIGTERM', stop)
    running.stop().then(
      () => process.exit(0),
      (cause) => {
        process.stderr.write(`${cause instanceof Error ? cause.stack : cause}\n`)
        process.exit(1)
      },
    )
  }
  process.on('SIGINT', stop)
  process.on('SIGTERM', stop)
}

async function startWithSandbox(settings: Settings) {
  const operator_token = await sandboxOperatorToken(settings, systemRandom)
  // Printed before the server accepts requests, so scripts have the token from the first request.
  process.stderr.write(
    `Starting Florin in sandbox mode…\n\n  Operator token  ${operator_token.open()}\n`,
  )
  const clock = systemClock()
  const now_ms = () => clock.now().getTime()
  const sandbox = await startSandbox({
    settings: { ...settings, operator_token },
    now_ms,
    wall_ms: () => clock.wall().getTime(),
    every: clock.every,
    startSigner: signerInChildProcess({ now_ms, every: clock.every }),
  })
  const service = await startService(sandbox.settings, {
    surfaces: [sandboxControl, ...sandbox.surfaces],
    dependencies: { clock },
  })
  const running = { ...service, stop: () => service.stop().then(sandbox.stop) }
  const demo: Demo = await seedDemo(running.sandbox_host)
  process.stderr.write(firstRunScreen(settings, demo, operator_token.open()))
  return running
}
