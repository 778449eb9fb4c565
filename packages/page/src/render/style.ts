/** Styles of pages. Reports embed them; the server sends them as a file, together with the styles of live pages. */

/**
 * Styles for light and dark, wide and narrow, screen and paper. The colours are from the palette of Okabe and Ito, which people with all
 * kinds of colour vision can distinguish.
 */
export const STYLE = `
:root{color-scheme:light dark;--back:#fff;--raised:#f6f7f9;--ink:#1c2024;--soft:#5b6470;--rule:#dfe3e8;--grid:#e6e9ed;--mark:#b3261e;--accent:#0067a3;
--prompt:#9aa1ab;--person:#0072b2;--answers:#56b4e9;--thinking:#cc79a7;--calls:#e69f00;--results:#2a9d77;--summary:#d55e00;--other:#b9c0c9}
@media (prefers-color-scheme:dark){:root{--back:#14171a;--raised:#1d2125;--ink:#e8eaed;--soft:#a3abb5;--rule:#333a42;--grid:#2a3037;--mark:#ff8a80;--accent:#7cc4f5;
--prompt:#6f7782;--person:#3d9be0;--answers:#8fd0f5;--thinking:#dd94bb;--calls:#f0b429;--results:#2fb58a;--summary:#f07f3c;--other:#59616b}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:1180px;padding:24px 20px 48px;background:var(--back);color:var(--ink);font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;overflow-wrap:anywhere}
h1{font-size:1.6rem;line-height:1.2;margin:0 0 8px}
h2{font-size:1.2rem;margin:36px 0 8px}
h3{font-size:1rem;margin:24px 0 4px}
p{margin:4px 0;max-width:75ch}
.soft,figcaption{color:var(--soft)}
a{color:var(--accent)}
.scroll{overflow-x:auto;margin:8px 0 16px;max-width:100%}
table{border-collapse:collapse;font-variant-numeric:tabular-nums;font-size:.86rem;overflow-wrap:normal}
th,td{padding:4px 7px;text-align:right;border-bottom:1px solid var(--rule);white-space:nowrap;vertical-align:top}
thead th{color:var(--soft);font-weight:600;border-bottom-width:2px}
th:first-child,td:first-child{text-align:left;position:sticky;left:0;background:var(--back)}
td.long,th.long{text-align:left;white-space:normal;min-width:12ch;max-width:42ch;overflow-wrap:anywhere}
tr.ours>*{font-weight:700;background:var(--raised)}
td.best{color:var(--accent);font-weight:700}
dl.columns{display:grid;grid-template-columns:max-content 1fr;gap:2px 12px;font-size:.85rem;color:var(--soft);margin:8px 0}
dl.columns dt{font-weight:600}dl.columns dd{margin:0}
details.conversation{border:1px solid var(--rule);border-radius:8px;margin:12px 0;padding:0 16px}
details.conversation[open]{padding-bottom:16px}
details.conversation>summary{cursor:pointer;padding:12px 0;font-weight:600}
summary .soft{font-weight:400}
figure{margin:16px 0}
figcaption{font-size:.9rem;font-weight:600;margin-bottom:4px}
.chart{display:block;overflow:visible}
.canvas{min-width:0;flex:1 1 auto}
.with-legend{display:flex;gap:20px;align-items:flex-start}
.panels{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,420px),1fr));gap:20px 28px}
.panel h4{margin:0;font-size:.95rem}
.panel p{font-size:.85rem;margin:0 0 2px}
.legend{list-style:none;display:flex;flex-wrap:wrap;gap:4px 16px;margin:6px 0 10px;padding:0;font-size:.85rem}
.legend li{display:inline-flex;align-items:center;gap:6px}
.ends{list-style:none;margin:10px 0 0;padding:0;font-size:.85rem;flex:0 0 220px}
.ends li{display:flex;align-items:center;gap:8px}
.ends .name{flex:1 1 auto}.ends .value{font-variant-numeric:tabular-nums}
.tick{font-size:11px;fill:var(--ink);paint-order:stroke;stroke:var(--back);stroke-width:3px;stroke-linejoin:round}
.grid{stroke:var(--grid);stroke-width:1}
.boundary{stroke:var(--ink);stroke-opacity:.65;stroke-width:1;stroke-dasharray:3 3}
.slice{fill:transparent}.slice:hover{fill:var(--ink);fill-opacity:.08}
.loss{fill:var(--mark);stroke:var(--back);stroke-width:1}
#loss-other{stroke:var(--mark)}
.shapes{position:absolute}
${["prompt", "person", "answers", "thinking", "calls", "results", "summary"].map((name) => `.c-${name}{fill:var(--${name})}`).join("")}
.total th,.total td{font-weight:600;border-top:1px solid var(--ink)}
.c-whole{fill:var(--other)}
.line{fill:none;stroke-width:2;stroke-linejoin:round;stroke-linecap:round;vector-effect:non-scaling-stroke;stroke:var(--other)}
.l-other{stroke-width:1.5}
.l-strata{stroke:var(--person);stroke-width:3.5}
.l-claude{stroke:var(--summary);stroke-width:2.5}
.l-none{stroke:var(--ink);stroke-dasharray:6 4}
.l-optimum{stroke:var(--results);stroke-width:2.5;stroke-dasharray:1 5}
.l-a{stroke:var(--calls)}.l-b{stroke:var(--thinking);stroke-dasharray:9 3}.l-c{stroke:var(--answers);stroke-dasharray:4 3}
@media (max-width:640px){body{padding:16px 12px 32px}.with-legend{display:block}.ends{columns:1}.panels{grid-template-columns:1fr}details.conversation{padding:0 10px}th,td{padding:4px 7px}dl.columns{display:block}dl.columns dd{margin-bottom:6px}}
@page{margin:14mm}
@media print{:root{color-scheme:light;--back:#fff;--raised:#f3f3f3;--ink:#000;--soft:#444;--rule:#bbb;--grid:#ddd}
body{max-width:none;padding:0;font-size:10pt}.scroll{overflow:visible}table{font-size:7.5pt}th,td{padding:2px 4px;position:static!important}
figure,.panel,tr{break-inside:avoid}figure:has(.panels){break-inside:auto}h2,h3,figcaption,summary{break-after:avoid}.panels{grid-template-columns:1fr 1fr}details.conversation{border:0;padding:0}details::details-content{content-visibility:visible;display:block}
*{-webkit-print-color-adjust:exact;print-color-adjust:exact}}
`
