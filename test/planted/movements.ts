import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { movements } from '#domain/ledger/movements.ts'
import { root } from '#platform/runtime/root.ts'
import type { PlantedBug } from './planted_bug.ts'

const other = (kind: string): string => (kind === 'operator' ? 'fees' : 'operator')

const FILE = 'src/domain/ledger/movements.ts'
const table = readFileSync(join(root, FILE), 'utf8')

/** The formatter breaks a long row of the table into lines. */
function rowIn(name: string, source: string, target: string): string {
  const isBroken = table.includes(`  ${name}: {\n`)
  const [begin, between] = isBroken ? ['\n    ', ',\n    '] : [' ', ', ']
  return `${name}: {${begin}from: '${source}'${between}to: '${target}'`
}

/** Both sides of every movement of the table. */
export const movement_sides: readonly PlantedBug[] = Object.entries(movements).flatMap(
  ([name, { from, to }]) => {
    const row = (source: string, target: string) => rowIn(name, source, target)
    const shared = {
      file: FILE,
      find: row(from, to),
      tests: ['src/domain/ledger/movements.test.ts'],
    }
    return [
      {
        ...shared,
        name: `${name}_from`,
        replace: row(other(from), to),
        breaks: `The movement ${name} leaves a purse of kind ${from}.`,
      },
      {
        ...shared,
        name: `${name}_to`,
        replace: row(from, other(to)),
        breaks: `The movement ${name} reaches a purse of kind ${to}.`,
      },
    ]
  },
)
