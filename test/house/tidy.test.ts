import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { floorComplaints } from '#scripts/floors.ts'
import { withoutProse } from '#scripts/tidy/blank.ts'
import { cycleComplaints } from '#scripts/tidy/cycles.ts'
import { exportComplaints, importComplaints } from '#scripts/tidy/imports.ts'
import {
  CHECKSUMS_PATH,
  checksumOf,
  checksumsWith,
  migrationComplaints,
} from '#scripts/tidy/migrations.ts'
import { handlerComplaints, nameComplaints } from '#scripts/tidy/names.ts'
import { placeComplaints } from '#scripts/tidy/places.ts'
import { complaintsAbout } from '#scripts/tidy/rules.ts'
import {
  columnComplaints,
  fileSizeComplaints,
  functionLengthComplaints,
} from '#scripts/tidy/sizes.ts'
import { type Complaint, type SourceFile, sentence } from '#scripts/tidy/source.ts'
import { seamComplaints, skipComplaints, wordComplaints } from '#scripts/tidy/words.ts'

type Check = (files: readonly SourceFile[]) => Complaint[]
type Sample = Readonly<Record<string, string>>

const filesOf = (sample: Sample): SourceFile[] =>
  Object.entries(sample).map(([path, text]) => ({ path, text }))

const said = (check: Check, sample: Sample): string[] => check(filesOf(sample)).map(sentence)

/** The complaint begins with its place, `path:line: `, and the words given here. */
function finds(check: Check, sample: Sample, ...beginnings: readonly string[]): void {
  const found = said(check, sample)
  assert.equal(found.length, beginnings.length, `\n${found.join('\n')}`)
  for (const [index, beginning] of beginnings.entries()) {
    assert.ok(found[index]?.startsWith(beginning), `${found[index]}\nis not\n${beginning}`)
    assert.match(found[index] ?? '', /^\S+:\d+: .+\. .+\.$/, 'a complaint names its cure')
  }
}

const passes = (check: Check, sample: Sample): void => assert.deepEqual(said(check, sample), [])

const importing = (specifier: string): string => `import { x } from '${specifier}'\n`
const times = (count: number, line: string): string => `${line}\n`.repeat(count)

test('a floor imports downwards only', () => {
  finds(
    floorComplaints,
    { 'src/kernel/a.ts': importing('#contract/b.ts') },
    'src/kernel/a.ts:1: kernel imports contract, which stands on it',
  )
  finds(
    floorComplaints,
    { 'src/rails/a.ts': `\nexport type { X } from '#operations/b.ts'\n` },
    'src/rails/a.ts:2: rails imports operations',
  )
  finds(
    floorComplaints,
    { 'src/domain/cards/a.ts': `const b = await import('#domain/disputes/b.ts')\n` },
    'src/domain/cards/a.ts:1: domain/cards imports domain/disputes',
  )
  passes(floorComplaints, {
    'src/domain/disputes/a.ts': importing('#domain/cards/b.ts') + importing('./c.ts'),
    'src/main/a.ts': importing('#doors/rest/router.ts') + importing('#kernel/id.ts'),
  })
})

test('doors do not see each other, and share what lies loose on their floor', () => {
  finds(
    floorComplaints,
    { 'src/doors/mcp/a.ts': importing('#doors/rest/b.ts') },
    'src/doors/mcp/a.ts:1: door mcp imports door rest',
  )
  passes(floorComplaints, {
    'src/doors/mcp/a.ts': importing('#doors/headers.ts') + importing('#doors/mcp/steps/b.ts'),
  })
})

test('an annex sees what it is allowed to, and nothing in src sees an annex', () => {
  finds(
    floorComplaints,
    { 'client/a.ts': importing('#platform/db.ts') },
    'client/a.ts:1: client imports platform',
  )
  finds(
    floorComplaints,
    { 'sandbox/a.ts': importing('#domain/cards/card.ts') },
    'sandbox/a.ts:1: sandbox imports domain/cards',
  )
  finds(
    floorComplaints,
    { 'src/main/a.ts': importing('#sandbox/b.ts') },
    'src/main/a.ts:1: main imports sandbox',
  )
  passes(floorComplaints, {
    'cli/a.ts': importing('#main/start.ts') + importing('#client/client.ts'),
    'bench/a.ts': importing('#domain/cards/card.ts'),
  })
})

test('a test beside the code sees everything, and no code sees a test', () => {
  passes(floorComplaints, { 'src/kernel/a.test.ts': importing('#test/support/database.ts') })
  finds(
    floorComplaints,
    { 'src/kernel/a.ts': importing('./b.test.ts') },
    'src/kernel/a.ts:1: kernel imports test',
  )
})

