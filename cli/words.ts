import type { Command } from 'commander'

/** Names have underscores, as in the contract; whoever types dashes means the same. */
export function withUnderscores(typed: readonly string[], program: Command): string[] {
  const flags = flagsOf(program)
  const [, , first = ''] = typed
  const command = known(first, namesIn(program))
  const group = program.commands.find((each) => each.name() === command)
  return typed.map((word, at) => {
    if (at === 2) return command
    if (at === 3 && group !== undefined) return known(word, namesIn(group))
    const [flag = '', ...value] = word.split('=')
    if (!flag.startsWith('--')) return word
    return [`--${known(flag.slice(2), flags)}`, ...value].join('=')
  })
}

const namesIn = ({ commands }: Command) => new Set(commands.map((command) => command.name()))

function known(word: string, names: ReadonlySet<string>): string {
  const meant = word.replaceAll('-', '_')
  return !names.has(word) && names.has(meant) ? meant : word
}

function flagsOf(command: Command): Set<string> {
  const own = command.options.map(({ long }) => long?.slice(2) ?? '')
  return new Set([...own, ...command.commands.flatMap((inner) => [...flagsOf(inner)])])
}
