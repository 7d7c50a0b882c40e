import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { openApiDocument } from '#doors/site/openapi.ts'
import { root } from '#platform/runtime/root.ts'
import { writeClientPackage } from './client_package/write_package.ts'
import { newestRelease } from './release/changelog.ts'
import { licenseList } from './release/licenses.ts'
import { createSbom, manifest } from './release/sbom.ts'

/** `npm run release`: writes all files of a release to dist/release. */
const folder = join(root, 'dist/release')
rmSync(folder, { recursive: true, force: true })
mkdirSync(folder, { recursive: true })
const write = (name: string, text: string) => writeFileSync(join(folder, name), text)
const { version } = manifest
const sbom = createSbom()
const document = openApiDocument({ public_url: 'http://127.0.0.1:8080' })

write(`florin-openapi-${version}.json`, `${JSON.stringify(document, null, 2)}\n`)
write(`florin-openapi-${version}.yaml`, stringify(document, { aliasDuplicateObjects: false }))
write(`florin-sbom-${version}.cdx.json`, `${JSON.stringify(sbom, null, 2)}\n`)
write(`florin-licenses-${version}.md`, licenseList(sbom))

execFileSync(process.execPath, [join(root, 'scripts/build.js')], { stdio: 'inherit' })
const client = join(root, 'dist/npm/client')
await writeClientPackage(client)
for (const cwd of [root, client]) {
  execFileSync('npm', ['pack', '--silent', '--pack-destination', folder], {
    cwd,
    shell: process.platform === 'win32',
    stdio: ['ignore', 'ignore', 'inherit'],
  })
}
process.stdout.write(`${readdirSync(folder).sort().join('\n')}\n`)

const { isReleased } = newestRelease(readFileSync(join(root, 'CHANGELOG.md'), 'utf8'))
const tag = `git tag -s v${version} -m 'Florin ${version}'`
process.stdout.write(
  isReleased
    ? `\nTag this commit: ${tag}\n`
    : `\nTo release, replace "Unreleased" in CHANGELOG.md by the date, commit, then: ${tag}\n`,
)
