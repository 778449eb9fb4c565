/** Parses the input of Recall. It is validated here again, because a custom agent loop may pass anything. */
import { parseHandle } from "../../messages/media.ts"
import {
  RECALL_KINDS,
  type RecallFilter,
  type RecallInput,
  type RecallKind,
  type RecallRange,
  type RecallSearch,
} from "./recall-source.ts"

export const DEFAULT_BUDGET = 4_000 // tokens
export const MIN_BUDGET = 200
const MAX_BUDGET = 25_000

interface Budgeted {
  readonly budget: number
}

export type ParsedRecallInput =
  | ({ readonly state: "handle"; readonly handle: string; readonly offset: number } & Budgeted)
  | ({ readonly state: "range" } & RecallRange & Budgeted)
  | ({ readonly state: "search" } & Omit<RecallSearch, "limit"> & Budgeted)
  /** `why` is for the model. */
  | { readonly state: "unclear"; readonly why: string }

export function parseRecallInput(input: RecallInput): ParsedRecallInput {
  const { handle, from, to, search } = input
  const given = [handle, from ?? to, search].filter((value) => value !== undefined && value !== "")
  if (given.length !== 1) return unclear("Give one of these: handle; from, with or without to; search.")
  const budget = Math.floor(Math.min(MAX_BUDGET, Math.max(MIN_BUDGET, numberOf(input.budget) ?? DEFAULT_BUDGET)))
  const filter = filterOf(input)
  if ("why" in filter) return unclear(filter.why)
  if (search) {
    if (typeof search !== "string") return unclear("search must be a text.")
    return { state: "search", text: search, in: input.in === "project" ? "project" : "conversation", ...filter, budget }
  }
  for (const named of [handle, from, to])
    if (named !== undefined && named !== "" && handleIn(named) === undefined) return unclear(wrongHandle(named))
  if (handle) return { state: "handle", handle: handleIn(handle)!, offset: numberOf(input.offset) ?? 0, budget }
  const ends = { from: handleIn(from || to)!, ...(from && to ? { to: handleIn(to)! } : {}) }
  return { state: "range", ...ends, ...filter, budget }
}

const unclear = (why: string): ParsedRecallInput => ({ state: "unclear", why })

const wrongHandle = (named: unknown) =>
  `${JSON.stringify(String(named).slice(0, 80))} is no handle. A handle has ten hex digits, and .0 for a first block. Use search if you have none.`

/** Extracts a handle, including one with the brackets or words around it as displayed. */
function handleIn(named: unknown): string | undefined {
  if (typeof named !== "string") return undefined
  const bare = named
    .trim()
    .replace(/^(?:recall|message|handle)\s*:?\s+/i, "")
    .replace(/^[[("'`]+|[\])"'`.,:]+$/g, "")
  return parseHandle(bare) ? bare : undefined
}

const numberOf = (value: unknown): number | undefined =>
  typeof value === "number" && Number.isFinite(value) && value >= 0 ? Math.floor(value) : undefined

function filterOf({ kind, since, until }: RecallInput): RecallFilter | { readonly why: string } {
  if (kind !== undefined && !RECALL_KINDS.includes(kind as RecallKind))
    return { why: `kind must be one of ${RECALL_KINDS.join(", ")}.` }
  const [start, end] = [timeOf(since), timeOf(until)]
  if (start === "unreadable" || end === "unreadable")
    return { why: "since and until must be times such as 2026-01-31 or 2026-01-31T08:00:00Z." }
  return { ...(kind === undefined ? {} : { kind }), ...(start ? { since: start } : {}), ...(end ? { until: end } : {}) }
}

function timeOf(value: unknown): Date | "unreadable" | undefined {
  if (value === undefined || value === "") return undefined
  const time = new Date(String(value))
  return Number.isNaN(time.getTime()) ? "unreadable" : time
}
