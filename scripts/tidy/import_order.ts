import type { SourceFile, Violation } from './source.ts'

const DOCUMENT = 'ARCHITECTURE.md'
const CONFIGURATION = 'dependency_cruiser.config.js'

/** "kernel → … domain: context → … → operations → …": the rooms of the domain are floors too. */
const DOCUMENTED = /^## Imports\n.*?```\n(?<above>.*?)domain:(?<rooms>.*?)\n→(?<below>.*?)```/ms
const CONFIGURED = /const floors = \[(?<floors>.*?)\]/s

/** ARCHITECTURE.md has the order of imports that dependency-cruiser checks. */
export function importOrderViolations(files: readonly SourceFile[]): Violation[] {
  const groupsIn = (name: string, pattern: RegExp): Record<string, string | undefined> =>
    pattern.exec(files.find(({ path }) => path === name)?.text ?? '')?.groups ?? {}
  const namesIn = (list = ''): string[] => list.match(/[\w/]+/g) ?? []

  const { above, rooms, below } = groupsIn(DOCUMENT, DOCUMENTED)
  const in_domain = namesIn(rooms).map((room) => `domain/${room}`)
  const documented = [...namesIn(above), ...in_domain, ...namesIn(below)]
  const configured = namesIn(groupsIn(CONFIGURATION, CONFIGURED)['floors'])
  const at = configured.findIndex((floor, index) => documented[index] !== floor)
  if (at === -1 && documented.length === configured.length) return []
  const name = documented[at] ?? 'nothing'
  const problem = `lists ${name} where ${CONFIGURATION} has ${configured[at] ?? 'nothing'}`
  return [{ path: DOCUMENT, line: 1, problem, fix: 'Write the same order in both' }]
}
