import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import { STANDARD_NOTIFICATIONS } from '#domain/accounts/account.ts'
import type { NewEvent } from '#domain/context/context.ts'
import type { InboxMail } from '#domain/context/surface.ts'
import { SMTPServer } from '#test/packages/smtp_server.ts'
import { advance, assertRefused } from '#test/support/calls.ts'
import { issueCard } from '#test/support/cards.ts'
import { plainEvent, recordTestEvents } from '#test/support/events.ts'
import { eventually } from '#test/support/eventually.ts'
import { send } from '#test/support/http.ts'
import { wholeDatabase } from '#test/support/leaks.ts'
import { createKey, openAccount, PASSWORD, type Person } from '#test/support/people.ts'
import { turnOnTwoFactor } from '#test/support/second_factor.ts'
import { startTestService } from '#test/support/start.ts'
import { insertNotices } from './notice_store.ts'
import { renderText } from './templates/layout.ts'

type ReceivedEmail = { to: string[]; from: string; source: string }
const received: ReceivedEmail[] = []
let isDown = false

const smtp = new SMTPServer({
  authOptional: true,
  disabledCommands: ['STARTTLS'],
  onMailFrom: (_address, _session, done) => done(isDown ? new Error('try later') : null),
  onData: (stream, { envelope }, done) => {
    const chunks: Buffer[] = []
    stream.on('data', (chunk: Buffer) => chunks.push(chunk))
    stream.on('end', () => {
      received.push({
        to: envelope.rcptTo.map(({ address }) => address),
        from: envelope.mailFrom === false ? '' : envelope.mailFrom.address,
        source: Buffer.concat(chunks).toString(),
      })
      done()
    })
  },
})
smtp.listen(0, '127.0.0.1')
await once(smtp.server, 'listening')
after(() => smtp.close(() => undefined))
const smtp_port = (smtp.server.address() as AddressInfo).port

const { url, runtime, tasks, owner_db } = await startTestService({
  env: {
    FLORIN_SMTP_URL: `smtp://127.0.0.1:${smtp_port}`,
    FLORIN_MAIL_FROM: 'Florin <alerts@florin.example>',
  },
})

async function inbox({ bearer }: Pick<Person, 'bearer'>): Promise<InboxMail[]> {
  const reply = await send(url, 'GET', '/sandbox/v1/inbox', { bearer })
  assert.equal(reply.status, 200, reply.text)
  return reply.body['data'] as unknown as InboxMail[]
}

async function mailOf(person: Person, kind: string, count = 1): Promise<InboxMail> {
  const ofKind = async () => (await inbox(person)).filter((mail) => mail.kind === kind)
  const isThere = async () => (await ofKind()).length >= count
  assert(await eventually(isThere, { within_ms: 20_000 }), `there is an email about ${kind}`)
  const [mail] = await ofKind()
  assert(mail !== undefined)
  return mail
}

test('emails have a plain-text and an HTML part and the right sender and recipient', async () => {
  const person = await openAccount(url)
  await createKey(url, person.bearer)
  const isSent = async () => received.some(({ to }) => to.includes(person.email))
  assert(await eventually(isSent, { within_ms: 20_000 }))
  const mail = received.find(({ to }) => to.includes(person.email))
  assert.equal(mail?.from, 'alerts@florin.example')
  for (const part of [
    /^Subject: \[Sandbox\] New API key created/m,
    /^Message-ID: <notice-\d+@florin\.example>/m,
    /^Content-Type: text\/plain; charset=utf-8/m,
    /^Content-Type: text\/html; charset=utf-8/m,
    /If this wasn=E2=80=99t you/,
  ]) {
    assert.match(mail?.source ?? '', part)
  }
  const isMarked = async () => (await inbox(person))[0]?.state === 'sent'
  assert(await eventually(isMarked, { within_ms: 20_000 }))
})

test('the name of a key adds no line to its security email', async () => {
  const person = await openAccount(url)
  const name = 'Deploy)\n\nYour account was closed.'
  await send(url, 'POST', '/v1/api_keys', { bearer: person.bearer, body: { name } })
  const alert = await mailOf(person, 'api_key_created')
  assert.match(alert.text, /\(Deploy\) Your account was closed\.\)/)
})

