import type { Secret } from '#kernel/secret.ts'
import { ConfigError, type Environment, readSecret } from '#platform/settings/environment.ts'

export type MailSettings = {
  /** smtp://user:password@host:587 or smtps://…; null: emails are stored but not sent. */
  smtp_url: Secret | null
  mail_from: string
}

export function readMailSettings(env: Environment): MailSettings {
  const smtp_url = readSecret(env, 'FLORIN_SMTP_URL')
  if (smtp_url !== null && !isSmtpUrl(smtp_url.open())) {
    throw new ConfigError('FLORIN_SMTP_URL must begin with smtp:// or smtps:// and name a host.')
  }
  return { smtp_url, mail_from: env['FLORIN_MAIL_FROM'] || 'Florin <no-reply@localhost>' }
}

const isSmtpUrl = (url: string): boolean => URL.canParse(url) && /^smtps?:/.test(url)
