export { countOutstanding, type Outstanding } from '#domain/credentials/credential_roots.ts'
