/**
 * The data of a recorded conversation in the index: every billed response with its day, cost and cache miss, every compaction, and the
 * contents of the context. Sufficient to count a response in two files once without reading the files again.
 */
import { hash } from "node:crypto"
import { isMessage, type TokenCounts } from "@strata/core"
import { isSimulatedId } from "@strata/core/base"
import { firstUserLine, isBoundary, isSyntheticError } from "@strata/core/messages"
import type { BreakCause, CacheBreak, RequestPurpose } from "@strata/core/views"
import { type Inspection, inspectTranscript, type RecordedBoundary, type Transcript } from "@strata/transcripts"
import { listResponses, type RecordedResponse } from "@strata/transcripts/inspect"
import { CONTEXT_LABELS } from "../labels/context.ts"

export interface RecordedUsage {
  readonly format: string
  readonly id: string
  readonly title?: string
  readonly project?: string
  readonly model?: string
  readonly from?: string
  readonly to?: string
  readonly turns: number
  readonly peak: number
  /** Some output tokens were not recorded. */
  readonly isLowerBound: boolean
  /** Set if the simulator answered, so nothing was billed. */
  readonly isSimulated?: true
  /** Number of damaged lines. */
  readonly damaged: number
  /** Tokens by class. */
  readonly context: Readonly<Record<string, number>>
  readonly responses: readonly ResponseLine[]
  /** Cache misses that cannot be assigned to a response. */
  readonly moreLost: readonly UnplacedMisses[]
  readonly boundaries: readonly BoundaryLine[]
  /** Kinds of the sub-agents, in order. */
  readonly agents: readonly string[]
}

/** A billed response. */
export interface ResponseLine {
  /** Key of the response, identical in every file that contains it. */
  readonly key: string
  readonly at?: string
  readonly model: string
  readonly purpose: RequestPurpose
  /** Index in `agents`. */
  readonly agent?: number
  readonly requests: number
  readonly counts: TokenCounts
  readonly dollars?: number
  readonly estimated?: true
  readonly lost?: MissLine
}

/** The cache miss of a response. */
export interface MissLine {
  readonly cause: BreakCause
  /** Reason reported by the API. */
  readonly reason?: string
  readonly tokens: number
  readonly dollars?: number
}

/** Several cache misses of one cause. */
export interface UnplacedMisses {
  readonly cause: BreakCause
  readonly count: number
  readonly tokens: number
  readonly dollars: number
  readonly unpriced: number
}

export interface BoundaryLine {
  readonly at?: string
  /** Index in `responses` of the next response, or of the previous one. */
  readonly response?: number
  readonly needed: number
  readonly inView: number
  /** Examples of lost names. */
  readonly lost: readonly string[]
  /** Set if the file begins with the compaction, so that the lost names are unknown. */
  readonly isUnrecorded?: true
}

const MAX_TEXT = 300 // characters of a title, path or name, which come from outside
const MAX_EXAMPLES = 6
const MAX_TOOLS = 8
const NO_TIME = "1970-01-01" // importers of formats without times start here

export async function recordUsage(transcript: Transcript): Promise<RecordedUsage> {
  const inspection = await inspectTranscript(transcript)
  const { format, id, cwd, model, time, growth, money, agents } = inspection
  const { title = firstUserLine(transcript.entries.filter(isMessage)) } = inspection
  const answered = listResponses(transcript)
  const isSimulated = answered.some((response) => isSimulatedId(response.id))
  const found = isSimulated ? [] : answered
  const places = new Map(found.map((response, place) => [response.id, place]))
  const turns = listTurns(transcript)
  const lost = missesByResponse(inspection, { places, ids: turns.ids })
  const kinds = new Map(agents.started.map((agent, at) => [agent.id, at]))
  return {
    ...{ format, id: truncate(id) },
    ...(title === undefined ? {} : { title: truncate(title) }),
    ...(cwd === undefined ? {} : { project: truncate(cwd) }),
    ...(model === undefined ? {} : { model: truncate(model) }),
    ...(time ? { from: time.from, to: time.to } : {}),
    ...{ turns: growth.sizes.length, peak: growth.sizes.reduce((a, b) => Math.max(a, b), 0) },
    isLowerBound: money.stubs !== undefined,
    ...(isSimulated ? { isSimulated } : {}),
    damaged: countDamagedLines(transcript),
    context: contextByClass(inspection),
    responses: found.map((response, place) =>
      toResponseLine(response, { key: responseKey(response, found[place - 1]), lost: lost.get(response.id), kinds }),
    ),
    moreLost: isSimulated ? [] : listUnplacedMisses(inspection, [...lost.values()]),
    boundaries: growth.boundaries.map((boundary, at) => {
      const next = turns.ids[boundary.turn] ?? turns.ids[boundary.turn - 1]
      return toBoundaryLine(boundary, { at: turns.boundaries[at], response: places.get(next ?? "") })
    }),
    agents: agents.started.map(({ definition, name }) => truncate(definition ?? name)),
  }
}

/** Counts lines that are not JSON, or damaged lines of a journal. Lines of an unknown kind are not damaged. */
function countDamagedLines({ format, report }: Transcript): number {
  if (format === "strata") return sum(Object.values(report.notUnderstood))
  return report.notUnderstood["not JSON"] ?? 0
}

/** Ids of the responses on the main path, in the order of the cache history, and times of compactions. */
function listTurns({ entries }: Transcript): {
  readonly ids: readonly string[]
  readonly boundaries: readonly string[]
} {
  const ids: string[] = []
  const boundaries: string[] = []
  for (const entry of entries) {
    if (!isMessage(entry)) continue
    if (isBoundary(entry)) boundaries.push(entry.timestamp)
    if (entry.type !== "assistant" || entry.isSidechain || isSyntheticError(entry)) continue
    const { id = entry.uuid } = entry.message
    if (ids.at(-1) !== id) ids.push(id)
  }
  return { ids, boundaries }
}

