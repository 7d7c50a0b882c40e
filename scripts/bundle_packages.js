// Bundles packages of many small files into one file each. Resolving and compiling hundreds of
// files takes half of the startup time, and tests start the service often.
import { readdirSync, readFileSync, realpathSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))

const BUNDLED = [
  'fastify',
  'markdown-it',
  'oidc-provider',
  'pino',
  'prom-client',
  'qrcode',
  'typebox',
  'typebox/compile',
  'undici',
  'yaml',
]

/** @param {string} name */
const fileOf = (name) => `packages/${name.replace('/', '_')}.js`

/**
 * The relative path from the importer to a bundled package, the same for sources and built files.
 * @param {string} name @param {string} importer
 */
export function bundledPath(name, importer) {
  if (!BUNDLED.includes(name)) return undefined
  const path = relative(dirname(importer), join(root, fileOf(name)))
  return path.startsWith('.') ? path : `./${path}`
}

/** Re-exports all names of a package. CommonJS packages must be imported to learn their names. */
async function entryOf(/** @type {string} */ name) {
  const names = Object.keys(await import(name)).filter((each) => each !== 'module.exports')
  return `export { ${names.join(', ')} } from '${name}'\n`
}

/**
 * Hides warnings that packages print about the Node version when they are imported.
 * @template Value @param {() => Promise<Value>} work
 */
async function withoutWarnings(work) {
  const { warn } = console
  console.warn = () => undefined
  try {
    return await work()
  } finally {
    console.warn = warn
  }
}

/** Some packages call `require` for Node modules at run time. */
const REQUIRE = `import { createRequire as requireFrom } from 'node:module'
const require = requireFrom(import.meta.url)`

/** @type {import('esbuild').Plugin} */
const entries = {
  name: 'entries',
  setup(build) {
    build.onResolve({ filter: /^bundled:/ }, ({ path }) => ({ path, namespace: 'bundled' }))
    build.onLoad({ filter: /.*/, namespace: 'bundled' }, async ({ path }) => ({
      contents: await entryOf(path.slice('bundled:'.length)),
      resolveDir: root,
    }))
  },
}

/** @returns {Promise<{ path: string, contents: string | Uint8Array }[]>} */
export async function bundlePackages() {
  const { outputFiles, metafile } = await withoutWarnings(bundle)
  const licenses = {
    path: join(root, 'dist/packages/LICENSES.txt'),
    contents: licensesOf(metafile),
  }
  return [...outputFiles, licenses]
}

async function bundle() {
  const esbuild = await import('esbuild')
  return esbuild.build({
    absWorkingDir: root,
    entryPoints: BUNDLED.map((name) => ({
      in: `bundled:${name}`,
      out: fileOf(name).replace(/\.js$/, ''),
    })),
    outdir: 'dist',
    chunkNames: 'packages/[hash]',
    bundle: true,
    // Shared code is emitted once.
    splitting: true,
    platform: 'node',
    target: 'node20.19',
    format: 'esm',
    charset: 'utf8',
    banner: { js: REQUIRE },
    write: false,
    metafile: true,
    logLevel: 'error',
    plugins: [entries],
  })
}

/**
 * The license texts of all bundled code, which must be distributed with it.
 * @param {import('esbuild').Metafile} made
 */
function licensesOf({ inputs }) {
  const folders = new Set(
    Object.keys(inputs).flatMap((path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path) ?? []),
  )
  return [...folders].sort().map(licenseIn).join('\n')
}

/** @param {string} folder */
function licenseIn(folder) {
  const there = realpathSync(join(root, folder))
  const file = readdirSync(there).find((name) => /^licen[cs]e/i.test(name))
  const { name, version, license } = JSON.parse(readFileSync(join(there, 'package.json'), 'utf8'))
  const text = file === undefined ? `${license}\n` : readFileSync(join(there, file), 'utf8')
  return `${name} ${version}\n\n${text}`
}
