import { Command, CommanderError } from 'commander'
import { routes } from '#contract/routes.ts'
import manifest from '#package.json' with { type: 'json' }
import { connectingCommands } from './connecting_commands.ts'
import { exit_codes, isExpected, tellFailure } from './exit_codes.ts'
import { servingCommands } from './serving_commands.ts'
import { withUnderscores } from './words.ts'

const program = new Command('florin')
  .description('Run and look after a Florin card programme, or call one.')
  .version(manifest.version)
  .showSuggestionAfterError()

program.commandsGroup('The programme:')
for (const command of servingCommands()) program.addCommand(command)
program.commandsGroup('Getting in, and developing:')
for (const command of connectingCommands()) program.addCommand(command)

/** A third of a second goes into reading the contract, so only what needs it pays for it. */
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

/** Every command fails the same way: with a sentence and the code of its class. */
async function tell(cause: unknown): Promise<void> {
  if (cause instanceof CommanderError) {
    process.exitCode = cause.exitCode === 0 ? exit_codes.ok : exit_codes.usage
  } else if (isExpected(cause)) {
    tellFailure(cause, { json: process.argv.includes('--json') })
  } else {
    // These take a while to load, and most commands need neither.
    const { ConfigError } = await import('#platform/config.ts')
    const { DatabaseUnavailable } = await import('#platform/db.ts')
    if (cause instanceof ConfigError) {
      process.stderr.write(`${cause.message}\n`)
      process.exitCode = exit_codes.settings
    } else if (cause instanceof DatabaseUnavailable) {
      const { message } = cause.cause instanceof Error ? cause.cause : cause
      process.stderr.write(`The database cannot be used: ${message}.\n${LOOK_AFTER_IT}\n`)
      process.exitCode = exit_codes.unavailable
    } else tellFailure(cause)
  }
}

const LOOK_AFTER_IT = 'Is it running, and is FLORIN_DATABASE_URL right? Ask florin doctor.'

/** Long names leave little room beside them; even so, lines that are broken read better. */
const HELP_WIDTH_MIN = 24

function eachCommand(command: Command, act: (command: Command) => void): void {
  act(command)
  for (const inner of command.commands) eachCommand(inner, act)
}

try {
  const [, , first = ''] = process.argv
  const named = first.replaceAll('-', '_')
  await addOperations(
    named in routes ? named : program.commands.find((each) => each.name() === first)?.name(),
  )
  eachCommand(program, (command) => {
    command.exitOverride().configureHelp({ minWidthToWrap: HELP_WIDTH_MIN })
    if (command !== program) command.helpCommand(false)
  })
  await program.parseAsync(withUnderscores(process.argv, program))
} catch (cause) {
  await tell(cause)
  // What was half started (a database, the sandbox's world) would keep the process alive.
  process.exit()
}
