/** Styles of lists: links in the titles of columns, and a card for each row on a phone. */
export const LIST_STYLE = `
.list{width:100%}
.list thead a{color:inherit;text-decoration:none;display:inline-block;padding:4px 0}
.list thead a:hover{color:var(--ink);text-decoration:underline}.list th[aria-sort] a{color:var(--ink)}
.list thead th{vertical-align:middle}.list .nothing{color:var(--soft)}
.list tbody tr:hover>*{background:var(--raised)}
.list td.long{max-width:52ch}
.list-tools{align-items:end;gap:8px 16px}.list-tools label{display:flex;flex-direction:column;gap:2px;font-size:.8rem;color:var(--soft)}
.list-tools input,.list-tools select,.list-tools button{min-height:34px}.list-tools>a{padding:6px 0}
.pages{display:flex;flex-wrap:wrap;gap:6px 18px;align-items:baseline;font-variant-numeric:tabular-nums;font-size:.92rem}
.pages a{padding:6px 0}
@media (max-width:640px){
.list-tools label{flex:1 1 40%}.list-tools .search{flex:1 0 100%}.list-tools input,.list-tools select{width:100%;max-width:none}.list-tools input,.list-tools select,.list-tools button{min-height:40px}
.pages{justify-content:space-between}.pages a{padding:10px 0}.pages>span:not(.soft){order:-1;width:100%;text-align:center}
.list,.list caption,.list thead,.list tbody,.list tr,.list td,.list th{display:block;position:static;text-align:left;white-space:normal;max-width:none;min-width:0}
.list thead tr{display:flex;flex-wrap:wrap;gap:5px;padding-bottom:10px}
.list thead th{border:0;padding:0}.list thead th:not(:has(a)){display:none}
.list thead a{border:1px solid var(--rule);border-radius:99px;padding:3px 9px;font-size:.8rem;font-weight:400}.list thead [aria-sort] a{border-color:var(--accent);font-weight:600}
.list tbody tr{display:grid;grid-template-columns:repeat(3,minmax(0,1fr));gap:6px 12px;border:1px solid var(--rule);border-radius:10px;padding:10px 14px;margin-bottom:10px}
.list tbody .nothing{display:none}
.list tbody td{border:0;padding:0;background:none;overflow-wrap:anywhere}
.list tbody td:first-child{grid-column:1/-1;font-size:.95rem}
.list tbody td:not(:first-child)::before{content:attr(data-title);display:block;color:var(--soft);font-size:.74rem}
}
`
