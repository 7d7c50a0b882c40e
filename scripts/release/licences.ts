import type { Shipped } from './shipped.ts'

/** Licences that ask for nothing but their own text; another one is a decision to be made. */
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

export function unallowed(packages: readonly Shipped[]): Shipped[] {
  return packages.filter(
    ({ licence }) =>
      !licence
        .replaceAll(/[()]/g, '')
        .split(' OR ')
        .some((each) => ALLOWED.includes(each)),
  )
}

export function licenceList(packages: readonly Shipped[]): string {
  const lines = packages.map(({ name, version, licence, how }) => {
    return `| ${name} | ${version} | ${licence} | ${how} |`
  })
  return [
    '# Licences of what is shipped',
    '',
    'runtime: installed with the service. panel: bundled into the pages that browsers get.',
    '',
    '| package | version | licence | how |',
    '|---|---|---|---|',
    ...new Set(lines),
    '',
  ].join('\n')
}
