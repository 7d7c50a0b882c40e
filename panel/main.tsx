import './styles.css'
import { QueryClientProvider } from '@tanstack/react-query'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { Panel } from './panel.tsx'
import { queryClient } from './queries.ts'
import { joinTabs } from './session.ts'
import { applyTheme } from './theme.ts'
import { Toasts } from './ui/toast.tsx'

applyTheme()
const root = document.getElementById('root')
if (root === null) throw new Error('index.html has no #root element')
await joinTabs()
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={queryClient}>
      <Panel />
      <Toasts />
    </QueryClientProvider>
  </StrictMode>,
)
