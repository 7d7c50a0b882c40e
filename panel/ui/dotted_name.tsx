import { Fragment } from 'react'

/** Lets names like `withdrawal.broadcasted` wrap after a dot or underscore. */
export function DottedName({ of: name }: { of: string }) {
  const parts = name.split(/(?<=[._])/)
  return (
    <span className="font-medium wrap-anywhere">
      {parts.map((part, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the parts never reorder.
        <Fragment key={at}>
          {at > 0 && <wbr />}
          {part}
        </Fragment>
      ))}
    </span>
  )
}
