import { Secret } from '#kernel/secret.ts'
import { ConfigError, type Environment } from '#platform/settings/environment.ts'

/** A bucket of any store that speaks the S3 protocol. */
export type S3Settings = {
  /** Ends with the bucket: https://s3.eu-central-1.amazonaws.com/florin-evidence. */
  url: string
  region: string
  access_key_id: string
  secret_access_key: Secret
}

/** Null if no bucket is configured: files are then kept on the local disk. */
export function readS3Settings(env: Environment): S3Settings | null {
  const url = env['FLORIN_S3_URL']
  const access_key_id = env['FLORIN_S3_ACCESS_KEY_ID']
  const secret = env['FLORIN_S3_SECRET_ACCESS_KEY']
  if (!url && !access_key_id && !secret) return null
  if (!url || !access_key_id || !secret) {
    throw new ConfigError(
      'FLORIN_S3_URL, FLORIN_S3_ACCESS_KEY_ID and FLORIN_S3_SECRET_ACCESS_KEY go together.',
    )
  }
  if (!URL.canParse(url) || !/^https?:\/\/[^/]+\/[^/?#]+\/?$/.test(url)) {
    throw new ConfigError('FLORIN_S3_URL must be the address of a bucket: https://host/bucket.')
  }
  return {
    url: url.replace(/\/$/, ''),
    region: env['FLORIN_S3_REGION'] || 'auto',
    access_key_id,
    secret_access_key: new Secret(secret),
  }
}
