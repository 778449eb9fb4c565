/**
 * Decides whether the API would accept a request: first its shape, then the model, then the rules. The API's order is not documented; this
 * one checks the outermost parts first.
 */

import type { ModelFacts } from "@strata/core/tokens"
import type { Dialect } from "../api-dialect.ts"
import { ApiError, invalidRequest } from "../api-error.ts"
import { type Breakpoint, explicitBreakpoints, lastCacheable } from "../cache/breakpoints.ts"
import { toTurns } from "../conversation.ts"
import type { MessagesBody } from "../wire.ts"
import { bodySchema, type Endpoint } from "./body-schema.ts"
import { COMPACTION_RULES } from "./compaction-rules.ts"
import { MEDIA_RULES } from "./media-rules.ts"
import { MESSAGE_RULES, THINKING_FIRST_RULE } from "./message-rules.ts"
import { PAIRING_RULES } from "./pairing-rules.ts"
import { PARAMETER_RULES, VERSION_RULES } from "./parameter-rules.ts"
import { enforce, type ParsedRequest, type Rule } from "./rule.ts"

// Rules about where `cache_control` is allowed.

const MAX_BREAKPOINTS = 4

export const CACHE_CONTROL_RULES: readonly Rule[] = [
  {
    name: "no cache_control on empty text",
    refuses: ({ body }) => {
      const marked = explicitBreakpoints(body).find(({ block }) => block.type === "text" && block.text === "")
      return marked && `${marked.path}: cache_control cannot be set for empty text blocks`
    },
  },
  {
    name: "at most four breakpoints",
    refuses: ({ body }) => {
      const explicit = explicitBreakpoints(body)
      const automatic = body.cache_control && !lastCacheable(body)?.block.cache_control ? 1 : 0
      const found = explicit.length + automatic
      return found > MAX_BREAKPOINTS
        ? `A maximum of ${MAX_BREAKPOINTS} blocks with cache_control may be provided. Found ${found}.`
        : undefined
    },
  },
  {
    name: "automatic caching agrees with the mark on the last block",
    refuses: ({ body }) => {
      const last = lastCacheable(body)
      const mark = last?.block.cache_control
      return body.cache_control && mark && (mark.ttl ?? "5m") !== (body.cache_control.ttl ?? "5m")
        ? `cache_control.ttl: the top-level cache_control has another ttl than ${last.path}, which it applies to`
        : undefined
    },
  },
  {
    name: "one-hour breakpoints before five-minute ones",
    refuses: ({ body }) => {
      const breakpoints: readonly Pick<Breakpoint, "path" | "ttl">[] = [
        ...explicitBreakpoints(body).map(({ path, ttl }) => ({ path: `${path}.cache_control`, ttl })),
        ...(body.cache_control ? [{ path: "cache_control", ttl: body.cache_control.ttl ?? "5m" }] : []), // always the last breakpoint
      ]
      const firstShort = breakpoints.findIndex(({ ttl }) => ttl === "5m")
      const late = firstShort < 0 ? undefined : breakpoints.slice(firstShort).find(({ ttl }) => ttl === "1h")
      return (
        late &&
        `${late.path}.ttl: a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block. ` +
          "Note that blocks are processed in the following order: `tools`, `system`, `messages`."
      )
    },
  },
]

/** Every rule, in the order they are applied. */
export const RULES: readonly Rule[] = [
  ...PARAMETER_RULES,
  ...MESSAGE_RULES,
  ...VERSION_RULES,
  ...COMPACTION_RULES,
  ...PAIRING_RULES,
  THINKING_FIRST_RULE,
  ...MEDIA_RULES,
  ...CACHE_CONTROL_RULES,
]

export interface Submission {
  readonly endpoint: Endpoint
  readonly dialect: Dialect
  /** The body, parsed from JSON. */
  readonly json: unknown
  readonly findModel: (name: string) => ModelFacts | undefined
}

/** Returns the request if the API would accept it, and throws the API's error if not. */
export function validate({ endpoint, dialect, json, findModel }: Submission): ParsedRequest {
  const issue = bodySchema(endpoint, dialect)(json, "")
  if (issue) throw invalidRequest(issue.path ? `${issue.path}: ${issue.message}` : issue.message)
  const body = json as MessagesBody

  const model = findModel(body.model)
  if (!model) throw new ApiError(404, `model: ${body.model}`)

  const request: ParsedRequest = { endpoint, dialect, body, model, turns: toTurns(body.messages) }
  enforce(RULES, request)
  return request
}
