export { countOutstanding, type Outstanding } from '#domain/access/credential_roots.ts'
