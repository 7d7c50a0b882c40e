import { Secret } from '#kernel/secret.ts'

/** A bucket of any store that speaks the S3 protocol. */
export type S3Settings = {
  /** With the bucket as its path: https://s3.eu-central-1.amazonaws.com/florin-evidence. */
  url: string
  region: string
  access_key_id: string
  secret_access_key: Secret
}

type Environment = Readonly<Record<string, string | undefined>>

/** The settings, null where there are none, or a sentence for what is wrong with them. */
export function s3SettingsFrom(env: Environment): S3Settings | string | null {
  const url = env['FLORIN_S3_URL']
  const access_key_id = env['FLORIN_S3_ACCESS_KEY_ID']
  const secret = env['FLORIN_S3_SECRET_ACCESS_KEY']
  if (!url && !access_key_id && !secret) return null
  if (!url || !access_key_id || !secret) {
    return 'FLORIN_S3_URL, FLORIN_S3_ACCESS_KEY_ID and FLORIN_S3_SECRET_ACCESS_KEY go together.'
  }
  if (!URL.canParse(url) || !/^https?:\/\/[^/]+\/[^/?#]+\/?$/.test(url)) {
    return 'FLORIN_S3_URL must be the address of a bucket: https://host/bucket.'
  }
  return {
    url: url.replace(/\/$/, ''),
    region: env['FLORIN_S3_REGION'] || 'auto',
    access_key_id,
    secret_access_key: new Secret(secret),
  }
}
