/** Additional styles of live pages: the frame, cards, the conversation, dialogs. */
import { LIST_STYLE } from "./list-style.ts"
import { STYLE } from "./style.ts"
import { USAGE_STYLE } from "./usage-style.ts"

export const PAGE_STYLE = `${STYLE}
body{max-width:none;margin:0;padding:0;min-height:100vh;display:flex;flex-direction:column}
main{width:100%;max-width:1240px;margin:0 auto;padding:20px 24px 40px;flex:1 0 auto}
main:focus{outline:none}
footer{max-width:1240px;width:100%;margin:0 auto;padding:0 24px 20px;font-size:.8rem}
:focus-visible{outline:2px solid var(--accent);outline-offset:2px;border-radius:3px}
.skip{position:absolute;left:-999px;top:8px;background:var(--back);padding:6px 12px;z-index:10}.skip:focus{left:8px}
.top{display:flex;flex-wrap:wrap;align-items:center;gap:4px 20px;padding:12px 24px 0;min-height:46px;border-bottom:1px solid var(--rule);background:var(--raised)}
.trail{display:flex;gap:8px;align-items:baseline;min-width:0;flex:1 1 auto;font-size:.95rem}
.trail a{color:inherit;text-decoration:none;overflow:hidden;text-overflow:ellipsis;white-space:nowrap;max-width:60ch}.trail a:hover{text-decoration:underline}
.trail .mark{flex:none;font-weight:700;letter-spacing:.02em}.trail span{color:var(--soft)}
.live{margin:0;font-size:.85rem;color:var(--soft);display:flex;align-items:center;gap:7px}
.dot{width:9px;height:9px;border-radius:50%;background:var(--other)}
.live.on .dot{background:#1f9d61;animation:pulse 2.4s ease-in-out infinite}
@keyframes pulse{50%{opacity:.35}}
.views{display:flex;flex-wrap:wrap;gap:2px 4px;width:100%;margin-top:4px}
.views a{padding:8px 13px;color:var(--soft);text-decoration:none;border-bottom:3px solid transparent;font-size:.92rem}
.views a:hover{color:var(--ink)}.views a[aria-current]{color:var(--ink);border-color:var(--accent);font-weight:600}
h1.quiet,h2.quiet{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
.cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(150px,1fr));gap:12px;margin:4px 0 20px}
.cards>div{background:var(--raised);border:1px solid var(--rule);border-radius:10px;padding:12px 16px}
.cards dt{font-size:.8rem;color:var(--soft)}.cards dd{margin:2px 0 0;display:flex;flex-direction:column}
.cards strong{font-size:1.5rem;line-height:1.25;font-variant-numeric:tabular-nums;font-weight:650}.cards dd span{font-size:.82rem;color:var(--soft)}
.single{position:relative}
.level{stroke:var(--mark);stroke-width:1;stroke-dasharray:7 4;stroke-opacity:.8}
.slice.chosen{fill:var(--ink);fill-opacity:.14}
.readout{min-height:3em;font-size:.88rem;font-variant-numeric:tabular-nums;max-width:none}
caption{text-align:left;color:var(--soft);font-size:.82rem;padding:0 0 4px}
table{min-width:min(100%,420px)}th:first-child,td:first-child{background:var(--back)}
tr.total>*{font-weight:650;border-top:2px solid var(--rule)}
.empty{border:1px dashed var(--rule);border-radius:10px;padding:22px 24px;margin:16px 0}
button{font:inherit;font-size:.88rem;padding:5px 13px;border:1px solid var(--rule);border-radius:7px;background:var(--raised);color:var(--ink);cursor:pointer}
button:hover:not(:disabled){border-color:var(--accent)}button:disabled{opacity:.5}
button.danger{color:var(--mark);border-color:currentColor}
select{font:inherit;font-size:.9rem;padding:4px 8px;border:1px solid var(--rule);border-radius:7px;background:var(--back);color:var(--ink);max-width:min(34ch,60vw)}
.tools label{max-width:100%}
input[type=search]{font:inherit;font-size:.92rem;padding:5px 10px;border:1px solid var(--rule);border-radius:7px;background:var(--back);color:var(--ink);width:min(30ch,60vw)}
.actions{display:flex;gap:10px;flex-wrap:wrap}
.compaction{border:1px solid var(--rule);border-radius:10px;padding:4px 18px 14px;margin:16px 0}.compaction h2{margin:14px 0 2px}.compaction h2 .soft,.lead .soft{font-weight:400;font-size:.9rem}.compaction h3{margin:16px 0 4px}
dl.sentences{font-size:.92rem;gap:5px 16px;margin:4px 0}dl.sentences dt{font-weight:400}dl.sentences dd{color:var(--ink);max-width:75ch}
.compaction .folded .name{white-space:normal;overflow-wrap:anywhere;min-width:0}
.lead~.list-tools{margin-top:14px}
.cost-bar{display:block;margin:1px 0 2px auto}.cost-bar rect{fill:var(--person)}
@media (max-width:640px){.cost-bar{margin-left:0;transform:scaleX(-1)}}
pre{white-space:pre-wrap;overflow-wrap:anywhere;font:.84rem/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;background:var(--raised);border:1px solid var(--rule);border-radius:7px;padding:10px 12px;margin:8px 0;max-height:60vh;overflow:auto}
pre:empty{display:none}
.exact{font-size:.82rem}
.folded>summary{cursor:pointer;display:flex;gap:8px;align-items:baseline;font-size:.88rem;padding:2px 0;list-style:none}
.folded>summary::before{content:"▸";color:var(--soft)}.folded[open]>summary::before{content:"▾"}
.folded .name{font-weight:600;white-space:nowrap}.folded .start{color:var(--soft);overflow:hidden;text-overflow:ellipsis;white-space:nowrap;min-width:0;flex:1 1 auto;font-family:ui-monospace,Menlo,Consolas,monospace;font-size:.82rem}
.folded .size{color:var(--soft);white-space:nowrap;font-variant-numeric:tabular-nums;font-size:.8rem}
body.tall{height:100vh;min-height:0}body.tall main{flex:1 1 0;min-height:0;display:flex;flex-direction:column;padding-bottom:0}body.tall footer{display:none}
.tools{display:flex;flex-wrap:wrap;gap:8px 24px;align-items:center;padding-bottom:10px}.tools p{margin:0}
.rows{flex:1 1 0;min-height:0;overflow-y:auto;border-top:1px solid var(--rule);padding:8px 4px 24px}
.slice-rows{contain:layout style}
.row{padding:8px 12px 10px;border-left:3px solid transparent;margin:2px 0}
.row h2{margin:0 0 2px;font-size:.8rem;font-weight:600;display:flex;gap:12px;align-items:baseline;color:var(--soft)}
.row time{font-weight:400;font-variant-numeric:tabular-nums}.row .address{margin-left:auto;font-weight:400;color:var(--soft);text-decoration:none;font-size:.78rem}
.row .address:hover{text-decoration:underline}
.row.person{border-color:var(--person);background:var(--raised);border-radius:0 8px 8px 0}.row.person .who{color:var(--person)}
.row.answer{border-color:var(--answers)}.row.results{border-color:var(--results)}.row.note{border-color:var(--other)}
.row.decision,.row.boundary{color:var(--soft);font-size:.86rem}.row.boundary{border:1px dashed var(--summary);border-radius:8px;color:var(--ink)}
.row.boundary .who,.row.decision .who{font-weight:650;margin-right:6px}
.message-text{white-space:pre-wrap;max-width:90ch;margin:2px 0}
.row:focus,.row:target{background:var(--raised)}
.found{max-height:34vh;overflow:auto;font-size:.88rem;padding-left:2em;width:100%}
.tools [data-found]{width:100%}
.tree,.memories{list-style:none;padding:0}.agent,.memory{border:1px solid var(--rule);border-left:4px solid var(--other);border-radius:8px;padding:8px 16px;margin:8px 0}
.agent.running{border-left-color:#1f9d61}.agent.failed,.agent.killed{border-left-color:var(--mark)}
.state,.kind{font-size:.78rem;border:1px solid var(--rule);border-radius:99px;padding:1px 9px;color:var(--soft);font-weight:400}
.problem{border-left:4px solid var(--mark);padding-left:12px}
.diff .added{color:#1f8a55}.diff .removed{color:var(--mark)}.diff .place{color:var(--soft)}
dialog.ask{border:1px solid var(--rule);border-radius:12px;background:var(--back);color:var(--ink);padding:18px 24px;max-width:46ch}
dialog.ask::backdrop{background:rgb(0 0 0/.45)}dialog.ask h2{margin:0 0 6px;font-size:1.1rem}dialog.ask menu{display:flex;justify-content:flex-end;gap:10px;padding:0;margin:16px 0 0}
.go{border-color:var(--accent)}
.lead{font-size:1.35rem;line-height:1.4;max-width:62ch;margin:0 0 10px}.lead+p{max-width:80ch}
.columns-two>section{min-width:0}.columns-two{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,460px),1fr));gap:8px 36px}
.bar rect{fill:var(--person)}
@media (max-width:640px){main{padding:14px 12px 28px}.top{padding:10px 12px 0}.views a{padding:4px 5px;font-size:.78rem;white-space:nowrap;border-width:2px}.cards{grid-template-columns:repeat(2,1fr)}.cards strong{font-size:1.2rem}footer{padding:0 12px 14px}.folded .start{display:none}.lead{font-size:1.1rem}}
${LIST_STYLE}${USAGE_STYLE}
@media (prefers-reduced-motion:reduce){*{animation:none!important;transition:none!important;scroll-behavior:auto!important}}
`
