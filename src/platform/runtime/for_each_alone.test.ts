import assert from 'node:assert/strict'
import { test } from 'node:test'
import { forEachAlone } from './for_each_alone.ts'

test('an item that fails stops no other, and its error is thrown at the end', async () => {
  const done: number[] = []
  const work = async (item: number) => {
    if (item % 2 === 0) throw new Error(`no ${item}`)
    done.push(item)
  }
  await assert.rejects(forEachAlone([1, 2, 3], work), { message: 'no 2' })
  assert.deepEqual(done, [1, 3])
  await assert.rejects(forEachAlone([2, 4, 5], work), { message: 'Error: no 2 Error: no 4' })
  await forEachAlone([7], work)
  assert.deepEqual(done, [1, 3, 5, 7])
})
