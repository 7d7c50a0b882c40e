import { Secret } from '#kernel/secret.ts'
import { ConfigError, type Environment } from '#platform/settings/environment.ts'

/** Traces in the OpenTelemetry protocol; the variables have OpenTelemetry's own names. */
export type TracingSettings = {
  endpoint: string
  service_name: string
  /** Headers for the collector, such as its key: "name=value,name=value". */
  headers: Secret | null
}

/** Null: no traces. */
export function readTracingSettings(env: Environment): TracingSettings | null {
  const endpoint = env['OTEL_EXPORTER_OTLP_ENDPOINT'] || null
  if (endpoint === null) return null
  if (!URL.canParse(endpoint) || !/^https?:/.test(endpoint)) {
    throw new ConfigError('OTEL_EXPORTER_OTLP_ENDPOINT must begin with http:// or https://.')
  }
  const headers = env['OTEL_EXPORTER_OTLP_HEADERS'] || null
  return {
    endpoint: endpoint.replace(/\/+$/, ''),
    service_name: env['OTEL_SERVICE_NAME'] || 'florin',
    headers: headers === null ? null : new Secret(headers),
  }
}
