/**
 * The fields of each kind of decision that readers rely on. A line without them is skipped and reported like a damaged one. Unknown kinds
 * come from a newer version: they are accepted, and readers ignore them.
 */

import { toWellFormed } from "../messages/blocks.ts"
import {
  bool,
  type FieldShapes,
  type Flaw,
  fields,
  isRecord,
  json,
  listOf,
  maybe,
  oneOf,
  type Shape,
  text,
  wrong,
} from "../messages/shapes/shapes.ts"
import { promptProblem } from "../messages/validate/prompt-problem.ts"

const count: Shape = (value) =>
  typeof value === "number" && Number.isFinite(value) && value >= 0 ? undefined : wrong("a number of at least 0")
const texts = listOf(text())
const lifetime = oneOf("5m", "1h")
const effect = maybe(fields({ saves: count, rewrites: count, spares: maybe(text()) }, "open"))

const open = (shape: FieldShapes): Shape => fields(shape, "open")

const auditFigures = open({
  ...{ coverage: count, fabrication: count, perClass: json },
  ...{ struck: texts, unchecked: maybe(texts), added: texts },
})

const textsByName: Shape = (value) =>
  (isRecord(value) ? undefined : wrong("an object")) ?? texts(Object.values(value as object))

/** Results shortened by another program may have other limits than ours. */
const shortened = listOf(open({ toolUseId: text(), head: count, tail: count, why: maybe(text()) }))

const anything: Shape = () => undefined
const textsOrAll: Shape = (value) => (value === "all" ? undefined : texts(value))

const promptFields = open({ system: json, tools: listOf(json), context: text() })

/** Lone surrogates are replaced before a prompt is sent, so they are allowed here. */
const prompt: Shape = (value) => {
  const flaw = promptFields(value)
  if (flaw) return flaw
  const problem = promptProblem(toWellFormed(value) as { readonly system: unknown; readonly tools: unknown })
  return problem && wrong("a prompt that can be sent", problem.path)
}

const SHAPES: ReadonlyMap<string, Shape> = new Map<string, Shape>([
  [
    "session",
    open({
      model: text(),
      cwd: text(),
      origin: maybe(text()),
      title: maybe(text()),
      mode: maybe(text()),
      prompt: maybe(text()),
      source: maybe(text()),
    }),
  ],
  ["prompt-rendered", prompt],
  ["repaired", open({ repairs: listOf(open({ rule: text(), id: text() })) })],
  ["media-withheld", open({ blocks: listOf(open({ address: text(), why: text() })) })],
  [
    "tool-result-persisted",
    open({
      toolUseId: text(),
      path: maybe(text()),
      recall: maybe(text()),
      bytes: count,
      head: count,
      tail: count,
      shape: maybe(text()),
      media: maybe(listOf(open({ path: maybe(text()), mediaType: text(), bytes: count }))),
      effect,
    }),
  ],
  ["tool-result-empty", open({ toolUseId: text(), tool: text() })],
  ["tool-results-sent", open({ toolUseIds: texts })],
  [
    "tool-results-cleared",
    open({
      ...{ toolUseIds: texts, why: text(), planned: maybe(text()), effect },
      ...{ attachments: maybe(texts), residues: maybe(textsByName), overtaken: maybe(textsByName) },
      shortened: maybe(shortened),
    }),
  ],
  ["tool-results-shortened", open({ results: shortened })],
  ["server-edited", open({ edits: listOf(json), keptFrom: maybe(text()) })],
  [
    "notes-updated",
    open({ throughUuid: text(), path: maybe(text()), tokens: count, contextTokens: count, kept: maybe(text()) }),
  ],
  ["memory-extracted", open({ throughUuid: text(), written: texts, said: count, agentWrites: count })],
  ["memory-rules-kept", open({ said: count, written: texts })],
  ["memory-looked-up", open({ about: texts, start: maybe(bool) })],
  ["memory-written", open({ by: text(), files: texts })],
  [
    "compacted",
    open({
      boundary: text(),
      kept: texts,
      tokensBefore: count,
      tokensAfter: count,
      source: maybe(text()),
      instructions: maybe(text()),
      audit: maybe(auditFigures),
    }),
  ],
  [
    "spent",
    open({
      purpose: text(),
      model: text(),
      responseId: text(),
      requestId: maybe(text()),
      agent: maybe(text()),
      requests: maybe(count),
      lifetime: maybe(lifetime),
      estimated: maybe(bool),
      unrecorded: maybe(bool),
    }),
  ],
  [
    "limit-learnt",
    open({ model: text(), address: text(), tokens: count, countsOutput: maybe(bool), isAssumed: maybe(bool) }),
  ],
  ["limit-forgotten", open({ model: text(), address: text() })],
  ["cache-lifetime", open({ forPrompt: lifetime, forMessages: lifetime, why: text(), expected: maybe(text()) })],
  [
    "agent-started",
    open({
      agent: text(),
      name: text(),
      kind: oneOf("wait", "background", "fork", "teammate"),
      description: text(),
      definition: maybe(text()),
      model: text(),
      callId: text(),
    }),
  ],
  [
    "agent-ended",
    open({
      agent: text(),
      status: oneOf("completed", "failed", "killed"),
      summary: text(),
      hops: maybe(count),
      delivered: maybe(bool),
    }),
  ],
  ["snipped", open({ from: text(), to: text(), why: text(), by: oneOf("user", "agent"), effect })],
  ["folded", open({ from: text(), to: text(), line: text(), effect })],
  ["thinking-dropped", open({ inMessages: maybe(texts) })],
  ["undone", open({ decision: text(), tokens: maybe(count), by: maybe(oneOf("chat", "command", "page")) })],
  ["delivered", open({ queued: text() })],
  ["branched", open({ from: open({ conversation: text(), uuid: text() }) })],
  ["foreign-line", open({ line: anything })],
  ["foreign-change", open({ removed: textsOrAll, operation: maybe(open({ id: text(), sum: text() })) })],
])

/** The first field that a decision lacks or has wrong, if its readers rely on it. */
export const decisionFlaw = (subtype: string, decision: unknown): Flaw | undefined => SHAPES.get(subtype)?.(decision)
