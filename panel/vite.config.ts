import { join } from 'node:path'
import tailwindcss from '@tailwindcss/vite'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

const root = import.meta.dirname
const SERVICE = 'http://127.0.0.1:8080'
const SERVED_BY_IT = ['/v1', '/oauth', '/.well-known', '/sandbox', '/operator/v1', '/docs']

/** `npx vite -c panel/vite.config.ts` shows changes at once, against a service that runs. */
export default defineConfig({
  root,
  plugins: [react(), tailwindcss()],
  server: { proxy: Object.fromEntries(SERVED_BY_IT.map((path) => [path, SERVICE])) },
  build: {
    outDir: join(root, '..', 'dist', 'panel'),
    emptyOutDir: true,
    // light-dark() stays as it is written; these are the first that know it.
    target: ['chrome123', 'edge123', 'firefox121', 'safari17.5'],
    // A data: URI would need a hole in the content security policy.
    assetsInlineLimit: 0,
    rolldownOptions: { input: [join(root, 'index.html'), join(root, 'operator.html')] },
  },
})
