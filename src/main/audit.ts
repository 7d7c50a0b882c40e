/** What commands outside the service may run on its books. */
export { type AuditReport, verifyAudit } from '#domain/access/verify_audit.ts'
