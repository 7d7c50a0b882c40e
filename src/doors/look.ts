/**
 * Styles shared by the panel, the docs and the consent pages. Each token is defined once for both
 * themes; color-scheme follows the system or the reader's choice. Text has a contrast of at least
 * 4.5:1 on every background it is used on.
 */
export const LOOK = `
:root{color-scheme:light dark;
--ground:light-dark(#f6f6f3,#121514);--sheet:light-dark(#ffffff,#191d1b);
--hover:light-dark(#f1f1ed,#222725);--ink:light-dark(#171c1a,#e9edeb);
--soft:light-dark(#5a635f,#9ba7a2);--line:light-dark(#e3e2dc,#2b312f);
--line-strong:light-dark(#8b938f,#66716c);--accent:light-dark(#1d5c4d,#7fcdb5);
--accent-hover:light-dark(#154739,#98dac6);--on-accent:light-dark(#ffffff,#0d1613);
--accent-ground:light-dark(#e6f1ed,#1a2d27);--warn:light-dark(#8a4b00,#f0c07a);
--warn-ground:light-dark(#fdf2e0,#2c2415);--bad:light-dark(#b3261e,#ff9d94);
--sans:ui-sans-serif,system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif;
--mono:ui-monospace,"SF Mono","Cascadia Mono","Roboto Mono",Menlo,Consolas,monospace}
:root[data-theme=light]{color-scheme:light}
:root[data-theme=dark]{color-scheme:dark}
*,::before,::after{box-sizing:border-box}
html{-webkit-text-size-adjust:100%}
body{margin:0;background:var(--ground);color:var(--ink);font:15px/1.6 var(--sans);
-webkit-font-smoothing:antialiased}
h1,h2,h3{text-wrap:balance}
:focus-visible{outline:2px solid var(--accent);outline-offset:2px}
::selection{background:color-mix(in oklab,var(--accent) 25%,transparent)}
code,pre,kbd{font-family:var(--mono)}
@media (prefers-reduced-motion:reduce){*{animation:none!important;transition:none!important}}
`

/** The logo, inline, because our pages load no images. */
export const COIN =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32" width="24" height="24" ' +
  'aria-hidden="true">' +
  '<circle cx="16" cy="16" r="15" fill="#1d5c4d"/>' +
  '<circle cx="16" cy="16" r="11.5" fill="none" stroke="#cfe8df" stroke-width="1.4"/>' +
  '<path d="M12.5 23V9.5h8M12.5 16h6.5" fill="none" stroke="#fff" stroke-width="2.6"/></svg>'
