import type { FastifyInstance } from 'fastify'
import { default_scopes } from '#contract/scopes.ts'
import { type ResourceName, resourceUrl } from '#domain/credentials/resource.ts'
import type { Settings } from '#settings/settings.ts'
import { DETAIL_TYPES } from './card_details.ts'

/**
 * Protected resource metadata (RFC 9728). Clients request the scopes listed here, so it lists only
 * the ones a new client should start with.
 */
function resourceMetadata(settings: Settings, resource: ResourceName): string {
  return JSON.stringify({
    resource: resourceUrl(settings, resource),
    authorization_servers: [settings.public_url],
    scopes_supported: default_scopes,
    bearer_methods_supported: ['header'],
    resource_name: resource === 'mcp' ? 'Florin agent tools' : 'Florin API',
    authorization_details_types_supported: [...DETAIL_TYPES],
  })
}

const WELL_KNOWN = '/.well-known/oauth-protected-resource'

const documents: readonly (readonly [path: string, resource: ResourceName])[] = [
  [WELL_KNOWN, 'mcp'],
  [`${WELL_KNOWN}/mcp`, 'mcp'],
  [`${WELL_KNOWN}/v1`, 'rest'],
]

export function mountResourceMetadata(app: FastifyInstance, settings: Settings): void {
  for (const [path, resource] of documents) {
    const text = resourceMetadata(settings, resource)
    app.get(path, (_request, reply) =>
      reply
        .header('Access-Control-Allow-Origin', '*')
        .header('Cache-Control', 'public, max-age=3600')
        .type('application/json; charset=utf-8')
        .send(text),
    )
  }
}
