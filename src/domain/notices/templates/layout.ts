export type DetailRows = readonly (readonly [label: string, value: string])[]

/** The content of an email, without its layout. */
export type Email = {
  /** Amount, merchant and outcome first; also the heading. */
  subject: string
  /** One paragraph each. */
  lines: readonly string[]
  /** Labels and values below the text. */
  details?: DetailRows
  /** Sentences with rows of their own, for an email about several things. */
  sections?: readonly { line: string; details: DetailRows }[]
  /** The one thing to do next; `to` is a page of the panel or a whole URL. */
  button: { label: string; to: string }
  /** The reason for the email, if Settings can't turn it off. */
  footer?: string
}

/** The operator's identity, from the settings. */
export type EmailBrand = {
  public_url: string
  mode: 'sandbox' | 'live'
  brand_name: string
  logo_url: string | null
}

const SETTINGS = '/settings'

type RenderedText = { subject: string; body_text: string }

const subjectOf = ({ subject }: Email, { mode }: EmailBrand): string =>
  mode === 'live' ? subject : `[Sandbox] ${subject}`

const hrefOf = ({ button: { to } }: Email, { public_url }: EmailBrand): string =>
  to.startsWith('/') ? `${public_url}${to}` : to

/** Renders the email as plain text and as HTML. */
export const renderEmail = (
  email: Email,
  brand: EmailBrand,
): RenderedText & { body_html: string } => ({
  ...renderText(email, brand),
  body_html: renderHtml(email, brand),
})

export function renderText(email: Email, brand: EmailBrand): RenderedText {
  const { label } = email.button
  const { footer = `Manage notifications in Settings: ${brand.public_url}${SETTINGS}` } = email
  const blocks = [
    `${email.subject}.`,
    ...email.lines,
    ...(email.sections ?? []).map(({ line, details }) => `${line}\n${detailText(details)}`),
    detailText(email.details ?? []),
    `${label}:\n${hrefOf(email, brand)}`,
    `-- \n${brand.brand_name}\n${footer}`,
  ]
  const body_text = `${blocks.filter((block) => block !== '').join('\n\n')}\n`
  return { subject: subjectOf(email, brand), body_text }
}

const detailText = (details: DetailRows): string =>
  details.map(([name, value]) => `${name}: ${value}`).join('\n')

/**
 * Colors are set twice: inline for clients that drop style sheets, and in a dark scheme for those
 * that keep them. Text and ground are always set together, so no client mixes the two.
 */
const STYLE = `
:root { color-scheme: light dark; supported-color-schemes: light dark }
@media (prefers-color-scheme: dark) {
  .ground { background: #101413 !important }
  .sheet { background: #191f1d !important; border-color: #2c3532 !important }
  .ink { color: #eef3f1 !important }
  .soft { color: #a3b0ab !important }
  .line { border-color: #2c3532 !important }
  .button { background: #7fcdb5 !important; color: #0d1613 !important }
}`

const INK = 'color: #14201b'
const SOFT = 'color: #55635d'
const LINE = '1px solid #e0e5e2'

const styles = {
  ground:
    'margin: 0; padding: 24px 12px; background: #f4f6f5; font-size: 16px; line-height: 1.5; ' +
    "font-family: -apple-system, 'Segoe UI', Roboto, Helvetica, Arial, sans-serif",
  sheet:
    'max-width: 520px; margin: 0 auto; padding: 28px; background: #ffffff; ' +
    `border: ${LINE}; border-radius: 12px`,
  brand: `margin: 0 0 20px; font-weight: 600; ${INK}`,
  logo: 'display: block; height: 28px; max-width: 200px; border: 0',
  heading: `margin: 0 0 14px; font-size: 20px; line-height: 1.3; overflow-wrap: anywhere; ${INK}`,
  text: `margin: 0 0 14px; overflow-wrap: anywhere; ${INK}`,
  section: `margin: 20px 0 8px; overflow-wrap: anywhere; ${INK}`,
  table: 'width: 100%; border-collapse: collapse',
  label:
    `padding: 7px 16px 7px 0; border-top: ${LINE}; font-size: 14px; ` +
    `white-space: nowrap; ${SOFT}`,
  value:
    `padding: 7px 0; border-top: ${LINE}; font-size: 14px; text-align: right; ` +
    `overflow-wrap: anywhere; ${INK}`,
  button:
    'display: inline-block; padding: 11px 20px; background: #1d5c4d; color: #ffffff; ' +
    'border-radius: 8px; font-weight: 600; text-decoration: none',
  footer: `margin: 26px 0 0; padding-top: 16px; border-top: ${LINE}; font-size: 13px; ${SOFT}`,
  link: `text-decoration: underline; ${SOFT}`,
} as const

