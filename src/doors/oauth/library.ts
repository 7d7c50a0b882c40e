/**
 * On import the OAuth library warns that it wants Node 22. What we use is tested on Node 20 and 22,
 * so exactly this warning is suppressed.
 */
const UNWANTED = 'oidc-provider WARNING: Unsupported runtime.'

const { warn } = console
console.warn = (...words: unknown[]) => {
  if (!String(words[0]).includes(UNWANTED)) warn(...words)
}
const { default: Provider, errors, interactionPolicy } = await import('oidc-provider')
console.warn = warn

export { errors, interactionPolicy, Provider }
