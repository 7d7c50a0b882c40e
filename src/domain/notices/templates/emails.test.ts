import assert from 'node:assert/strict'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import type { SecurityAlert } from '#domain/context/context.ts'
import { root } from '#platform/runtime/root.ts'
import { eventEmail, type NamedCard } from './event_email.ts'
import { findingsEmail } from './findings_email.ts'
import { type Email, type EmailBrand, renderEmail } from './layout.ts'
import { lowBalanceEmail } from './low_balance_email.ts'
import { passwordResetEmail } from './password_reset_email.ts'
import { securityEmail } from './security_email.ts'
import { ticketReplyEmail } from './ticket_reply_email.ts'

const FOLDER = join(root, 'test', 'snapshots', 'emails')
const brand: EmailBrand = {
  public_url: 'https://cards.example',
  mode: 'live',
  brand_name: 'Example Cards',
  logo_url: null,
}
const now = new Date('2026-11-15T09:30:00Z')
const ID = '01kc3z8e5xf8m9r4t2v6w7y8za'

const card = { name: 'Everyday', brand: 'visa', last4: '3445' } as const
const unnamed = { ...card, name: null }

const event = (
  type: string,
  prefix: string,
  message: string,
  about: NamedCard | null = null,
): [string, Email] => [
  type,
  eventEmail(
    {
      account_id: `acct_${ID}`,
      id: `evt_${ID}`,
      sequence: 1n,
      type,
      severity: 'info',
      message,
      resource_id: `${prefix}_${ID}`,
      card_id: about === null ? null : `card_${ID}`,
      created_at: now,
    },
    about,
  ),
]

const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:132.0) Gecko/20100101 Firefox/132.0'
const undo = { url: `https://cards.example/undo/${'u'.repeat(43)}`, hours: 72 }
const alert = (kind: SecurityAlert['kind'], detail?: string): [string, Email] => [
  kind,
  securityEmail({
    alert: { kind, ...(detail !== undefined && { detail }) },
    request: { ip: '203.0.113.7', user_agent: FIREFOX },
    now,
    undo: kind === 'two_factor_on' || kind === 'email_changed' ? undo : null,
  }),
]

/** One of every email that the service sends, with messages as their modules write them. */
const emails: readonly [name: string, email: Email][] = [
  event('topup.confirmed', 'tup', '$250.00 deposit credited.'),
  event('topup.expired', 'tup', 'Your $100.00 top-up expired.'),
  event('transaction.authorized', 'txn', 'Approved: $15.49 at Netflix.', card),
  event(
    'transaction.declined',
    'txn',
    'Declined: $15.49 at St. James <Deli> (card frozen).',
    unnamed,
  ),
  event('card.frozen', 'card', 'You froze your card ending in 3445.', card),
  event(
    'dispute.answered',
    'dsp',
    'B&H Photo; Video responded to your dispute ($32.06); if you disagree, add evidence by ' +
      'Dec 17, 2026.',
    card,
  ),
  event(
    'dispute.evidence_due',
    'dsp',
    'Add evidence by Nov 18, 2026 for your dispute with B&H Photo ($32.06).',
    card,
  ),
  event('dispute.resolved', 'dsp', 'You won your dispute with B&H Photo ($32.06).', card),
  event('withdrawal.broadcasted', 'wd', '$94.00 withdrawal sent to TB7mht…GDe4eA.'),
  event(
    'system.maintenance',
    'mnt',
    'Scheduled maintenance on Nov 16, 2026, 01:00–02:00 UTC: We move to a new database.',
  ),
  event('webhook.disabled', 'wh', 'Webhook to hooks.example disabled: 5 days of failures.'),
  event(
    'approval.requested',
    'apr',
    'Shopper wants to load $120.00 onto Groceries ·· 8818; ' +
      "the app's daily budget is $50.00, and $12.00 is left.",
  ),
  event(
    'balance.debt_incurred',
    'acct',
    'You owe $12.00. A charge of $62.00 at St. James was more than the card could pay. ' +
      "Money you add pays this first. Until then purchases are declined, and you can't load " +
      'cards or withdraw.',
  ),
  alert('new_sign_in', '203.0.113.7'),
  alert('api_key_created', 'Deploy key'),
  alert('password_changed'),
  alert('password_reset'),
  alert('email_changed', 'a•••@example.com'),
  alert('two_factor_on'),
  alert('two_factor_off'),
  alert('grant_created', 'Shopping agent (card:read, card:issue)'),
  alert('card_revealed', 'card ending in 4242'),
  alert('webhook_created', 'https://hooks.example/florin'),
  alert('webhook_moved', 'https://hooks.example/other'),
  alert('notifications_off', 'withdrawal_broadcasted, card_frozen; Deploy key'),
  ['low_balance', lowBalanceEmail(49_990_000n as never, 50_000_000n as never)],
  [
    'password_reset_link',
    passwordResetEmail({
      url: `https://cards.example/reset_password?token=${'t'.repeat(43)}`,
      minutes: 30,
      ip: '203.0.113.7',
      requested_at: now,
    }),
  ],
  ['ticket.answered', ticketReplyEmail('My card was charged twice', `tkt_${ID}`)],
  [
    'findings',
    findingsEmail(
      [
        {
          proof: 'a balance equals the sum of its movements',
          account_id: `acct_${ID}`,
          object_id: `card_${ID}`,
          sentence: 'The balance is $5.00, the movements add up to $4.00.',
          first_seen_at: now,
        },
        {
          proof: 'a deposit belongs to one top-up',
          account_id: '',
          object_id: 'tron:5f2a',
          sentence: 'Two top-ups have this deposit.',
          first_seen_at: now,
        },
      ],
      { count: 3, is_reminder: false },
    ),
  ],
]

