import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { cp, mkdir, readdir, readFile, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { promisify } from 'node:util'
import { root } from '#platform/runtime/root.ts'
import { findDisallowed, licenseList } from '#scripts/release/licenses.ts'
import { createSbom } from '#scripts/release/sbom.ts'
import { startFlorin, stopAllProcesses, temporaryFolder } from '#test/support/florin_process.ts'
import { send } from '#test/support/http.ts'

const execute = promisify(execFile)
const folder = await temporaryFolder()
after(async () => {
  await stopAllProcesses()
  await folder.remove()
})

const UNTRACKED = ['.git', 'data', 'dist', 'node_modules']

/** Runs `npm pack` in a checkout without a build. */
async function packCheckout(): Promise<string> {
  const checkout = join(folder.path, 'checkout')
  const tops = (await readdir(root)).filter((name) => !UNTRACKED.includes(name))
  const filter = (path: string) => !path.endsWith('/node_modules')
  for (const name of tops) {
    await cp(join(root, name), join(checkout, name), { recursive: true, filter })
  }
  await symlink(join(root, 'node_modules'), join(checkout, 'node_modules'))
  const words = ['pack', '--silent', '--ignore-scripts=false', '--pack-destination', folder.path]
  await execute('npm', words, { cwd: checkout })
  const name = (await readdir(folder.path)).find((each) => each.endsWith('.tgz'))
  return join(folder.path, name ?? '')
}

const archive = await packCheckout()

/** Installs the archive and its dependencies the way npm lays them out. */
async function installPackage(): Promise<string> {
  const packages = join(folder.path, 'node_modules')
  await mkdir(join(packages, 'florin'), { recursive: true })
  await execute('tar', ['-xzf', archive, '--strip-components', '1', '-C', `${packages}/florin`])
  const { packages: locked } = JSON.parse(await readFile(join(root, 'package-lock.json'), 'utf8'))
  for (const name of await namesIn(join(root, 'node_modules'))) {
    const isTool = locked[`node_modules/${name}`]?.dev === true
    if (isTool) continue
    await mkdir(join(packages, name, '..'), { recursive: true })
    await symlink(join(root, 'node_modules', name), join(packages, name))
  }
  return folder.path
}

async function namesIn(packages: string): Promise<string[]> {
  const names = (await readdir(packages)).filter((name) => !name.startsWith('.'))
  const scoped = names.filter((name) => name.startsWith('@'))
  const inner = await Promise.all(
    scoped.map(async (scope) =>
      (await readdir(join(packages, scope))).map((name) => `${scope}/${name}`),
    ),
  )
  return [...names.filter((name) => !name.startsWith('@')), ...inner.flat()]
}

test('the package of a fresh checkout starts in an empty folder with only its dependencies', async () => {
  const place = await installPackage()
  const service = await startFlorin({ FLORIN_DATA_DIR: join(place, 'data') }, place)
  assert.equal((await send(service.url, 'GET', '/healthz')).status, 200)
  const panel = await fetch(`${service.url}/`)
  assert.match(panel.headers.get('content-type') ?? '', /text\/html/)
  assert.equal((await fetch(`${service.url}/docs`)).status, 200)
  assert.equal((await fetch(`${service.url}/openapi.yaml`)).status, 200)
  service.signal('SIGTERM')
  assert.equal((await service.ended).code, 0, service.output())
})

test('the package contains the build and docs, and no tests, sources or secrets', async () => {
  const { stdout } = await execute('tar', ['-tzf', archive], { maxBuffer: 64 * 1024 * 1024 })
  const paths = stdout.split('\n').map((path) => path.replace('package/', ''))
  for (const path of ['LICENSE', 'README.md', 'openapi.json', 'dist/browser/index.html']) {
    assert.ok(paths.includes(path), path)
  }
  for (const path of paths) assert.doesNotMatch(path, /\.test\.|\.tsx?$|^dist\/test|^data|\.env/)
})

test('a package without its build exits with a readable message', async () => {
  const bare = join(folder.path, 'bare')
  await cp(join(root, 'cli/florin.js'), join(bare, 'cli/florin.js'))
  await cp(join(root, 'package.json'), join(bare, 'package.json'))
  const failure = await execute(process.execPath, [join(bare, 'cli/florin.js'), 'start']).catch(
    (cause: { code: number; stderr: string }) => cause,
  )
  assert.match(failure.stderr, /packed without its build.*\n.*npm run build && npm pack/)
  assert.equal('code' in failure && failure.code, 78)
})

test('the SBOM lists every shipped package with license, hash and dependencies', () => {
  const { components, dependencies } = createSbom()
  const names = components.map(({ name }) => name)
  for (const name of ['fastify', 'pg', 'typebox', 'react-dom', 'commander'])
    assert.ok(names.includes(name), name)
  for (const tool of ['typescript', 'esbuild', 'vite']) assert.ok(!names.includes(tool), tool)
  const refs = new Set(components.map((component) => component['bom-ref']))
  assert.equal(refs.size, components.length)
  for (const { dependsOn } of dependencies) for (const ref of dependsOn) assert.ok(refs.has(ref))
  for (const { name, hashes } of components) assert.equal(hashes.length, 1, name)
  assert.deepEqual(createSbom(), { ...createSbom(), components, dependencies })
})

test('every shipped license is on the allowlist', () => {
  const sbom = createSbom()
  assert.deepEqual(findDisallowed(sbom), [])
  assert.match(licenseList(sbom), /^\| fastify \| .* \| MIT \| runtime \|$/m)
  const [first] = sbom.components
  assert.ok(first !== undefined)
  const disallowed = (...licenses: typeof first.licenses) =>
    findDisallowed({ components: [{ ...first, licenses }] }).length
  assert.equal(disallowed({ license: { id: 'GPL-3.0-only' } }), 1)
  assert.equal(disallowed({ expression: '(MIT OR GPL-3.0-only)' }), 0)
  assert.equal(disallowed(), 1)
})
