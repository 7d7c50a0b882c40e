import { build } from 'esbuild'
import { root } from '#platform/root.ts'

/** The client as one file that needs nothing of any platform but fetch, streams and web crypto. */
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
