import assert from 'node:assert/strict'
import { test } from 'node:test'
import { STANDARD_NOTIFICATIONS } from '#domain/accounts/account.ts'
import { insertAccount } from '#domain/accounts/account_store.ts'
import { setCellState } from '#domain/directory/cell_store.ts'
import { relistEmails } from '#domain/directory/email_directory.ts'
import { lockEmail } from '#domain/directory/email_store.ts'
import { cellOfId } from '#kernel/id.ts'
import { runtimeOfId } from '#operations/cells.ts'
import { advance, assertRefused } from '#test/support/calls.ts'
import { startTestCells } from '#test/support/cells.ts'
import { eventually } from '#test/support/eventually.ts'
import { type Reply, send } from '#test/support/http.ts'
import { openAccount, PASSWORD, type Person } from '#test/support/people.ts'

const { url, cells, runtime } = await startTestCells([1])
const { db } = cells.home
const NEW_PASSWORD = 'a password only the owner knows'

async function openIn(cell: number): Promise<Person> {
  for (const number of [0, 1]) {
    await setCellState(db, number, number === cell ? 'open' : 'closed')
  }
  const person = await openAccount(url)
  assert.equal(cellOfId(person.account_id), cell)
  return person
}

const signUp = (email: string) =>
  send(url, 'POST', '/v1/accounts', { body: { email, password: PASSWORD } })
const changeEmail = ({ bearer }: Person, email: string) =>
  send(url, 'PATCH', '/v1/accounts/me', { bearer, body: { email, current_password: PASSWORD } })
const holderOf = async (email: string, password = PASSWORD) =>
  (await send(url, 'POST', '/v1/sessions', { body: { email, password } })).body['account_id']

async function undo({ account_id, email }: Person): Promise<number> {
  const [mail] = await runtimeOfId(runtime, account_id).db.rows<{ text: string }>(
    `select body_text as text from notices
      where account_id = $1 and recipient = $2 and kind = 'email_changed'`,
    [account_id, email],
  )
  const link = /http\S+\/undo\/\S+/.exec(mail?.text ?? '')?.[0] ?? assert.fail('there is no link')
  const body = new URLSearchParams({ password: NEW_PASSWORD })
  return (await fetch(link, { method: 'POST', body })).status
}

for (const cell of [0, 1]) {
  const other = 1 - cell

  test(`an address that an undo link restores in cell ${cell} is reserved in all cells`, async () => {
    const [owner, thief] = [await openIn(cell), await openIn(other)]
    assert.equal((await changeEmail(owner, `thief_${owner.email}`)).status, 200)
    assertRefused(await signUp(owner.email), 409, 'email_taken')
    assertRefused(await changeEmail(thief, owner.email), 409, 'email_taken')
    assert.equal(await undo(owner), 200)
    assert.equal(await holderOf(owner.email, NEW_PASSWORD), owner.account_id)
  })

  test(`an address of cell ${cell} is free in the other cell when its undo link has expired`, async () => {
    const [owner, next] = [await openIn(cell), await openIn(other)]
    await changeEmail(owner, `new_${owner.email}`)
    await advance(url, owner.bearer, 72 * 3_600 + 1)
    assert.equal((await changeEmail(next, owner.email)).status, 200)
    assert.equal(await undo(owner), 410)
    assert.equal(await holderOf(owner.email), next.account_id)
    assertRefused(await changeEmail(owner, owner.email), 409, 'email_taken')
    assertRefused(await signUp(owner.email), 409, 'email_taken')
  })

  for (const rival of ['sign-up', 'change'] as const) {
    test(`a ${rival} in cell ${cell} and a change in the other don’t both get an email`, async () => {
      const [here, there] = [await openIn(cell), await openIn(other)]
      for (const order of ['first', 'second']) {
        const email = `${rival}_${cell}_${order}@example.com`
        await relistEmails(db, [email], { cell, now: new Date() })
        const claim = () => (rival === 'sign-up' ? signUp(email) : changeEmail(here, email))
        const claims = [claim, () => changeEmail(there, email)]
        const replies = await overlap(email, cell, order === 'first' ? claims : claims.reverse())
        const refused = replies.filter(({ status }) => status >= 300)
        assert.equal(refused.length, 1, `the ${rival} was ${order}`)
        for (const reply of refused) assertRefused(reply, 409, 'email_taken')
      }
    })
  }

  test(`an undo link of cell ${cell} does not restore an address that the other cell has`, async () => {
    const owner = await openIn(cell)
    await changeEmail(owner, `new_${owner.email}`)
    await relistEmails(db, [owner.email], { cell: other, now: new Date() })
    assert.equal(await undo(owner), 409)
  })
}

test('an address from before there were cells is reserved too', async () => {
  const owner = await openIn(0)
  await db.run('delete from directory_emails where email = $1', [owner.email])
  await changeEmail(owner, `thief_${owner.email}`)
  await setCellState(db, 0, 'closed')
  await setCellState(db, 1, 'open')
  assertRefused(await signUp(owner.email), 409, 'email_taken')
  assert.equal(await undo(owner), 200)
})

test('an account of cell 0 does not get an email that another cell has taken over', async () => {
  const email = 'taken_over@example.com'
  await relistEmails(db, [email], { cell: 1, now: new Date() })
  const [id, now] = [runtime.newId('acct', new Date()), new Date()]
  const account = { id, email, password_hash: '-', notifications: STANDARD_NOTIFICATIONS, now }
  await assert.rejects(
    db.transaction((tx) => insertAccount(tx, account)),
    { code: 'email_taken' },
  )
})

/** Makes the claims while a cell has the email locked, each when the one before waits or ended. */
async function overlap(
  email: string,
  cell: number,
  claims: (() => Promise<Reply>)[],
): Promise<Reply[]> {
  const holder = cells.at(cell) ?? assert.fail('there is no such cell')
  const replies: Promise<Reply>[] = []
  await holder.db.transaction(async (tx) => {
    await lockEmail(tx, email)
    let ended = 0
    for (const claim of claims) {
      const reply = claim()
      replies.push(reply)
      void reply.then(() => {
        ended += 1
      })
      const isWaiting = async () => {
        const waiting = await tx.rows(
          `select from pg_locks l join pg_database d on d.oid = l.database
            where datname = current_database() and locktype = 'advisory' and not granted`,
        )
        return waiting.length + ended === replies.length
      }
      assert(await eventually(isWaiting, { within_ms: 10_000 }))
    }
  })
  return Promise.all(replies)
}
