// Strips the types from the sources, file by file, into the same tree in dist/. Node loads that
// about three times as fast as TypeScript through a loader. Plain JavaScript, because it runs
// before the first build.
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
import { bundledPath, bundlePackages } from './bundle_packages.js'

const root = fileURLToPath(new URL('..', import.meta.url))
const dist = join(root, 'dist')
const FOLDERS = ['src', 'sandbox', 'client', 'cli', 'test', 'bench', 'scripts']
const STAMP = join(dist, 'built.json')
const BUILD_FILES = ['package.json', 'scripts/build.js', 'scripts/bundle_packages.js']

/** @param {string} folder */
const filesIn = (folder) =>
  existsSync(join(root, folder))
    ? readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
        .map((path) => `${folder}/${path.replaceAll('\\', '/')}`)
        .filter((path) => !path.includes('node_modules/'))
    : []

/**
 * A hash that changes whenever one of the files does.
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
 * Replaces a file atomically, and only if it differs, because other processes may be running it.
 * @param {string} path @param {string | Uint8Array} content
 */
function writeIfChanged(path, content) {
  const bytes = Buffer.from(content)
  if (existsSync(path) && readFileSync(path).equals(bytes)) return
  mkdirSync(dirname(path), { recursive: true })
  const temporary = `${path}.${process.pid}`
  writeFileSync(temporary, bytes)
  renameSync(temporary, path)
}

/** @param {string} name @param {string} fingerprint */
const stamp = (name, fingerprint) =>
  writeIfChanged(STAMP, JSON.stringify({ ...readStamps(), [name]: fingerprint }))

/**
 * Keeps imports as imports: of the built file, or of a bundled package.
 * @type {import('esbuild').Plugin}
 */
const keepImports = {
  name: 'keepImports',
  setup(build) {
    build.onResolve({ filter: /.*/ }, ({ path, kind, importer }) => {
      if (kind === 'entry-point') return undefined
      const built = bundledPath(path, importer) ?? path.replace(/\.ts$/, '.js')
      return { path: built, external: true }
    })
  },
}

function writeManifest() {
  const { name, version, type, imports } = JSON.parse(
    readFileSync(join(root, 'package.json'), 'utf8'),
  )
  writeIfChanged(join(dist, 'package.json'), JSON.stringify({ name, version, type, imports }))
}

/** @param {readonly string[]} built */
function removeStale(built) {
  const current = new Set(built)
  for (const folder of FOLDERS) {
    const there = join(dist, folder)
    if (!existsSync(there)) continue
    for (const path of readdirSync(there, { recursive: true, encoding: 'utf8' })) {
      const file = join(there, path)
      if (/\.js(\.map)?$/.test(file) && !current.has(file)) rmSync(file)
    }
  }
}

async function buildPackages() {
  const fingerprint = fingerprintOf(['package-lock.json', 'scripts/bundle_packages.js'])
  if (readStamps()['packages'] === fingerprint) return
  rmSync(join(dist, 'packages'), { recursive: true, force: true })
  for (const { path, contents } of await bundlePackages()) writeIfChanged(path, contents)
  stamp('packages', fingerprint)
}

export async function build() {
  await buildPackages()
  const sources = FOLDERS.flatMap(filesIn)
    .filter((path) => path.endsWith('.ts'))
    .sort()
  const fingerprint = fingerprintOf([...sources, ...BUILD_FILES])
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
    plugins: [keepImports],
  })
  // Otherwise esbuild's process lives as long as this one and wakes every second.
  await esbuild.stop()
  for (const { path, contents } of outputFiles) writeIfChanged(path, contents)
  writeManifest()
  removeStale(outputFiles.map(({ path }) => path))
  stamp('server', fingerprint)
}

/** Builds the browser files. It takes seconds, so only commands that serve or ship them call it. */
export async function buildPanel() {
  if (!existsSync(join(root, 'panel/vite.config.ts'))) return
  const sources = ['panel', 'client', 'src/kernel', 'src/contract'].flatMap(filesIn)
  const files = sources
    .filter((path) => statSync(join(root, path)).isFile() && !path.endsWith('.test.ts'))
    .sort()
  const fingerprint = fingerprintOf([...files, 'package.json'])
  if (readStamps()['panel'] === fingerprint && existsSync(join(dist, 'panel'))) return
  process.stderr.write('Building the panel…\n')
  const vite = await import('vite')
  await vite.build({ configFile: join(root, 'panel/vite.config.ts'), logLevel: 'warn' })
  stamp('panel', fingerprint)
}

/**
 * Bundles each test of the panel with the components it imports, since Node cannot load JSX. Vite
 * empties dist/panel, so the bundles are in dist/panel_tests.
 */
export async function buildPanelTests() {
  const sources = ['panel', 'client', 'src/kernel', 'src/contract'].flatMap(filesIn)
  const files = sources.filter((path) => /\.tsx?$/.test(path)).sort()
  const fingerprint = fingerprintOf([...files, ...BUILD_FILES])
  if (readStamps()['panel_tests'] === fingerprint) return
  const outdir = join(dist, 'panel_tests')
  rmSync(outdir, { recursive: true, force: true })
  const esbuild = await import('esbuild')
  await esbuild.build({
    absWorkingDir: root,
    entryPoints: files.filter((path) => path.endsWith('.test.ts') && path.startsWith('panel/')),
    outbase: 'panel',
    outdir,
    bundle: true,
    packages: 'external',
    platform: 'node',
    target: 'node20.19',
    format: 'esm',
    jsx: 'automatic',
    loader: { '.css': 'empty' },
    sourcemap: 'linked',
    charset: 'utf8',
  })
  await esbuild.stop()
  stamp('panel_tests', fingerprint)
}