/** `FLORIN_UPDATE_SNAPSHOTS=1 npm test -- emails.test` writes them; read what changed. */
async function compareSnapshot(name: string, actual: string): Promise<void> {
  const path = join(FOLDER, name)
  if (process.env['FLORIN_UPDATE_SNAPSHOTS'] === '1') {
    await mkdir(FOLDER, { recursive: true })
    await writeFile(path, actual)
  }
  const expected = await readFile(path, 'utf8').catch(() => null)
  assert.equal(actual, expected, `${name} is as it was read and committed`)
}

test('every email reads as its snapshot, in plain text and in HTML', async () => {
  for (const [name, email] of emails) {
    const { subject, body_text, body_html } = renderEmail(email, brand)
    await compareSnapshot(`${name}.txt`, `Subject: ${subject}\n\n${body_text}`)
    await compareSnapshot(`${name}.html`, body_html)
  }
})

test('every email has one button, and text and ground colors for both schemes', () => {
  for (const [name, email] of emails) {
    const { body_html, body_text } = renderEmail(email, brand)
    const links = [...body_html.matchAll(/<a class="button"[^>]*href="([^"]+)"/g)].map(
      ([, href]) => href,
    )
    assert.equal(links.length, 1, `${name} has one button`)
    assert(body_text.includes(`${email.button.label}:\n${links[0]}`), `${name} has it in the text`)
    assert.match(links[0] ?? '', /^https:\/\/cards\.example\/\S*$/)
    assert.match(body_html, /prefers-color-scheme: dark/)
    assert.doesNotMatch(body_html, /<(script|img|link|iframe)\b/, `${name} loads nothing`)
  }
})

test('an email that Settings can turn off leads there, and no other does', () => {
  const settings = 'https://cards.example/settings'
  for (const [name, email] of emails) {
    const { body_html, body_text } = renderEmail(email, brand)
    const leads = email.footer === undefined
    const footer_link = /<a class="soft" href="([^"]+)"/.exec(body_html)?.[1]
    assert.equal(footer_link, leads ? settings : undefined, name)
    const text = body_text.includes(`Manage notifications in Settings: ${settings}`)
    assert.equal(text, leads, name)
  }
})

test('the operator’s name and logo replace ours', () => {
  const [, email] = emails[0] ?? assert.fail()
  const logo_url = 'https://cards.example/logo.png?a=1&b="2"'
  const { body_html, body_text } = renderEmail(email, { ...brand, logo_url })
  assert(body_html.includes('<img src="https://cards.example/logo.png?a=1&amp;b=&quot;2&quot;"'))
  assert(body_html.includes('alt="Example Cards"') && body_text.includes('Example Cards'))
  assert(!/florin/i.test(body_html + body_text))
})

test('a sandbox says so in the subject', () => {
  const [, email] = emails[0] ?? assert.fail()
  const { subject } = renderEmail(email, { ...brand, mode: 'sandbox' })
  assert.equal(subject, '[Sandbox] $250.00 deposit credited')
})
