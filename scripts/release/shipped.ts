import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '#platform/root.ts'

type Locked = {
  version: string
  integrity?: string
  license?: string
  dependencies?: Record<string, string>
  optionalDependencies?: Record<string, string>
  peerDependencies?: Record<string, string>
  peerDependenciesMeta?: Record<string, { optional?: boolean }>
}
type Manifest = Locked & { name: string; license: string }

export type Shipped = {
  name: string
  version: string
  licence: string
  /** As npm writes it: sha512 in base64. */
  integrity: string | null
  /** Where it stands in the lock file, and where what it needs stands. */
  path: string
  needs: string[]
  /** panel: its code is in what browsers get. */
  how: 'runtime' | 'panel'
}

const read = (name: string) => JSON.parse(readFileSync(join(root, name), 'utf8'))

export const manifest = read('package.json') as Manifest

/** What reaches users: what the service needs, and what is bundled into the panel; no tools. */
export function shippedPackages(): Shipped[] {
  const { packages } = read('package-lock.json') as { packages: Record<string, Locked> }
  const runtime = { ...manifest.dependencies, ...manifest.optionalDependencies }
  const found = new Map<string, Shipped>()
  const visit = (names: readonly string[], from: string, how: Shipped['how']): string[] =>
    names.flatMap((name) => {
      const path = resolved(packages, name, from)
      // Binaries of other platforms may be named and absent.
      if (path === undefined) return []
      if (!found.has(path)) {
        const shipped = shippedAt(packages, path, how)
        found.set(path, shipped)
        shipped.needs = visit(neededBy(packages[path] as Locked), path, how)
      }
      return [path]
    })
  visit(Object.keys(runtime), '', 'runtime')
  visit(importedByPanel(), '', 'panel')
  return [...found.values()].sort((a, b) => (a.path < b.path ? -1 : 1))
}

/** A peer that may be missing is somebody's tool, and no need. */
function neededBy(locked: Locked): string[] {
  const { dependencies, optionalDependencies, peerDependencies, peerDependenciesMeta } = locked
  const peers = Object.keys(peerDependencies ?? {}).filter(
    (name) => peerDependenciesMeta?.[name]?.optional !== true,
  )
  return [...peers, ...Object.keys({ ...dependencies, ...optionalDependencies })]
}

function shippedAt(packages: Record<string, Locked>, path: string, how: Shipped['how']): Shipped {
  const { version, license = 'unknown', integrity = null } = packages[path] as Locked
  const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)
  return { name, version, licence: license, integrity, path, needs: [], how }
}

/** As Node looks for it: beside whoever asks, then further up. */
function resolved(packages: object, name: string, from: string): string | undefined {
  const path = `${from === '' ? '' : `${from}/`}node_modules/${name}`
  if (path in packages) return path
  if (from === '') return undefined
  return resolved(packages, name, from.slice(0, Math.max(0, from.lastIndexOf('/node_modules/'))))
}

const IMPORT = /\bfrom '((?:@[\w-]+\/)?[\w-]+)[^']*'/g

function importedByPanel(): string[] {
  const files = readdirSync(join(root, 'panel'), { recursive: true, encoding: 'utf8' })
  const sources = files.filter((path) => /\.tsx?$/.test(path) && !/\.(test|config)\./.test(path))
  const names = sources.flatMap((path) =>
    [...readFileSync(join(root, 'panel', path), 'utf8').matchAll(IMPORT)].map(([, name]) => name),
  )
  return [...new Set(names)].filter((name): name is string => name !== undefined)
}
