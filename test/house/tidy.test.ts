import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { changelogViolations } from '#scripts/release/changelog.ts'
import { blankProse } from '#scripts/tidy/blank.ts'
import {
  fileReferenceViolations,
  glossaryViolations,
  synonymViolations,
} from '#scripts/tidy/glossary.ts'
import { importOrderViolations } from '#scripts/tidy/import_order.ts'
import { lineLengthViolations } from '#scripts/tidy/line_length.ts'
import {
  CHECKSUMS_PATH,
  checksumOf,
  checksumsWith,
  migrationViolations,
} from '#scripts/tidy/migrations.ts'
import { fileNameViolations, handlerViolations } from '#scripts/tidy/names.ts'
import { panelTestViolations } from '#scripts/tidy/panel_tests.ts'
import { machineViolations } from '#scripts/tidy/places.ts'
import { checkRules } from '#scripts/tidy/rules.ts'
import { formatViolation, type SourceFile, type Violation } from '#scripts/tidy/source.ts'
import { bannedWordViolations, headlessViolations } from '#scripts/tidy/vocabulary.ts'
import {
  apostropheViolations,
  clockViolations,
  markerViolations,
  skippedTestViolations,
} from '#scripts/tidy/words.ts'

type Check = (files: readonly SourceFile[]) => Violation[]
type Sample = Readonly<Record<string, string>>

const filesOf = (sample: Sample): SourceFile[] =>
  Object.entries(sample).map(([path, text]) => ({ path, text }))

const violationsOf = (check: Check, sample: Sample): string[] =>
  check(filesOf(sample)).map(formatViolation)

/** Each violation starts with its location, `path:line: `, and the expected text. */
function assertFinds(check: Check, sample: Sample, ...beginnings: readonly string[]): void {
  const found = violationsOf(check, sample)
  assert.equal(found.length, beginnings.length, `\n${found.join('\n')}`)
  for (const [index, beginning] of beginnings.entries()) {
    assert.ok(found[index]?.startsWith(beginning), `${found[index]}\nis not\n${beginning}`)
    assert.match(found[index] ?? '', /^\S+:\d+: .+\. .+\.$/, 'a violation names its fix')
  }
}

const assertPasses = (check: Check, sample: Sample): void =>
  assert.deepEqual(violationsOf(check, sample), [])

test('a line has at most 100 columns, except unbreakable data in a test', () => {
  const words = `const a = '${'word '.repeat(20)}'\n`
  const frame = `  const a = '${'f0'.repeat(50)}'\n`
  assertFinds(
    lineLengthViolations,
    { 'src/kernel/a.ts': `\n${frame}`, 'src/kernel/a.test.ts': words },
    'src/kernel/a.ts:2: is 114 columns wide, over 100',
    'src/kernel/a.test.ts:1: is 112 columns wide, over 100',
  )
  assertPasses(lineLengthViolations, {
    'src/kernel/a.ts': `${'é'.repeat(100)}\n`,
    'src/kernel/a.test.ts': frame,
  })
})

test('class names in TSX do not count towards the line length', () => {
  const wide = `      className="${'text-soft '.repeat(20)}"\n`
  assertPasses(lineLengthViolations, { 'panel/ui/a.tsx': wide })
  assertFinds(
    lineLengthViolations,
    { 'panel/ui/a.tsx': `${'a'.repeat(101)} ${wide}`, 'panel/ui/b.ts': wide },
    'panel/ui/a.tsx:1: is 118 columns wide, over 100',
    'panel/ui/b.ts:1: is 218 columns wide, over 100',
  )
})

test('there are no TODO markers', () => {
  assertFinds(
    markerViolations,
    { 'src/kernel/a.ts': `// TODO: more\nthrow new Error('FIXME')\n// XXX odd\n` },
    'src/kernel/a.ts:1: contains a TODO marker',
    'src/kernel/a.ts:2: contains a TODO marker',
    'src/kernel/a.ts:3: contains a TODO marker',
  )
  assertPasses(markerViolations, {
    'src/kernel/a.ts': `const a = { currency: 'XXX' }\n`,
    'docs/plan.md': 'TODO',
  })
})

