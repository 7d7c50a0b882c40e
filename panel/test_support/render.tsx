import type { ReactNode } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import { Router } from 'wouter'

/** Renders elements that contain links, as they look at this path. */
export const renderAt = (path: string, element: ReactNode): string =>
  renderToStaticMarkup(<Router ssrPath={path}>{element}</Router>)
