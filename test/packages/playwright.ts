export { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
