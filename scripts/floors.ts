import { ANNEXES, modulesOf } from '#scripts/tidy/imports.ts'
import { type Complaint, isCode, isTest, type SourceFile } from '#scripts/tidy/source.ts'

/**
 * Who may import whom in src: down only. A floor may import itself and every floor above it in
 * this list. The rooms of the domain are floors of their own, so that a knot of rooms cannot be
 * written: two rooms that need each other are one room, or hide a third.
 */
export const floors = [
  'kernel',
  'contract',
  'iso8583',
  'platform',
  'rails',
  'domain/ledger',
  'domain/events',
  'domain/access',
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
  'domain/notices',
  'domain/activity',
  'domain/support',
  'domain/system',
  'operations',
  'doors',
  'main',
] as const
type Floor = (typeof floors)[number]
type Annex = (typeof ANNEXES)[number]

/** What stands beside src, and what of the house each may see. Nothing in src sees any of them. */
export const annexes: Readonly<Record<Annex, 'everything' | readonly (Floor | Annex)[]>> = {
  client: ['kernel', 'contract'],
  panel: ['kernel', 'contract', 'client'],
  sandbox: ['kernel', 'contract', 'iso8583', 'platform', 'rails', 'client'],
  cli: ['kernel', 'contract', 'platform', 'main', 'client', 'sandbox'],
  scripts: 'everything',
  test: 'everything',
  bench: 'everything',
}

/** Also imported by pages in a browser, where there is no Node. */
const BROWSER_FLOORS: readonly string[] = ['kernel', 'contract']

type Place = { kind: 'floor'; name: Floor } | { kind: 'annex'; name: Annex } | undefined

function placeOf(path: string): Place {
  // Tests stand beside what they test but belong to the annex: they see all, and nobody sees them.
  if (isTest(path)) return { kind: 'annex', name: 'test' }
  const annex = ANNEXES.find((name) => path.startsWith(`${name}/`))
  if (annex !== undefined) return { kind: 'annex', name: annex }
  const floor = floors.find((name) => path.startsWith(`src/${name}/`))
  return floor === undefined ? undefined : { kind: 'floor', name: floor }
}

/** The door a file belongs to; none for what lies loose on the floor, which all doors may share. */
const doorOf = (path: string): string | undefined => /^src\/doors\/([^/]+)\//.exec(path)?.[1]

function seesDoor(from: string, to: string): boolean {
  return doorOf(to) === undefined || doorOf(from) === doorOf(to)
}

type Refusal = { what: string; cure: string }

function refusal(from: string, to: string): Refusal | undefined {
  const seer = placeOf(from)
  const seen = placeOf(to)
  if (seer === undefined || seen === undefined) return undefined
  if (seer.kind === 'annex') {
    const sees = annexes[seer.name]
    if (sees === 'everything' || seer.name === seen.name) return undefined
    if (sees.some((name) => name === seen.name)) return undefined
    const cure = `It sees ${sees.join(', ')}: move the code, or go through one of them`
    return { what: `${seer.name} imports ${seen.name}`, cure }
  }
  if (seen.kind === 'annex') {
    const cure = 'Nothing in src sees what stands beside it: move what is needed into src'
    return { what: `${seer.name} imports ${seen.name}`, cure }
  }
  if (floors.indexOf(seen.name) > floors.indexOf(seer.name)) {
    const cure = `Imports go down only: move what both need to ${seer.name} or below`
    return { what: `${seer.name} imports ${seen.name}, which stands on it`, cure }
  }
  if (seer.name === 'doors' && seen.name === 'doors' && !seesDoor(from, to)) {
    const cure = 'Doors do not see each other: move what both need to operations or below'
    return { what: `door ${doorOf(from) ?? 'doors'} imports door ${doorOf(to)}`, cure }
  }
  return undefined
}

function importComplaintsOf(file: SourceFile): Complaint[] {
  const place = placeOf(file.path)
  return modulesOf(file).flatMap(({ specifier, target, line }) => {
    const refused = target === undefined ? undefined : refusal(file.path, target)
    if (refused !== undefined) return [{ path: file.path, line, ...refused }]
    const in_browser = place?.kind === 'floor' && BROWSER_FLOORS.includes(place.name)
    if (!in_browser || !specifier.startsWith('node:')) return []
    const cure = 'It also runs in a browser: pass it in, or move the code to platform'
    return [{ path: file.path, line, what: `${place.name} imports ${specifier}`, cure }]
  })
}

export function floorComplaints(files: readonly SourceFile[]): Complaint[] {
  return files
    .filter(({ path }) => isCode(path))
    .flatMap((file) => {
      const homeless = file.path.startsWith('src/') && placeOf(file.path) === undefined
      if (!homeless) return importComplaintsOf(file)
      const cure = 'Move it into a room of scripts/floors.ts, or give its room a place there'
      return [{ path: file.path, line: 1, what: 'stands on no floor', cure }]
    })
}