test('what also runs in a browser does not import Node', () => {
  finds(
    floorComplaints,
    { 'src/contract/a.ts': importing('node:fs') },
    'src/contract/a.ts:1: contract imports node:fs',
  )
  passes(floorComplaints, { 'src/platform/a.ts': importing('node:fs') })
})

test('a file of src stands on a floor', () => {
  finds(floorComplaints, { 'src/domain/loans/a.ts': '' }, 'src/domain/loans/a.ts:1: stands on no')
  passes(floorComplaints, { 'src/domain/cards/a.ts': '' })
})

test('an import names a file that exists, in full, without climbing', () => {
  const there = { 'src/kernel/id.ts': '', 'client/client.ts': '' }
  finds(
    importComplaints,
    { ...there, 'src/platform/a.ts': importing('../kernel/id.ts') },
    'src/platform/a.ts:1: climbs out of its folder with ../kernel/id.ts. Write #kernel/id.ts.',
  )
  finds(
    importComplaints,
    { ...there, 'src/platform/a.ts': `// first\n${importing('#kernel/id')}` },
    'src/platform/a.ts:2: imports #kernel/id without its extension',
  )
  finds(
    importComplaints,
    { ...there, 'src/kernel/a.ts': importing('./money.ts') },
    'src/kernel/a.ts:1: imports ./money.ts, and there is no src/kernel/money.ts',
  )
  passes(importComplaints, {
    ...there,
    'src/kernel/a.ts': importing('./id.ts') + importing('pg'),
    'cli/a.ts': `import {\n  x,\n} from '#client/client.ts'\n// from '../nowhere.ts'\n`,
  })
})

test('there are no barrels and no default exports', () => {
  finds(exportComplaints, { 'src/kernel/index.ts': '' }, 'src/kernel/index.ts:1: is a barrel')
  finds(
    exportComplaints,
    { 'cli/a.ts': '\nexport default 1\n' },
    'cli/a.ts:2: exports a default. Export it by its name.',
  )
  passes(exportComplaints, {
    'cli/a.ts': `export const a = 'export default'\n`,
    'vite.config.ts': 'export default {}\n',
    'panel/vite.config.ts': 'export default {}\n',
  })
})

test('imports do not go in circles, types included', () => {
  finds(
    cycleComplaints,
    {
      'src/kernel/a.ts': importing('./b.ts'),
      'src/kernel/b.ts': importing('#kernel/c.ts'),
      'src/kernel/c.ts': `import type { X } from './a.ts'\n`,
    },
    'src/kernel/c.ts:1: closes the circle src/kernel/a.ts → src/kernel/b.ts → src/kernel/c.ts',
  )
  finds(cycleComplaints, { 'cli/a.ts': importing('./a.ts') }, 'cli/a.ts:1: closes the circle')
  passes(cycleComplaints, {
    'src/kernel/a.ts': importing('./b.ts') + importing('./c.ts'),
    'src/kernel/b.ts': importing('./c.ts'),
    'src/kernel/c.ts': '',
  })
})

test('a file stops at 400 lines, a test at 600, a table nowhere', () => {
  finds(
    fileSizeComplaints,
    { 'src/kernel/a.ts': times(401, 'x'), 'src/kernel/a.test.ts': times(601, 'x') },
    'src/kernel/a.ts:400: has 401 lines, over 400',
    'src/kernel/a.test.ts:600: has 601 lines, over 600',
  )
  passes(fileSizeComplaints, {
    'src/kernel/a.ts': times(400, 'x'),
    'src/kernel/a.test.ts': times(600, 'x'),
    'src/contract/cards.ts': times(900, 'x'),
    'src/iso8583/spec_fields.ts': times(900, 'x'),
    'docs/money.md': times(900, 'x'),
  })
})

const body = (count: number): string => times(count, '  step()')

test('a function stops at 60 lines, however it is written', () => {
  const long = [
    `export async function pay(\n  a: string,\n): Promise<void> {\n${body(57)}}\n`,
    `export const pay: Handler<'pay'> = async ({ tx }) => {\n${body(59)}}\n`,
    `export const pay = (\n  a: string,\n) => {\n${body(57)}}\n`,
    `class A {\n  async pay(a: string): Promise<void> {\n${times(59, '    step()')}  }\n}\n`,
    `route('/pay', async () => {\n${body(59)}})\n`,
  ]
  for (const text of long) {
    const found = functionLengthComplaints([{ path: 'cli/a.ts', text }])
    assert.equal(found.length, 1, text)
    assert.match(found[0]?.what ?? '', /^(?:pay|a function) has 61 lines/)
  }
})