test('a new key and changes of password, email and two-factor send security alerts', async () => {
  const person = await openAccount(url)
  const { bearer } = person
  const { key } = await createKey(url, bearer)
  const alert = await mailOf(person, 'api_key_created')
  assert.equal(alert.to, person.email)
  assert(!alert.text.includes(key) && !alert.html.includes(key))

  const { recovery_codes } = await turnOnTwoFactor(url, bearer, runtime.clock)
  await mailOf(person, 'two_factor_on')
  const proof = { password: PASSWORD, totp_code: recovery_codes[0] }
  const off = await send(url, 'DELETE', '/v1/accounts/me/totp', { bearer, body: proof })
  assert(off.status < 300, off.text)
  await mailOf(person, 'two_factor_off')
  const password = 'another long password'
  const change = (body: object) => send(url, 'PATCH', '/v1/accounts/me', { bearer, body })
  const changed = await change({ password, current_password: PASSWORD })
  assert.equal(changed.status, 200, changed.text)
  await mailOf(person, 'password_changed')
  const email = `new_${person.email}`
  assert.equal((await change({ email, current_password: password })).status, 200)
  const moved = await mailOf(person, 'email_changed')
  assert.equal(moved.to, person.email, 'to the old address')
  assert.match(moved.text, /^New address: n•••@/m)
  assert(!(moved.text + moved.html).includes(email), 'the new address is masked')
})

test('only the first sign-in from a new IP address sends an alert', async () => {
  const person = await openAccount(url)
  const body = { email: person.email, password: PASSWORD }
  await send(url, 'POST', '/v1/sessions', { body })
  assert.deepEqual(await inbox(person), [])
  const elsewhere = 'update sessions set ip = $2 where account_id = $1'
  await runtime.db.run(elsewhere, [person.account_id, '203.0.113.7'])
  await send(url, 'POST', '/v1/sessions', { body })
  await send(url, 'POST', '/v1/sessions', { body })
  const mails = await inbox(person)
  assert.deepEqual(
    mails.map(({ kind }) => kind),
    ['new_sign_in'],
  )
  assert.match(mails[0]?.text ?? '', /New sign-in to your account\.[\s\S]*IP address: 127\.0\.0\.1/)
})

test('an event is emailed only if its setting is on', async () => {
  const person = await openAccount(url)
  const { account_id, bearer } = person
  await recordTestEvents(runtime, account_id, [
    plainEvent('topup.confirmed', { message: '25.50 USD <arrived> & credited.' }),
    plainEvent('transaction.authorized'),
    plainEvent('card.loaded'),
  ])
  const mail = await mailOf(person, 'topup.confirmed')
  assert(mail.text.includes('25.50 USD <arrived> & credited.'))
  assert(mail.html.includes('25.50 USD &lt;arrived&gt; &amp; credited'))
  assert.equal((await inbox(person)).length, 1)

  const notifications = { topup_confirmed: false, transaction_authorized: true }
  await send(url, 'PATCH', '/v1/accounts/me', { bearer, body: { notifications } })
  await recordTestEvents(runtime, account_id, [
    plainEvent('topup.confirmed'),
    plainEvent('transaction.authorized'),
  ])
  await mailOf(person, 'transaction.authorized')
  assert.equal((await inbox(person)).length, 2)
})

test('emails about purchases of several cards name the card of each', async () => {
  const person = await openAccount(url)
  const { bearer, account_id } = person
  const [named, other] = [
    await issueCard(url, bearer, { name: 'Everyday' }),
    await issueCard(url, bearer),
  ]
  await recordTestEvents(runtime, account_id, [
    plainEvent('transaction.declined', { card_id: named.id, message: 'Declined: first.' }),
    plainEvent('transaction.declined', { card_id: other.id, message: 'Declined: second.' }),
    plainEvent('topup.confirmed'),
  ])
  await mailOf(person, 'topup.confirmed')
  const cardRow = async (subject: string) => {
    const mail = (await inbox(person)).find((one) => one.subject.endsWith(subject))
    return /^Card: .*$/m.exec(mail?.text ?? '')?.[0]
  }
  assert.equal(await cardRow('Declined: first'), `Card: Everyday ·· ${named.last4}`)
  assert.equal(await cardRow('Declined: second'), `Card: Visa ·· ${other.last4}`)
  assert.equal(await cardRow('It was topup.confirmed'), undefined)
})