type ElementStyle = { tag: string; names: string; style: keyof typeof styles; attributes?: string }

/** An element with its class names, for the dark scheme, and its inline style. */
function element({ tag, names, style, attributes = '' }: ElementStyle, content: string): string {
  return `<${tag} class="${names}"${attributes} style="${styles[style]}">${content}</${tag}>`
}

/** Loads nothing but the operator's logo. */
export function renderHtml(email: Email, brand: EmailBrand): string {
  const { subject: heading, lines, sections = [], details = [], button } = email
  const [subject, href] = [subjectOf(email, brand), hrefOf(email, brand)]
  const link = { tag: 'a', names: 'button', style: 'button' } as const
  const blocks = [
    element({ tag: 'p', names: 'ink', style: 'brand' }, brandMark(brand)),
    element({ tag: 'h1', names: 'ink', style: 'heading' }, escapeHtml(heading)),
    ...lines.map((line) => element({ tag: 'p', names: 'ink', style: 'text' }, escapeHtml(line))),
    ...sections.flatMap((section) => [
      element({ tag: 'p', names: 'ink', style: 'section' }, escapeHtml(section.line)),
      ...detailRows(section.details),
    ]),
    ...detailRows(details),
    '<p style="margin: 22px 0 0">',
    element({ ...link, attributes: ` href="${escapeHtml(href)}"` }, escapeHtml(button.label)),
    '</p>',
    element({ tag: 'p', names: 'soft line', style: 'footer' }, footerHtml(email, brand)),
  ]
  return `${[
    '<!doctype html>',
    '<html lang="en">',
    '<head>',
    '<meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width">',
    '<meta name="color-scheme" content="light dark">',
    `<title>${escapeHtml(subject)}</title>`,
    `<style>${STYLE}</style>`,
    '</head>',
    `<body class="ground" style="${styles.ground}">`,
    `<div class="sheet" role="article" style="${styles.sheet}">`,
    ...blocks,
    '</div>',
    '</body>',
    '</html>',
  ].join('\n')}\n`
}

function footerHtml({ footer }: Email, { brand_name, public_url }: EmailBrand): string {
  const name = escapeHtml(brand_name)
  if (footer !== undefined) return `${name} · ${escapeHtml(footer)}`
  const attributes = ` href="${escapeHtml(`${public_url}${SETTINGS}`)}"`
  const link = element({ tag: 'a', names: 'soft', style: 'link', attributes }, 'Settings')
  return `${name} · Manage notifications in ${link}.`
}

function brandMark({ brand_name, logo_url }: EmailBrand): string {
  const name = escapeHtml(brand_name)
  if (logo_url === null) return name
  return `<img src="${escapeHtml(logo_url)}" alt="${name}" height="28" style="${styles.logo}">`
}

function detailRows(details: DetailRows): string[] {
  if (details.length === 0) return []
  const label_look = { tag: 'td', names: 'soft line', style: 'label' } as const
  const value_look = { tag: 'td', names: 'ink line', style: 'value' } as const
  return [
    `<table role="presentation" style="${styles.table}">`,
    ...details.map(([label, value]) => {
      const cells = [element(label_look, escapeHtml(label)), element(value_look, escapeHtml(value))]
      return `<tr>${cells.join('')}</tr>`
    }),
    '</table>',
  ]
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? character)
}