test('short functions, tables, long calls and tests are not long functions', () => {
  passes(functionLengthComplaints, {
    'cli/a.ts': `function a() {\n${body(58)}}\n\nfunction b() {\n${body(58)}}\n`,
    'cli/b.ts': `const rows = table({\n${times(80, '  a: 1,')}})\n`,
    'cli/c.ts': `  call(\n${times(80, '    a,')}  )\n  if (a) {\n${times(80, '    a')}  }\n`,
    'cli/d.ts': `class A {\n${times(20, '  a(): number {\n    return 1\n  }\n')}}\n`,
    'cli/a.test.ts': `function a() {\n${body(90)}}\n`,
  })
})

test('a line stops at 100 columns, except for what cannot be broken in a test', () => {
  const words = `const a = '${'word '.repeat(20)}'\n`
  const frame = `  const a = '${'f0'.repeat(50)}'\n`
  finds(
    columnComplaints,
    { 'src/kernel/a.ts': `\n${frame}`, 'src/kernel/a.test.ts': words },
    'src/kernel/a.ts:2: is 114 columns wide, over 100',
    'src/kernel/a.test.ts:1: is 112 columns wide, over 100',
  )
  passes(columnComplaints, {
    'src/kernel/a.ts': `${'é'.repeat(100)}\n`,
    'src/kernel/a.test.ts': frame,
  })
})

test('a list of class names may be as wide as it is, what is around it may not', () => {
  const wide = `      className="${'text-soft '.repeat(20)}"\n`
  passes(columnComplaints, { 'panel/ui/a.tsx': wide })
  finds(
    columnComplaints,
    { 'panel/ui/a.tsx': `${'a'.repeat(101)} ${wide}`, 'panel/ui/b.ts': wide },
    'panel/ui/a.tsx:1: is 118 columns wide, over 100',
    'panel/ui/b.ts:1: is 218 columns wide, over 100',
  )
})

test('nothing is left for later and nothing is any', () => {
  finds(
    wordComplaints,
    { 'src/kernel/a.ts': `// TODO: more\nthrow new Error('FIXME')\n// XXX odd\n` },
    'src/kernel/a.ts:1: leaves work for later',
    'src/kernel/a.ts:2: leaves work for later',
    'src/kernel/a.ts:3: leaves work for later',
  )
  for (const text of ['const a: any = 1', 'a as any', 'f<any>()', 'Record<string, any>']) {
    finds(wordComplaints, { 'client/a.ts': text }, 'client/a.ts:1: says any')
  }
  passes(wordComplaints, {
    'src/kernel/a.ts': `// as any other\nconst a = { any: ': any', currency: 'XXX' } || any\n`,
    'docs/plan.md': 'TODO',
  })
})

test('src does not print', () => {
  finds(wordComplaints, { 'src/main/a.ts': 'console.log(1)' }, 'src/main/a.ts:1: prints')
  passes(wordComplaints, { 'cli/a.ts': 'console.log(1)' })
})

test('time, chance and environment come in through platform and main', () => {
  const seams = [
    'const now = Date.now()',
    'const now = new Date()',
    'const x = Math.random()',
    'setTimeout(f, 1)',
    'setInterval(f, 1)',
    'const url = process.env.URL',
    'const x = crypto.randomUUID()',
    `import {\n  createHash,\n  randomBytes,\n} from 'node:crypto'`,
  ]
  for (const text of seams) {
    finds(seamComplaints, { 'src/domain/cards/a.ts': text }, 'src/domain/cards/a.ts:1:')
    passes(seamComplaints, {
      'src/platform/a.ts': text,
      'src/main/a.ts': text,
      'src/domain/cards/a.test.ts': text,
      'cli/a.ts': text,
    })
  }
  passes(seamComplaints, {
    'src/kernel/a.ts': `// Date.now() is a seam.
import { createHash } from 'node:crypto'
import { randomBytes } from '#platform/random.ts'
const then = new Date(time_ms)
export const maker = (randomBytes: RandomBytes) => randomBytes(9)
`,
  })
})

test('no test is left out of the run', () => {
  for (const text of ["test.skip('a', f)", "test.only('a', f)", "test('a', { skip: true }, f)"]) {
    finds(skipComplaints, { 'test/a.test.ts': text }, 'test/a.test.ts:1: leaves tests out')
  }
  passes(skipComplaints, { 'test/a.test.ts': "test('test.skip( and { skip: true', f)" })
})

test('files are named in snake_case, after an idea', () => {
  finds(nameComplaints, { 'src/kernel/moneyMath.ts': '' }, 'src/kernel/moneyMath.ts:1: moneyMath')
  for (const path of ['cli/utils.ts', 'cli/card_service.ts', 'cli/helpers/a.ts']) {
    finds(nameComplaints, { [path]: '' }, `${path}:1:`)
  }
  passes(nameComplaints, {
    'src/domain/cards/load_card.property.test.ts': '',
    'migrations/0001_ledger.sql': '',
    'src/doors/rest/service_status.ts': '',
    'README.md': '',
  })
})

