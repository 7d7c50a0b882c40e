import { createHash } from 'node:crypto'
import { manifest, type ShippedPackage } from './shipped.ts'

/**
 * An SBOM in CycloneDX 1.6 format. It is reproducible: the serial number is derived from the
 * components, and there is no timestamp.
 */
export function createSbom(packages: readonly ShippedPackage[]): object {
  const components = packages.map(componentOf)
  const digest = createHash('sha256').update(JSON.stringify(components)).digest('hex')
  const [a, b, c, d, e] = [8, 12, 16, 20, 32].map((end, at) =>
    digest.slice([0, 8, 12, 16, 20][at], end),
  )
  const self = `pkg:npm/${manifest.name}@${manifest.version}`
  const names = new Map(packages.map((each) => [each.path, refOf(each)]))
  const licence = { license: { id: manifest.license } }
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    serialNumber: `urn:uuid:${a}-${b}-5${c?.slice(1)}-8${d?.slice(1)}-${e}`,
    version: 1,
    metadata: {
      component: {
        type: 'application',
        'bom-ref': self,
        name: manifest.name,
        version: manifest.version,
        purl: self,
        licenses: [licence],
      },
    },
    components,
    dependencies: [
      { ref: self, dependsOn: [...names.values()] },
      ...packages.map((each) => ({
        ref: refOf(each),
        dependsOn: [...new Set(each.dependency_paths.flatMap((path) => names.get(path) ?? []))],
      })),
    ],
  }
}

/** A package that is installed at several paths is several components. */
const refOf = ({ path, version }: ShippedPackage): string => `${path}@${version}`

function componentOf(shipped: ShippedPackage) {
  const { name, version, licence, integrity, role } = shipped
  const [algorithm = '', digest = ''] = integrity?.split('-') ?? []
  const content = Buffer.from(digest, 'base64').toString('hex')
  return {
    type: 'library',
    'bom-ref': refOf(shipped),
    name,
    version,
    purl: `pkg:npm/${name.replace('@', '%40')}@${version}`,
    licenses: [licence.includes(' ') ? { expression: licence } : { license: { id: licence } }],
    ...(integrity !== null && {
      hashes: [{ alg: algorithm.toUpperCase().replace('SHA', 'SHA-'), content }],
    }),
    properties: [{ name: 'florin:shipped', value: role }],
  }
}
