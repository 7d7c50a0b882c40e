export { encode } from 'gpt-tokenizer'
