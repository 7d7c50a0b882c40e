import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '#platform/runtime/root.ts'

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

export type ShippedPackage = {
  name: string
  version: string
  licence: string
  /** As in the lock file: sha512 in base64. */
  integrity: string | null
  /** Paths in the lock file. */
  path: string
  dependency_paths: string[]
  /** panel: bundled into the browser files. */
  role: 'runtime' | 'panel'
}

const read = (name: string) => JSON.parse(readFileSync(join(root, name), 'utf8'))

export const manifest = read('package.json') as Manifest

/** All packages that reach users: dependencies of the service and of the panel, without tools. */
export function shippedPackages(): ShippedPackage[] {
  const { packages } = read('package-lock.json') as { packages: Record<string, Locked> }
  const runtime = { ...manifest.dependencies, ...manifest.optionalDependencies }
  const found = new Map<string, ShippedPackage>()
  const visit = (names: readonly string[], from: string, role: ShippedPackage['role']): string[] =>
    names.flatMap((name) => {
      const path = resolvePackage(packages, name, from)
      // Optional binaries of other platforms may be missing.
      if (path === undefined) return []
      if (!found.has(path)) {
        const shipped = readPackage(packages, path, role)
        found.set(path, shipped)
        shipped.dependency_paths = visit(dependencyNames(packages[path] as Locked), path, role)
      }
      return [path]
    })
  visit(Object.keys(runtime), '', 'runtime')
  visit(importedByPanel(), '', 'panel')
  return [...found.values()].sort((a, b) => (a.path < b.path ? -1 : 1))
}

/** Optional peer dependencies are not shipped. */
function dependencyNames(locked: Locked): string[] {
  const { dependencies, optionalDependencies, peerDependencies, peerDependenciesMeta } = locked
  const peers = Object.keys(peerDependencies ?? {}).filter(
    (name) => peerDependenciesMeta?.[name]?.optional !== true,
  )
  return [...peers, ...Object.keys({ ...dependencies, ...optionalDependencies })]
}

function readPackage(
  packages: Record<string, Locked>,
  path: string,
  role: ShippedPackage['role'],
): ShippedPackage {
  const { version, license = 'unknown', integrity = null } = packages[path] as Locked
  const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)
  return { name, version, licence: license, integrity, path, dependency_paths: [], role }
}

/** Node's resolution: the importer's own node_modules first, then those of its parents. */
function resolvePackage(packages: object, name: string, from: string): string | undefined {
  const path = `${from === '' ? '' : `${from}/`}node_modules/${name}`
  if (path in packages) return path
  if (from === '') return undefined
  return resolvePackage(
    packages,
    name,
    from.slice(0, Math.max(0, from.lastIndexOf('/node_modules/'))),
  )
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
