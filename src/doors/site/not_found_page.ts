import type { FastifyReply, FastifyRequest } from 'fastify'
import { COIN, LOOK } from '#doors/look.ts'

/** Paths that programs call; they get JSON, whatever they accept. */
const FOR_PROGRAMS = /^\/(?:v1|mcp|oauth|operator\/v1|sandbox\/v1|files|\.well-known)(?:\/|$)/

/** True if a person opened the URL in a browser. */
export const isOpenedInBrowser = ({ method, headers, url }: FastifyRequest): boolean =>
  method === 'GET' && /\btext\/html\b/.test(headers.accept ?? '') && !FOR_PROGRAMS.test(url)

export const sendNotFoundPage = (reply: FastifyReply): FastifyReply =>
  reply
    .code(404)
    .header('Content-Security-Policy', "default-src 'none'; style-src 'unsafe-inline'")
    .header('Cache-Control', 'no-store')
    .header('X-Content-Type-Options', 'nosniff')
    .type('text/html; charset=utf-8')
    .send(pageAt(reply.request.url))

/** An operator stays in the console. */
const homeLink = (url: string): string =>
  /^\/operator(?:[/?]|$)/.test(url)
    ? '<a href="/operator">Go to the operator console</a>'
    : '<a href="/">Go to Florin</a>'

const pageAt = (url: string): string => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Page not found · Florin</title>
<style>${LOOK}
main{max-width:26rem;margin:16vh auto;padding:0 1.25rem;text-align:center}
h1{font-size:1.4rem;margin:1rem 0 .25rem}
p{color:var(--soft);margin:.25rem 0 1.25rem}
a{color:var(--accent)}
</style>
<main>
  ${COIN}
  <h1>Page not found</h1>
  <p>The page may have moved, or the link may be incomplete.</p>
  ${homeLink(url)} · <a href="/docs">Read the docs</a>
</main>
</html>
`
