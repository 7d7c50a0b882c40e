// The properties of message.property.test.ts, over many more frames.
process.env['FLORIN_TEST_LENGTH'] = '10'
await import('./message.property.test.ts')

export {}
