// Builds dist/. Each part is rebuilt only if one of its inputs has changed. Plain JavaScript,
// because it runs before the first build.
import { createHash } from 'node:crypto'
import * as fs from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bundledPath, bundlePackages } from './bundle_packages.js'

const root = fileURLToPath(new URL('..', import.meta.url))
const inRoot = (/** @type {string} */ path) => join(root, path)
const SOURCE_FOLDERS = ['src', 'sandbox', 'client', 'cli', 'test', 'bench', 'scripts', 'panel']
const PANEL_FOLDERS = ['panel', 'client', 'src/kernel', 'src/contract']
const BUILD_FILES = ['package.json', 'scripts/build.js', 'scripts/bundle_packages.js']
const STAMPS = 'dist/built.json'

const parts = {
  /** Packages of many small files, as one file each. */
  packages: { inputs: () => ['package-lock.json', ...BUILD_FILES], build: writePackages },
  /** Our code without types, file by file in the same tree, for the service, tests and scripts. */
  code: {
    inputs: () => [...filesIn(SOURCE_FOLDERS).filter(isSource), ...BUILD_FILES],
    build: writeCode,
  },
  /** The browser files. They take seconds, so only commands that serve or ship them need them. */
  panel: {
    inputs: () => [...filesIn(PANEL_FOLDERS).filter((path) => !isTest(path)), 'package.json'],
    build: writePanel,
  },
}

/** @param {readonly (keyof typeof parts)[]} names */
export async function build(...names) {
  for (const name of names) {
    const fingerprint = fingerprintOf(parts[name].inputs())
    if (readStamps()[name] === fingerprint) continue
    await parts[name].build()
    writeIfChanged(STAMPS, JSON.stringify({ ...readStamps(), [name]: fingerprint }))
  }
}

async function writePackages() {
  fs.rmSync(inRoot('dist/packages'), { recursive: true, force: true })
  for (const { path, contents } of await bundlePackages()) writeIfChanged(path, contents)
}

async function writeCode() {
  const sources = filesIn(SOURCE_FOLDERS).filter(
    (path) => isSource(path) && !path.endsWith('.d.ts'),
  )
  const written = await writeSources(sources)
  const { name, version, type, imports } = JSON.parse(read('package.json'))
  writeIfChanged('dist/package.json', JSON.stringify({ name, version, type, imports }))
  removeStale(new Set(written))
  linkTestPackages()
}

/**
 * Builds these sources alone and returns the files that they became. The stamps stay as they are.
 * @param {readonly string[]} paths
 */
export async function writeSources(paths) {
  const esbuild = await import('esbuild')
  const { outputFiles } = await esbuild.build({
    absWorkingDir: root,
    entryPoints: [...paths],
    outbase: '.',
    outdir: 'dist',
    bundle: true,
    platform: 'node',
    target: 'node20.19',
    format: 'esm',
    jsx: 'automatic',
    loader: { '.css': 'empty' },
    sourcemap: 'linked',
    charset: 'utf8',
    write: false,
    plugins: [keepImports],
  })
  // Otherwise esbuild's process lives as long as this one and wakes every second.
  await esbuild.stop()
  for (const { path, contents } of outputFiles) writeIfChanged(path, contents)
  return outputFiles.map(({ path }) => path)
}

async function writePanel() {
  process.stderr.write('Building the panel…\n')
  const vite = await import('vite')
  await vite.build({ configFile: inRoot('panel/vite.config.ts'), logLevel: 'warn' })
}

/**
 * Keeps imports as imports: of the built file, or of a bundled package.
 * @type {import('esbuild').Plugin}
 */
const keepImports = {
  name: 'keepImports',
  setup: ({ onResolve }) =>
    onResolve({ filter: /.*/ }, ({ path, kind, importer }) => {
      if (kind === 'entry-point' || path.endsWith('.css')) return undefined
      const built = bundledPath(path, importer) ?? path.replace(/\.tsx?$/, '.js')
      return { path: built, external: true }
    }),
}

/** Built tests then find the packages of test/packages, as their sources do. */
function linkTestPackages() {
  const link = inRoot('dist/test/packages/node_modules')
  if (fs.existsSync(dirname(link)) && !fs.lstatSync(link, { throwIfNoEntry: false })) {
    fs.symlinkSync(inRoot('test/packages/node_modules'), link, 'junction')
  }
}

/** @param {Set<string>} current */
function removeStale(current) {
  for (const path of filesIn(SOURCE_FOLDERS.map((folder) => `dist/${folder}`))) {
    const file = inRoot(path)
    if (/\.js(\.map)?$/.test(file) && !current.has(file)) fs.rmSync(file)
  }
}

const isSource = (/** @type {string} */ path) => /\.tsx?$/.test(path)
const isTest = (/** @type {string} */ path) => path.endsWith('.test.ts')
const read = (/** @type {string} */ path) => fs.readFileSync(inRoot(path), 'utf8')

/** @returns {Record<string, string>} */
const readStamps = () => (fs.existsSync(inRoot(STAMPS)) ? JSON.parse(read(STAMPS)) : {})

/** @param {readonly string[]} folders */
const filesIn = (folders) =>
  folders
    .filter((folder) => fs.existsSync(inRoot(folder)))
    .flatMap(filesBelow)
    .sort()

/** Without installed packages and links to them. @param {string} folder @returns {string[]} */
function filesBelow(folder) {
  return fs.readdirSync(inRoot(folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`
    if (entry.isDirectory()) return entry.name === 'node_modules' ? [] : filesBelow(path)
    return entry.isFile() ? [path] : []
  })
}

/** @param {readonly string[]} paths */
function fingerprintOf(paths) {
  const hash = createHash('sha256')
  for (const path of paths) {
    const { mtimeMs, size } = fs.statSync(inRoot(path))
    hash.update(`${path} ${mtimeMs} ${size}\n`)
  }
  return hash.digest('hex')
}

/**
 * Replaces a file atomically, and only if it differs, because other processes may be running it.
 * @param {string} path @param {string | Uint8Array} content
 */
function writeIfChanged(path, content) {
  const file = path.startsWith(root) ? path : inRoot(path)
  const bytes = Buffer.from(content)
  if (fs.existsSync(file) && fs.readFileSync(file).equals(bytes)) return
  fs.mkdirSync(dirname(file), { recursive: true })
  const temporary = `${file}.${process.pid}`
  fs.writeFileSync(temporary, bytes)
  fs.renameSync(temporary, file)
}

// `npm run build`, which is also the prepack script of `npm pack`.
if (process.argv[1] === fileURLToPath(import.meta.url)) await build('packages', 'code', 'panel')
