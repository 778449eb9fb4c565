/**
 * What the index keeps of a recorded conversation: every billed response with its day, its cost and the cache it lost, every compaction, and
 * what filled the context. It is enough to count a response once that two files have, without reading the files again.
 */
import { hash } from "node:crypto"
import { isMessage, type TokenCounts } from "@strata/core"
import { isSimulatedId } from "@strata/core/base"
import { firstUserLine, isBoundary, isSyntheticError } from "@strata/core/messages"
import type { BreakCause, CacheBreak, RequestPurpose } from "@strata/core/views"
import { type Inspection, inspectTranscript, type RecordedBoundary, type Transcript } from "@strata/transcripts"
import { listResponses, type RecordedResponse } from "@strata/transcripts/inspect"

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
  /** Too few output tokens are recorded. */
  readonly isLowerBound: boolean
  /** The simulator answered, so nothing was spent. */
  readonly isSimulated?: true
  /** Lines that are damaged. */
  readonly damaged: number
  /** Tokens by class. */
  readonly context: Readonly<Record<string, number>>
  readonly responses: readonly ResponseLine[]
  /** Lost caches that belong to no one response. */
  readonly moreLost: readonly UnplacedMisses[]
  readonly boundaries: readonly BoundaryLine[]
  /** The kinds of its sub-agents, in order. */
  readonly agents: readonly string[]
}

/** A billed response. */
export interface ResponseLine {
  /** The same in every file that has this response. */
  readonly key: string
  readonly at?: string
  readonly model: string
  readonly purpose: RequestPurpose
  /** Its place in `agents`. */
  readonly agent?: number
  readonly requests: number
  readonly counts: TokenCounts
  readonly dollars?: number
  readonly estimated?: true
  readonly lost?: MissLine
}

/** The cache that was lost before a response. */
export interface MissLine {
  readonly cause: BreakCause
  /** The API's own word. */
  readonly reason?: string
  readonly tokens: number
  readonly dollars?: number
}

/** Several lost caches of one cause. */
export interface UnplacedMisses {
  readonly cause: BreakCause
  readonly count: number
  readonly tokens: number
  readonly dollars: number
  readonly unpriced: number
}

export interface BoundaryLine {
  readonly at?: string
  /** The place of the next response in `responses`, or of the one before it. */
  readonly response?: number
  readonly needed: number
  readonly inView: number
  /** Examples of what was lost. */
  readonly lost: readonly string[]
  /** The file begins with it, so what it lost is not known. */
  readonly isUnrecorded?: true
}

const MAX_TEXT = 300 // characters of a title, a path or a name: they are other people's
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

/** A line that is not JSON, or a damaged line of a journal. Lines of a kind that is not known are whole. */
function countDamagedLines({ format, report }: Transcript): number {
  if (format === "strata") return sum(Object.values(report.notUnderstood))
  return report.notUnderstood["not JSON"] ?? 0
}

/** The ids of the answers on the main path, as the cache's history numbers them, and when compactions were made. */
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

/** Ids that an API gives: no two responses in the world share one. */
const FROM_API = /^(?:msg|resp|req|chatcmpl|gen)[_-]/
const KEY_DIGITS = 13 // 52 bits, a whole number for SQLite and for us: among a million responses, two are alike once in 10,000 machines

/**
 * Other ids are made from the conversation's, and two conversations may have the same one. So the figures count too. What is estimated has no
 * id that a fork would repeat: it is known by the response before it.
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

/** By the id of the response. One whose entries are apart can have two: the second is not placed. */
function missesByResponse({ cache }: Inspection, { places, ids }: ResponsePlaces): ReadonlyMap<string, CacheBreak> {
  const lost = new Map<string, CacheBreak>()
  for (const one of cache.breaks) {
    const id = ids[one.turn - 1]
    if (id !== undefined && places.has(id) && !lost.has(id)) lost.set(id, one)
  }
  return lost
}

/** The inspection lists the most expensive ones only, and a few have no response of their own. */
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

/** The largest tools by name, so that a report can say which results filled the context. */
function contextByClass({ content }: Inspection): Readonly<Record<string, number>> {
  const results = Object.entries(content.toolResults).sort(([, a], [, b]) => b - a)
  const attached = Object.values(content.attachments).map(({ tokens }) => tokens)
  const classes: readonly (readonly [string, number])[] = [
    ["your messages", content.human],
    ["answers", content.assistant],
    ["thinking", content.thinking],
    ["tool calls", sum(Object.values(content.toolRequests))],
    ...results.slice(0, MAX_TOOLS).map(([tool, tokens]) => [`results of ${truncate(tool)}`, tokens] as const),
    ["results of other tools", sum(results.slice(MAX_TOOLS).map(([, tokens]) => tokens))],
    ["attachments", sum(attached)],
    ["other", content.other + content.commandOutput],
  ]
  return Object.fromEntries(
    classes.filter(([, tokens]) => tokens > 0).map(([name, tokens]) => [name, Math.round(tokens)]),
  )
}

const truncate = (text: string): string => text.slice(0, MAX_TEXT)
const sum = (values: readonly number[]) => values.reduce((all, one) => all + one, 0)
