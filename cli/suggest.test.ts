import assert from 'node:assert/strict'
import { test } from 'node:test'
import { operations } from '#contract/operations.ts'
import { didYouMean, suggest } from './suggest.ts'

const names = [...Object.keys(operations), 'login', 'start', 'doctor']

test('the command that was meant comes first', () => {
  const typed: Record<string, string> = {
    'list-card': 'list_cards',
    'cards list': 'list_cards',
    lst_cards: 'list_cards',
    get_balnace: 'get_balance',
    balance: 'get_balance',
    freeze: 'freeze_card',
    withdrawl: 'withdraw',
    transactions: 'list_transactions',
    logn: 'login',
    strat: 'start',
    unlod_card: 'unload_card',
  }
  for (const [word, meant] of Object.entries(typed)) {
    assert.equal(suggest(word, names)[0], meant, `${word}: ${suggest(word, names)}`)
  }
})

test('flags and values are guessed too, and nonsense is not', () => {
  const flags = ['--amount_usd', '--address', '--metadata', '--json']
  assert.deepEqual(suggest('--amount', flags), ['--amount_usd'])
  assert.deepEqual(suggest('--adress', flags), ['--address'])
  assert.deepEqual(suggest('canceled', ['active', 'frozen', 'cancelled']), ['cancelled'])
  assert.deepEqual(suggest('zzzzzz', [...names, ...flags]), [])
  assert.deepEqual(suggest('x', names), [])
})

test('suggestions read as a question', () => {
  assert.equal(didYouMean([]), '')
  assert.equal(didYouMean(['a']), ' Did you mean a?')
  assert.equal(didYouMean(['a', 'b', 'c']), ' Did you mean a, b or c?')
})