test('an operation has a test of its name in its room', () => {
  const contract = { 'src/contract/cards.ts': "export const load_card = operation({\n  name: ''" }
  finds(
    handlerComplaints,
    { ...contract, 'src/domain/cards/load_card.ts': '', 'test/load_card.test.ts': '' },
    'src/domain/cards/load_card.ts:1: is an operation without a test',
  )
  passes(handlerComplaints, {
    ...contract,
    'src/domain/cards/load_card.ts': '',
    'src/domain/cards/load_card.test.ts': '',
    'src/domain/cards/card_store.ts': '',
  })
})

const landed = (sums: Sample): Sample => ({ [CHECKSUMS_PATH]: JSON.stringify(sums) })

test('migrations are numbered without gaps', () => {
  finds(
    migrationComplaints,
    {
      'migrations/0001_a.sql': '',
      'migrations/0003_c.sql': '',
      ...landed({ '0001_a.sql': checksumOf(''), '0003_c.sql': checksumOf('') }),
    },
    'migrations/0003_c.sql:1: is number 0003, not 0002',
  )
})

test('a migration that landed is neither edited nor removed', () => {
  finds(
    migrationComplaints,
    { 'migrations/0001_a.sql': 'new', ...landed({ '0001_a.sql': checksumOf('old') }) },
    'migrations/0001_a.sql:1: was edited after it landed',
  )
  finds(
    migrationComplaints,
    landed({ '0001_a.sql': checksumOf('old') }),
    'migrations/checksums.json:1: 0001_a.sql landed and is gone',
  )
  finds(migrationComplaints, { 'migrations/0001_a.sql': '' }, 'migrations/0001_a.sql:1: is not rec')
  passes(migrationComplaints, {
    'migrations/0001_a.sql': 'old',
    ...landed({ '0001_a.sql': checksumOf('old') }),
  })
})

test('recording adds what is new and never changes what landed', () => {
  const files = filesOf({
    'migrations/0002_b.sql': 'b',
    'migrations/0001_a.sql': 'edited',
    ...landed({ '0001_a.sql': 'as it landed' }),
  })
  assert.deepEqual(Object.entries(checksumsWith(files)), [
    ['0001_a.sql', 'as it landed'],
    ['0002_b.sql', checksumOf('b')],
  ])
})

test('no machine and no registry shows through in any text file', () => {
  for (const folder of ['work', 'root']) {
    const text = `see ${['', folder, 'notes'].join('/')}`
    finds(placeComplaints, { 'docs/a.md': text }, 'docs/a.md:1: names a folder of one machine')
  }
  const host = ['registry', 'npmjs', 'org'].join('.')
  finds(placeComplaints, { 'docs/a.md': `\nfrom ${host}` }, 'docs/a.md:2: names a package registry')
  finds(
    placeComplaints,
    { 'package-lock.json': `"resolved"${': "https:'}//mirror.example/a.tgz"` },
    'package-lock.json:1: names a package registry',
  )
  passes(placeComplaints, {
    'docs/a.md': 'src/work/a.ts, https://example.com/root/a, ./work/ and the root/ folder',
    'package-lock.json': '"resolved": "sandbox"',
  })
})

test('the words of strings, patterns and comments are blank, and every offset stays', () => {
  const text = [
    "const a = 'it\\'s any' // as any",
    `const b = \`x \${f({ c: \`any \${d} any\` })} any\` as Y`,
    'const e = /["\'`/any]+\\/any/g.test(g) / 2 / h',
    '/* any\n any */ i',
  ].join('\n')
  const code = withoutProse(text)
  assert.equal(code.length, text.length)
  assert.doesNotMatch(code, /any/)
  for (const kept of ['const a =', 'f({ c: `', '{d}', '})', 'as Y', '.test(g) / 2 / h', ' i']) {
    assert.ok(code.includes(kept), `${kept} in\n${code}`)
  }
  assert.match(withoutProse(text, ['strings']), /\/\/ as any/)
})

test('complaints come in the order of the tree', () => {
  const files = filesOf({
    'src/kernel/b.ts': `\n// TODO\n${importing('./c')}`,
    'src/kernel/a.ts': 'export default 1\n',
  })
  assert.deepEqual(
    complaintsAbout(files).map(({ path, line }) => `${path}:${line}`),
    ['src/kernel/a.ts:1', 'src/kernel/b.ts:2', 'src/kernel/b.ts:3'],
  )
})
