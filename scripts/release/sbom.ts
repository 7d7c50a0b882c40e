import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '#platform/runtime/root.ts'

export type Component = {
  'bom-ref': string
  name: string
  version: string
  licenses: ({ license: { id: string } } | { expression: string })[]
  hashes: { alg: string; content: string }[]
  properties: { name: string; value: string }[]
}
export type Sbom = {
  serialNumber?: string
  metadata: { component: Component; timestamp?: string }
  components: Component[]
  dependencies: { ref: string; dependsOn: string[] }[]
}

const read = (name: string) => JSON.parse(readFileSync(join(root, name), 'utf8'))

export const manifest: { name: string; version: string } & Record<
  'dependencies' | 'optionalDependencies',
  Record<string, string>
> = read('package.json')

/**
 * `npm sbom`, reduced to the packages that reach users: those of the service and those bundled into
 * the panel. `npm sbom --omit dev` leaves out the panel's, and those that a tool needs too (66 of
 * 250). The file is reproducible, so it has no serial number and no timestamp.
 */
export function createSbom(): Sbom {
  const words = '--include=dev --package-lock-only --sbom-format=cyclonedx --sbom-type=application'
  const { serialNumber: _, ...bom } = JSON.parse(
    execFileSync('npm', ['sbom', ...words.split(' ')], {
      cwd: root,
      encoding: 'utf8',
      maxBuffer: 64 * 1024 * 1024,
      shell: process.platform === 'win32',
      stdio: ['ignore', 'pipe', 'ignore'],
    }),
  ) as Sbom
  const { timestamp: __, component, ...metadata } = bom.metadata
  const service = Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies })
  const runtime = reachableFrom(service, bom)
  const shipped = new Set([...runtime, ...reachableFrom(importedByPanel(), bom)])
  const self = component['bom-ref']
  return {
    ...bom,
    metadata: { ...metadata, component: { ...component, name: manifest.name } },
    components: bom.components
      .filter((each) => shipped.has(each['bom-ref']))
      .map((each) => {
        const value = runtime.has(each['bom-ref']) ? 'runtime' : 'panel'
        return { ...each, properties: [{ name: 'florin:shipped', value }] }
      }),
    dependencies: bom.dependencies
      .filter(({ ref }) => ref === self || shipped.has(ref))
      .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((to) => shipped.has(to)) })),
  }
}

/** The packages with these names that we depend on, with all that they depend on. */
function reachableFrom(names: readonly string[], bom: Sbom): Set<string> {
  const dependsOn = new Map(bom.dependencies.map((each) => [each.ref, each.dependsOn]))
  const name_by_ref = new Map(bom.components.map((each) => [each['bom-ref'], each.name]))
  const nameOf = (ref: string): string => name_by_ref.get(ref) ?? ''
  const optional_peers = optionalPeers()
  const direct = dependsOn.get(bom.metadata.component['bom-ref']) ?? []
  const reached = new Set(direct.filter((ref) => names.includes(nameOf(ref))))
  for (const ref of reached) {
    for (const to of dependsOn.get(ref) ?? []) {
      if (!optional_peers.get(ref)?.has(nameOf(to))) reached.add(to)
    }
  }
  return reached
}

/** By package: peers that are installed only because a tool of ours needs them. */
function optionalPeers(): Map<string, Set<string>> {
  type Locked = { version: string; peerDependenciesMeta?: Record<string, object> }
  const { packages } = read('package-lock.json') as { packages: Record<string, Locked> }
  return new Map(
    Object.entries(packages).map(([path, { version, peerDependenciesMeta = {} }]) => [
      `${path.replace(/.*node_modules\//, '')}@${version}`,
      new Set(Object.keys(peerDependenciesMeta)),
    ]),
  )
}

const IMPORT = /\bfrom '((?:@[\w-]+\/)?[\w-]+)[^']*'/g

function importedByPanel(): string[] {
  const files = readdirSync(join(root, 'panel'), { recursive: true, encoding: 'utf8' })
  const sources = files.filter((path) => /\.tsx?$/.test(path) && !/\.(test|config)\./.test(path))
  return sources.flatMap((path) =>
    [...readFileSync(join(root, 'panel', path), 'utf8').matchAll(IMPORT)].map(
      ([, name = '']) => name,
    ),
  )
}
