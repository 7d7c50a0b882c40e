import type { CellMove } from '#domain/directory/cell_move_store.ts'
import type { DatabaseUrls } from '#platform/postgres/database_address.ts'
import type { Keys } from '#platform/storage/keys.ts'

const PURPOSE = 'cell_move_url'

type SealedUrls = Pick<CellMove, 'url_sealed' | 'account_url_sealed'>

/** The URLs contain passwords, so the database has them only under a key that it doesn't have. */
export function sealUrls(keys: Keys, cell: number, { url, account_url }: DatabaseUrls): SealedUrls {
  const seal = (text: string) => keys.seal(PURPOSE, String(cell), text)
  return {
    url_sealed: seal(url),
    account_url_sealed: account_url === null ? null : seal(account_url),
  }
}

export function openUrls(keys: Keys, cell: number, sealed: SealedUrls): DatabaseUrls {
  const open = (text: string) => keys.open(PURPOSE, String(cell), text)
  const { url_sealed, account_url_sealed } = sealed
  return {
    url: open(url_sealed),
    account_url: account_url_sealed === null ? null : open(account_url_sealed),
  }
}
