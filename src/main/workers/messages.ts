import type { MetricObject } from 'prom-client'
import type { ForwardedRequest, ForwardedResponse } from '#domain/context/surface.ts'
import type { RatePolicy, RateVerdict } from '#domain/risk/rate_limit.ts'
import { Secret } from '#kernel/secret.ts'
import type { OpenLimit } from '#platform/runtime/open_counts.ts'
import type { Settings } from '#settings/settings.ts'

/** The parent's number in logs and metrics; workers have numbers from 1. */
export const PARENT = 0

/** `cost` is 0 for a question that counts nothing. */
export type RateQuestion = { subject: string; policies: readonly RatePolicy[]; cost: 0 | 1 }

/** Requests that the parent serves. */
export type ParentRequests = ServiceRequests & {
  /** The first message of a worker: earlier ones to it would be lost. */
  opened: { body: null; reply: undefined }
}

export type ServiceRequests = {
  decide_rates: { body: readonly RateQuestion[]; reply: RateVerdict[] }
  open_stream: { body: readonly OpenLimit[]; reply: boolean }
  close_stream: { body: readonly OpenLimit[]; reply: undefined }
  /** A worker has committed, so the parent's tasks may have work. */
  committed: { body: null; reply: undefined }
  collect_metrics: { body: null; reply: string }
  forward: { body: ForwardedRequest; reply: ForwardedResponse }
}

/** Requests that a worker serves. */
export type WorkerRequests = {
  start: { body: WorkerStart; reply: Ports }
  /** Finishes calls and messages in flight, then exits. */
  stop: { body: null; reply: undefined }
  read_metrics: { body: null; reply: MetricObject[] }
  set_clock: { body: number; reply: undefined }
}

export type Ports = { port: number; card_host_port: number }

export type WorkerStart = {
  number: number
  /** The number of workers that share the limits. */
  count: number
  version: string
  is_log_in_file: boolean
  settings: SentSettings
}

/** The settings that the parent has made itself; a worker reads the others from its environment. */
type SentSettings = Pick<Settings, 'chains' | 'signer_socket' | 'x402'> & {
  database_url: string
  operator_token: string | null
}

export function sentSettings(settings: Settings, database_url: string): SentSettings {
  const { chains, signer_socket, x402, operator_token } = settings
  return {
    chains,
    signer_socket,
    x402,
    database_url,
    operator_token: operator_token?.open() ?? null,
  }
}

export function withSentSettings(settings: Settings, sent: SentSettings): Settings {
  return {
    ...settings,
    ...sent,
    database_url: new Secret(sent.database_url),
    operator_token: sent.operator_token === null ? null : new Secret(sent.operator_token),
  }
}
