import { type Complaint, complaintsWhere, type SourceFile } from './source.ts'

/**
 * Where somebody's machine shows through. The words are put together from parts, or this file
 * would be the first to be found.
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
    // Whatever its name: the address a lock file took a package from, or a setting to take it.
    '"resolved": "https?://',
    '(?<=^|\\n)\\s*(?:@[\\w-]+:)?registry\\s*=',
    // Mirrors that a company or a machine runs for itself.
    'https?://[\\w.-]*(?:artifactory|verdaccio)[\\w.-]*',
  ].join('|'),
  'g',
)

export function placeComplaints(files: readonly SourceFile[]): Complaint[] {
  return files.flatMap((file) => [
    ...complaintsWhere(file, MACHINE_PATH, {
      what: 'names a folder of one machine',
      cure: 'Write the path from the root of the repository, or take it as a setting',
    }),
    ...complaintsWhere(file, REGISTRY, {
      what: 'names a package registry',
      cure: 'Leave it to the settings of each machine (omit-lockfile-registry-resolved)',
    }),
  ])
}
