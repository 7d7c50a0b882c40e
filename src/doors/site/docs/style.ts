import { LOOK } from '#doors/look.ts'

/** Styles of the docs: one column on a phone, three on a wide screen. */
export const DOCS_STYLE = `${LOOK}
html{scroll-padding-top:4.5rem}
a{color:var(--accent);text-decoration-thickness:1px;text-underline-offset:2px}
/* Below the underscores of a name, which it would hide. */
a:has(> code){text-underline-offset:5px}
a:hover{color:var(--accent-hover)}
.soft{color:var(--soft)}
.skip{position:absolute;left:-99rem}
.skip:focus{left:1rem;top:.6rem;z-index:9;background:var(--sheet);padding:.4rem .8rem}
.top{position:sticky;top:0;z-index:5;display:flex;gap:.75rem;align-items:center;height:3.5rem;
padding:0 1rem;background:var(--sheet);border-bottom:1px solid var(--line)}
.brand{display:flex;gap:.5rem;align-items:center;color:var(--ink);font-weight:600;
text-decoration:none;white-space:nowrap}
.brand span{color:var(--soft);font-weight:400}
.top nav{margin-left:auto;display:flex;gap:1rem;align-items:center;white-space:nowrap}
.top nav a{color:var(--soft);text-decoration:none;font-size:.875rem}
.top nav a:hover{color:var(--ink)}
.search{position:relative;flex:1 1 auto;max-width:24rem;min-width:0}
.search input{width:100%;font:inherit;font-size:.875rem;color:inherit;background:var(--ground);
border:1px solid var(--line-strong);border-radius:8px;padding:.35rem 2rem .35rem .7rem}
.search kbd{position:absolute;right:.55rem;top:50%;transform:translateY(-50%);font-size:.75rem;
color:var(--soft);pointer-events:none}
.found{position:absolute;top:calc(100% + .35rem);left:0;width:min(30rem,calc(100vw - 2rem));
max-height:70vh;overflow:auto;margin:0;padding:.3rem;list-style:none;background:var(--sheet);
border:1px solid var(--line);border-radius:10px;box-shadow:0 12px 32px rgb(0 0 0/.18)}
.found a,.results a{display:block;padding:.4rem .6rem;border-radius:7px;text-decoration:none;
color:var(--ink);overflow-wrap:anywhere}
.found [aria-selected=true] a,.found a:hover,.results a:hover{background:var(--hover)}
.found small,.results small{color:var(--soft);display:block;font-size:.75rem}
.found p{margin:.4rem .6rem;color:var(--soft)}
.search input:not(:placeholder-shown)~kbd{display:none}
.results{list-style:none;padding:0;margin-inline:-.6rem}
button.theme{font:inherit;white-space:nowrap;font-size:.8125rem;color:var(--soft);
background:none;border:1px solid var(--line);border-radius:8px;padding:.3rem .6rem;cursor:pointer}
button.theme:hover{color:var(--ink);background:var(--hover)}
.layout{display:grid;grid-template-columns:minmax(0,1fr);max-width:88rem;margin:0 auto}
.side{padding:.75rem 1rem;border-bottom:1px solid var(--line);font-size:.875rem}
.side summary{font-weight:600;cursor:pointer;padding:.25rem 0}
.side h2{font-size:.75rem;text-transform:uppercase;letter-spacing:.05em;color:var(--soft);
margin:1.1rem 0 .3rem}
.side ul,.toc ul{list-style:none;margin:0;padding:0}
.side li a{display:block;padding:.22rem .6rem;margin-left:-.6rem;border-radius:6px;
color:var(--ink);text-decoration:none}
.side li a:hover{background:var(--hover)}
/* No bolder than the others: a wider title would wrap and move those below. */
.side [aria-current=page]{background:var(--accent-ground);color:var(--accent)}
.side .other{display:none}
.toc{display:none;font-size:.8125rem}
.toc a{display:block;padding:.18rem 0;color:var(--soft);text-decoration:none;
overflow-wrap:anywhere}
.toc a:hover{color:var(--ink)}
main{min-width:0;padding:1.5rem 1rem 5rem;max-width:56rem;overflow-wrap:break-word}
h1{font-size:1.85rem;line-height:1.2;letter-spacing:-.015em;margin:.25rem 0 .75rem}
main h2{font-size:1.25rem;line-height:1.3;margin:2.5rem 0 .6rem;letter-spacing:-.005em}
main h3{font-size:.9375rem;margin:1.5rem 0 .4rem}
p,ul,ol{margin:.6rem 0}
main li{margin:.2rem 0}
.lead{font-size:1.0625rem;color:var(--soft)}
.anchor{color:var(--line-strong);text-decoration:none;font-weight:400;opacity:0;padding:0 .2rem}
:hover>.anchor,.anchor:focus-visible{opacity:1}
@media (hover:none){.anchor{opacity:1}}
code{font-size:.875em;background:light-dark(#e9e9e3,#222725);border-radius:4px;
padding:.08em .3em;overflow-wrap:anywhere}
/* A column is as wide as the longest part of a name; the table scrolls instead. */
td code{overflow-wrap:break-word}
pre{overflow:auto;background:var(--sheet);border:1px solid var(--line);border-radius:10px;
padding:.85rem 1rem;font-size:.8125rem;line-height:1.55;margin:.8rem 0}
pre code{background:none;padding:0;font-size:inherit;overflow-wrap:normal}
h2 code,h3 code{background:none;padding:0;font-size:.95em}
blockquote{margin:.8rem 0;padding:.1rem 1rem;border-left:3px solid var(--accent);
color:var(--soft)}
hr{border:0;border-top:1px solid var(--line);margin:2rem 0}
.scroll{overflow-x:auto;margin:.9rem 0}
table{border-collapse:collapse;width:100%;font-size:.875rem}
th,td{text-align:left;vertical-align:top;padding:.45rem .75rem .45rem 0;
border-bottom:1px solid var(--line);min-width:6.5rem}
.narrow,table:has(.narrow) td:first-child{min-width:0}
th{color:var(--soft);font-weight:500}
th::first-letter{text-transform:uppercase}
.operation{border-top:1px solid var(--line);margin-top:2.5rem}
/* The list above it ends with a line of its own. */
.routes+.operation,.fields+.operation{border-top:0;margin-top:0}
.operation h2{margin-top:1.5rem}
.route{display:inline-flex;gap:.5rem;align-items:baseline;flex-wrap:wrap;margin:.2rem 0}
.route code{background:none;padding:0;color:var(--soft)}
.method{font:600 .6875rem/1.6 var(--mono);padding:.05rem .4rem;border-radius:5px;
background:var(--accent-ground);color:var(--accent)}
.method.DELETE{color:var(--bad);background:color-mix(in oklab,var(--bad) 10%,transparent)}
.method.PATCH,.method.PUT{color:var(--warn);background:var(--warn-ground)}
.routes{list-style:none;padding:0;border-top:1px solid var(--line)}
.routes li{display:grid;gap:.1rem .9rem;margin:0;padding:.5rem 0;
border-bottom:1px solid var(--line);font-size:.875rem}
.routes li>a code{background:none;padding:0;font-weight:600}
.fields{margin:.6rem 0;border-top:1px solid var(--line)}
.fields>div{padding:.5rem 0;border-bottom:1px solid var(--line)}
.fields dt{display:flex;flex-wrap:wrap;gap:.1rem .6rem;align-items:baseline;font-weight:600}
.fields dd{margin:.15rem 0 0;color:var(--soft);font-size:.875rem}
.name{color:var(--ink);text-decoration:none}
.name code{background:none;padding:0}
.type{color:var(--soft);font-size:.8125rem;font-weight:400}
.required{color:var(--warn);font-size:.75rem;font-weight:500}
:target{scroll-margin-top:4.5rem}
.fields>div:target,h2:target{background:var(--accent-ground);box-shadow:0 0 0 .4rem
var(--accent-ground);border-radius:2px}
details{margin:.5rem 0}
summary{cursor:pointer;color:var(--accent);font-size:.875rem}
figure{margin:.8rem 0}
figcaption{font-size:.75rem;color:var(--soft);font-weight:600}
figure pre{margin-top:.25rem}
.comment{color:var(--soft)}
.string{color:light-dark(#1d5c4d,#8fd3bd)}
.keyword{color:light-dark(#6b3fa0,#c9a8f5)}
.number{color:light-dark(#8a4b00,#f0c07a)}
.code{position:relative}
.copy{position:absolute;top:.45rem;right:.45rem;font:500 .75rem/1 var(--sans);color:var(--soft);
background:var(--sheet);border:1px solid var(--line);border-radius:6px;padding:.35rem .5rem;
cursor:pointer;opacity:0}
.code:hover .copy,.copy:focus-visible{opacity:1}
.copy:hover{color:var(--ink)}
@media (hover:none){.copy{opacity:1}}
.tabs{display:flex;flex-wrap:wrap;gap:.15rem;border-bottom:1px solid var(--line);margin-top:.8rem}
.tabs button{font:500 .8125rem/1 var(--sans);color:var(--soft);background:none;border:0;
border-bottom:2px solid transparent;padding:.5rem .6rem;cursor:pointer}
.tabs button[aria-selected=true]{color:var(--accent);border-color:var(--accent)}
.tabs+figure,.tabs~figure{margin:.5rem 0}
.tabs~figure figcaption{display:none}
.found a>span,.results a>span{display:block;font-size:.8125rem;color:var(--soft)}
.found mark,.results mark{background:none;color:var(--ink);font-weight:600}
.codes{line-height:2}
.tiles{display:grid;gap:.75rem;grid-template-columns:repeat(auto-fill,minmax(min(15rem,100%),1fr));
list-style:none;padding:0}
.tiles a{display:block;height:100%;padding:.8rem 1rem;background:var(--sheet);
border:1px solid var(--line);border-radius:10px;color:var(--ink);text-decoration:none;
font-weight:600}
.tiles small{display:block;margin-top:.2rem;color:var(--soft);font-size:.8125rem;font-weight:400;
line-height:1.45}
.tiles li{margin:0}
.tiles a:hover{border-color:var(--accent)}
.foot{margin-top:4rem;padding-top:1rem;border-top:1px solid var(--line);font-size:.8125rem;
color:var(--soft);display:flex;flex-wrap:wrap;gap:.3rem 1.2rem}
/* Results are as wide as the screen, not beside the logo, where they would be cut off. */
@media (max-width:40rem){.search{position:static}.found{left:1rem}
.search kbd{display:none}.search input{padding-right:.5rem}}
@media (max-width:30rem){.top nav a,.brand span{display:none}
.side .other{display:block}}
@media (min-width:40rem){.routes li{grid-template-columns:13rem 1fr}
.routes li>.soft{grid-column:2}}
@media (min-width:64rem){.layout{grid-template-columns:15rem minmax(0,1fr)}
.side{position:sticky;top:3.5rem;height:calc(100vh - 3.5rem);overflow:auto;border-bottom:0;
border-right:1px solid var(--line);padding:.5rem 1rem 2rem 1.25rem}
.side summary{display:none}
main{padding:2rem 2.5rem 6rem}}
@media (min-width:80rem){.layout{grid-template-columns:15rem minmax(0,1fr) 14rem}
.toc{display:block;position:sticky;top:3.5rem;height:calc(100vh - 3.5rem);overflow:auto;
padding:2.4rem 1rem}
.toc h2{font-size:.75rem;color:var(--soft);font-weight:600;margin:0 0 .4rem}}
@media (min-width:80rem){.layout:has(.wide){grid-template-columns:15rem minmax(0,1fr)}
main.wide{max-width:none}
.wide .operation{display:grid;grid-template-columns:minmax(0,1fr) minmax(0,26rem);gap:0 2.5rem}
.wide .beside{position:sticky;top:4rem;align-self:start;max-height:calc(100vh - 5rem);
overflow:auto;padding-top:1rem}
.wide .beside>h3{margin-top:.4rem}}
@media (min-width:64rem){td:first-child code{white-space:nowrap}}
@media print{.top,.side,.toc{display:none}}
`
