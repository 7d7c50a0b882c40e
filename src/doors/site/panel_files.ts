import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { lazy } from '#kernel/lazy.ts'
import { root } from '#platform/runtime/root.ts'
import type { Settings } from '#settings/settings.ts'
import { homePage } from './home_page.ts'

const BUILT_DIR = join(root, 'dist', 'browser')

/** First path segments of the panel; its router handles the rest. */
const PANEL_PAGES = [
  'sign_in',
  'sign_up',
  'forgot_password',
  'reset_password',
  'cards',
  'topups',
  'transactions',
  'spending',
  'statements',
  'disputes',
  'withdrawals',
  'activity',
  'agents',
  'approvals',
  'tickets',
  'developers',
  'inbox',
  'security',
  'settings',
]

/** The same for the operator console, below /operator. */
const CONSOLE_PAGES = [
  'accounts',
  'cards',
  'transactions',
  'disputes',
  'tickets',
  'withdrawals',
  'suspense',
  'clearings',
  'refunds',
  'agents',
  'webhooks',
  'kill_switches',
  'maintenance',
  'reconciliation',
  'figures',
  'health',
]

/** One route with a pattern: a route for each page takes 60 ms at every start. */
function routesOf(parent: string, pages: readonly string[]): string[] {
  const page = `${parent}/:page(^(?:${pages.join('|')})$)`
  return [page, `${page}/*`]
}

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
}

/** Only our own files may run or load; QR codes are data URIs, the sandbox inbox has a frame. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "frame-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ')

const SECURITY_HEADERS = {
  'Content-Security-Policy': CONTENT_SECURITY_POLICY,
  'X-Frame-Options': 'DENY',
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
}

type BuiltFile = { body: Buffer; zipped(): Buffer; type: string; is_hashed: boolean }

/** The built files of the panel and the operator console, by path; empty if not built. */
const builtFiles = lazy((): ReadonlyMap<string, BuiltFile> => {
  const files = new Map<string, BuiltFile>()
  if (!existsSync(BUILT_DIR)) return files
  for (const entry of readdirSync(BUILT_DIR, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const path = join(entry.parentPath, entry.name)
    const name = path.slice(BUILT_DIR.length + 1).replaceAll('\\', '/')
    const body = readFileSync(path)
    const type = TYPES[extname(name)] ?? 'application/octet-stream'
    const zipped = lazy(() => gzipSync(body))
    files.set(name, { body, zipped, type, is_hashed: name.startsWith('assets/') })
  }
  return files
})

/** Serves pages and files to browsers. Other URLs return a JSON 404. */
export function mountPanelFiles(app: FastifyInstance, settings: Settings): void {
  const files = builtFiles()
  const serveFile = (request: FastifyRequest, reply: FastifyReply) => {
    const file = files.get(request.url.slice(1).replace(/\?.*/, ''))
    return file === undefined ? reply.callNotFound() : sendFile(file, request, reply)
  }
  app.get('/icon.svg', serveFile)
  app.get('/assets/*', serveFile)
  const servePage = (name: string, paths: readonly string[]) => {
    const file = files.get(name)
    for (const path of paths) {
      app.get(path, (request, reply) =>
        file === undefined ? sendHome(settings, reply) : sendFile(file, request, reply),
      )
    }
  }
  servePage('index.html', ['/', ...routesOf('', PANEL_PAGES)])
  servePage('operator.html', ['/operator', '/operator/', ...routesOf('/operator', CONSOLE_PAGES)])
}

function sendFile(file: BuiltFile, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const acceptsGzip = /\bgzip\b/.test(request.headers['accept-encoding'] ?? '')
  if (acceptsGzip) reply.header('Content-Encoding', 'gzip')
  return reply
    .headers(SECURITY_HEADERS)
    .header('Vary', 'Accept-Encoding')
    .header('Cache-Control', file.is_hashed ? 'public, max-age=31536000, immutable' : 'no-cache')
    .type(file.type)
    .send(acceptsGzip ? file.zipped() : file.body)
}

function sendHome(settings: Settings, reply: FastifyReply): FastifyReply {
  return reply
    .headers(SECURITY_HEADERS)
    .header('Content-Security-Policy', "default-src 'none'; style-src 'unsafe-inline'")
    .type('text/html; charset=utf-8')
    .send(homePage(settings))
}
