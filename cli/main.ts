import { Command, CommanderError } from 'commander'
import { routes } from '#contract/routes.ts'
import manifest from '#package.json' with { type: 'json' }
import { clientCommands } from './client_commands.ts'
import { exit_codes, isExpected, printError } from './exit_codes.ts'
import { normalizeArguments, withoutHelpCommand } from './normalize_arguments.ts'
import { serverCommands } from './server_commands.ts'
import { explainUsage } from './usage_errors.ts'

const program = new Command('florin')
  .description('Run a Florin card program, or call its API.')
  .version(manifest.version)
  .showSuggestionAfterError(false)

program.commandsGroup('Server:')
for (const command of serverCommands()) program.addCommand(command)
program.commandsGroup('Login and development:')
for (const command of clientCommands()) program.addCommand(command)

/** Loading the contract takes a third of a second, so only commands that need it load it. */
async function addOperations(named: string | undefined): Promise<void> {
  const own = program.commands.find((command) => command.name() === named)
  if (own?.name() === 'operator' || own?.name() === 'completion') {
    const { operatorCommands } = await import('./calls/operator_call.ts')
    const group = program.commands.find((command) => command.name() === 'operator')
    for (const command of operatorCommands()) group?.addCommand(command)
  }
  if (own !== undefined && own.name() !== 'completion') return
  const { operations } = await import('#contract/operations.ts')
  const { operationCommand } = await import('./calls/operation.ts')
  const { sandboxCommand } = await import('./sandbox/sandbox_command.ts')
  program.addCommand(sandboxCommand())
  for (const shape of Object.values(operations)) {
    if (named !== undefined && named in routes && named !== shape.name) continue
    program.addCommand(operationCommand(shape).helpGroup(`${shape.section}:`))
  }
}

/** All commands fail the same way: a message on stderr and the exit code of its class. */
async function handleError(cause: unknown): Promise<void> {
  if (cause instanceof CommanderError) {
    process.exitCode = cause.exitCode === 0 ? exit_codes.ok : exit_codes.usage
  } else if (isExpected(cause)) {
    const isOperator = process.argv[2] === 'operator'
    printError(cause, { json: process.argv.includes('--json'), isOperator })
  } else {
    // Loaded here because they are slow to import and most commands need neither.
    const { ConfigError } = await import('#platform/settings/environment.ts')
    const { DatabaseUnavailable } = await import('#platform/postgres/db.ts')
    if (cause instanceof ConfigError) {
      process.stderr.write(`${cause.message}\n`)
      process.exitCode = exit_codes.settings
    } else if (cause instanceof DatabaseUnavailable) {
      const { message } = cause.cause instanceof Error ? cause.cause : cause
      process.stderr.write(`The database is unavailable: ${message}.\n${DATABASE_HINT}\n`)
      process.exitCode = exit_codes.unavailable
    } else if (isRefusedLogin(cause)) {
      process.stderr.write(`The database refused the login: ${cause.message}.\n${DATABASE_HINT}\n`)
      process.exitCode = exit_codes.settings
    } else printError(cause)
  }
}

/** SQLSTATE classes: 28 a wrong login, 3D a database that does not exist. */
const isRefusedLogin = (cause: unknown): cause is Error =>
  cause instanceof Error && /^(28|3D)/.test(String((cause as { code?: unknown }).code))

const DATABASE_HINT =
  'Check that it is running and that FLORIN_DATABASE_URL is correct, or run `florin doctor`.'

/** Wrap descriptions even in the narrow column that long command names leave. */
const HELP_WIDTH_MIN = 24

function forEachCommand(command: Command, apply: (command: Command) => void): void {
  apply(command)
  for (const inner of command.commands) forEachCommand(inner, apply)
}

/** A reader such as `head` closes the pipe when it has read enough, which is no failure. */
process.stdout.on('error', (cause: NodeJS.ErrnoException) => {
  if (cause.code !== 'EPIPE') throw cause
  process.exit(exit_codes.ok)
})

try {
  const typed = withoutHelpCommand(process.argv)
  const [, , first = ''] = typed
  const named = first.replaceAll('-', '_')
  await addOperations(
    named in routes ? named : program.commands.find((each) => each.name() === first)?.name(),
  )
  forEachCommand(program, (command) => {
    command
      .exitOverride()
      .configureHelp({ minWidthToWrap: HELP_WIDTH_MIN })
      .configureOutput({ outputError: (text, write) => write(explainUsage(text, command)) })
    if (command !== program) command.helpCommand(false)
  })
  await program.parseAsync(normalizeArguments(typed, program))
} catch (cause) {
  await handleError(cause)
  // A partly started database or sandbox would keep the process alive.
  process.exit()
}
