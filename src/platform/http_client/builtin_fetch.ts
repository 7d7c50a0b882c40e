/**
 * Loads Node's fetch before the undici package. Whichever is loaded first becomes the client of
 * the global fetch, and the package's refuses the requests that the S3 client makes.
 */
void globalThis.Headers
