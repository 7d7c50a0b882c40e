import type { Command } from 'commander'

/** Accepts dashes for the underscores in command and flag names: `list-cards`, `--load-usd`. */
export function normalizeArguments(typed: readonly string[], program: Command): string[] {
  const flags = flagsOf(program)
  const [, , first = ''] = typed
  const command = resolveName(first, namesIn(program))
  const group = program.commands.find((each) => each.name() === command)
  return typed.map((word, at) => {
    if (at === 2) return command
    if (at === 3 && group !== undefined) return resolveName(word, namesIn(group))
    const [flag = '', ...value] = word.split('=')
    if (!flag.startsWith('--')) return word
    return [`--${resolveName(flag.slice(2), flags)}`, ...value].join('=')
  })
}

const namesIn = ({ commands }: Command) => new Set(commands.map((command) => command.name()))

function resolveName(word: string, names: ReadonlySet<string>): string {
  const with_underscores = word.replaceAll('-', '_')
  return !names.has(word) && names.has(with_underscores) ? with_underscores : word
}

function flagsOf(command: Command): Set<string> {
  const own = command.options.map(({ long }) => long?.slice(2) ?? '')
  return new Set([...own, ...command.commands.flatMap((inner) => [...flagsOf(inner)])])
}
