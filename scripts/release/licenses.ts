import type { Component, Sbom } from './sbom.ts'

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
  'PSF-2.0',
]

const licenseOf = ({ licenses: [license] }: Component): string => {
  if (license === undefined) return 'unknown'
  return 'license' in license ? license.license.id : license.expression
}

export function findDisallowed({ components }: Pick<Sbom, 'components'>): string[] {
  const isAllowed = (component: Component): boolean =>
    licenseOf(component)
      .replaceAll(/[()]/g, '')
      .split(' OR ')
      .some((each) => ALLOWED.includes(each))
  return components
    .filter((component) => !isAllowed(component))
    .map((component) => `${component.name}: ${licenseOf(component)}`)
}

export function licenseList({ components }: Sbom): string {
  return [
    '# Licenses of shipped packages',
    '',
    'runtime: installed with the service. panel: bundled into the browser files.',
    '',
    '| package | version | license | role |',
    '|---|---|---|---|',
    ...components.map((each) => {
      const [role] = each.properties
      return `| ${each.name} | ${each.version} | ${licenseOf(each)} | ${role?.value} |`
    }),
    '',
  ].join('\n')
}