interface ResponseLineOptions {
  readonly key: string
  readonly lost: CacheBreak | undefined
  readonly kinds: ReadonlyMap<string, number>
}

function toResponseLine(response: RecordedResponse, { key, lost, kinds }: ResponseLineOptions): ResponseLine {
  const { at, model, purpose, agent, requests, counts, dollars, estimated } = response
  const kind = agent === undefined ? undefined : kinds.get(agent)
  return {
    key,
    ...(at === undefined ? {} : { at }),
    ...{ model: truncate(model), purpose, requests, counts },
    ...(kind === undefined ? {} : { agent: kind }),
    ...(dollars === undefined ? {} : { dollars }),
    ...(estimated ? { estimated } : {}),
    ...(lost ? { lost: toMissLine(lost) } : {}),
  }
}

/** Globally unique ids from an API. */
const FROM_API = /^(?:msg|resp|req|chatcmpl|gen)[_-]/
const KEY_DIGITS = 13 // 52 bits, an exact integer in SQLite and JavaScript; with a million responses, a collision occurs on one machine in 10,000

/**
 * A key for a response. Generated ids are derived from the conversation and may occur twice, so the token counts are part of the key. An
 * estimated response has no id that a fork would repeat, so it is identified by the previous response.
 */
function responseKey({ id, model, counts, estimated }: RecordedResponse, before: RecordedResponse | undefined): string {
  const known = estimated && before && FROM_API.test(before.id) ? ["after", before.id, counts] : [id, model, counts]
  const whole = FROM_API.test(id) ? id : JSON.stringify(known)
  return hash("sha256", whole, "hex").slice(0, KEY_DIGITS)
}

function toMissLine({ cause, rewrittenTokens, dollars, apiReason }: CacheBreak): MissLine {
  return {
    cause,
    ...(apiReason === undefined ? {} : { reason: truncate(apiReason) }),
    tokens: rewrittenTokens,
    ...(dollars === undefined ? {} : { dollars }),
  }
}

interface ResponsePlaces {
  readonly places: ReadonlyMap<string, number>
  readonly ids: readonly string[]
}

/** Cache misses by response id. A response with separated entries can have two misses; the second is not assigned. */
function missesByResponse({ cache }: Inspection, { places, ids }: ResponsePlaces): ReadonlyMap<string, CacheBreak> {
  const lost = new Map<string, CacheBreak>()
  for (const one of cache.breaks) {
    const id = ids[one.turn - 1]
    if (id !== undefined && places.has(id) && !lost.has(id)) lost.set(id, one)
  }
  return lost
}

/** The remaining misses: the inspection lists only the most expensive ones, and a few belong to no response. */
function listUnplacedMisses({ cache }: Inspection, placed: readonly CacheBreak[]): readonly UnplacedMisses[] {
  return Object.entries(cache.byCause)
    .map(([name, total]) => {
      const own = placed.filter(({ cause }) => cause === name)
      return {
        cause: name as BreakCause,
        count: total.breaks - own.length,
        tokens: total.rewrittenTokens - sum(own.map(({ rewrittenTokens }) => rewrittenTokens)),
        dollars: Math.max(0, total.dollars - sum(own.map(({ dollars = 0 }) => dollars))),
        unpriced: total.unpriced - own.filter(({ dollars }) => dollars === undefined).length,
      }
    })
    .filter(({ count }) => count > 0)
}

function toBoundaryLine(
  { needed }: RecordedBoundary,
  { at, response }: { readonly at: string | undefined; readonly response: number | undefined },
): BoundaryLine {
  const known = needed === "unrecorded" ? undefined : needed
  return {
    ...(at === undefined || at.startsWith(NO_TIME) ? {} : { at }),
    ...(response === undefined ? {} : { response }),
    needed: known?.names ?? 0,
    inView: known?.inView ?? 0,
    lost: (known?.lost ?? []).slice(0, MAX_EXAMPLES).map(truncate),
    ...(needed === "unrecorded" ? { isUnrecorded: true } : {}),
  }
}

/** Contents of the context by class, with the largest tools by name. */
function contextByClass({ content }: Inspection): Readonly<Record<string, number>> {
  const results = Object.entries(content.toolResults).sort(([, a], [, b]) => b - a)
  const attached = Object.values(content.attachments).map(({ tokens }) => tokens)
  const classes: readonly (readonly [string, number])[] = [
    [CONTEXT_LABELS.human, content.human],
    [CONTEXT_LABELS.assistant, content.assistant],
    [CONTEXT_LABELS.thinking, content.thinking],
    [CONTEXT_LABELS.calls, sum(Object.values(content.toolRequests))],
    ...results.slice(0, MAX_TOOLS).map(([tool, tokens]) => [`results of ${truncate(tool)}`, tokens] as const),
    ["results of other tools", sum(results.slice(MAX_TOOLS).map(([, tokens]) => tokens))],
    [CONTEXT_LABELS.attachments, sum(attached)],
    [CONTEXT_LABELS.other, content.other + content.commandOutput],
  ]
  return Object.fromEntries(
    classes.filter(([, tokens]) => tokens > 0).map(([name, tokens]) => [name, Math.round(tokens)]),
  )
}

const truncate = (text: string): string => text.slice(0, MAX_TEXT)
const sum = (values: readonly number[]) => values.reduce((all, one) => all + one, 0)
