// Turns the sources into the JavaScript that runs, file by file, in dist/: the same tree with its
// types taken off. Node reads that by itself, about three times as fast as through a loader.
// Plain JavaScript, since it runs before anything is built.
import { createHash } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gatheredPath, gatherPackages } from './gather_packages.js'

const root = fileURLToPath(new URL('..', import.meta.url))
const dist = join(root, 'dist')
const FOLDERS = ['src', 'sandbox', 'client', 'cli', 'test', 'bench', 'scripts']
const STAMP = join(dist, 'built.json')
const MAKERS = ['package.json', 'scripts/build.js', 'scripts/gather_packages.js']

/** @param {string} folder */
const filesIn = (folder) =>
  existsSync(join(root, folder))
    ? readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
        .map((path) => `${folder}/${path.replaceAll('\\', '/')}`)
        .filter((path) => !path.includes('node_modules/'))
    : []

/**
 * One line for a set of files that changes whenever one of them does.
 * @param {readonly string[]} paths
 */
function fingerprintOf(paths) {
  const hash = createHash('sha256')
  for (const path of paths) {
    const { mtimeMs, size } = statSync(join(root, path))
    hash.update(`${path} ${mtimeMs} ${size}\n`)
  }
  return hash.digest('hex')
}

/** @returns {Record<string, string>} */
const readStamps = () => (existsSync(STAMP) ? JSON.parse(readFileSync(STAMP, 'utf8')) : {})

/**
 * Others may be running what is replaced: each file changes in one step, and only if it differs.
 * @param {string} path @param {string | Uint8Array} content
 */
function put(path, content) {
  const bytes = Buffer.from(content)
  if (existsSync(path) && readFileSync(path).equals(bytes)) return
  mkdirSync(dirname(path), { recursive: true })
  const aside = `${path}.${process.pid}`
  writeFileSync(aside, bytes)
  renameSync(aside, path)
}

/** @param {string} name @param {string} fingerprint */
const stamp = (name, fingerprint) =>
  put(STAMP, JSON.stringify({ ...readStamps(), [name]: fingerprint }))

/**
 * Imports stay imports of the neighbouring file, by its new name; or of a gathered package.
 * @type {import('esbuild').Plugin}
 */
const siblings = {
  name: 'siblings',
  setup(build) {
    build.onResolve({ filter: /.*/ }, ({ path, kind, importer }) => {
      if (kind === 'entry-point') return undefined
      const built = gatheredPath(path, importer) ?? path.replace(/\.ts$/, '.js')
      return { path: built, external: true }
    })
  },
}

function putManifest() {
  const { name, version, type, imports } = JSON.parse(
    readFileSync(join(root, 'package.json'), 'utf8'),
  )
  put(join(dist, 'package.json'), JSON.stringify({ name, version, type, imports }))
}

/** @param {readonly string[]} built */
function removeOthers(built) {
  const wanted = new Set(built)
  for (const folder of FOLDERS) {
    const there = join(dist, folder)
    if (!existsSync(there)) continue
    for (const path of readdirSync(there, { recursive: true, encoding: 'utf8' })) {
      const file = join(there, path)
      if (/\.js(\.map)?$/.test(file) && !wanted.has(file)) rmSync(file)
    }
  }
}

async function buildPackages() {
  const fingerprint = fingerprintOf(['package-lock.json', 'scripts/gather_packages.js'])
  if (readStamps()['packages'] === fingerprint) return
  rmSync(join(dist, 'packages'), { recursive: true, force: true })
  for (const { path, contents } of await gatherPackages()) put(path, contents)
  stamp('packages', fingerprint)
}

export async function build() {
  await buildPackages()
  const sources = FOLDERS.flatMap(filesIn)
    .filter((path) => path.endsWith('.ts'))
    .sort()
  const fingerprint = fingerprintOf([...sources, ...MAKERS])
  if (readStamps()['server'] === fingerprint) return
  const esbuild = await import('esbuild')
  const { outputFiles } = await esbuild.build({
    absWorkingDir: root,
    entryPoints: sources,
    outbase: '.',
    outdir: 'dist',
    bundle: true,
    platform: 'node',
    target: 'node20.19',
    format: 'esm',
    sourcemap: 'linked',
    charset: 'utf8',
    write: false,
    plugins: [siblings],
  })
  // Its process would live as long as this one, and wake every second.
  await esbuild.stop()
  for (const { path, contents } of outputFiles) put(path, contents)
  putManifest()
  removeOthers(outputFiles.map(({ path }) => path))
  stamp('server', fingerprint)
}

/** What the browser is sent. It takes seconds, so only what serves or ships it asks for it. */
export async function buildPanel() {
  if (!existsSync(join(root, 'panel/vite.config.ts'))) return
  const sources = ['panel', 'client', 'src/kernel', 'src/contract'].flatMap(filesIn)
  const files = sources.filter((path) => statSync(join(root, path)).isFile()).sort()
  const fingerprint = fingerprintOf([...files, 'package.json'])
  if (readStamps()['panel'] === fingerprint && existsSync(join(dist, 'panel'))) return
  process.stderr.write('Building the panel, once after a change …\n')
  const vite = await import('vite')
  await vite.build({ configFile: join(root, 'panel/vite.config.ts'), logLevel: 'warn' })
  stamp('panel', fingerprint)
}
