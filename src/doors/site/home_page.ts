import type { Settings } from '#settings/settings.ts'

/** Shown at / if the panel was not built. */
export function homePage({ mode, version, public_url }: Settings): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Florin</title>
<style>
  :root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif }
  body { max-width: 34rem; margin: 12vh auto; padding: 0 1.25rem }
  h1 { font-size: 1.5rem; margin: 0 }
  p.mode { margin: 0 0 1.5rem; opacity: .7 }
  code { font-size: .9em }
</style>
<h1>Florin</h1>
<p class="mode">${mode} mode, version ${version}</p>
<p>This card program is running. The API is at <code>${public_url}/v1</code>.
The panel is not built. Run <code>npm start</code> in a checkout to build it.</p>
<ul>
  <li><a href="/openapi.json">API description (OpenAPI 3.1, JSON)</a></li>
  <li><a href="/openapi.yaml">API description (YAML)</a></li>
  <li><a href="/healthz">Health</a> and <a href="/metrics">metrics</a></li>
</ul>
</html>
`
}
