import { readFile } from 'node:fs/promises'
import { text } from 'node:stream/consumers'
import { Command, Option } from 'commander'
import type { TObject } from 'typebox'
import { UsageError } from '#cli/exit_codes.ts'
import { requireFile } from '#cli/require_file.ts'
import { type Flag, flagsOf, parseFlagValue, parseJson, setField } from './flags.ts'

/** An endpoint that gets a command: an operation, an operator call or a sandbox call. */
export type CommandSpec = {
  name: string
  summary: string
  description: string
  input: TObject
  /** Fields passed as arguments instead of flags, in order. */
  positional: readonly string[]
  /** The full command after `florin`, if it is not just the name. */
  example?: string
}

export type CommandInput = {
  input: Record<string, unknown>
  options: Readonly<Record<string, unknown>>
}

/** Builds a command with an argument per path ID and a flag per field, named as in the contract. */
export function buildCommand(
  spec: CommandSpec,
  run: (given: CommandInput) => Promise<void>,
): Command {
  const { name, summary, description, input, positional } = spec
  const flags = flagsOf(input, positional)
  const command = new Command(name).summary(summary).description(description)
  for (const field of positional) {
    const { description: text = '' } = (input.properties[field] ?? {}) as { description?: string }
    command.argument(`<${field}>`, text)
  }
  for (const flag of flags) command.addOption(buildOption(flag))
  addOpenFlags(command, flags)
  command
    .option('--data <json>', 'input as JSON; @path reads a file, - reads stdin')
    .addHelpText('after', `\nExample:\n  ${formatExample(spec, flags)}\n`)
  return command.action(async (...args: unknown[]) => {
    const options = command.opts()
    const given = { ...(await readData(options['data'])) }
    for (const [at, field] of positional.entries()) setField(given, field, parseId(field, args[at]))
    // Values are parsed here because commander's own option parsers drop null.
    for (const [field, value] of Object.entries(options).toSorted(byDepth)) {
      const flag = flags.find(({ name: each }) => each === field)
      if (flag !== undefined) setField(given, field, parseFlagValue(flag, String(value)))
      else if (isNestedField(flags, field)) setField(given, field, value)
    }
    requireFlags(flags, given)
    await run({ input: given, options })
  })
}

type FieldEntry = readonly [field: string, value: unknown]

/** An object before its fields, in whatever order they were typed: it would replace them. */
const byDepth = ([a]: FieldEntry, [b]: FieldEntry) => a.split('.').length - b.split('.').length

/** An empty ID, as from an unset variable of a script, or dots would be another path. */
function parseId(field: string, typed: unknown): string {
  const id = String(typed)
  if (!/^\.{0,2}$/.test(id)) return id
  throw new UsageError(`<${field}> is not a valid ID (got "${id}").`)
}

const isNestedField = (flags: readonly Flag[], field: string): boolean =>
  flags.some(({ name }) => field.startsWith(`${name}.`))

function buildOption(flag: Flag): Option {
  const { name, kind, description, choices, isRequired } = flag
  const notes = [
    description,
    choices.length > 0 && !description.includes('Allowed:') ? `One of: ${choices.join(', ')}.` : '',
    kind === 'list' ? 'Separated by commas.' : '',
    kind === 'object' ? 'JSON, or set its fields one by one.' : '',
    isRequired ? '(required)' : '',
  ]
  const placeholder = kind === 'boolean' ? '[true|false]' : `<${kind}>`
  const option = new Option(
    `--${name} ${placeholder}`,
    notes.filter((note) => note !== '').join(' '),
  )
  return kind === 'boolean' ? option.preset('true') : option
}

/** Objects without fixed fields (metadata) accept any field: `--metadata.order A-7`. */
function addOpenFlags(command: Command, flags: readonly Flag[]): void {
  const open = flags.filter(
    ({ name, kind }) =>
      kind === 'object' && !flags.some((other) => other.name.startsWith(`${name}.`)),
  )
  const typed = process.argv.flatMap((word) => /^--([\w-]+\.[^=]+)/.exec(word)?.[1] ?? [])
  for (const name of new Set(typed)) {
    if (!open.some((flag) => name.startsWith(`${flag.name}.`))) continue
    command.addOption(new Option(`--${name} <text>`).hideHelp())
  }
}

async function readData(option: unknown): Promise<Record<string, unknown>> {
  if (typeof option !== 'string') return {}
  const value = parseJson('data', await readJsonText(option))
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value }
  throw new UsageError('--data must be a JSON object.')
}

async function readJsonText(option: string): Promise<string> {
  if (option === '-') return text(process.stdin)
  if (!option.startsWith('@')) return option
  const path = option.slice(1)
  await requireFile('data', path)
  return readFile(path, 'utf8')
}

function requireFlags(flags: readonly Flag[], input: Record<string, unknown>): void {
  const missing = flags.filter(({ name, isRequired }) => isRequired && !Object.hasOwn(input, name))
  if (missing.length === 0) return
  const names = missing.map(({ name, choices }) =>
    choices.length === 0 ? `--${name}` : `--${name} (${choices.join(', ')})`,
  )
  throw new UsageError(`Missing required flags: ${names.join(', ')}.`)
}

function formatExample(
  { name, input, positional, example = name }: CommandSpec,
  flags: readonly Flag[],
): string {
  const ids = positional.map((field) => {
    const { examples } = (input.properties[field] ?? {}) as { examples?: string[] }
    return examples?.[0] ?? field
  })
  const required = flags.filter(({ isRequired }) => isRequired)
  const shown = required.length > 0 ? required : flags.filter(({ name: each }) => each === 'limit')
  const words = shown.map((flag) => `--${flag.name} ${quoteForShell(flag.example ?? 10)}`)
  return ['florin', example, ...ids, ...words].join(' ')
}

function quoteForShell(example: unknown): string {
  const typed = Array.isArray(example) ? example.join(',') : String(example)
  return /^[\w.,@:/+-]+$/.test(typed) ? typed : `'${typed.replaceAll("'", "'\\''")}'`
}
