export {
  countOutstandingCredentials,
  type OutstandingCredentials,
} from '#domain/credentials/credential_roots.ts'
