import { Component, type ReactNode } from 'react'
import { Button } from './button.tsx'
import { CircleAlert } from './icons.ts'
import { Section } from './section.tsx'

type Props = {
  /** The page; an error of one page is gone when another is opened. */
  path: string
  children: ReactNode
}
type State = { error: Error | null; path: string }

/** Shows what went wrong in place of a page that failed, so that the rest of the panel works. */
export class PageBoundary extends Component<Props, State> {
  override state: State = { error: null, path: this.props.path }

  static getDerivedStateFromError = (error: Error) => ({ error })

  static getDerivedStateFromProps = ({ path }: Props, state: State): State | null =>
    path === state.path ? null : { error: null, path }

  override componentDidCatch(error: Error): void {
    if (isMissingChunk(error)) reloadOnce(this.props.path)
  }

  override render(): ReactNode {
    const { error } = this.state
    return error === null ? this.props.children : <FailedPage error={error} />
  }
}

/** After an upgrade the files of the old version are gone; offline, none can be loaded. */
const isMissingChunk = ({ message }: Error) =>
  /dynamically imported module|module script/i.test(message)

const KEY = 'florin_reloaded'

/** Loads the new version, but not again and again if that doesn't help. */
function reloadOnce(path: string): void {
  if (!navigator.onLine || sessionStorage.getItem(KEY) === path) return
  sessionStorage.setItem(KEY, path)
  location.reload()
}

function FailedPage({ error }: { error: Error }) {
  const [title, sentence] = isMissingChunk(error)
    ? ['This page didn’t load', 'Check your connection, then try again.']
    : ['Something went wrong on this page', 'Your money and cards are not affected.']
  return (
    <Section>
      <div role="alert" className="flex flex-col items-center px-6 py-12 text-center">
        <CircleAlert className="mb-3 size-6 text-bad" aria-hidden />
        <p className="font-medium">{title}</p>
        <p className="mt-1 max-w-sm text-balance text-soft">{sentence}</p>
        <Button className="mt-4" onClick={() => location.reload()}>
          Try again
        </Button>
      </div>
    </Section>
  )
}
