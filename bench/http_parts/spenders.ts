import { type Holder, holdersOf } from '#bench/mixed_parts/population.ts'
import { makeEngine } from '#domain/authorizations/engine.ts'
import { makeDependencies } from '#main/dependencies.ts'
import { openDatabase } from '#platform/postgres/db.ts'
import { silentLog } from '#platform/runtime/log.ts'
import { readSettings } from '#settings/settings.ts'
import { insertBareCard, issuerOver, purchaseMessage } from '#test/support/issuer.ts'

/** More than a page of list_transactions. */
const PURCHASES = 30

/** Accounts with an API key and purchases each. */
export async function createSpenders(
  env: Record<string, string>,
  database_url: string,
  count: number,
): Promise<Holder[]> {
  const db = openDatabase(database_url, { key_lookups: true })
  const dependencies = await makeDependencies(readSettings(env), db, { log: silentLog })
  const { ask, engine } = issuerOver(dependencies, makeEngine(dependencies))
  const cards = []
  for (let at = 0; at < count; at += 1) cards.push(await insertBareCard({ db, dependencies }))
  for (let purchase = 0; purchase < PURCHASES; purchase += 1) {
    await Promise.all(cards.map((card) => ask(purchaseMessage(card, 100 + purchase))))
  }
  const holders = await holdersOf(dependencies, cards)
  await engine.drain()
  await db.run('vacuum analyze')
  await db.close()
  return holders
}
