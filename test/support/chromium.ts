import { execFile } from 'node:child_process'
import { chmodSync, createReadStream, createWriteStream, existsSync } from 'node:fs'
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import { createBrotliDecompress } from 'node:zlib'
import { root } from '#platform/runtime/root.ts'

export type Chromium = { path: string; env: Record<string, string> }

/** The browser in CHROME_PATH, the one from npm, or an installed one. */
export async function findChromium(): Promise<Chromium | null> {
  const named = process.env['CHROME_PATH']
  if (named !== undefined && named !== '') return { path: named, env: {} }
  if (process.platform === 'linux' && process.arch === 'x64') return unpacked()
  const folders = (process.env['PATH'] ?? '').split(delimiter)
  const names = ['chromium', 'chromium-browser', 'google-chrome']
  const path = folders.flatMap((folder) => names.map((name) => join(folder, name))).find(existsSync)
  return path === undefined ? null : { path, env: {} }
}

const VERSION = '147.0.0'

/**
 * The package contains archives of the browser, its libraries and some fonts. They are unpacked
 * once per version, into a folder that outlives the run and gets its name at the end.
 */
async function unpacked(): Promise<Chromium> {
  const folder = join(root, 'node_modules/.cache', `florin_chromium_${VERSION}`)
  if (!existsSync(folder)) {
    const aside = `${folder}.${process.pid}`
    await unpack(aside)
    // Another test file may have unpacked the same files already.
    await rename(aside, folder).catch(() => rm(aside, { recursive: true, force: true }))
  }
  await nameFonts(folder)
  const language = 'en_US.UTF-8'
  return {
    path: join(folder, 'chromium'),
    env: {
      LD_LIBRARY_PATH: join(folder, 'lib'),
      FONTCONFIG_FILE: join(folder, 'fonts.conf'),
      // With C.UTF-8, Intl throws in this build.
      LANG: language,
      LC_ALL: language,
    },
  }
}

/** A copied checkout still names the fonts of the original, and without them no text is visible. */
async function nameFonts(folder: string): Promise<void> {
  const path = join(folder, 'fonts.conf')
  const named = await readFile(path, 'utf8').catch(() => '')
  if (named !== fontsIn(folder)) await writeFile(path, fontsIn(folder))
}

async function unpack(folder: string): Promise<void> {
  const archives = join(root, 'test/packages/node_modules/@sparticuz/chromium/bin')
  const archive = (name: string) => join(archives, name)
  await mkdir(folder, { recursive: true })
  await inflate(archive('chromium.br'), join(folder, 'chromium'))
  chmodSync(join(folder, 'chromium'), 0o755)
  for (const name of ['al2023.tar.br', 'fonts.tar.br', 'swiftshader.tar.br']) {
    await untar(archive(name), folder)
  }
}

const fontsIn = (folder: string) => `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
<dir>${join(folder, 'fonts')}</dir>
<cachedir>${join(folder, 'cache')}</cachedir>
</fontconfig>
`

const inflate = (path: string, target: string) =>
  pipeline(createReadStream(path), createBrotliDecompress(), createWriteStream(target))

/** Through a file: tar closes its input before the padding at the end of an archive. */
async function untar(path: string, folder: string): Promise<void> {
  const plain = join(folder, 'plain.tar')
  await inflate(path, plain)
  await promisify(execFile)('tar', ['-xf', plain, '-C', folder])
  await rm(plain)
}
