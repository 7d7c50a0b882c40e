import type { Route } from '#contract/routes.ts'
import { type Body, buildQuery, type Fields, fillPath, type HttpRequest } from './request.ts'

type File = Blob | Uint8Array | ReadableStream<Uint8Array>

/** An evidence file, streamed as the request body. For small files, `content_base64` works too. */
export type Upload = {
  file?: File | undefined
  /** Called during the upload. Not called in browsers, which cannot stream request bodies. */
  onProgress?: ((progress: Progress) => void) | undefined
}

/** `bytes_total` is null for streams. */
export type Progress = { bytes_sent: number; bytes_total: number | null }

type UploadInput = Fields & Upload & { file: File }

export const isUpload = (input: Fields): input is UploadInput => input['file'] !== undefined

/** Sends the file as the body and all other fields in the query. */
export function buildUpload(route: Route, input: UploadInput): HttpRequest {
  const { file, onProgress, ...fields } = input
  const { path, rest } = fillPath(route.path, fields)
  const named = file instanceof Blob && 'name' in file ? { file_name: file.name } : {}
  const target = path + buildQuery({ ...named, ...rest })
  const content_type = (file instanceof Blob && file.type) || 'application/octet-stream'
  const createBody = () => createFileBody(file, onProgress)
  return { method: route.method, target, createBody, content_type, isSingleUse: isStream(file) }
}

const isStream = (file: unknown): boolean => file instanceof ReadableStream

function createFileBody(file: File, onProgress: Upload['onProgress']): Body {
  const canStream = !('document' in globalThis)
  if (onProgress === undefined || !canStream) return file as Body
  const blob = file instanceof Uint8Array ? new Blob([file as Uint8Array<ArrayBuffer>]) : file
  const bytes_total = blob instanceof Blob ? blob.size : null
  const source = blob instanceof Blob ? blob.stream() : blob
  return source.pipeThrough(countBytes((bytes_sent) => onProgress({ bytes_sent, bytes_total })))
}

function countBytes(update: (bytes_sent: number) => void) {
  let bytes_sent = 0
  return new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      bytes_sent += chunk.byteLength
      controller.enqueue(chunk)
      update(bytes_sent)
    },
  })
}
