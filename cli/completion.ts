import type { Command } from 'commander'
import { UsageError } from './exit_codes.ts'

/** A command, the path of words that leads to it, and the subcommands and flags it accepts. */
type CommandNode = { path: string; summary: string; subcommands: string[]; flags: Flag[] }
type Flag = { long: string; description: string }

const shells: Readonly<Record<string, (nodes: readonly CommandNode[]) => string>> = {
  bash: bashScript,
  // bashcompinit lets zsh use bash completion functions.
  zsh: (nodes) => `autoload -U +X bashcompinit && bashcompinit\n${bashScript(nodes)}`,
  fish: fishScript,
}

export function printCompletion(shell: string, program: Command): void {
  const write = shells[shell]
  if (write === undefined)
    throw new UsageError(`Unknown shell "${shell}" (allowed: bash, zsh, fish).`)
  process.stdout.write(write(collectNodes(program, '')))
}

function collectNodes(command: Command, path: string): CommandNode[] {
  const subcommands = command.commands.map((inner) => inner.name())
  const flags = command.options
    .filter(({ hidden }) => !hidden)
    .map(({ long, description }) => ({ long: long ?? '', description }))
  const summary = command.summary() || command.description()
  const inner = command.commands.flatMap((each) => collectNodes(each, `${path}${each.name()} `))
  return [{ path, summary, subcommands, flags }, ...inner]
}

/** Longest path first, so the most specific command matches. */
function bashScript(nodes: readonly CommandNode[]): string {
  const cases = [...nodes]
    .sort((a, b) => b.path.length - a.path.length)
    .map(({ path, subcommands, flags }) => {
      const offered = [...subcommands, ...flags.map(({ long }) => long), '--help'].join(' ')
      return `    "${path}"*) offered="${offered}" ;;`
    })
  return `_florin() {
  local path="" word offered=""
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    [[ $word == -* ]] || path="$path$word "
  done
  case "$path" in
${cases.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$offered" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _florin florin
`
}

function fishScript(nodes: readonly CommandNode[]): string {
  const quoteForShell = (text: string) => `'${text.replaceAll(/['\\]/g, '\\$&')}'`
  const lines = nodes.flatMap(({ path, subcommands, flags }) => {
    const here = `-n ${quoteForShell(`__florin_at ${path.trim()}`)}`
    const summaryOf = (word: string) =>
      nodes.find((node) => node.path === `${path}${word} `)?.summary ?? ''
    return [
      ...subcommands.map(
        (word) => `complete -c florin -f ${here} -a ${word} -d ${quoteForShell(summaryOf(word))}`,
      ),
      ...flags.map(({ long, description }) => {
        return `complete -c florin ${here} -l ${long.slice(2)} -d ${quoteForShell(description)}`
      }),
    ]
  })
  return `function __florin_at
  set -l typed (commandline -opc)
  test (count $argv) -eq 0; and test (count $typed) -eq 1; and return
  test (count $argv) -gt 0; and test "$typed[2..(math 1 + (count $argv))]" = "$argv"
end
${lines.join('\n')}
`
}
