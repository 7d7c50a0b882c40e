/**
 * On import the OAuth library warns that it supports only Node 22. Our tests cover the features we
 * use on Node 20 and 22, so this one warning is suppressed.
 */
const RUNTIME_WARNING = 'oidc-provider WARNING: Unsupported runtime.'

const { warn } = console
console.warn = (...values: unknown[]) => {
  if (!String(values[0]).includes(RUNTIME_WARNING)) warn(...values)
}
const { default: Provider, errors, interactionPolicy } = await import('oidc-provider')
console.warn = warn

export { errors, interactionPolicy, Provider }
