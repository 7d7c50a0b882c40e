import { sendRequest } from './api.ts'

/** Saves a file. A plain link cannot send the Authorization header, so it is fetched as a blob. */
export async function downloadFile(
  path: string,
  file_name: string,
  bearer?: string,
): Promise<void> {
  const options = { method: 'GET', ...(bearer !== undefined && { bearer }) }
  saveBlob(await (await sendRequest(path, options)).blob(), file_name)
}

export function saveBlob(blob: Blob, file_name: string): void {
  const href = URL.createObjectURL(blob)
  Object.assign(document.createElement('a'), { href, download: file_name }).click()
  URL.revokeObjectURL(href)
}
