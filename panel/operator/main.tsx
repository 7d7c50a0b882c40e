import '#panel/styles.css'
import { QueryClientProvider } from '@tanstack/react-query'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { queryClient } from '#panel/queries.ts'
import { applyTheme } from '#panel/theme.ts'
import { Toasts } from '#panel/ui/toast.tsx'
import { Console } from './console.tsx'

applyTheme()
const root = document.getElementById('root')
if (root === null) throw new Error('operator.html has no #root element')
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={queryClient}>
      <Console />
      <Toasts />
    </QueryClientProvider>
  </StrictMode>,
)
