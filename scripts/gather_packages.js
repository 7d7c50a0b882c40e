// Packages of many small files, each made into one. Node finds, opens and compiles every file by
// itself, and with hundreds of them that is half of what a start costs; tests start often.
import { readdirSync, readFileSync, realpathSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))

const GATHERED = [
  'fastify',
  'oidc-provider',
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
 * Where an import of a gathered package leads, from a file of the sources as from its built one.
 * @param {string} name @param {string} importer
 */
export function gatheredPath(name, importer) {
  if (!GATHERED.includes(name)) return undefined
  const path = relative(dirname(importer), join(root, fileOf(name)))
  return path.startsWith('.') ? path : `./${path}`
}

/** A package by the names that it exports, which only importing it tells of older ones. */
async function entryOf(/** @type {string} */ name) {
  const names = Object.keys(await import(name)).filter((each) => each !== 'module.exports')
  return `export { ${names.join(', ')} } from '${name}'\n`
}

/**
 * What a package has to say about this Node concerns those who run it, not those who build it.
 * @template Value @param {() => Promise<Value>} act
 */
async function quietly(act) {
  const { warn } = console
  console.warn = () => undefined
  try {
    return await act()
  } finally {
    console.warn = warn
  }
}

/** Some of them are written to `require` parts of Node when they are first used. */
const REQUIRE = `import { createRequire as requireFrom } from 'node:module'
const require = requireFrom(import.meta.url)`

/** @type {import('esbuild').Plugin} */
const entries = {
  name: 'entries',
  setup(build) {
    build.onResolve({ filter: /^gathered:/ }, ({ path }) => ({ path, namespace: 'gathered' }))
    build.onLoad({ filter: /.*/, namespace: 'gathered' }, async ({ path }) => ({
      contents: await entryOf(path.slice('gathered:'.length)),
      resolveDir: root,
    }))
  },
}

/** @returns {Promise<{ path: string, contents: string | Uint8Array }[]>} */
export async function gatherPackages() {
  const { outputFiles, metafile } = await quietly(bundle)
  const licences = {
    path: join(root, 'dist/packages/LICENCES.txt'),
    contents: licencesOf(metafile),
  }
  return [...outputFiles, licences]
}

async function bundle() {
  const esbuild = await import('esbuild')
  return esbuild.build({
    absWorkingDir: root,
    entryPoints: GATHERED.map((name) => ({
      in: `gathered:${name}`,
      out: fileOf(name).replace(/\.js$/, ''),
    })),
    outdir: 'dist',
    chunkNames: 'packages/[hash]',
    bundle: true,
    // What two of them share is there once.
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
 * Whoever passes their code on passes their terms on too.
 * @param {import('esbuild').Metafile} made
 */
function licencesOf({ inputs }) {
  const folders = new Set(
    Object.keys(inputs).flatMap((path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path) ?? []),
  )
  return [...folders].sort().map(licenceIn).join('\n')
}

/** @param {string} folder */
function licenceIn(folder) {
  const there = realpathSync(join(root, folder))
  const file = readdirSync(there).find((name) => /^licen[cs]e/i.test(name))
  const { name, version, license } = JSON.parse(readFileSync(join(there, 'package.json'), 'utf8'))
  const text = file === undefined ? `${license}\n` : readFileSync(join(there, file), 'utf8')
  return `${name} ${version}\n\n${text}`
}
