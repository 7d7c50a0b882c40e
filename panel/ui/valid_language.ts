/** Replaces a language that does not exist; numbers and dates cannot be formatted in it. */
export function replaceUnknownLanguage(browser: { readonly language: string }): void {
  try {
    Intl.getCanonicalLocales(browser.language)
  } catch {
    Object.defineProperty(browser, 'language', { value: 'en-US' })
  }
}

// Import this before uPlot, which reads the language when it is loaded. On Linux with the POSIX
// locale, Chromium names "en-US@posix", and every page with a chart failed.
replaceUnknownLanguage(navigator)
