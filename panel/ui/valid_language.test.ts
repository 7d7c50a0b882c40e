import '#panel/test_support/browser_globals.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { replaceUnknownLanguage } from './valid_language.ts'

test('valid_language: a language that does not exist is replaced, and others stay', () => {
  for (const [language, used] of [
    ['en-US@posix', 'en-US'],
    ['c', 'en-US'],
    ['de-CH', 'de-CH'],
  ] as const) {
    const browser = { language }
    replaceUnknownLanguage(browser)
    assert.equal(browser.language, used)
    assert.equal(new Intl.NumberFormat(browser.language).format(5), '5')
  }
})
