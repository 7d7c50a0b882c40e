import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Command } from 'commander'
import { clientCommands } from '#cli/client_commands.ts'
import { serverCommands } from '#cli/server_commands.ts'
import { root } from '#platform/runtime/root.ts'

const read = (path: string) => readFileSync(join(root, path), 'utf8')

test('the README has at most 150 lines', () => {
  assert.ok(read('README.md').split('\n').length <= 151)
})

test('docs/settings.md lists every setting that the service reads, and no other', () => {
  const files = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
  const sources = files.filter((path) => /settings\.ts$/.test(path)).map((path) => `src/${path}`)
  const namesIn = (text: string) => [...text.matchAll(/\b(FLORIN_[A-Z0-9_]+[A-Z0-9]|REDIS_URL)\b/g)]
  const used = new Set(sources.flatMap((path) => namesIn(read(path)).map(([name]) => name)))
  const listed = new Set(namesIn(read('docs/settings.md')).map(([name]) => name))
  for (const name of ['FLORIN_URL', 'FLORIN_KEY']) listed.delete(name)
  assert.ok(used.size > 40)
  assert.deepEqual([...listed].toSorted(), [...used].toSorted())
})

test('docs/commands.md lists every command that is not an operation', () => {
  const page = read('docs/commands.md')
  const pathsOf = (command: Command): string[] =>
    command.commands.length === 0
      ? [command.name()]
      : command.commands.map((inner) => `${command.name()} ${inner.name()}`)
  const paths = [...serverCommands(), ...clientCommands()].flatMap(pathsOf)
  const missing = paths.filter((path) => !page.includes(path.replace('profiles list', 'profiles')))
  assert.deepEqual(missing, [])
})
