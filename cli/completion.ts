import type { Command } from 'commander'
import { UsageError } from './exit_codes.ts'

/** A command by the words that lead to it, with what may follow. */
type Place = { path: string; summary: string; words: string[]; flags: Flag[] }
type Flag = { long: string; description: string }

const shells: Readonly<Record<string, (places: readonly Place[]) => string>> = {
  bash: bashScript,
  // zsh reads the functions of bash once it is told to.
  zsh: (places) => `autoload -U +X bashcompinit && bashcompinit\n${bashScript(places)}`,
  fish: fishScript,
}

export function printCompletion(shell: string, program: Command): void {
  const write = shells[shell]
  if (write === undefined) throw new UsageError(`${shell} is none of bash, zsh, fish.`)
  process.stdout.write(write(placesIn(program, '')))
}

function placesIn(command: Command, path: string): Place[] {
  const words = command.commands.map((inner) => inner.name())
  const flags = command.options
    .filter(({ hidden }) => !hidden)
    .map(({ long, description }) => ({ long: long ?? '', description }))
  const summary = command.summary() || command.description()
  const inner = command.commands.flatMap((each) => placesIn(each, `${path}${each.name()} `))
  return [{ path, summary, words, flags }, ...inner]
}

/** The place with the longest path that fits comes first; ids between the words do not matter. */
function bashScript(places: readonly Place[]): string {
  const cases = [...places]
    .sort((a, b) => b.path.length - a.path.length)
    .map(({ path, words, flags }) => {
      const offered = [...words, ...flags.map(({ long }) => long), '--help'].join(' ')
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

function fishScript(places: readonly Place[]): string {
  const quoted = (text: string) => `'${text.replaceAll(/['\\]/g, '\\$&')}'`
  const lines = places.flatMap(({ path, words, flags }) => {
    const here = `-n ${quoted(`__florin_at ${path.trim()}`)}`
    const summaryOf = (word: string) =>
      places.find((place) => place.path === `${path}${word} `)?.summary ?? ''
    return [
      ...words.map(
        (word) => `complete -c florin -f ${here} -a ${word} -d ${quoted(summaryOf(word))}`,
      ),
      ...flags.map(({ long, description }) => {
        return `complete -c florin ${here} -l ${long.slice(2)} -d ${quoted(description)}`
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
