import type { Command } from 'commander'

/**
 * Turns `florin help COMMAND` into `florin COMMAND --help`. Commander's own help command knows no
 * dashes and no groups, and prints the whole help for an unknown command.
 */
export function withoutHelpCommand([node = '', file = '', ...words]: readonly string[]): string[] {
  const [first, ...rest] = words
  return [node, file, ...(first === 'help' ? [...rest, '--help'] : words)]
}

/** Accepts dashes for the underscores in command and flag names: `list-cards`, `--load-usd`. */
export function normalizeArguments(typed: readonly string[], program: Command): string[] {
  const flags = flagsOf(program)
  const [, , first = ''] = typed
  const command = resolveName(first, namesIn(program))
  const group = program.commands.find((each) => each.name() === command)
  const words = typed.map((word, at) => {
    if (at === 2) return command
    if (at === 3 && group !== undefined) return resolveName(word, namesIn(group))
    const [flag = '', ...value] = word.split('=')
    if (!flag.startsWith('--')) return word
    return [`--${resolveName(flag.slice(2), flags)}`, ...value].join('=')
  })
  // With --help, commander would print the help of all commands and not mention the unknown one.
  return hasUnknownCommand(words.slice(2), program)
    ? words.filter((word) => word !== '--help' && word !== '-h')
    : words
}

function hasUnknownCommand([word, ...rest]: readonly string[], { commands }: Command): boolean {
  if (word === undefined || word.startsWith('-') || commands.length === 0) return false
  const named = commands.find((each) => each.name() === word)
  return named === undefined || hasUnknownCommand(rest, named)
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
