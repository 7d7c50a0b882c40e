import type { Command } from 'commander'
import { didYouMean, suggest } from './suggest.ts'

/** Says what is wrong, what was probably meant, and where to look. */
export function explainUsage(text: string, command: Command): string {
  const path = pathOf(command)
  const [, unknown] = /unknown command '(.+?)'/.exec(text) ?? []
  if (unknown !== undefined) {
    return `Unknown command "${unknown}".${didYouMean(commandsLike(unknown, command))}
Run \`${path} --help\` for all commands.\n`
  }
  const [, flag] = /unknown option '(.+?)'/.exec(text) ?? []
  if (flag !== undefined) {
    const flags = command.options.flatMap(({ long, hidden }) => (hidden || !long ? [] : [long]))
    return `Unknown flag ${flag}.${didYouMean(suggest(flag, flags))}
Run \`${path} --help\` for all flags.\n`
  }
  const [, missing] = /missing required argument '(.+?)'/.exec(text) ?? []
  if (missing !== undefined) return `Missing <${missing}>. Run \`${path} --help\` for an example.\n`
  return `${text.replace(/^error: (.)/, (_, first: string) => first.toUpperCase())}`
}

/** `florin cards list` probably means list_cards. */
function commandsLike(unknown: string, command: Command): string[] {
  const names = command.commands.map((each) => each.name())
  const [, next = ''] = process.argv.slice(process.argv.indexOf(unknown))
  const both = /^[a-z_]+$/.test(next) ? suggest(`${unknown} ${next}`, names) : []
  return both.length > 0 ? both : suggest(unknown, names)
}

function pathOf(command: Command): string {
  const { parent } = command
  return parent === null ? command.name() : `${pathOf(parent)} ${command.name()}`
}