test('every setting controls the emails of its events', async () => {
  const settings_of_events: [string, NewEvent['type']][] = [
    ['topup_confirmed', 'topup.confirmed'],
    ['topup_expired', 'topup.expired'],
    ['transaction_authorized', 'transaction.authorized'],
    ['transaction_declined', 'transaction.declined'],
    ['card_frozen', 'card.frozen'],
    ['dispute_updates', 'dispute.answered'],
    ['dispute_updates', 'dispute.evidence_due'],
    ['dispute_updates', 'dispute.resolved'],
    ['withdrawal_broadcasted', 'withdrawal.broadcasted'],
    ['system_maintenance', 'system.maintenance'],
  ]
  const { low_balance_threshold_usd: _, security_alerts: __, ...switches } = STANDARD_NOTIFICATIONS
  assert.deepEqual(
    new Set(settings_of_events.map(([setting]) => setting)),
    new Set(Object.keys(switches)),
  )
  const mailed = async (isOn: boolean) => {
    const person = await openAccount(url)
    const notifications = Object.fromEntries(settings_of_events.map(([setting]) => [setting, isOn]))
    const { bearer, account_id } = person
    const set = await send(url, 'PATCH', '/v1/accounts/me', { bearer, body: { notifications } })
    assert.equal(set.status, 200, set.text)
    // The last one is always sent, so the test can wait for it.
    const types = [...settings_of_events.map(([, type]) => type), 'webhook.disabled' as const]
    await recordTestEvents(
      runtime,
      account_id,
      types.map((type) => plainEvent(type)),
    )
    await mailOf(person, 'webhook.disabled')
    return (await inbox(person)).map(({ kind }) => kind).toSorted()
  }
  const all = [...settings_of_events.map(([, type]) => type), 'webhook.disabled']
  assert.deepEqual(await mailed(true), all.toSorted())
  assert.deepEqual(await mailed(false), ['webhook.disabled'])
})

test('a low balance is emailed once, and again only after it recovered', async () => {
  const person = await openAccount(url)
  const { account_id, bearer } = person
  const notifications = { low_balance_threshold_usd: 50 }
  await send(url, 'PATCH', '/v1/accounts/me', { bearer, body: { notifications } })
  const setBalance = async (micros: bigint) => {
    await runtime.db.run(
      `insert into purses (account_id, kind, balance_micros) values ($1, 'treasury', $2)
           on conflict (account_id, kind, owner_id) do update set balance_micros = $2`,
      [account_id, micros],
    )
    await advance(url, bearer, 1)
    return (await inbox(person)).filter(({ kind }) => kind === 'low_balance')
  }
  assert.equal((await setBalance(60_000_000n)).length, 0)
  const [mail, ...others] = await setBalance(49_990_000n)
  assert.deepEqual(others, [])
  assert.match(mail?.text ?? '', /^Your balance is low: \$49\.99\./)
  assert.match(mail?.text ?? '', /below your alert threshold of \$50\.00/)
  assert.equal((await setBalance(10_000_000n)).length, 1)
  assert.equal((await setBalance(50_000_000n)).length, 1)
  assert.equal((await setBalance(1_000_000n)).length, 2)
})

test('accounts that one run does not reach are warned of a low balance by the next', async () => {
  const person = await openAccount(url)
  const { account_id } = person
  // Their IDs come before that of any account that was opened.
  await owner_db.run(
    `insert into accounts (id, email, password_hash, notifications, created_at, updated_at)
     select 'acct_00' || n, 'low_' || n || '@example.com', '-',
            '{"low_balance_threshold_usd": 5}', now(), now() from generate_series(1, 5000) n`,
  )
  await runtime.db.run(
    `insert into purses (account_id, kind, balance_micros) values ($1, 'treasury', 4000000)`,
    [account_id],
  )
  await owner_db.run(
    `update accounts set notifications = notifications || '{"low_balance_threshold_usd": 5}'
      where id = $1`,
    [account_id],
  )
  const isWarned = async () => (await inbox(person)).some(({ kind }) => kind === 'low_balance')
  await tasks.run(['warn_low_balance'])
  await tasks.run(['warn_low_balance'])
  assert(await isWarned())
})

test('one run sends all due emails, however many a minute of purchases made', async () => {
  const { account_id, email } = await openAccount(url)
  const about = { lines: [], button: { label: 'Open', to: '/' } }
  const notices = Array.from({ length: 130 }, (_, at) => {
    const content = { subject: `Purchase ${at}`, ...about }
    const rendered = { ...renderText(content, runtime.settings), body_html: null, content }
    return { account_id, kind: 'test', recipient: email, ...rendered, now: runtime.clock.now() }
  })
  await insertNotices(runtime.db, notices)
  await tasks.run(['send_notices'])
  const sent = received.filter(({ to }) => to.includes(email))
  assert.equal(sent.length, notices.length)
  assert.match(sent[0]?.source ?? '', /Content-Type: text\/html/)
})

