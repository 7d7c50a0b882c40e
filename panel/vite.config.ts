import { join } from 'node:path'
import tailwindcss from '@tailwindcss/vite'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

const root = import.meta.dirname
const SERVICE = 'http://127.0.0.1:8080'
const PROXIED_PATHS = ['/v1', '/oauth', '/.well-known', '/sandbox', '/operator/v1', '/docs']

/** `npx vite -c panel/vite.config.ts` serves the panel with hot reload for a running service. */
export default defineConfig({
  root,
  plugins: [react(), tailwindcss()],
  server: { proxy: Object.fromEntries(PROXIED_PATHS.map((path) => [path, SERVICE])) },
  build: {
    outDir: join(root, '..', 'dist', 'browser'),
    emptyOutDir: true,
    // The first versions that support light-dark(), which is not transpiled.
    target: ['chrome123', 'edge123', 'firefox121', 'safari17.5'],
    // The content security policy does not allow data: URIs.
    assetsInlineLimit: 0,
    rolldownOptions: { input: [join(root, 'index.html'), join(root, 'operator.html')] },
  },
})
