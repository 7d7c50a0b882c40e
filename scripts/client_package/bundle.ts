import { build } from 'esbuild'
import { root } from '#platform/runtime/root.ts'

/** Bundles the client into one file that only needs fetch, streams and Web Crypto. */
export async function bundleClient(outfile: string): Promise<void> {
  await build({
    absWorkingDir: root,
    entryPoints: ['client/client.ts'],
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'neutral',
    target: 'es2022',
    charset: 'utf8',
  })
}