test('an email that the server refuses is retried', async () => {
  const person = await openAccount(url)
  isDown = true
  await createKey(url, person.bearer)
  await mailOf(person, 'api_key_created')
  const attempts = async () => {
    const [row] = await runtime.db.rows<{ attempts: number }>(
      'select attempts from notices where account_id = $1',
      [person.account_id],
    )
    return row?.attempts ?? 0
  }
  assert(await eventually(async () => (await attempts()) === 1, { within_ms: 20_000 }))
  isDown = false
  await advance(url, person.bearer, 61)
  const isSent = async () => received.some(({ to }) => to.includes(person.email))
  assert(await eventually(isSent, { within_ms: 20_000 }))
})

const stateOf = async ({ account_id }: Person) => {
  const [row] = await runtime.db.rows<{ state: string; attempts: number }>(
    'select state, attempts from notices where account_id = $1 order by id desc limit 1',
    [account_id],
  )
  return row
}

test('after an email is sent the database keeps no undo link', async () => {
  const person = await openAccount(url)
  await turnOnTwoFactor(url, person.bearer, runtime.clock)
  const isSent = async () => (await stateOf(person))?.state === 'sent'
  assert(await eventually(isSent, { within_ms: 20_000 }))
  const mail = received.find(({ to }) => to.includes(person.email))
  const source = mail?.source.replaceAll(/=\r?\n/g, '') ?? ''
  const token = /\/undo\/([\w-]{43,})/.exec(source)?.[1]
  assert(token !== undefined, source)
  assert.equal((await fetch(`${url}/undo/${token}`)).status, 200, 'the mailed link works')
  assert(!(await wholeDatabase(runtime.db)).includes(token))
  const kept = await mailOf(person, 'two_factor_on')
  assert.match(kept.text, /Undo this change:/)
})

test('an email that is given up leaves no undo link in the database', async () => {
  const person = await openAccount(url)
  isDown = true
  try {
    await turnOnTwoFactor(url, person.bearer, runtime.clock)
    const { text } = await mailOf(person, 'two_factor_on')
    const token = /\/undo\/([\w-]{43,})/.exec(text)?.[1] ?? assert.fail(text)
    const isTried = async () => ((await stateOf(person))?.attempts ?? 0) > 0
    assert(await eventually(isTried, { within_ms: 20_000 }))
    // The number of attempts after a day.
    await runtime.db.run('update notices set attempts = 6 where account_id = $1', [
      person.account_id,
    ])
    await advance(url, person.bearer, 61)
    const isGivenUp = async () => (await stateOf(person))?.state === 'given_up'
    assert(await eventually(isGivenUp, { within_ms: 20_000 }))
    assert(!(await wholeDatabase(runtime.db)).includes(token))
  } finally {
    isDown = false
  }
})

test('an inbox is visible to its owner only', async () => {
  const [person, stranger] = [await openAccount(url), await openAccount(url)]
  await createKey(url, person.bearer)
  await mailOf(person, 'api_key_created')
  assert.deepEqual(await inbox(stranger), [])
  assertRefused(await send(url, 'GET', '/sandbox/v1/inbox'), 401, 'missing_token')
})

test('the sandbox shows an email as a page to its owner, and nothing of it to a guesser', async () => {
  const [person, stranger] = [await openAccount(url), await openAccount(url)]
  await createKey(url, person.bearer)
  const mail = await mailOf(person, 'api_key_created')
  const preview = (bearer: string) =>
    send(url, 'POST', `/sandbox/v1/inbox/${mail.id}/preview`, { bearer, body: {} })
  assertRefused(await preview(stranger.bearer), 404, 'not_found')
  const made = await preview(person.bearer)
  assert.equal(made.status, 200, made.text)
  const page = await send(url, 'GET', made.body['url'])
  assert.equal(page.text, mail.html)
  assert.match(page.headers.get('content-security-policy') ?? '', /^default-src 'none'; /)
  const guess = `/sandbox/v1/previews/${'x'.repeat(32)}`
  assertRefused(await send(url, 'GET', guess), 404, 'not_found')
})
