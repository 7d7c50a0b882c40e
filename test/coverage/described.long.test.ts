// The properties of described.test.ts, over more generated requests.
process.env['FLORIN_TEST_LENGTH'] = '12'
await import('./described.test.ts')

export {}
