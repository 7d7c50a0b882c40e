import type { ShippedPackage } from './shipped.ts'

/** Permissive licenses. Adding another one is a decision. */
const ALLOWED = [
  'MIT',
  'MIT-0',
  'ISC',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'Apache-2.0',
  '0BSD',
  'Unlicense',
]

export function findDisallowed(packages: readonly ShippedPackage[]): ShippedPackage[] {
  return packages.filter(
    ({ licence }) =>
      !licence
        .replaceAll(/[()]/g, '')
        .split(' OR ')
        .some((each) => ALLOWED.includes(each)),
  )
}

export function licenceList(packages: readonly ShippedPackage[]): string {
  const lines = packages.map(({ name, version, licence, role }) => {
    return `| ${name} | ${version} | ${licence} | ${role} |`
  })
  return [
    '# Licenses of shipped packages',
    '',
    'runtime: installed with the service. panel: bundled into the browser files.',
    '',
    '| package | version | license | role |',
    '|---|---|---|---|',
    ...new Set(lines),
    '',
  ].join('\n')
}
