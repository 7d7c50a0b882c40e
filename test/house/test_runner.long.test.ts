import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { runFiles } from '#test/support/test_runs.ts'

const folder = mkdtempSync(join(tmpdir(), 'florin-test-runner-'))
after(() => rmSync(folder, { recursive: true }))

/** Writes test files and runs them in the runner's own processes. */
function run(files: Record<string, string>, limits = {}) {
  const paths = Object.entries(files).map(([name, code]) => {
    const path = join(folder, `${name}.test.mjs`)
    writeFileSync(path, `import { after, test } from 'node:test'\n${code}`)
    return path
  })
  return runFiles(paths, {}, limits)
}

const counts = ({ tally: { pass, fail, skip } }: Awaited<ReturnType<typeof run>>) => [
  pass,
  fail,
  skip,
]

/** A host that takes all the CPU time. */
function takingAll(): () => number {
  let ticks = 0
  return () => {
    ticks += 1_000_000
    return ticks
  }
}

test('a file begins after the hooks of the file before it in the same process', async () => {
  const slow = `
    globalThis.begun = (globalThis.begun ?? 0) + 1
    const { begun, ended = 0 } = globalThis
    after(async () => {
      await new Promise((resolve) => setTimeout(resolve, 50))
      globalThis.ended = ended + 1
    })
    test('no file is unfinished', (t) => {
      if (begun !== ended + 1) throw new Error('overlaps')
      if (begun > 1) t.skip('shared')
    })`
  const done = await run({ one: slow, two: slow, three: slow })
  assert.deepEqual(done.failures, [])
  assert.equal(done.tally.reasons['shared'], 2, 'three files share one process')
})

test('a failing test, hook or import fails the run, and the other files still run', async () => {
  const done = await run({
    failing: `test('is wrong', () => { throw new Error('the reason') })
      test('is right', () => {})`,
    hook: `after(() => { throw new Error('a hook broke') }); test('is right', () => {})`,
    broken: `import './nowhere.mjs'`,
    sound: `test('is right', () => {})`,
  })
  assert.equal(done.code, 1)
  assert.deepEqual(counts(done), [3, 3, 0])
  const texts = done.failures.join('\n')
  for (const reason of [/is wrong\n.*the reason/, /a hook broke/, /nowhere\.mjs/]) {
    assert.match(texts, reason)
  }
})

test('a file whose process dies has failed, and the next file gets a new process', async () => {
  const done = await run({
    dying: `test('dies', () => { process.kill(process.pid, 'SIGKILL') })`,
    leaving: `test('leaves', () => { process.exit(0) })`,
    sound: `test('is right', () => {})`,
    other: `test('is right', () => {})`,
  })
  assert.equal(done.code, 1)
  assert.deepEqual(counts(done), [2, 2, 0])
  assert.match(done.failures.join('\n'), /the process ended with SIGKILL/)
  assert.match(done.failures.join('\n'), /the process ended with 0/)
})

test('a file that says so runs alone in its own process', async () => {
  const count = `globalThis.files = (globalThis.files ?? 0) + 1`
  const done = await run({
    first: `${count}\ntest('one', () => {})`,
    second: `${count}\ntest('two', () => {})`,
    alone: `// Runs alone, because it counts.
      ${count}\ntest('is alone', () => { if (globalThis.files !== 1) throw new Error('shared') })`,
  })
  assert.deepEqual([done.failures, ...counts(done)], [[], 3, 0, 0])
})

test('a file that fails while the host takes CPU time away runs again; otherwise it fails', async () => {
  const marker = join(folder, 'ran_before')
  const late = `import { existsSync, writeFileSync } from 'node:fs'
    test('is right the second time', () => {
      if (existsSync('${marker}')) return
      writeFileSync('${marker}', '')
      throw new Error('late')
    })`
  const wrong = `test('is wrong', () => { throw new Error('always') })`
  const stolen = await run({ late, wrong }, { stolenTicks: takingAll() })
  assert.deepEqual(counts(stolen), [1, 1, 0])
  assert.match(stolen.failures.join('\n'), /always/)
  rmSync(marker)
  assert.deepEqual(counts(await run({ late }, { stolenTicks: () => 0 })), [0, 1, 0])
})

test('a file that is only too late while the host takes CPU time is listed, not failed', async () => {
  const late = `const too_late = Object.assign(new Error('1 s'), { name: 'TooLate' })
    test('is late', () => { throw too_late })
    test('is right', () => {})`
  const wrong = `${late}\ntest('is wrong', () => { throw new Error('always') })`
  const stolen = await run({ late, wrong }, { stolenTicks: takingAll() })
  assert.deepEqual(stolen.not_judged, [join(folder, 'late.test.mjs')])
  assert.deepEqual([stolen.code, ...counts(stolen)], [1, 2, 2, 0])
  const quiet = await run({ late }, { stolenTicks: () => 0 })
  assert.deepEqual([quiet.code, quiet.not_judged, ...counts(quiet)], [1, [], 1, 1, 0])
  const in_ci = await run({ late, wrong }, { stolenTicks: () => 0, forgives_late: true })
  assert.deepEqual([in_ci.code, in_ci.not_judged], [1, stolen.not_judged])
})

test('hooks, subtests and stray errors belong to the test that is running', async () => {
  const done = await run({
    nested: `const seen = []
      const pause = () => new Promise((resolve) => setTimeout(resolve, 5))
      test('outer', async () => {
        await pause()
        after(() => seen.push('outer hook'))
        await test('inner', async () => {
          await pause()
          after(() => seen.push('inner hook'))
        })
        seen.push('outer')
      })
      test('hooks ran with their tests', () => {
        if (seen.join() !== 'inner hook,outer,outer hook') throw new Error(seen.join())
      })
      test('strays', async () => {
        setTimeout(() => void Promise.reject(new Error('a stray error')), 1)
        await pause()
        await pause()
      })
      test('is right', pause)`,
  })
  assert.deepEqual(counts(done), [4, 1, 0])
  assert.match(done.failures.join('\n'), /strays\n.*a stray error/)
})

test('a file that hangs is ended and fails, and the next one runs', async () => {
  const hanging = `setInterval(() => undefined, 1_000)
    test('is right', () => undefined)
    test('never ends', () => new Promise(() => undefined))`
  const done = await run(
    { hanging, next: `test('is right', () => undefined)` },
    { silent_max_ms: 3_000 },
  )
  assert.deepEqual(counts(done), [2, 1, 0])
  assert.match(done.failures.join('\n'), /it reported nothing for 0\.05 minutes/)
})

test('programs that a file leaves behind end with its process', async () => {
  const written = join(folder, 'written')
  const program = `setInterval(() => require('node:fs').appendFileSync('${written}', '.'), 10)`
  const leaving = `import { spawn } from 'node:child_process'
    import { existsSync } from 'node:fs'
    test('starts a program', async () => {
      spawn(process.execPath, ['-e', ${JSON.stringify(program)}], { stdio: 'inherit' })
      while (!existsSync('${written}')) await new Promise((resolve) => setTimeout(resolve, 10))
      process.kill(process.pid, 'SIGKILL')
    })`
  await run({ leaving })
  const bytes = readFileSync(written).length
  await wait(500)
  assert.equal(readFileSync(written).length, bytes)
})