test('only platform and main read the clock', () => {
  const text = 'const now = new Date()'
  assertFinds(clockViolations, { 'src/domain/cards/a.ts': text }, 'src/domain/cards/a.ts:1: reads')
  assertPasses(clockViolations, {
    'src/platform/a.ts': text,
    'src/main/a.ts': text,
    'src/domain/cards/a.test.ts': text,
    'cli/a.ts': text,
    'src/kernel/a.ts': '// new Date() in a comment.\nconst then = new Date(time_ms)\n',
  })
})

test('texts for people have typographic apostrophes; sentences of the API may be plain', () => {
  const text = `const note = "You can't undo this."`
  for (const path of ['panel/a.tsx', 'src/doors/oauth/a.ts']) {
    assertFinds(apostropheViolations, { [path]: text }, `${path}:1: shows a straight`)
  }
  assertPasses(apostropheViolations, {
    'src/contract/a.ts': text,
    'panel/a.tsx': "// It can't.\nconst note = 'You can’t.'\nconst size = { a: 'b' }",
  })
})

test('no test is skipped', () => {
  for (const word of ['skip', 'only', 'todo']) {
    for (const text of [`test.${word}('a', f)`, `test('a', { ${word}: true }, f)`]) {
      const files = { 'test/a.test.ts': text }
      assertFinds(skippedTestViolations, files, 'test/a.test.ts:1: skips tests')
    }
    const named = `test('test.${word}( and { ${word}: true', f)`
    assertPasses(skippedTestViolations, { 'test/a.test.ts': named })
  }
})

test('files have descriptive snake_case names', () => {
  assertFinds(
    fileNameViolations,
    { 'src/kernel/moneyMath.ts': '' },
    'src/kernel/moneyMath.ts:1: moneyMath',
  )
  for (const path of ['cli/utils.ts', 'cli/card_service.ts', 'cli/helpers/a.ts', 'cli/index.ts']) {
    assertFinds(fileNameViolations, { [path]: '' }, `${path}:1:`)
  }
  assertPasses(fileNameViolations, {
    'src/domain/cards/load_card.property.test.ts': '',
    'migrations/0001_ledger.sql': '',
    'src/doors/rest/service_status.ts': '',
    'README.md': '',
  })
})

test('an operation has a test with its name in its room', () => {
  const contract = { 'src/contract/cards.ts': "export const load_card = operation({\n  name: ''" }
  assertFinds(
    handlerViolations,
    { ...contract, 'src/domain/cards/load_card.ts': '', 'test/load_card.test.ts': '' },
    'src/domain/cards/load_card.ts:1: is an operation without a test',
  )
  assertPasses(handlerViolations, {
    ...contract,
    'src/domain/cards/load_card.ts': '',
    'src/domain/cards/load_card.test.ts': '',
    'src/domain/cards/card_store.ts': '',
  })
})

test('a component of the panel has a test that imports or names it', () => {
  const page = { 'panel/pages/card.tsx': '', 'panel/pages/card/limits.tsx': '' }
  const problem = 'is a component without a test'
  assertFinds(
    panelTestViolations,
    { ...page, 'panel/ui/limits.test.ts': "import { Limits } from './limits.tsx'" },
    `panel/pages/card.tsx:1: ${problem}`,
    `panel/pages/card/limits.tsx:1: ${problem}`,
  )
  assertPasses(panelTestViolations, {
    ...page,
    'panel/main.tsx': '',
    'panel/test_support/render.tsx': '',
    'panel/pages/card.test.ts':
      "import { CardPage } from './card.tsx'\ntest('usage, limits: a limit is shown', () => {})",
  })
})

const landed = (sums: Sample): Sample => ({ [CHECKSUMS_PATH]: JSON.stringify(sums) })

test('migrations are numbered without gaps', () => {
  assertFinds(
    migrationViolations,
    {
      'migrations/0001_a.sql': '',
      'migrations/0003_c.sql': '',
      ...landed({ '0001_a.sql': checksumOf(''), '0003_c.sql': checksumOf('') }),
    },
    'migrations/0003_c.sql:1: is number 0003, not 0002',
  )
})

test('a migration that landed is neither edited nor removed', () => {
  assertFinds(
    migrationViolations,
    { 'migrations/0001_a.sql': 'new', ...landed({ '0001_a.sql': checksumOf('old') }) },
    'migrations/0001_a.sql:1: was edited after it landed',
  )
  assertFinds(
    migrationViolations,
    landed({ '0001_a.sql': checksumOf('old') }),
    'migrations/checksums.json:1: 0001_a.sql has landed but is missing',
  )
  assertFinds(
    migrationViolations,
    { 'migrations/0001_a.sql': '' },
    'migrations/0001_a.sql:1: is not rec',
  )
  assertPasses(migrationViolations, {
    'migrations/0001_a.sql': 'old',
    ...landed({ '0001_a.sql': checksumOf('old') }),
  })
})

