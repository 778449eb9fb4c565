/** Styles of the overview of `strata usage`: numbers with footnotes, the next step, the chart next to the most expensive conversations. */
export const USAGE_STYLE = `
sup{line-height:0;font-size:.7em}
sup .footnote{text-decoration:none;padding:8px 6px;margin:0 -4px;font-weight:600}
.summary{max-width:none;text-wrap:balance}.progress{font-size:.85rem;margin:0 0 8px}
.numbers dt a{color:inherit;text-decoration:none}.numbers dt a:hover{color:var(--accent);text-decoration:underline}
.numbers{grid-template-columns:repeat(4,1fr)}
.next{display:flex;flex-wrap:wrap;gap:4px 10px;align-items:baseline;max-width:none;margin:0 0 20px;padding:10px 16px;border:1px solid var(--rule);border-left:3px solid var(--accent);border-radius:10px}
.next strong{color:var(--accent);margin-right:6px}.next a{font-weight:600;min-width:0;max-width:100%;overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
.next code{font:.92rem/1.4 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;background:var(--raised);border:1px solid var(--rule);border-radius:6px;padding:2px 8px;user-select:all}
.overview{display:grid;grid-template-columns:minmax(0,7fr) minmax(0,5fr);gap:0 40px}
.overview figure{margin:0}.day-chart{height:216px;margin:16px 0 20px}.overview .readout{min-height:1.5em}
.dearest{display:grid;grid-template-columns:1fr auto;align-items:baseline;align-content:start}
.dearest h2{font-size:.9rem;margin:0;color:var(--soft)}
.dearest ol{list-style:none;margin:6px 0 0;padding:0;grid-column:1/-1}
.dearest li{display:grid;grid-template-columns:minmax(0,1fr) auto;gap:0 16px;padding:5px 0 7px}
.dearest li a,.dearest .soft{overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
.dearest li span{font-size:.82rem}.dearest strong{text-align:right;font-variant-numeric:tabular-nums;font-weight:600}
.dearest .lost{text-align:right;color:var(--mark)}
.dearest .bar{grid-column:1/-1;margin-top:3px}
.bar{display:block;height:3px;background:var(--raised);border-radius:2px}
.dearest .bar rect{fill-opacity:.6}
td .bar{margin-top:3px}
.wide table{width:100%}.wide td.long{max-width:none}
.columns-two h2{margin:12px 0 4px}.columns-two table{width:100%}.columns-two caption{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
.footnotes{list-style:none;padding:0;margin:16px 0;font-size:.85rem;color:var(--soft)}
.footnotes li{display:flex;gap:4px;padding:2px 6px 2px 0;border-radius:6px;max-width:90ch}.footnotes li:target{background:var(--raised);color:var(--ink)}
.footnotes a{flex:none;width:24px;text-align:center;text-decoration:none;font-weight:600}
@media (max-width:640px){
.summary{font-size:1rem;line-height:1.3;text-wrap:wrap;margin:0 0 6px}.progress{font-size:.72rem;margin:0 0 4px;line-height:1.2}
.numbers{grid-template-columns:repeat(2,1fr);gap:6px;margin:0 0 7px}.numbers>div{padding:4px 10px}.numbers dt,.numbers dd span{font-size:.74rem;line-height:1.35}
.next{margin-bottom:9px;padding:4px 10px;gap:1px 8px;font-size:.88rem}.next code{font-size:.82rem;padding:1px 6px}
.overview{grid-template-columns:minmax(0,1fr);gap:7px}.overview figcaption{font-size:.8rem;margin:0}.overview .legend{font-size:.74rem;gap:0 10px;margin:1px 0}
.day-chart{height:58px;margin:8px 0 17px}.overview figure:not(:has(.chosen)) .readout{display:none}
.dearest h2{font-size:.8rem}.dearest #all-conversations{font-size:.85rem}.dearest ol{margin:1px 0 0}.dearest li{padding:2px 0 3px;font-size:.88rem;line-height:1.35}.dearest li span{font-size:.74rem}.dearest .bar{display:none}
.columns-two table,.wide table{font-size:.78rem;min-width:0}:is(.columns-two,.wide) :is(th,td){padding:4px}:is(.columns-two,.wide) .long{min-width:9ch}}
`
