import { setTimeout as wait } from 'node:timers/promises'
import { startTelling } from '#main/telling.ts'
import { runTasks } from '#platform/tasks.ts'
import { startReceiver, startWorld, subscribedAccount, writeEvents } from './world.ts'
const receiver = await startReceiver()
const w = await startWorld()
const stats = new Map<string, { n: number; ms: number; rows: number }>()
const note = (name: string, ms: number, rows: number) => { const s = stats.get(name) ?? { n: 0, ms: 0, rows: 0 }; s.n++; s.ms += ms; s.rows += rows; stats.set(name, s) }
const wrap = (tx: any) => ({ ...tx, rows: async (sql: string, p: any) => { const t = performance.now(); const r = await tx.rows(sql, p); note(sql.trim().slice(0, 40), performance.now() - t, r.length); return r }, run: async (sql: string, p: any) => { const t = performance.now(); const r = await tx.run(sql, p); note(sql.trim().slice(0, 40), performance.now() - t, r); return r } })
const db = { ...wrap(w.db), transaction: async (work: any) => { const t = performance.now(); const v = await w.db.transaction((tx) => work(wrap(tx))); note('TX', performance.now() - t, 0); return v } }
const http = { ...w.http, send: async (r: any) => { const t = performance.now(); const a = await w.http.send(r); note('SEND', performance.now() - t, 1); return a } }
const seams = { ...w, db, http }
const a = await subscribedAccount(w, [`${receiver.accepting}/fast`])
for (let i = 0; i < 6000; i += 500) await writeEvents(w, a, 500)
const telling = await startTelling(seams as any)
const cpu = process.cpuUsage()
const t0 = performance.now()
const tasks = runTasks(telling.tasks, seams as any)
while ((await w.db.rows('(select 1 from outbox limit 1) union all (select 1 from deliveries limit 1)')).length) await wait(20)
const el = performance.now() - t0
const c = process.cpuUsage(cpu)
console.log('elapsed', el, 'rate', 6000 / el * 1000, 'node cpu ms', (c.user + c.system) / 1000)
for (const [k, v] of stats) console.log(k.replace(/\s+/g, ' '), v.n, 'avg ms', (v.ms / v.n).toFixed(1), 'rows', v.rows)
await tasks.stop(); await telling.stop(); await w.stop(); receiver.stop()