test('--record adds new migrations and never changes recorded ones', () => {
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

test('no text file contains a machine path or a package registry', () => {
  for (const folder of ['work', 'root']) {
    const text = `see ${['', folder, 'notes'].join('/')}`
    assertFinds(
      machineViolations,
      { 'docs/a.md': text },
      'docs/a.md:1: contains a path of one machine',
    )
  }
  const host = ['registry', 'npmjs', 'org'].join('.')
  assertFinds(
    machineViolations,
    { 'docs/a.md': `\nfrom ${host}` },
    'docs/a.md:2: contains a package registry',
  )
  assertFinds(
    machineViolations,
    { 'package-lock.json': `"resolved"${': "https:'}//mirror.example/a.tgz"` },
    'package-lock.json:1: contains a package registry',
  )
  assertPasses(machineViolations, {
    'docs/a.md': 'src/work/a.ts, https://example.com/root/a, ./work/ and the root/ folder',
    'package-lock.json': '"resolved": "sandbox"',
  })
})

test('blankProse blanks strings, regular expressions and comments and keeps offsets', () => {
  const text = [
    "const a = 'it\\'s any' // as any",
    `const b = \`x \${f({ c: \`any \${d} any\` })} any\` as Y`,
    'const e = /["\'`/any]+\\/any/g.test(g) / 2 / h',
    '/* any\n any */ i',
  ].join('\n')
  const code = blankProse(text)
  assert.equal(code.length, text.length)
  assert.doesNotMatch(code, /any/)
  for (const kept of ['const a =', 'f({ c: `', '{d}', '})', 'as Y', '.test(g) / 2 / h', ' i']) {
    assert.ok(code.includes(kept), `${kept} in\n${code}`)
  }
  assert.match(blankProse(text, ['strings']), /\/\/ as any/)
})

test('violations are sorted by path and line', () => {
  const files = filesOf({
    'src/kernel/b.ts': '\n// TODO\n// FIXME\n',
    'src/kernel/a.ts': '// TODO\n',
  })
  assert.deepEqual(
    checkRules(files).map(({ path, line }) => `${path}:${line}`),
    ['src/kernel/a.ts:1', 'src/kernel/b.ts:2', 'src/kernel/b.ts:3'],
  )
})

const architecture = (...terms: readonly string[]): Sample => ({
  'ARCHITECTURE.md': `## Glossary\n\n| Word | Means | Not |\n|---|---|---|\n${terms
    .map((term) => `| ${term} | – | – |\n`)
    .join('')}\n## Next\n`,
})

test('every glossary term is used in src', () => {
  assertPasses(glossaryViolations, {
    ...architecture('external purse', 'tx / `Tx`'),
    'src/kernel/a.ts': 'type Tx = 1\nconst externalPurse = (tx: Tx) => tx\n',
  })
  assertFinds(
    glossaryViolations,
    { ...architecture('tx', 'external purse'), 'src/kernel/a.ts': 'const tx = 1\n' },
    'ARCHITECTURE.md:6: defines external purse, which no file in src uses',
  )
})

test('a synonym that the glossary excludes is not used', () => {
  const glossary = `${architecture('task')['ARCHITECTURE.md']}`.replace('– | – |', '– | job, log |')
  const sample = { 'ARCHITECTURE.md': glossary, 'src/a.ts': 'const task = 1\nconst nextJobs = 1\n' }
  assertFinds(synonymViolations, sample, 'src/a.ts:2: uses job, which the glossary excludes')
  assertPasses(synonymViolations, {
    ...sample,
    'src/a.ts': 'const task = 1 // the jobless log\n',
    'docs/a.md': 'Prometheus has the job name `florin`.\n',
  })
})

test('documents name only files that exist', () => {
  assertFinds(
    fileReferenceViolations,
    { 'docs/a.md': 'see `kernel/a.ts`, `test/b.ts` and `.vscode/mcp.json`', 'src/kernel/a.ts': '' },
    'docs/a.md:1: names the missing test/b.ts',
  )
  assertFinds(
    fileReferenceViolations,
    {
      'panel/README.md': 'see `ui/a.tsx`, `a.tsx`, `keys.json`,\n`ui/b.tsx` and `a.test.ts`',
      'panel/ui/a.tsx': '',
    },
    'panel/README.md:2: names the missing ui/b.tsx',
    'panel/README.md:2: names the missing a.test.ts',
  )
})

test('the documented order of imports is the one that is checked', () => {
  const config = "const floors = [\n  'kernel',\n  'domain/cards',\n  'domain/risk',\n  'main',\n]"
  const sample = (rooms: string): Sample => ({
    'ARCHITECTURE.md': `## Imports\n\n\`\`\`\nkernel →\n  domain: ${rooms}\n→ main\n\`\`\`\n`,
    'dependency_cruiser.config.js': config,
  })
  assertPasses(importOrderViolations, sample('cards → risk'))
  const swapped = 'ARCHITECTURE.md:1: lists domain/risk where dependency_cruiser.config.js has'
  assertFinds(importOrderViolations, sample('risk → cards'), `${swapped} domain/cards`)
  assertFinds(importOrderViolations, sample('cards'), 'ARCHITECTURE.md:1: lists main where')
  const longer = `ARCHITECTURE.md:1: lists domain/audit where dependency_cruiser.config.js has main`
  assertFinds(importOrderViolations, sample('cards → risk → audit'), longer)
})

test('banned words are found in code, comments, strings and docs', () => {
  assertFinds(
    bannedWordViolations,
    {
      'src/platform/a.ts':
        "// It is at once.\nconst oneJourney = 'an e-mail'\nconst JOURNEYS_MAX = 1\n",
      'docs/a.md': 'Whoever is told.\n',
      'test/a.test.ts': '// It is told at once.\n',
      'migrations/0001_a.sql': '-- A journey.\ncreate table bell (a text); -- The journey.\n',
    },
    'src/platform/a.ts:2: uses "Journey". Write round trip.',
    'src/platform/a.ts:3: uses "JOURNEYS"',
    'src/platform/a.ts:1: uses "at once"',
    'src/platform/a.ts:2: uses "e-mail"',
    'docs/a.md:1: uses "Whoever"',
    'docs/a.md:1: uses "told"',
    'migrations/0001_a.sql:2: uses "bell"',
    'migrations/0001_a.sql:1: uses "journey"',
    'migrations/0001_a.sql:2: uses "journey"',
  )
  assertPasses(bannedWordViolations, {
    'src/platform/a.ts':
      '// A float cannot tell 1 from 2; heartbeat, until, momentum.\n' +
      "const lawn = 'pending_clearings'\n",
  })
})

test('comments, headings and test names name their subject', () => {
  assertFinds(
    headlessViolations,
    {
      'src/platform/a.ts': '/** What is kept. */\n/**\n * Rows. Whether they\n * exist.\n */\n',
      'src/platform/a.test.ts': "test('who asks is heard', () => {})\n",
      'docs/a.md': '# A\n\n## Where it is\n',
    },
    'src/platform/a.ts:1: begins with a clause',
    'src/platform/a.ts:3: begins with a clause',
    'src/platform/a.test.ts:1: begins with a clause',
    'docs/a.md:3: begins with a clause',
  )
  assertPasses(headlessViolations, {
    'src/platform/a.ts':
      '/** Stores what is kept, where it is. */\n// Whose turn is it? Which one?\n',
  })
})

test('the changelog begins with the version of package.json and uses known kinds', () => {
  const manifest = { 'package.json': '{ "version": "0.2.0" }' }
  const old = '\n## 0.1.0 - 2026-11-15\n\n### Added\n'
  assertPasses(changelogViolations, {
    ...manifest,
    'CHANGELOG.md': `## 0.2.0 - Unreleased\n\n### Fixed\n${old}`,
  })
  assertFinds(
    changelogViolations,
    { ...manifest, 'CHANGELOG.md': `## 0.3.0 - Unreleased\n\n### Features\n${old}` },
    'CHANGELOG.md:1: is not version 0.2.0',
    'CHANGELOG.md:3: has the kind Features',
  )
  assertFinds(
    changelogViolations,
    { ...manifest, 'CHANGELOG.md': '## Unreleased\n\n## 0.1.0 - Unreleased\n' },
    'CHANGELOG.md:1: has no version and date',
    'CHANGELOG.md:3: is unreleased but not the newest',
  )
})
