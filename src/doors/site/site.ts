import type { FastifyInstance } from 'fastify'
import { serverCard } from '#doors/server_card.ts'
import { lazy } from '#kernel/lazy.ts'
import type { Runtime } from '#operations/runtime.ts'
import { mountDocs } from './docs/docs.ts'
import { openApiDocument, openApiYaml } from './openapi.ts'
import { mountPanelFiles } from './panel_files.ts'

/** Public routes: the API description and the health check. */
export function mountSite(app: FastifyInstance, runtime: Runtime): void {
  const { public_url, x402 } = runtime.settings
  const document = lazy(() => openApiDocument({ public_url, prices: x402.prices }))
  const json = lazy(() => JSON.stringify(document()))
  const yaml = lazy(() => openApiYaml(document()))
  app.get('/openapi.json', (_request, reply) =>
    reply
      .type('application/json; charset=utf-8')
      .header('Access-Control-Allow-Origin', '*')
      .send(json()),
  )
  app.get('/openapi.yaml', (_request, reply) =>
    reply
      .type('application/yaml; charset=utf-8')
      .header('Access-Control-Allow-Origin', '*')
      .send(yaml()),
  )
  const card = lazy(() => serverCard(runtime.settings))
  app.get('/.well-known/mcp/server-card.json', (_request, reply) =>
    reply
      .type('application/json; charset=utf-8')
      .header('Access-Control-Allow-Origin', '*')
      .header('Access-Control-Allow-Methods', 'GET')
      .header('Access-Control-Allow-Headers', 'Content-Type')
      .header('Cache-Control', 'public, max-age=3600')
      .send(card()),
  )
  mountDocs(app, runtime.settings)
  app.get('/healthz', async (_request, reply) => {
    await runtime.db.rows('select 1')
    return reply.type('application/json; charset=utf-8').send('{"status":"ok"}')
  })
  app.get('/metrics', async (_request, reply) => {
    const { registry, text } = runtime.metrics
    return reply.type(registry.contentType).send(await text())
  })
  mountPanelFiles(app, runtime.settings)
}
