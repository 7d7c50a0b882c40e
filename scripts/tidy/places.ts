import { findViolations, type SourceFile, type Violation } from './source.ts'

/**
 * Paths and hosts of a specific machine. They are assembled from parts, so that this file does not
 * contain them.
 */
const MACHINE_FOLDERS = ['work', 'root']
const REGISTRIES = [
  ['registry', 'npmjs', 'org'],
  ['registry', 'npmjs', 'com'],
  ['registry', 'yarnpkg', 'com'],
  ['npm', 'pkg', 'github', 'com'],
].map((parts) => parts.join('\\.'))

const MACHINE_PATH = new RegExp(`(?<![\\w.*)}\\]/-])/(?:${MACHINE_FOLDERS.join('|')})/`, 'g')
const REGISTRY = new RegExp(
  [
    ...REGISTRIES,
    // Any registry: a URL in a lock file or a setting.
    '"resolved": "https?://',
    '(?<=^|\\n)\\s*(?:@[\\w-]+:)?registry\\s*=',
    // Private mirrors.
    'https?://[\\w.-]*(?:artifactory|verdaccio)[\\w.-]*',
  ].join('|'),
  'g',
)

export function machineViolations(files: readonly SourceFile[]): Violation[] {
  return files.flatMap((file) => [
    ...findViolations(file, MACHINE_PATH, {
      problem: 'contains a path of one machine',
      fix: 'Write the path relative to the repository, or make it a setting',
    }),
    ...findViolations(file, REGISTRY, {
      problem: 'contains a package registry',
      fix: 'Remove it; each machine configures its own (omit-lockfile-registry-resolved)',
    }),
  ])
}
