import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { root } from '#platform/runtime/root.ts'

const read = (path: string) => readFileSync(join(root, path), 'utf8')

/**
 * Commands that need their own machine, so they are in `text` blocks: the test that runs each,
 * and words of that test which do. `docs.long.test.ts` runs all `sh` blocks itself.
 */
const elsewhere: readonly (readonly [command: RegExp, test: string, words: string])[] = [
  [/^npm install$/, 'test/stories/package.long.test.ts', 'Installs the archive'],
  [/^npm start$/, 'test/stories/start.test.ts', 'startFlorin('],
  [/^npm test$/, 'test/house/docs_commands.test.ts', 'npm test'],
  [/^npm install @modelcontextprotocol\/sdk$/, 'test/stories/examples.long.test.ts', 'shopper'],
  [/^node shopper\.js$/, 'test/stories/examples.long.test.ts', 'shopper'],
  [/^FLORIN_PAID_OPERATIONS=/, 'test/stories/paid_sandbox.long.test.ts', 'priced'],
  [/^florin sandbox pay$/, 'test/stories/paid_sandbox.long.test.ts', 'payFor'],
  [/^florin signer/, 'test/stories/signer_attacks.long.test.ts', '--new-record'],
  [/^pgbackrest /, 'test/stories/point_in_time.long.test.ts', 'pgbackrest'],
  [/^florin after-restore$/, 'test/stories/point_in_time.long.test.ts', 'after-restore'],
  [/^tar -czf florin.tgz data$/, 'test/stories/backup_page.long.test.ts', "'florin.tgz', 'data'"],
  [/^florin listen /, 'cli/listen.test.ts', 'startListening'],
  [/^florin trigger /, 'test/stories/cli.long.test.ts', "florin('trigger', 'card.frozen')"],
  [/^florin doctor /, 'test/stories/doctor.long.test.ts', 'issuer link'],
  [/^haproxy -c/, 'test/stories/load_balancer.long.test.ts', 'checkHaproxyConfiguration'],
  [/^patronictl /, 'test/stories/patroni.long.test.ts', 'PatroniCluster'],
  [/^(CAPACITY_.*)?npm run bench -- capacity$/, 'test/house/capacity.test.ts', 'planFor'],
  [/^pkcs11-tool .*--keygen/, 'test/stories/key_token.long.test.ts', "'keys', 'rotate'"],
  [/^pkcs11-tool .*--keypairgen/, 'test/stories/signer_token.long.test.ts', 'FLORIN_PKCS11'],
  [/^florin keys rotate$/, 'test/stories/key_token.long.test.ts', "'keys', 'rotate'"],
  [/^florin cells move /, 'test/stories/cell_move.long.test.ts', "'cells', 'move', '1', '--to'"],
  [/^florin archive create /, 'test/stories/archive.long.test.ts', "'archive', 'create'"],
  [/^florin archive verify /, 'test/stories/archive.long.test.ts', "'archive', 'verify'"],
  [/^florin archive restore /, 'test/stories/archive.long.test.ts', "'archive', 'restore'"],
  [/^curl -s .*\/healthz/, 'test/stories/docs.long.test.ts', 'docs'],
]

/** Commands of the machine's own service manager; no test may start services outside its folder. */
const OF_THE_MACHINE = /^(sudo )?systemctl |^apt-get install /

const COMMAND =
  /^(sudo |[A-Z_]+=\S.* )?(florin|npm|npx|node|curl|tar|apt-get|systemctl|haproxy|pgbackrest|patronictl|pkcs11-tool|psql|docker) /

function commandsIn(page: string): string[] {
  const blocks = page.matchAll(/^```(text|console)?\n(.*?)^```$/gms)
  return [...withoutOthers(page, blocks)]
    .flatMap((block) => block.replaceAll('\\\n', '').split('\n'))
    .map((line) =>
      line
        .replace(/ +#.*$/, '')
        .replace(/^\$ /, '')
        .trim(),
    )
    .filter((line) => COMMAND.test(`${line} `))
}

/** The end of one block and the start of the next look like a block too. */
function* withoutOthers(page: string, blocks: Iterable<RegExpMatchArray>): Generator<string> {
  for (const { index = 0, 2: block = '' } of blocks) {
    const fences = page.slice(0, index).match(/^```/gm)?.length ?? 0
    if (fences % 2 === 0) yield block
  }
}

const guides = readdirSync(join(root, 'docs')).filter((name) => name.endsWith('.md'))
const pages = ['README.md', ...guides.map((name) => `docs/${name}`)]

test('every command of the docs that is not in an sh block is run by a test', () => {
  const commands = pages.flatMap((page) => commandsIn(read(page)).map((line) => ({ page, line })))
  assert.ok(commands.length > 20)
  const not_run = commands.filter(
    ({ line }) => !OF_THE_MACHINE.test(line) && !elsewhere.some(([command]) => command.test(line)),
  )
  assert.deepEqual(not_run, [])
})

/** Sources that run commands: tests and their helpers, and the sh blocks of the docs. */
function runnersIn(folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`
    if (entry.isDirectory()) return path === 'test/packages' ? [] : runnersIn(path)
    const isRunner = folder.startsWith('test') ? path.endsWith('.ts') : path.endsWith('.test.ts')
    return isRunner && path !== 'test/house/docs_commands.test.ts' ? [read(path)] : []
  })
}

const shellBlocksIn = (page: string) =>
  [...page.matchAll(/^```(?:sh|bash)\n(.*?)^```$/gms)].map(([, block = '']) => block)

/** The words of a command up to the first name that the reader replaces: `keys rotate`. */
function fixedWords(command: string): string[] {
  const words = command.split(' ')
  const end = words.findIndex((word) => !/^(--)?[a-z][a-z_-]*$/.test(word))
  return end === -1 ? words : words.slice(0, end)
}

test('every florin command in the text of the docs is run by a test', () => {
  const texts = pages.map(read)
  const inline = texts.flatMap((page) => [...page.matchAll(/`(?:npx )?florin ([^`\n]+)`/g)])
  const commands = new Set(inline.map(([, command = '']) => fixedWords(command).join(' ')))
  commands.delete('')
  assert.ok(commands.size > 30)
  const sources = ['test', 'cli', 'src'].flatMap(runnersIn).join('\n')
  const blocks = texts.flatMap(shellBlocksIn).join('\n')
  const not_run = [...commands].filter((command) => {
    const listed = command.replaceAll(' ', "',\\s*'")
    return !new RegExp(`'${listed}'`).test(sources) && !blocks.includes(`florin ${command}`)
  })
  assert.deepEqual(not_run, [])
})

test('every page with bash blocks has a test that runs them', () => {
  const with_bash = pages.filter((page) => read(page).includes('\n```bash\n'))
  assert.deepEqual(with_bash, ['docs/backup.md'])
  assert.ok(read('test/stories/backup_page.long.test.ts').includes('```bash'))
})

test('each of these tests exists and runs its command', () => {
  for (const [command, path, words] of elsewhere) {
    assert.ok(read(path).includes(words), `${path} does not run ${command}`)
  }
})
