import { execFileSync } from 'node:child_process'
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { root } from '#platform/runtime/root.ts'
import { bundleClient } from './bundle.ts'
import { contractTypes } from './contract_types.ts'

/** Writes the files to publish: one JavaScript file and its type declarations. */
export async function writeClientPackage(folder: string): Promise<void> {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text)
  await bundleClient(join(folder, 'client.js'))
  for (const [name, text] of declarations()) write(name, text)
  write('contract.d.ts', contractTypes())
  write('package.json', `${JSON.stringify(packageJson, null, 2)}\n`)
  copyFileSync(join(root, 'client/README.md'), join(folder, 'README.md'))
  copyFileSync(join(root, 'LICENSE'), join(folder, 'LICENSE'))
}

const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  version: string
  license: string
  engines: Record<string, string>
}

const packageJson = {
  name: '@florin/client',
  version: manifest.version,
  description: 'A typed client for the Florin API.',
  license: manifest.license,
  type: 'module',
  engines: manifest.engines,
  sideEffects: false,
  main: './client.js',
  types: './client.d.ts',
  exports: { '.': { types: './client.d.ts', default: './client.js' } },
}

/** The compiler's declarations, with imports of the contract redirected to contract.d.ts. */
function declarations(): [string, string][] {
  const out = mkdtempSync(join(tmpdir(), 'florin_types_'))
  try {
    const config = join(out, 'tsconfig.json')
    writeFileSync(config, JSON.stringify(configOf(out)))
    execFileSync(process.execPath, [
      join(root, 'node_modules/@typescript/native/bin/tsc'),
      '-p',
      config,
    ])
    return readdirSync(join(out, 'client')).map((name) => {
      const text = readFileSync(join(out, 'client', name), 'utf8')
      return [name, text.replaceAll(/'#contract\/\w+\.ts'/g, `'./contract.js'`)].map((each) =>
        each.replaceAll(/'(\.\/\w+)\.ts'/g, `'$1.js'`),
      ) as [string, string]
    })
  } finally {
    rmSync(out, { recursive: true })
  }
}

const configOf = (out: string) => ({
  extends: join(root, 'tsconfig.json'),
  compilerOptions: {
    rootDir: root,
    outDir: out,
    noEmit: false,
    declaration: true,
    emitDeclarationOnly: true,
    incremental: false,
    typeRoots: [join(root, 'node_modules/@types')],
  },
  files: [join(root, 'client/client.ts')],
  include: [],
})
