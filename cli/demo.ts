import { advanceClock } from '#platform/postgres/clock_offset.ts'
import { migrate } from '#platform/postgres/migrate.ts'
import { type Clock, systemClock } from '#platform/runtime/clock.ts'
import { jsonLog, type Log } from '#platform/runtime/log.ts'
import { systemRandom } from '#platform/runtime/random.ts'
import { ConfigError } from '#platform/settings/environment.ts'
import { seedDemo } from '#sandbox/demo.ts'
import { DEMO_DAYS, playHistory } from '#sandbox/demo_history/history.ts'
import { sandboxOperatorToken } from '#sandbox/operator_token.ts'
import { readSettings, type Settings } from '#settings/settings.ts'
import { progressBar, startProgress } from './progress.ts'
import { explainError, requireFreeDataDir } from './start_errors.ts'
import { startSandboxService } from './start_sandbox.ts'
import { withDatabase } from './with_database.ts'

const BACK_MS = DEMO_DAYS * 86_400_000
/** More than the everyday withdrawals of the history, and less than its last one. */
const REVIEW_USD = 500

/**
 * Fills an empty sandbox with 90 days of lifelike data. The service runs with a clock that begins
 * 90 days ago and ends now, so that everything is made by the same code as real use.
 */
export async function demo(): Promise<void> {
  const settings = readSettings({
    ...process.env,
    FLORIN_RATE_PROFILE: 'off',
    FLORIN_PORT: '0',
    FLORIN_ISO_PORT: '0',
  })
  if (settings.mode !== 'sandbox') {
    throw new ConfigError('`florin demo` is for the sandbox: FLORIN_MODE is live.')
  }
  await requireFreeDataDir(settings)
  await withDatabase(async (db) => {
    await migrate(db)
    const [row] = await db.rows<{ has_accounts: boolean }>(
      'select exists (select from accounts) as has_accounts',
    )
    if (row?.has_accounts) {
      throw new ConfigError(
        '`florin demo` fills an empty sandbox, and this one has accounts. Set FLORIN_DATA_DIR to ' +
          'a new folder for the demo and for `npm start`: export FLORIN_DATA_DIR=./demo/data',
      )
    }
    await advanceClock(db, systemClock(), -BACK_MS / 1_000)
  })
  const { email, password } = await fill(settings).catch((cause: unknown) => {
    throw explainError(cause, settings)
  })
  process.stdout.write(
    `The sandbox has ${DEMO_DAYS} days of data. Run \`npm start\`, then sign in as ` +
      `${email} with the password ${password}.\n`,
  )
}

/** Thousands of calls would hide the progress. */
const errorsOnly = (log: Log): Log => ({ ...log, info: () => undefined })

/** Keeps errors for a demo that fails: what awaits an operator is one, and the demo causes some. */
class ErrorLog {
  readonly #lines: string[] = []
  readonly log: Log

  constructor(clock: Clock) {
    const sink = { write: (line: string) => void this.#lines.push(line) }
    this.log = errorsOnly(jsonLog(sink, clock.wall))
  }

  print(): void {
    process.stderr.write(this.#lines.join(''))
  }
}

async function fill(settings: Settings): Promise<{ email: string; password: string }> {
  const clock = systemClock()
  clock.setOffset(-BACK_MS)
  const operator_token = await sandboxOperatorToken(settings, systemRandom)
  const errors = new ErrorLog(clock)
  // A sandbox holds nothing for review, and the console would have nothing to decide.
  const risk = { ...settings.risk, refund_review_usd: 0, withdrawal_review_usd: REVIEW_USD }
  // The history moves the clock of this process.
  const alone = { ...settings, operator_token, workers: 1, risk }
  const service = await startSandboxService(alone, { clock, log: errors.log })
  const progress = startProgress('Filling the sandbox')
  try {
    const { sandbox_host: host, runtime, url } = service
    const account = await seedDemo(host)
    const moveClock = (seconds: number) => advanceClock(runtime.db, clock, seconds)
    const bearer = account.api_key
    await playHistory({ url, host, moveClock }, { ...account, bearer }, (day) =>
      progress.update(progressBar(day, DEMO_DAYS)),
    )
    return account
  } catch (cause) {
    errors.print()
    throw cause
  } finally {
    progress.end()
    await service.stop()
  }
}
