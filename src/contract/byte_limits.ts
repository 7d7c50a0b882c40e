/** 25 MB: a request with a valid bearer, and any response. */
export const BODY_BYTES_MAX = 26_214_400
/** 100 MB: a file that is uploaded as a form. */
export const EVIDENCE_BYTES_MAX = 104_857_600
