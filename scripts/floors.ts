import { modulesOf, TOP_FOLDERS } from '#scripts/tidy/imports.ts'
import { isCode, isTest, type SourceFile, type Violation } from '#scripts/tidy/source.ts'

/**
 * Allowed imports in src: a floor may import itself and every floor listed before it. Each room of
 * the domain is a floor, so rooms cannot form a cycle: two rooms that need each other are one room,
 * or share a third.
 */
export const floors = [
  'kernel',
  'contract',
  'iso8583',
  'platform',
  'rails',
  'settings',
  'domain/context',
  'domain/ledger',
  'domain/events',
  'domain/audit',
  'domain/operators',
  'domain/credentials',
  'domain/risk',
  'domain/accounts',
  'domain/api_keys',
  'domain/balance',
  'domain/paid_calls',
  'domain/topups',
  'domain/withdrawals',
  'domain/cards',
  'domain/transactions',
  'domain/disputes',
  'domain/authorizations',
  'domain/webhooks',
  'domain/oauth_grants',
  'domain/notices',
  'domain/activity',
  'domain/support',
  'domain/system',
  'operations',
  'doors',
  'main',
] as const
type Floor = (typeof floors)[number]
type TopFolder = (typeof TOP_FOLDERS)[number]

/** The folders beside src and what each may import. Nothing in src imports them. */
export const top_folders: Readonly<
  Record<TopFolder, 'everything' | readonly (Floor | TopFolder)[]>
> = {
  client: ['kernel', 'contract'],
  panel: ['kernel', 'contract', 'client'],
  sandbox: [
    'kernel',
    'contract',
    'iso8583',
    'platform',
    'rails',
    'settings',
    'domain/context',
    'client',
  ],
  cli: ['kernel', 'contract', 'platform', 'settings', 'main', 'client', 'sandbox'],
  scripts: 'everything',
  test: 'everything',
  bench: 'everything',
}

/** Floors that also run in browsers, without Node. */
const BROWSER_FLOORS: readonly string[] = ['kernel', 'contract']

type Location = { kind: 'floor'; name: Floor } | { kind: 'folder'; name: TopFolder } | undefined

function locate(path: string): Location {
  // Tests are next to the code but count as the folder test: they may import everything.
  if (isTest(path)) return { kind: 'folder', name: 'test' }
  const folder = TOP_FOLDERS.find((name) => path.startsWith(`${name}/`))
  if (folder !== undefined) return { kind: 'folder', name: folder }
  const floor = floors.find((name) => path.startsWith(`src/${name}/`))
  return floor === undefined ? undefined : { kind: 'floor', name: floor }
}

/** The door a file belongs to; undefined for files directly in doors/, which all doors share. */
const doorOf = (path: string): string | undefined => /^src\/doors\/([^/]+)\//.exec(path)?.[1]

function isSameDoor(from: string, to: string): boolean {
  return doorOf(to) === undefined || doorOf(from) === doorOf(to)
}

type ImportViolation = { problem: string; fix: string }

function findViolation(from: string, to: string): ImportViolation | undefined {
  const importer = locate(from)
  const imported = locate(to)
  if (importer === undefined || imported === undefined) return undefined
  if (importer.kind === 'folder') {
    const allowed = top_folders[importer.name]
    if (allowed === 'everything' || importer.name === imported.name) return undefined
    if (allowed.some((name) => name === imported.name)) return undefined
    const fix = `It may import ${allowed.join(', ')}: move the code, or go through one of them`
    return { problem: `${importer.name} imports ${imported.name}`, fix }
  }
  if (imported.kind === 'folder') {
    const fix = 'Nothing in src may import folders beside it: move the code into src'
    return { problem: `${importer.name} imports ${imported.name}`, fix }
  }
  if (floors.indexOf(imported.name) > floors.indexOf(importer.name)) {
    const fix = `Imports go down only: move the shared code to ${importer.name} or below`
    return { problem: `${importer.name} imports ${imported.name}, which is above it`, fix }
  }
  if (importer.name === 'doors' && imported.name === 'doors' && !isSameDoor(from, to)) {
    const fix = 'Doors may not import each other: move the shared code to operations or below'
    return { problem: `door ${doorOf(from) ?? 'doors'} imports door ${doorOf(to)}`, fix }
  }
  return undefined
}

function fileViolations(file: SourceFile): Violation[] {
  const location = locate(file.path)
  return modulesOf(file).flatMap(({ specifier, target, line }) => {
    const violation = target === undefined ? undefined : findViolation(file.path, target)
    if (violation !== undefined) return [{ path: file.path, line, ...violation }]
    const in_browser = location?.kind === 'floor' && BROWSER_FLOORS.includes(location.name)
    if (!in_browser || !specifier.startsWith('node:')) return []
    const fix = 'It also runs in browsers: pass it as a parameter, or move the code to platform'
    return [{ path: file.path, line, problem: `${location.name} imports ${specifier}`, fix }]
  })
}

export function floorViolations(files: readonly SourceFile[]): Violation[] {
  return files
    .filter(({ path }) => isCode(path))
    .flatMap((file) => {
      const isOutsideFloors = file.path.startsWith('src/') && locate(file.path) === undefined
      if (!isOutsideFloors) return fileViolations(file)
      const fix = 'Move it into a room listed in scripts/floors.ts, or add its room there'
      return [{ path: file.path, line: 1, problem: 'is on no floor', fix }]
    })
}
