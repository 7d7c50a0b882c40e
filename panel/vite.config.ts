import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import tailwindcss from '@tailwindcss/vite'
import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin } from 'vite'

const root = import.meta.dirname
const SERVICE = 'http://127.0.0.1:8080'
const PROXIED_PATHS = ['/v1', '/oauth', '/.well-known', '/sandbox', '/operator/v1', '/docs']

const ICONS = '@iconify-json/lucide/icons.json'

/** Reduces the 610 KB of Lucide to the icons in ui/icons.ts. */
const usedIcons: Plugin = {
  name: 'used_icons',
  enforce: 'pre',
  transform(code, id) {
    if (!id.replaceAll('\\', '/').endsWith(ICONS)) return undefined
    const used = readFileSync(join(root, 'ui/icons.ts'), 'utf8').matchAll(/lucide\('([\w-]+)'\)/g)
    const { icons } = JSON.parse(code)
    const kept = Object.fromEntries([...used].map(([, name = '']) => [name, icons[name]]))
    return { code: JSON.stringify({ icons: kept }), map: null }
  },
}

/** `npx vite -c panel/vite.config.ts` serves the panel with hot reload for a running service. */
export default defineConfig({
  root,
  plugins: [usedIcons, react(), tailwindcss()],
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
