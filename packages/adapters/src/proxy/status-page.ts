/** A page with a row for each conversation. It is one text: no script, nothing from elsewhere, nothing kept by the browser. */
import { hash } from "node:crypto"
import type { ConversationStatus } from "../callers/plan.ts"

const STYLE = `:root{color-scheme:light dark;font:14px/1.5 system-ui,sans-serif}
body{margin:2rem}table{border-collapse:collapse}
th,td{padding:.3rem .8rem;text-align:left;border-bottom:1px solid #8884;vertical-align:top}
.n{text-align:right;font-variant-numeric:tabular-nums}small{opacity:.7}`

export const PAGE_HEADERS: Readonly<Record<string, string>> = {
  "content-type": "text/html; charset=utf-8",
  "content-security-policy": `default-src 'none'; style-src 'sha256-${hash("sha256", STYLE, "base64")}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  "cache-control": "no-store",
  "referrer-policy": "no-referrer", // the address has the secret in it
  "x-content-type-options": "nosniff",
}

export const STATUS_HEADERS: Readonly<Record<string, string>> = {
  "content-type": "application/json",
  "cache-control": "no-store",
  "x-content-type-options": "nosniff",
}

const COLUMNS = ["Conversation", "Client", "Requests", "Sent", "Direct", "From cache", "Cost", "Direct", "Decisions"]
const NUMBERS = new Set([2, 3, 4, 5, 6, 7])
const REFRESH_SECONDS = 5

export function statusPage(rows: readonly ConversationStatus[]): string {
  const head = COLUMNS.map((name, at) => `<th${numeric(at)}>${name}</th>`).join("")
  const table = `<table><thead><tr>${head}</tr></thead><tbody>${rows.map(rowOf).join("")}</tbody></table>`
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta http-equiv="refresh" content="${REFRESH_SECONDS}">
<title>Strata proxy</title><style>${STYLE}</style></head><body><h1>Strata proxy</h1>
${rows.length === 0 ? "<p>No conversation has passed yet.</p>" : `<p>${totalOf(rows)}</p>${table}`}</body></html>`
}

const numeric = (column: number): string => (NUMBERS.has(column) ? ' class="n"' : "")

function rowOf(row: ConversationStatus): string {
  const state = row.off !== undefined ? `off: ${row.off}` : row.isObserved ? "observed" : ""
  const cells = [
    `${safe(row.title)}<br><small>${safe(row.id)}${state === "" ? "" : ` · ${safe(state)}`}</small>`,
    safe(row.client),
    String(row.requests),
    tokens(row.sent),
    tokens(row.direct),
    `${Math.round(row.cacheRead * 100)}%`,
    dollars(row.cost),
    dollars(row.directCost),
    row.decisions.map(safe).join("<br>"),
  ]
  return `<tr>${cells.map((cell, at) => `<td${numeric(at)}>${cell}</td>`).join("")}</tr>`
}

/** Only conversations of which both are known: a sum beside another must be about the same. */
function totalOf(rows: readonly ConversationStatus[]): string {
  const priced = rows.filter(({ cost, directCost }) => cost !== undefined && directCost !== undefined)
  const sum = (of: (row: ConversationStatus) => number | undefined) => priced.reduce((all, row) => all + of(row)!, 0)
  const left = rows.length - priced.length
  const without = left === 0 ? "" : ` (without ${left} of unknown price)`
  return `${dollars(sum(({ cost }) => cost))}; direct ${dollars(sum(({ directCost }) => directCost))}${without}`
}

const tokens = (count: number): string => count.toLocaleString("en-US")
const dollars = (amount: number | undefined): string => (amount === undefined ? "unknown" : `$${amount.toFixed(2)}`)

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
}
const safe = (text: string): string => text.replace(/[&<>"']/g, (character) => ENTITIES[character]!)
