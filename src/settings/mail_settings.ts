import type { Secret } from '#kernel/secret.ts'
import { ConfigError, type Environment, readSecret } from '#platform/settings/environment.ts'

export type MailSettings = {
  /** smtp://user:password@host:587 or smtps://…; null: emails are stored but not sent. */
  smtp_url: Secret | null
  mail_from: string
  /** Gets an email when a proof of the books fails; null: nobody does. */
  operator_email: string | null
  /** The operator's name and logo in emails. */
  brand_name: string
  logo_url: string | null
}

export function readMailSettings(env: Environment): MailSettings {
  const smtp_url = readSecret(env, 'FLORIN_SMTP_URL')
  if (smtp_url !== null && !isSmtpUrl(smtp_url.open())) {
    throw new ConfigError('FLORIN_SMTP_URL must begin with smtp:// or smtps:// and name a host.')
  }
  const operator_email = env['FLORIN_OPERATOR_EMAIL'] || null
  if (operator_email !== null && !/^[^@\s]+@[^@\s]+$/.test(operator_email)) {
    throw new ConfigError('FLORIN_OPERATOR_EMAIL must be an email address.')
  }
  const mail_from = env['FLORIN_MAIL_FROM'] || 'Florin <no-reply@localhost>'
  const brand_name = env['FLORIN_BRAND_NAME'] || 'Florin'
  const logo_url = env['FLORIN_LOGO_URL'] || null
  if (logo_url !== null && !(URL.canParse(logo_url) && logo_url.startsWith('https://'))) {
    throw new ConfigError('FLORIN_LOGO_URL must be an https:// URL of an image.')
  }
  return { smtp_url, mail_from, operator_email, brand_name, logo_url }
}

const isSmtpUrl = (url: string): boolean =>
  /^smtps?:\/\//.test(url) && URL.canParse(url) && new URL(url).hostname !== ''
