import { readFile } from 'node:fs/promises'
import { text } from 'node:stream/consumers'
import { Command, Option } from 'commander'
import type { TObject } from 'typebox'
import { UsageError } from '#cli/exit_codes.ts'
import { type Flag, flagsOf, jsonIn, put, typedValue } from './flags.ts'

/** Something that can be called: an operation, or one of the sandbox's levers. */
export type Callable = {
  name: string
  summary: string
  description: string
  input: TObject
  /** The fields that come without a flag, in order. */
  positional: readonly string[]
  /** The words after florin, where they are not just the name. */
  example?: string
}

export type Given = { input: Record<string, unknown>; options: Readonly<Record<string, unknown>> }

/** A command with an argument for each id and a flag for each field, named as the contract does. */
export function commandOf(callable: Callable, run: (given: Given) => Promise<void>): Command {
  const { name, summary, description, input, positional } = callable
  const flags = flagsOf(input, positional)
  const command = new Command(name).summary(summary).description(description)
  for (const field of positional) {
    const { description: words = '' } = (input.properties[field] ?? {}) as { description?: string }
    command.argument(`<${field}>`, words)
  }
  for (const flag of flags) command.addOption(optionOf(flag))
  addOpenFlags(command, flags)
  command
    .option('--data <json>', 'the whole input as JSON; @file reads a file, - standard input')
    .addHelpText('after', `\nExample:\n  ${exampleOf(callable, flags)}\n`)
  return command.action(async (...words: unknown[]) => {
    const options = command.opts()
    const typed = words.slice(0, positional.length) as string[]
    const given = { ...(await dataIn(options['data'])) }
    for (const [at, field] of positional.entries()) put(given, field, typed[at])
    // Read here and not by the parser of flags, which turns a null into nothing.
    for (const [field, value] of Object.entries(options)) {
      const flag = flags.find(({ name: each }) => each === field)
      if (flag !== undefined) put(given, field, typedValue(flag, String(value)))
      else if (isWithin(flags, field)) put(given, field, value)
    }
    requireAll(flags, given)
    await run({ input: given, options })
  })
}

const isWithin = (flags: readonly Flag[], field: string): boolean =>
  flags.some(({ name }) => field.startsWith(`${name}.`))

function optionOf(flag: Flag): Option {
  const { name, kind, description, words, isRequired } = flag
  const notes = [
    description,
    words.length > 0 ? `One of: ${words.join(', ')}.` : '',
    kind === 'list' ? 'Separated by commas.' : '',
    kind === 'object' ? 'As JSON, or field by field.' : '',
    isRequired ? '(required)' : '',
  ]
  const takes = kind === 'boolean' ? '[true|false]' : `<${kind}>`
  const option = new Option(`--${name} ${takes}`, notes.filter((note) => note !== '').join(' '))
  return kind === 'boolean' ? option.preset('true') : option
}

/** Objects without a list of fields (metadata) take whatever is named: `--metadata.order A-7`. */
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

async function dataIn(given: unknown): Promise<Record<string, unknown>> {
  if (typeof given !== 'string') return {}
  const typed =
    given === '-'
      ? await text(process.stdin)
      : given.startsWith('@')
        ? await readFile(given.slice(1), 'utf8')
        : given
  const value = jsonIn('data', typed)
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value }
  throw new UsageError('--data takes a JSON object.')
}

function requireAll(flags: readonly Flag[], input: Record<string, unknown>): void {
  const missing = flags.filter(({ name, isRequired }) => isRequired && !Object.hasOwn(input, name))
  if (missing.length === 0) return
  throw new UsageError(`Missing: ${missing.map(({ name }) => `--${name}`).join(', ')}.`)
}

function exampleOf(
  { name, input, positional, example = name }: Callable,
  flags: readonly Flag[],
): string {
  const ids = positional.map((field) => {
    const { examples } = (input.properties[field] ?? {}) as { examples?: string[] }
    return examples?.[0] ?? field
  })
  const needed = flags.filter(({ isRequired }) => isRequired)
  const shown = needed.length > 0 ? needed : flags.filter(({ name: each }) => each === 'limit')
  const words = shown.map((flag) => `--${flag.name} ${quoted(flag.example ?? 10)}`)
  return ['florin', example, ...ids, ...words].join(' ')
}

function quoted(example: unknown): string {
  const typed = Array.isArray(example) ? example.join(',') : String(example)
  return /^[\w.,@:/+-]+$/.test(typed) ? typed : `'${typed.replaceAll("'", "'\\''")}'`
}
